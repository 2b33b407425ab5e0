"""Tables by each engine that fits a fabric, with their standing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obliv.errors import RoutingError
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lanes.tables import LaneTables
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.engines import GRID_ENGINES, EnginePlan, plan_engine
from obliv.fabric.reroute.fill import filled
from obliv.fabric.reroute.lids import with_enough_lids
from obliv.fabric.reroute.ranks import ranks_of_tree, ranks_up_down
from obliv.fabric.reroute.standing import standing_of
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.shape.tree import Shape
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.results.fabric.route import Attempt, Standing

__all__ = ["Candidate", "LanesError", "candidate", "plans_for"]

_OTHERS = ("layered", *GRID_ENGINES)  # engines without a plan
_DETOURS = (0, 1, 2, -1)  # steps to another port where the wanted one is missing; 0: take the least used one


class LanesError(RoutingError):
    """Tables that need more virtual lanes than are allowed; `needed` says of which and how many."""

    def __init__(self, needed: str) -> None:
        self.needed = needed
        super().__init__(f"{needed}: use  --lanes 2")

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.needed,)


@dataclass(frozen=True, eq=False)
class Candidate:
    """Tables by one engine.

    Parameters
    ----------
    engine : str
    offset : str
        Which of a destination's LIDs a source uses.
    tables : Tables
    fabric : Fabric
        With the LIDs that the tables are for.
    standing : Standing
    notes : tuple of str
    levels : Levels or None
        The service levels of pairs; None where all packets take one lane.
    lane_tables : LaneTables or None
        The SL-to-VL tables; None where the lane is the service level.
    """

    engine: str
    offset: str
    tables: Tables
    fabric: Fabric
    standing: Standing
    notes: tuple[str, ...] = ()
    levels: Levels | None = None
    lane_tables: LaneTables | None = None


def plans_for(engine: str, shape: Shape | None, largest_lmc: int, skipped: list[Attempt]) -> Iterator[EnginePlan]:
    """Yield the plans of the engines to try, in that order.

    Parameters
    ----------
    engine : str
        A name, or ``auto``; there is no plan of ``layered`` and the engines for grids.
    shape : Shape or None
    largest_lmc : int
        Engines that need a larger LMC are skipped, or refused where they are named.
    skipped : list of Attempt
        Takes the engines that are skipped.

    Raises
    ------
    RoutingError
        If a named engine does not fit.
    """
    for name in _usual(shape) if engine == "auto" else () if engine in _OTHERS else (engine,):
        plan = plan_engine(name, shape)
        if plan.shape is None or plan.lmc <= largest_lmc:
            yield plan
        elif engine != "auto":
            tree = plan.shape.name
            raise RoutingError(f"{name} needs an LMC of {plan.lmc} on {tree}, at most {largest_lmc} is allowed")
        else:
            skipped.append(Attempt(name, None, f"needs an LMC of {plan.lmc}"))


def _usual(shape: Shape | None) -> tuple[str, ...]:
    """Return the engines that ``auto`` tries."""
    if shape is None:
        return ("updown",)
    if shape.levels == 3:
        return ("osrm3-d", "dmodk", "updown")
    if shape.levels == 2:
        square = shape.children[0] == shape.parents[1] * shape.cables[1]
        return ("osrm2", *(("osrm2-c",) if square else ()), "dmodk", "updown")
    return ("dmodk", "updown")


def candidate(fabric: Fabric, plan: EnginePlan, largest_lmc: int) -> Candidate:
    """Return the tables of an engine; on a damaged tree the best of several choices of other ports.

    Raises
    ------
    RoutingError
        If the tables have a credit loop.
    TopologyError
        If there are not enough LIDs.
    """
    ranks = ranks_up_down(fabric) if plan.shape is None else ranks_of_tree(fabric, plan.shape)
    numbered, notes = with_enough_lids(fabric, plan.lmc, largest_lmc)
    topology = network(numbered)
    candidates = []
    for step in _DETOURS[:1] if plan.shape is None or plan.shape.exact else _DETOURS:
        tables = filled(numbered, ranks, plan, step)
        standing = standing_of(fabric_routing(topology, tables, plan.offset, missing="skip"))
        if standing.deadlock:  # impossible, since routes only go up and then down
            raise RoutingError(f"{plan.engine} on {fabric.name}: the tables have a credit loop and are not used")
        candidates.append(Candidate(plan.engine, plan.offset, tables, numbered, standing, notes))
    return min(candidates, key=lambda candidate: candidate.standing.rank)
