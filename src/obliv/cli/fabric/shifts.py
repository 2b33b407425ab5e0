"""``obliv fabric shifts``: the loads of all shifts of the hosts."""

from __future__ import annotations

from obliv.cli.fabric.options import Guid2Lid, Offset, SkipMissing, TablesFile, TopologyFile
from obliv.cli.fabric.reading import Files, print_analysis
from obliv.cli.options import Format, FormatOption, Output

__all__ = ["shifts"]


def shifts(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Guid2Lid = None,
    offset: Offset = "0",
    skip: SkipMissing = False,
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Find the exact worst and mean load of all shifts.

    Under a shift by k, host i sends to host i + k, in the order of the file.

    Example: obliv fabric shifts ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files = Files(topology, lft, guid2lid)
    print_analysis(
        format, lambda routing, step: obliv.fabric.shifts(routing, progress=step), files, offset, skip, output
    )
