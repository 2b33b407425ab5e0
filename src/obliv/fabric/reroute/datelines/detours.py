"""Detours around switches and cables that dimension order lacks, and their service levels."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.kernels.layers import Layers, add_route, layers_for, remove_route
from obliv.fabric.lanes.tables import SLS
from obliv.fabric.reroute.datelines.levels import add_turns, crossings, lanes_by_level, with_lanes
from obliv.fabric.reroute.datelines.routes import DimensionOrder
from obliv.kernels import run

__all__ = ["with_detours"]

_CHOICES = 16  # detours that are tried for a destination
_SHORT = 6  # of these, the shortest ones
_SPREAD = 2.0  # channels by which others may seem longer


def with_detours(
    switches: Switches, order: DimensionOrder, routes: Array, homes: Array, lanes: int
) -> tuple[Array, Array] | None:
    """Return routes from all switches, and their service levels; None where a detour fits on no level.

    Routes in dimension order take the level of the datelines that they cross. Switches without such a route send to a
    neighbor that has one. They take the first level by which channels with their lanes wait for each other in no cycle.

    Parameters
    ----------
    switches : Switches
    order : DimensionOrder
    routes : int32 array, shape (destinations, switches)
        The channel that every switch takes to each of `homes` in dimension order, -1 where there is none.
    homes : int array, shape (destinations,)
        Switches with hosts.
    lanes : int
    """
    count, dimensions = len(switches.hosts), order.dimensions
    gaps = (routes < 0) & (np.arange(count) != homes[:, None])
    level = crossings(switches, order, routes)
    if not gaps.any():
        return routes, level
    routes = routes.copy()
    table = lanes_by_level(dimensions, lanes)[order.dimension]  # dimension -1: the last row
    wide = with_lanes(switches, lanes)
    require_memory(4.0 * len(wide.tail) * int(np.diff(wide.first).max()), "the dependencies of channels on all lanes")
    layers = layers_for(wide, 1)
    add_turns(switches, routes, np.where(gaps | (switches.hosts == 0), -1, level), table, layers.turns[0])
    usable = min(SLS, (1 << dimensions) + lanes - (2 if dimensions else 1))
    into: list[list[int]] = [[] for _ in range(count)]
    for c, head in enumerate(switches.head.tolist()):
        into[head].append(c)
    work = 1e3 * gaps.sum() * len(wide.tail)
    for i, goal in enumerate(homes.tolist()):
        if not gaps[i].any():
            continue
        for choice in range(_CHOICES):
            rng = np.random.default_rng([choice, i])
            far = 1.0 + _SPREAD * rng.random(len(switches.tail)) * (choice >= _SHORT)
            route = _completed(switches, into, routes[i], goal, far + 1e-6 * rng.random(len(far)))
            sources = np.flatnonzero(gaps[i] & (route >= 0) & (switches.hosts > 0)).tolist()
            through = [
                np.where(route >= 0, route * lanes + table[route, sl], -1).astype(np.int32) for sl in range(usable)
            ]
            found = _levels(sources, goal, through, wide, layers, work)
            if found is not None:
                routes[i] = route
                level[i, sources] = found
                break
        else:
            return None
    return routes, level


def _levels(
    sources: list[int], goal: int, through: list[Array], wide: Switches, layers: Layers, work: float
) -> list[int] | None:
    """Add the routes from some switches to a destination, and return their levels; None, and add none, if one fails."""
    found: list[int] = []
    for source in sources:
        for sl, route in enumerate(through):
            if run(add_route, work, 0, source, goal, route, wide, layers):
                found.append(sl)
                break
        else:
            for source, sl in zip(sources, found, strict=False):
                run(remove_route, work, 0, source, goal, through[sl], wide, layers)
            return None
    return found


def _completed(switches: Switches, into: list[list[int]], route: Array, goal: int, length: Array) -> Array:
    """Return a route to a destination for every switch from which cables lead there; those that have one keep it."""
    route = route.copy()
    far = _hops(switches, route, goal)
    heap = [(far[head] + length[c], c) for head in range(len(far)) if far[head] >= 0 for c in into[head]]
    heapify(heap)
    while heap:
        long, c = heappop(heap)
        tail = int(switches.tail[c])
        if far[tail] < 0:
            far[tail] = long
            route[tail] = c
            for before in into[tail]:
                heappush(heap, (long + length[before], before))
    return route


def _hops(switches: Switches, route: Array, goal: int) -> list[float]:
    """Return the number of channels from every switch to a destination, -1 without a route."""
    far = np.where(route < 0, -1.0, 0.0)
    far[goal] = 0
    at = np.where(route < 0, goal, np.arange(len(route)))
    while (moving := at != goal).any():
        far[moving] += 1
        at[moving] = switches.head[route[at[moving]]]
    return [float(hops) for hops in far]
