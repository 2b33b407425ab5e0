"""Tables by each engine that fits a fabric, with their standing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from obliv.errors import RoutingError
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lanes.tables import LaneTables
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.engines import GRID_ENGINES, EnginePlan, plan_engine
from obliv.fabric.reroute.fill import by_digits, evenly
from obliv.fabric.reroute.lids import with_enough_lids
from obliv.fabric.reroute.request import Request
from obliv.fabric.reroute.standing import key_by, standing_of
from obliv.fabric.reroute.tiers import Tiers, central_ranks, level_ranks, numberings
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.results.fabric.route import Attempt, Standing

__all__ = ["Candidate", "LanesError", "plans_for", "tree_candidate", "updown_candidate"]

_OTHERS = ("updown", "layered", *GRID_ENGINES)  # engines without a plan
_DETOURS = (0, 1, 2, -1)  # steps to another channel where the wanted one is missing; 0: take the least used one
_EVENED = 1 << 30  # entries of tables times channels, up to which all ways are evened out, not only the best
_ALL_SHIFTS = 1 << 24  # flows of all shifts, up to which these are counted to choose among variants


class LanesError(RoutingError):
    """Tables that need more virtual lanes than are allowed; the first of the values says of which and how many."""

    @classmethod
    def of(cls, needed: str) -> LanesError:
        """Return the error that says what is needed, and of which engine."""
        return cls.naming("{0}: use {lanes}=2", needed)


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


def plans_for(request: Request, skipped: list[Attempt]) -> Iterator[EnginePlan]:
    """Yield the plans of the engines for trees to try, in that order; `skipped` takes those that need a larger LMC.

    Raises
    ------
    RoutingError
        If a named engine does not fit, or needs a larger LMC.
    """
    engine, tiers = request.engine, request.tiers
    for name in _usual(tiers) if engine == "auto" else () if engine in _OTHERS else (engine,):
        plan = plan_engine(name, tiers)
        if plan.lmc <= request.most_lmc:
            yield plan
        elif engine != "auto":
            most = request.most_lmc
            raise RoutingError(f"{name} needs an LMC of {plan.lmc} on {plan.tiers.title}, at most {most} is allowed")
        else:
            skipped.append(Attempt(name, None, f"needs an LMC of {plan.lmc}"))


def _usual(tiers: Tiers | None) -> tuple[str, ...]:
    """Return the engines with a plan that ``auto`` tries."""
    if tiers is None:
        return ()
    if tiers.shape is not None and tiers.levels == 3:
        return ("osrm3-d", "dmodk")
    if tiers.shape is not None and tiers.levels == 2:
        return ("osrm2", *(("osrm2-c",) if tiers.hosts == tiers.uplinks() else ()), "dmodk")
    return ("dmodk",)


def tree_candidate(request: Request, plan: EnginePlan) -> Candidate:
    """Return the tables of an engine for trees, the best of several ways to number hosts and to replace channels.

    Raises
    ------
    RoutingError
        If the tables have a credit loop.
    TopologyError
        If there are not enough LIDs.
    """
    numbered, notes = with_enough_lids(request.fabric, plan.lmc, request.most_lmc)
    net = replace(request.switches, fabric=numbered)
    ranks, exact = level_ranks(net, plan.tiers), plan.tiers.exact

    by_number, steps = plan.engine == "dmodk", _DETOURS[:1] if exact else _DETOURS
    plans = [plan_engine(plan.engine, tiers) for tiers in numberings(plan.tiers)] if by_number else [plan]
    ways = [(again, step) for again in plans for step in steps]
    tables, standing, at = _best(request, numbered, plan.offset, (by_digits(net, ranks, *way) for way in ways))
    if by_number and not exact:
        small = tables.out.size * len(net.switches.tail) <= _EVENED
        others = (by_digits(net, ranks, *way, even=True) for way in (ways if small else [ways[at]]))
        tables, standing, _ = _best(request, numbered, plan.offset, chain([tables], others))
    return Candidate(plan.engine, plan.offset, tables, numbered, standing, notes)


def updown_candidate(request: Request) -> Candidate:
    """Return shortest routes that climb and then descend, with even loads.

    On trees all roots are equally high, unless some hosts then do not reach each other.
    """
    numbered, notes = with_enough_lids(request.fabric, 0, request.most_lmc)
    net = replace(request.switches, fabric=numbered)
    rated = []
    for ranks in [*([level_ranks(net, request.tiers)] if request.tiers else []), central_ranks(net)]:
        ways = ((by_place, even) for by_place in (False, True) for even in (False, True))
        tables, standing, _ = _best(request, numbered, "0", (evenly(net, ranks, *way) for way in ways))
        rated.append(Candidate("updown", "0", tables, numbered, standing, notes))
        if not request.lost(standing):
            break
    return min(rated, key=lambda one: one.standing.missing)


def _best(request: Request, fabric: Fabric, offset: str, variants: Iterable[Tables]) -> tuple[Tables, Standing, int]:
    """Return the best of several tables by the figure that counts first, and its place; shifts decide among equals."""
    topology = request.topology if fabric is request.fabric else network(fabric)
    few = len(topology.terminals) ** 2 <= _ALL_SHIFTS  # shifts of each can be counted
    by = "worst" if request.by == "shifts" and not few else request.by
    quick, full = key_by(by, brief=True), key_by(by)
    equals: list[tuple[tuple[Any, ...], int, FabricRouting]] = []
    for at, tables in enumerate(variants):
        routing = fabric_routing(topology, tables, offset, missing="skip")
        key = quick(standing_of(routing, brief=True))
        if not equals or key <= equals[0][0]:
            equals = [*(equals if equals and key == equals[0][0] else []), (key, at, routing)]
    rated = [(standing_of(routing, progress=request.progress), at, routing) for _, at, routing in equals]
    standing, at, routing = min(rated, key=lambda one: full(one[0]))
    if standing.credit_loops:  # impossible, since routes only climb and then descend
        raise RoutingError(f"{fabric.name}: the tables have a credit loop and are not used")
    return routing.routes.tables, standing, at
