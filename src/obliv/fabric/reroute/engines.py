"""Engines: by which port upwards the hosts of a fat tree are reached, and which of their LIDs a source uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.shape.tree import Shape
from obliv.routings.trees.covers import best_grid, cover_root, fewest_lids

__all__ = ["DATELINE", "ENGINES", "GRID_ENGINES", "SPREAD_ENGINES", "EnginePlan", "plan_engine"]


@dataclass(frozen=True, eq=False)
class EnginePlan:
    """The ports upwards that an engine chooses.

    Parameters
    ----------
    engine : str
    shape : Shape or None
        The fat tree; None on any other fabric, where no port is preferred.
    lmc : int
        Every host needs 2**lmc LIDs.
    offset : str
        Which of them a source uses, as :func:`obliv.fabric.routes.classes.offsets_of` takes it.
    shifted : bool
        Whether a leaf adds its place in its sub-tree to the number of the port.
    want : callable
        ``want(level, offset, leaf, place)``: the number of the port upwards at the switches of a level, 0 for leaves,
        for hosts with these leaves and places.
    """

    engine: str
    shape: Shape | None
    lmc: int
    offset: str
    shifted: bool
    want: Callable[[int, int, Array, Array], Array]


def plan_engine(engine: str, shape: Shape | None) -> EnginePlan:
    """Return the plan of an engine of `ENGINES` on the fat tree of a fabric, if it has one.

    Raises
    ------
    RoutingError
        If the engine does not fit the tree.
    """
    if engine == "updown":
        return EnginePlan(engine, None, 0, "0", False, lambda level, offset, leaf, place: np.zeros_like(place))
    if shape is None:
        raise RoutingError(f"{engine} is for fat trees, and this fabric is not recognized as one: use updown")
    return _PLANS[engine](shape)


def _require(shape: Shape, engine: str, levels: int) -> tuple[int, int]:
    if shape.levels != levels:
        raise RoutingError(f"{engine} is for fat trees of {levels} levels of switches, this one has {shape.levels}")
    return shape.children[0], shape.parents[1] * shape.cables[1]


def _dmodk(shape: Shape) -> EnginePlan:
    """Plan D-mod-k: the destination's digits, the last one at the leaf."""
    hosts = shape.children[0]
    uplinks = [shape.parents[level] * shape.cables[level] for level in range(1, shape.levels)]

    def want(level: int, offset: int, leaf: Array, place: Array) -> Array:
        number = leaf * hosts + place
        for count in uplinks[:level]:
            number = number // count
        return np.asarray(number)

    return EnginePlan("dmodk", shape, 0, "0", False, want)


def _osrm3_d(shape: Shape) -> EnginePlan:
    """Plan OSRM3-D: the leaf's own place plus the destination's at its leaf; above, the destination's."""
    _require(shape, "osrm3-d", 3)
    return EnginePlan("osrm3-d", shape, 0, "0", True, lambda level, offset, leaf, place: place)


def _osrm3(shape: Shape) -> EnginePlan:
    """Plan OSRM3: the source's place at its leaf, which the LID encodes; above, the destination's."""
    hosts, uplinks = _require(shape, "osrm3", 3)
    many = min(hosts, uplinks)
    rule = _rule([place % many for place in range(hosts)])
    lmc = (many - 1).bit_length()

    def want(level: int, offset: int, leaf: Array, place: Array) -> Array:
        return place if level else np.full_like(place, offset % many)

    return EnginePlan("osrm3", shape, lmc, rule, False, want)


def _osrm2(shape: Shape) -> EnginePlan:
    """Plan OSRM2: a root for each group of sources and each of destinations of a leaf; the LID encodes the first."""
    hosts, uplinks = _require(shape, "osrm2", 2)
    a, b = best_grid(hosts, uplinks)
    rule = _rule([place // ceil(hosts / a) for place in range(hosts)])

    def want(level: int, offset: int, leaf: Array, place: Array) -> Array:
        return np.asarray(offset % a * b + place % hosts // ceil(hosts / b))

    return EnginePlan("osrm2", shape, (a - 1).bit_length(), rule, False, want)


def _osrm2_c(shape: Shape) -> EnginePlan:
    """Plan OSRM2 by covers, which is optimal; the LID encodes the source's place."""
    hosts, uplinks = _require(shape, "osrm2-c", 2)
    if hosts != uplinks:
        raise RoutingError(f"osrm2-c needs as many cables up as hosts at a leaf, this tree has {uplinks} and {hosts}")
    lids = fewest_lids(hosts)

    def want(level: int, offset: int, leaf: Array, place: Array) -> Array:
        return cover_root(np.full_like(place, offset % hosts), place % hosts, hosts, lids)

    return EnginePlan("osrm2-c", shape, (hosts - 1).bit_length(), _rule(list(range(hosts))), False, want)


def _rule(offsets: list[int]) -> str:
    return "-".join(map(str, offsets))


_PLANS: dict[str, Callable[[Shape], EnginePlan]] = {
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
