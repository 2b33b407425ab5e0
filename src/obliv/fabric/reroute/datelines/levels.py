"""Service levels of routes with datelines, and the lanes of channels."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.lanes.tables import SLS
from obliv.fabric.reroute.datelines.routes import DimensionOrder

__all__ = ["add_turns", "crossings", "lanes_by_level", "with_lanes"]


def crossings(switches: Switches, order: DimensionOrder, routes: Array) -> Array:
    """Return for each route a number whose bit k is set where it crosses a dateline of dimension k."""
    bit = np.where(order.crosses, 1 << np.maximum(order.dimension, 0), 0)
    level = np.zeros(routes.shape, np.int64)
    rows = np.arange(len(routes))[:, None]
    at = np.broadcast_to(np.arange(routes.shape[1]), routes.shape).copy()
    while True:
        channel = routes[rows, at]
        moved = channel >= 0
        if not moved.any():
            return level
        level |= np.where(moved, bit[channel], 0)
        at = np.where(moved, switches.head[channel], at)


def lanes_by_level(dimensions: int, lanes: int) -> Array:
    """Return the lane of every service level in each dimension; the last row is for channels without a dateline.

    Bit k of a level is the lane in dimension k. The levels behind those of all combinations of bits stand for further
    lanes, one each, in all dimensions; those that are left are like the ones with the same lowest bits.
    """
    sl = np.arange(SLS)
    table = np.array([*((sl >> k) & 1 for k in range(dimensions)), np.zeros(SLS, np.int64)])
    further = range(2 if dimensions else 1, lanes)
    for level, lane in zip(range(1 << dimensions, SLS), further, strict=False):
        table[:, level] = lane
    return table


def with_lanes(switches: Switches, lanes: int) -> Switches:
    """Return the switches with a channel for every lane of each channel."""
    return switches._replace(
        tail=np.repeat(switches.tail, lanes),
        head=np.repeat(switches.head, lanes),
        first=(switches.first * lanes).astype(np.int32),
        unit=np.repeat(switches.unit, lanes),
    )


def add_turns(switches: Switches, routes: Array, level: Array, table: Array, turns: Array) -> None:
    """Note in `turns` which channels with their lanes follow each other on the routes whose level is not negative.

    Parameters
    ----------
    switches : Switches
    routes, level : int arrays, shape (destinations, switches)
    table : int array, shape (channels, levels)
        The lane of every level on each channel.
    turns : int32 array
        Of :func:`with_lanes`, as :attr:`~obliv.fabric.kernels.layers.Layers.turns` has them; changed.
    """
    lanes = len(turns) // len(switches.tail)
    row, source = np.nonzero((level >= 0) & (routes >= 0))
    sl, channel = level[row, source], routes[row, source]
    while len(row):
        after = routes[row, switches.head[channel]]
        on = after >= 0
        row, sl, channel, after = row[on], sl[on], channel[on], after[on]
        port = after * lanes + table[after, sl] - switches.first[switches.head[channel]] * lanes
        turns[channel * lanes + table[channel, sl], port] = 1
        channel = after
