"""``obliv fabric ratio``: the oblivious performance ratio of forwarding tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv._util.progress import Progress
from obliv.cli.fabric.reading import TablesFiles
from obliv.cli.output import Answer

if TYPE_CHECKING:
    from obliv.fabric.routes.routing import FabricRouting
    from obliv.results import Ratio

__all__ = ["ratio"]


def ratio(
    files: TablesFiles,
    answer: Answer,
) -> None:
    """Find the oblivious performance ratio.

    The ratio is the largest cable load of the tables divided by that of the best routing, maximized over all traffic.

    On complete fat trees a closed form gives it; on tapered, damaged and other fabrics linear programs do (extra
    "design").

    Example: obliv fabric ratio ibnetdiscover.txt --lft opensm-lfts.dump
    """
    files.show(answer, _ratio, None)


def _ratio(routing: FabricRouting, step: Progress) -> Ratio:
    import obliv.fabric
    from obliv.fabric.analyses.ratio import has_closed_form

    solve = obliv.fabric.ratio if has_closed_form(routing.topology) else obliv.ratio
    return solve(routing, progress=step)
