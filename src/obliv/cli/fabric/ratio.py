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
    """Find the oblivious performance ratio on complete fat trees.

    The ratio is the largest cable load of the tables divided by that of the best routing, maximized over all traffic.

    Example: obliv fabric ratio ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files = Files(topology, lft, guid2lid)
    print_analysis(
        format, lambda routing, step: obliv.fabric.ratio(routing, progress=step), files, offset, None, output
    )
