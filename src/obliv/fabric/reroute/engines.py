"""Engines: by which port upwards the hosts of a fat tree are reached, and which of their LIDs a source uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.reroute.tiers import Tiers
from obliv.routings.trees.covers import best_grid, cover_root, fewest_lids

__all__ = ["DATELINE", "ENGINES", "GRID_ENGINES", "SPREAD_ENGINES", "EnginePlan", "plan_engine"]


@dataclass(frozen=True, eq=False)
class EnginePlan:
    """The channels upwards that an engine for trees chooses.

    Parameters
    ----------
    engine : str
    tiers : Tiers
    lmc : int
        Every host needs 2**lmc LIDs.
    offset : str
        Which of them a source uses, as :func:`obliv.fabric.routes.classes.offsets_of` takes it.
    shifted : bool
        Whether a leaf adds its place in its sub-tree to the number.
    want : callable
        ``want(level, offset, number, place)``: the number of the channel upwards at the switches of a level, 0 for
        leaves, for hosts with these numbers and places at their leaves.
    down : callable, optional
        The same for the way down to a switch of the level: the number of the channel whose opposite is taken. Default
        `want`.
    """

    engine: str
    tiers: Tiers
    lmc: int
    offset: str
    shifted: bool
    want: Callable[[int, int, Array, Array], Array]
    down: Callable[[int, int, Array, Array], Array] | None = None


def plan_engine(engine: str, tiers: Tiers | None) -> EnginePlan:
    """Return the plan of an engine for trees, for the tree that a fabric has.

    Raises
    ------
    RoutingError
        If the engine does not fit the tree.
    """
    if tiers is None:
        raise RoutingError(f"{engine} is for fat trees, and this fabric is not recognized as one: use updown")
    return _PLANS[engine](tiers)


def _require(tiers: Tiers, engine: str, levels: int) -> tuple[int, int]:
    """Return the hosts and the cables upwards of a leaf."""
    if tiers.shape is None:
        raise RoutingError(f"{engine} is for fat trees, this is a {tiers.title}: use dmodk")
    if tiers.levels != levels:
        raise RoutingError(f"{engine} is for fat trees of {levels} levels of switches, this one has {tiers.levels}")
    return tiers.hosts, tiers.uplinks()


def _dmodk(tiers: Tiers) -> EnginePlan:
    """Plan D-mod-k: the digits of the destination's number, the last one at the leaf, for parallel cables as Zahavi."""

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return number // prod(tiers.parents[:level])

    return EnginePlan("dmodk", tiers, 0, "0", False, want)


def _osrm3_d(tiers: Tiers) -> EnginePlan:
    """Plan OSRM3-D: the leaf's own place plus the destination's at its leaf; above, the destination's."""
    _require(tiers, "osrm3-d", 3)

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return _above(tiers, number, place) if level else place

    return EnginePlan("osrm3-d", tiers, 0, "0", True, want)


def _osrm3(tiers: Tiers) -> EnginePlan:
    """Plan OSRM3: the source's place at its leaf, which the LID encodes; above, the destination's."""
    hosts, uplinks = _require(tiers, "osrm3", 3)
    many = min(hosts, uplinks)
    rule = _rule([place % many for place in range(hosts)])
    lmc = (many - 1).bit_length()

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return _above(tiers, number, place) if level else np.full_like(place, offset % many)

    def down(level: int, offset: int, number: Array, place: Array) -> Array:
        return _above(tiers, number, place) if level else place

    return EnginePlan("osrm3", tiers, lmc, rule, False, want, down)


def _above(tiers: Tiers, number: Array, place: Array) -> Array:
    """Return the destination's place at its leaf; where there are several times as many cables, by leaf another set."""
    sets = max(1, tiers.uplinks(1) // tiers.hosts)
    return np.asarray(place + tiers.hosts * (number // tiers.hosts % sets))


def _osrm2(tiers: Tiers) -> EnginePlan:
    """Plan OSRM2: a root for each group of sources and each of destinations of a leaf; the LID encodes the first."""
    hosts, uplinks = _require(tiers, "osrm2", 2)
    a, b = best_grid(hosts, uplinks)
    rule = _rule([place // ceil(hosts / a) for place in range(hosts)])

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return np.asarray(offset % a * b + place % hosts // ceil(hosts / b))

    return EnginePlan("osrm2", tiers, (a - 1).bit_length(), rule, False, want)


def _osrm2_c(tiers: Tiers) -> EnginePlan:
    """Plan OSRM2 by covers, which is optimal; the LID encodes the source's place."""
    hosts, uplinks = _require(tiers, "osrm2-c", 2)
    if hosts != uplinks:
        raise RoutingError(f"osrm2-c needs as many cables up as hosts at a leaf, this tree has {uplinks} and {hosts}")
    lids = fewest_lids(hosts)

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return cover_root(np.full_like(place, offset % hosts), place % hosts, hosts, lids)

    return EnginePlan("osrm2-c", tiers, (hosts - 1).bit_length(), _rule(list(range(hosts))), False, want)


def _rule(offsets: list[int]) -> str:
    return "-".join(map(str, offsets))


_PLANS: dict[str, Callable[[Tiers], EnginePlan]] = {
    "osrm3-d": _osrm3_d,
    "osrm3": _osrm3,
    "osrm2": _osrm2,
    "osrm2-c": _osrm2_c,
    "dmodk": _dmodk,
}

#: Dimension order on grids, and the engines for grids with several routes of a pair.
DATELINE, SPREAD_ENGINES = "dor-dateline", ("minimal", "two-turn")

#: Engines for grids, whose lanes can need a plug-in of OpenSM; ``auto`` tries the first one alone.
GRID_ENGINES = (DATELINE, *SPREAD_ENGINES)

#: Engines for fat trees, the preferred ones first; ``updown`` and ``layered`` for any fabric; those for grids.
ENGINES = (*_PLANS, "updown", "layered", *GRID_ENGINES)
