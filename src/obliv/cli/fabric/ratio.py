"""``obliv fabric ratio``: the oblivious performance ratio of forwarding tables."""

from __future__ import annotations

from obliv.cli.fabric.reading import TablesFiles
from obliv.cli.output import Answer

__all__ = ["ratio"]


def ratio(
    files: TablesFiles,
    answer: Answer,
) -> None:
    """Find the oblivious performance ratio on complete fat trees.

    The ratio is the largest cable load of the tables divided by that of the best routing, maximized over all traffic.

    Example: obliv fabric ratio ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files.show(answer, lambda routing, step: obliv.fabric.ratio(routing, progress=step), None)
