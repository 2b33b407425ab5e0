"""The engines of ``obliv fabric route``: what one is, and their table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from obliv.errors import RoutingError

if TYPE_CHECKING:
    from obliv.fabric.lanes.pairs import PairLevels
    from obliv.fabric.lanes.sl2vl import LaneTables
    from obliv.fabric.model import Fabric, Tables
    from obliv.fabric.reroute.quality import Request
    from obliv.fabric.results.route import Standing

#: The engines by name: the module of this room that has each, and its name there. It is imported when the engine is
#: used, so that the command line can list them at once.
ENGINES = {
    "osrm3-d": "fill:OSRM3_D",
    "osrm3": "fill:OSRM3",
    "osrm2": "fill:OSRM2",
    "osrm2-c": "fill:OSRM2_C",
    "dmodk": "fill:DMODK",
    "updown": "fill:UPDOWN",
    "layered": "layers:LAYERED",
    "dor-dateline": "datelines:DATELINE",
    "minimal": "grids:MINIMAL",
    "two-turn": "grids:TWO_TURN",
}

#: The engines that ``auto`` tries, in this order, where they fit and are not needless.
AUTO = ("osrm3-d", "osrm2", "osrm2-c", "dmodk", "updown", "dor-dateline", "layered")


@dataclass(frozen=True, eq=False)
class Candidate:
    """Tables by one engine."""

    engine: str
    offset: str  # which of a destination's LIDs a source uses
    tables: Tables
    fabric: Fabric  # with the LIDs that the tables are for
    standing: Standing
    notes: tuple[str, ...] = ()
    levels: PairLevels | None = None  # the service levels of pairs; None where all packets take one lane
    lane_tables: LaneTables | None = None  # the SL-to-VL tables; None where the lane is the service level


@dataclass(frozen=True, eq=False)
class Engine:
    """A way to compute forwarding tables."""

    name: str
    # candidates: ``candidates(request)`` yields tables; none where the engine fits, but finds no routes
    candidates: Callable[[Request], Iterator[Candidate]]
    # misfit: ``misfit(request)`` says why the engine does not fit the fabric, "" if it does
    misfit: Callable[[Request], str] = lambda request: ""
    # needless: ``needless(request, candidates)`` says why ``auto`` need not try the engine after those that gave these
    # candidates: a reason that is told, "" for one that is not, or None if it should try it
    needless: Callable[[Request, Sequence[Candidate]], str | None] = lambda request, candidates: None
    lane_tables: bool = False  # whether its tables can need SL-to-VL tables, which OpenSM loads by a plug-in


def engine_of(name: str) -> Engine:
    """Return the engine of a name in `ENGINES`."""
    module, _, constant = ENGINES[name].partition(":")
    return cast(Engine, getattr(import_module(f"obliv.fabric.reroute.{module}"), constant))


class LimitError(RoutingError):
    """Tables that need more LIDs or lanes than are allowed; `needs` says in short how many."""

    needs = ""


class LanesError(LimitError):
    """Tables that need more virtual lanes than are allowed; the first of the values says of which and how many."""

    @classmethod
    def of(cls, needed: str) -> LanesError:
        """Return the error that says what is needed, and of which engine."""
        error = cls.naming("{0}: use {lanes}=2", needed)
        error.needs = "needs 2 virtual lanes, and OpenSM's plug-in for them"
        return error


def enough(request: Request, candidates: Sequence[Candidate]) -> bool:
    """Return whether a search for smaller worst loads is of no use: they are optimal, or not what counts on a tree."""
    best = min(candidates, key=lambda new: request.key(new.standing), default=None)
    if best is None or best.standing.lanes > 1:
        return False
    if request.by in ("uniform", "shifts") and request.tiers is not None:
        return any(new.engine != "updown" and not request.lost(new.standing) for new in candidates)
    least = min((new.standing.worst for new in candidates if not request.lost(new.standing)), default=None)
    return request.attained_by(best.standing) or (least is not None and least <= request.single_lid_optimum)
