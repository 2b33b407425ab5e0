"""``obliv fabric shifts``: the loads of all shifts of the hosts."""

from __future__ import annotations

from obliv.cli.fabric.reading import SkipMissing, TablesFiles
from obliv.cli.output import Answer

__all__ = ["shifts"]


def shifts(
    files: TablesFiles,
    *,
    skip: SkipMissing = False,
    answer: Answer,
) -> None:
    """Find the exact worst and mean load of all shifts.

    Under a shift by k, host i sends to host i + k, in the order of the file.

    Example: obliv fabric shifts ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files.show(answer, lambda routing, step: obliv.fabric.shifts(routing, progress=step), skip)
