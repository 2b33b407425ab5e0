"""``obliv fabric ratio``: the oblivious performance ratio of forwarding tables."""

from __future__ import annotations

from obliv.cli.fabric.options import Guid2Lid, Offset, TablesFile, TopologyFile
from obliv.cli.fabric.reading import Files, print_analysis
from obliv.cli.options import Format, FormatOption, Output

__all__ = ["ratio"]


def ratio(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Guid2Lid = None,
    offset: Offset = "0",
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Find the oblivious performance ratio, on whole fat trees.

    The ratio is the most by which the tables load a cable more than the best routing of the same traffic.

    Example: obliv fabric ratio ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files = Files(topology, lft, guid2lid)
    print_analysis(
        format, lambda routing, step: obliv.fabric.ratio(routing, progress=step), files, offset, None, output
    )
