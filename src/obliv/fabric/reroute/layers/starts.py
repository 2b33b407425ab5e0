"""Routes to start from: balanced shortest ones, and dimension order on grids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.kernels.shortest import shortest_routes
from obliv.kernels import run
from obliv.topologies.axes import Axis
from obliv.topologies.cartesian import Cartesian
from obliv.topologies.recognise.grid import Grid

__all__ = ["balanced_shortest", "dimension_order", "starting_routes"]


def starting_routes(switches: Switches, grid: Grid | None) -> Iterator[tuple[str, Array]]:
    """Yield routes and their names: shortest ones, and dimension order where the switches form a grid."""
    shortest = balanced_shortest(switches)
    yield "shortest", shortest
    if grid is not None:
        yield "dor", dimension_order(switches, grid, shortest)


def balanced_shortest(switches: Switches) -> Array:
    """Return shortest routes that use channels about equally often, shape (destinations, switches)."""
    routes = np.empty((len(switches.home), len(switches.hosts)), np.int32)
    order = np.random.default_rng(0).permutation(len(routes))
    run(shortest_routes, 20.0 * routes.size, order, switches, routes)
    return routes


def dimension_order(switches: Switches, grid: Grid, spare: Array) -> Array:
    """Return routes that correct the coordinates one after another, the first one first.

    Routes to a destination that would miss a link or a place of the grid are replaced by those of `spare`. On tori,
    half of the switches halfway round go each way.
    """
    number = grid.number.tolist()
    channels: dict[tuple[int, int], list[int]] = {}
    for c, (u, v) in enumerate(zip(switches.tail.tolist(), switches.head.tolist(), strict=True)):
        channels.setdefault((number[u], number[v]), []).append(c)
    routes = spare.copy()
    hops: dict[int, list[list[int]]] = {}
    for d, goal in enumerate(switches.home.tolist()):
        if goal not in hops:
            hops[goal] = [
                channels.get((at, _next(grid.shape, at, number[goal])), []) if min(at, number[goal]) >= 0 else []
                for at in number
            ]
        if all(choice or u == goal for u, choice in enumerate(hops[goal])):
            routes[d] = [-1 if u == goal else choice[d % len(choice)] for u, choice in enumerate(hops[goal])]
    return routes


def _next(shape: Cartesian, at: int, goal: int) -> int:
    """Return the next place on the way to another one."""
    dimensions = zip(shape.axes, shape.strides, shape.coordinates(at), shape.coordinates(goal), strict=True)
    for axis, stride, x, y in dimensions:
        if x != y:
            return at + stride * (_after(axis, x, y) - x)
    return at


def _after(axis: Axis, x: int, y: int) -> int:
    """Return the coordinate after x on the way to y."""
    if axis.kind == "clique":
        return y
    if axis.kind == "line":
        return x + (1 if y > x else -1)
    ahead = (y - x) % axis.radix
    up = 2 * ahead < axis.radix or (2 * ahead == axis.radix and x % 2 == 0)
    return (x + (1 if up else -1)) % axis.radix
