"""Kernels: forwarding tables filled up and down over ranked switches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel
from obliv.routings.graphs._kernels import distances_to

__all__ = ["Goals", "Ranks", "Side", "climb_to", "fill_tables", "port_down", "port_up"]


class Side(NamedTuple):
    """Neighbors above or below, and the ports that lead there: those of switch v from ``first[v]`` on."""

    first: Array
    to: Array
    port: Array


class Ranks(NamedTuple):
    """Switches in strict order of rank, so that routes that go up and then down end.

    Parameters
    ----------
    order : int32 array, shape (switches,)
        Switches, highest first.
    up, down : Side
    ideal : uint8 array, shape (switches, most)
        Ports upwards by their number in the tree, parent by parent and then again for parallel cables; 0 if missing.
    size : int32 array, shape (switches,)
        The number of `ideal` ports; 0: no port; -1: any port will do.
    shift : int32 array, shape (switches,)
        What is added to the wanted number.
    level : int32 array, shape (switches,)
        In the tree, 0 for a leaf: the row of wanted ports.
    """

    order: Array
    up: Side
    down: Side
    ideal: Array
    size: Array
    shift: Array
    level: Array


class Goals(NamedTuple):
    """Destinations, sorted by their switch.

    Parameters
    ----------
    switch, port : int32 arrays, shape (columns,)
        The switch of every destination and its port there.
    want : int32 array, shape (levels, columns)
        The number of the wanted port, before the shift; downwards that of one of parallel cables.
    """

    switch: Array
    port: Array
    want: Array


@kernel
def fill_tables(ranks: Ranks, goals: Goals, step: int, out: Array) -> None:
    """Store the ports of all switches for all destinations.

    A packet goes up until a route down leads to its destination's switch and then goes down, by the fewest hops each
    time.  Of several ports the wanted one is taken if it is among them; else the port whose number in the tree is some
    steps further; else the least used one.

    Parameters
    ----------
    ranks : Ranks
    goals : Goals
    step : int
        How far to go on from a port that is missing, 0 for not at all.
    out : uint8 array, shape (switches, columns)
        Written; 255 where no route leads.
    """
    order, up, down, ideal, size, shift, level = ranks
    want = goals.want
    switches = len(order)
    near = np.full(switches, -1, np.int32)
    hops = np.full(switches, -1, np.int32)
    queue = np.empty(switches, np.int32)
    often_up = np.zeros(len(up.to), np.int32)
    often_down = np.zeros(len(down.to), np.int32)
    before = -1
    for column in range(len(goals.switch)):
        goal = goals.switch[column]
        if goal != before:
            before = goal
            distances_to(goals.switch[column : column + 1], up.first, up.to, near, queue)
            climb_to(order, up, near, hops)
        for v in range(switches):
            wanted = want[level[v], column]
            if v == goal:
                out[v, column] = goals.port[column]
            elif hops[v] < 0:
                out[v, column] = 255
            elif near[v] >= 0:
                out[v, column] = port_down(v, wanted if size[v] >= 0 else -1, near, down, often_down)
            else:
                number = (wanted + shift[v]) % size[v] if size[v] > 0 else -1
                out[v, column] = port_up(v, number, size[v], step, hops, ideal, up, often_up)


@kernel
def climb_to(order: Array, up: Side, near: Array, hops: Array) -> None:
    """Store the fewest hops of routes that go up, then down; `near` counts those that only go down, -1 for no route."""
    for v in order:
        hops[v] = near[v]
        if near[v] < 0:
            for e in range(up.first[v], up.first[v + 1]):
                far = hops[up.to[e]]
                if far >= 0 and (hops[v] < 0 or far + 1 < hops[v]):
                    hops[v] = far + 1


@kernel
def port_down(v: int, wanted: int, near: Array, down: Side, often: Array) -> int:
    """Return a port down the shortest route: number `wanted` among them, or for -1 the least used one."""
    best = -1
    fits = 0
    for e in range(down.first[v], down.first[v + 1]):
        if near[down.to[e]] == near[v] - 1:
            fits += 1
            if best < 0 or often[e] < often[best]:
                best = e
    if fits > 1 and wanted >= 0:
        chosen = wanted % fits
        for e in range(down.first[v], down.first[v + 1]):
            if near[down.to[e]] == near[v] - 1:
                if chosen == 0:
                    best = e
                chosen -= 1
    often[best] += 1
    return int(down.port[best])


@kernel
def port_up(v: int, number: int, size: int, step: int, hops: Array, ideal: Array, up: Side, often: Array) -> int:
    """Return a port up the shortest route: the port of that number, or one chosen as in :func:`fill_tables`."""
    best = -1
    if number >= 0:
        for _ in range(size):
            for e in range(up.first[v], up.first[v + 1]):
                if up.port[e] == ideal[v, number] and hops[up.to[e]] >= 0 and hops[up.to[e]] == hops[v] - 1:
                    best = e
            if best >= 0 or step == 0:
                break
            number = (number + step) % size
    if best < 0:
        for e in range(up.first[v], up.first[v + 1]):
            far = hops[up.to[e]]
            if far >= 0 and far == hops[v] - 1 and (best < 0 or often[e] < often[best]):
                best = e
        often[best] += 1
    return int(up.port[best])
