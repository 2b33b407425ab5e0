"""Dimension order on a grid with missing cables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.topologies.recognise.grid import Grid

__all__ = ["Cables", "DimensionOrder", "routes_round_gaps"]

_FEWEST = 4  # coordinates of a ring where packets can wait for each other in a cycle


@dataclass(frozen=True, eq=False)
class DimensionOrder:
    """Routes in dimension order, and the datelines of rings.

    Parameters
    ----------
    routes : int32 array, shape (destinations, switches)
        The channel that every switch takes for every host, -1 where there is none.
    dimension : int64 array, shape (channels,)
        The number of the dimension with datelines in which each channel leads, -1 for other channels.
    crosses : bool array, shape (channels,)
        Whether the channel crosses a dateline.
    dimensions : int
        The number of dimensions with datelines.
    """

    routes: Array
    dimension: Array
    crosses: Array
    dimensions: int


def routes_round_gaps(switches: Switches, grid: Grid) -> DimensionOrder:
    """Return routes that correct the coordinates one after another, the first one first.

    In a ring they go the shorter way, half of the switches halfway round each way; where that way misses a cable, they
    go the other way. Hosts that cannot be reached so have no route.

    Parameters
    ----------
    switches : Switches
    grid : Grid
        Of the switches.
    """
    count = len(switches.hosts)
    radices = np.array([axis.radix for axis in grid.shape.axes])
    strides = np.array(grid.shape.strides)
    at = np.where(grid.number[:, None] >= 0, grid.number[:, None] // strides % radices, -1)
    switch_of = np.full(int(radices.prod()), -1, np.int64)
    switch_of[grid.number[grid.number >= 0]] = np.flatnonzero(grid.number >= 0)
    cables = Cables(switches)
    homes, which = np.unique(switches.home, return_inverse=True)
    following = np.full((len(homes), count), -1, np.int64)
    goals = at[homes]
    undecided = (grid.number[homes] >= 0)[:, None] & (grid.number >= 0)[None, :]
    dimension = np.full(len(switches.tail), -1, np.int64)
    crosses = np.zeros(len(switches.tail), bool)
    dimensions = 0
    tail, head = at[switches.tail], at[switches.head]
    for k, axis in enumerate(grid.shape.axes):
        n, stride = int(radices[k]), int(strides[k])
        x, y = at[None, :, k], goals[:, None, k]
        here = undecided & (x != y)
        if axis.kind == "clique" and n > 3:
            after = y
        else:
            gaps = _gaps(cables, grid.number, switch_of, at[:, k], n, stride)
            after = _along(x, y, gaps, n)
            if n >= _FEWEST and (gaps[:, n] == 0).any():  # some ring is closed
                along = (tail[:, k] != head[:, k]) & (tail >= 0).all(axis=1) & (head >= 0).all(axis=1)
                dimension[along] = dimensions
                crosses |= along & (np.abs(tail[:, k] - head[:, k]) == n - 1)
                dimensions += 1
        place = grid.number[None, :] + (after - x) * stride
        following[here] = np.where(after >= 0, switch_of[np.where(after >= 0, place, 0)], -1)[here]
        undecided &= ~here
    routes = np.empty((len(switches.home), count), np.int32)
    for d, row in enumerate(which.ravel().tolist()):
        routes[d] = cables.channel(np.arange(count), following[row], d)
    return DimensionOrder(_whole(routes, switches), dimension, crosses, dimensions)


class Cables:
    """The channels between pairs of switches."""

    def __init__(self, switches: Switches) -> None:
        self.count = len(switches.hosts)
        key = switches.tail.astype(np.int64) * self.count + switches.head
        self.order = np.argsort(key, kind="stable")
        self.key, self.first, self.many = np.unique(key[self.order], return_index=True, return_counts=True)

    def channel(self, tail: Array, head: Array, number: int) -> Array:
        """Return one of the channels from each switch to another one, -1 where there is none."""
        if not len(self.key):
            return np.full(np.broadcast_shapes(tail.shape, head.shape), -1)
        key = tail * self.count + head
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        there = (head >= 0) & (tail >= 0) & (self.key[place] == key)
        return np.where(there, self.order[self.first[place] + number % self.many[place]], -1)


def _gaps(cables: Cables, number: Array, switch_of: Array, x: Array, n: int, stride: int) -> Array:
    """Return for every switch, and i up to 2n, how many of its ring's first i links are missing; twice round.

    Link i leads from coordinate i to i + 1; a line is a ring without its last link.
    """
    start = np.where(number >= 0, number - x * stride, 0)
    ring = switch_of[start[:, None] + np.arange(n + 1) % n * stride]
    up = cables.channel(ring[:, :-1], ring[:, 1:], 0) >= 0
    down = cables.channel(ring[:, 1:], ring[:, :-1], 0) >= 0
    missing = np.tile(~(up & down), 2)
    return np.concatenate([np.zeros((len(number), 1), np.int64), missing.cumsum(axis=1)], axis=1)


def _along(x: Array, y: Array, gaps: Array, n: int) -> Array:
    """Return the coordinate after x on the way to y, -1 where both ways miss a link."""
    ahead, behind = (y - x) % n, (x - y) % n
    row = np.arange(len(gaps))[None, :]
    clear_up = gaps[row, np.maximum(x, 0) + ahead] == gaps[row, np.maximum(x, 0)]
    clear_down = gaps[row, np.maximum(y, 0) + behind] == gaps[row, np.maximum(y, 0)]
    preferred = (2 * ahead < n) | ((2 * ahead == n) & (x % 2 == 0))
    up = clear_up & (preferred | ~clear_down)
    return np.where(up, (x + 1) % n, np.where(clear_down, (x - 1) % n, -1))


def _whole(routes: Array, switches: Switches) -> Array:
    """Return the routes without those that end at a switch that has none."""
    head, routes = switches.head, routes.copy()
    rows = np.arange(len(routes))[:, None]
    at = np.broadcast_to(np.arange(routes.shape[1]), routes.shape).copy()
    while True:
        channel = routes[rows, at]
        moved = channel >= 0
        if not moved.any():
            break
        at = np.where(moved, head[channel], at)
    routes[at != switches.home[:, None]] = -1
    return routes
