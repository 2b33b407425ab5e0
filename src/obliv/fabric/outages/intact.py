"""Tables before a failure, laid out for many failures."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.arrays import grouped, starts
from obliv._util.typing import Array
from obliv.fabric.checks.credit_loops import dependencies_of
from obliv.fabric.kernels.failures import Intact, Space, intact_loads
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run

__all__ = ["intact_tables", "room", "unit_of"]


def unit_of(routing: FabricRouting) -> int:
    """Return the number by which loads are whole numbers: a common multiple of the bandwidths."""
    speeds = routing.topology.bandwidth or (Fraction(1),)
    return lcm(*{Fraction(1 / speed).denominator for speed in set(speeds)})


def intact_tables(routing: FabricRouting, most: int) -> tuple[Intact, Space]:
    """Return what tables do before a failure, with the worst load of every channel between switches.

    Parameters
    ----------
    routing : FabricRouting
        With one route a pair, on a fabric whose hosts all send at rate 1.
    most : int
        The largest number of channels that fail together.
    """
    topology, loads, routes = routing.topology, routing.fabric_loads, routing.routes
    start, pair, _ = loads.entries
    channels, classes, ends = topology.channels, routes.classes, loads.terminals
    speeds, unit = topology.bandwidth or (Fraction(1),) * channels, unit_of(routing)
    layer, first_after, after = _dependencies(routing)
    slot_of = topology.slot_of.astype(np.int64)
    intact = Intact(
        start=start,
        pair=pair,
        matched=np.zeros(len(pair), np.uint8),
        size=np.diff(routes.members[0]),
        unit=np.array([int(unit / speed) for speed in speeds], np.int64),
        load=np.zeros(channels, np.int64),
        order=np.arange(channels),
        rank=np.arange(channels),
        layer=layer,
        first_after=first_after,
        after=after,
        slot_of=slot_of,
        tail_of=topology.fabric.node_of[slot_of].astype(np.int64),
    )
    space = Space(
        failed=np.full(channels, -1, np.int32),
        other=np.full((most, len(routes.traces.lid)), -1, np.int16),
        stamp=np.zeros(classes * ends, np.int32),
        less=np.zeros(channels, np.int32),
        more=np.zeros(channels, np.int32),
        first_added=np.full(channels, -1, np.int32),
        next_added=np.empty(1024, np.int32),
        added=np.empty(1024, np.int64),
        touched=np.empty(channels, np.int64),
        first_new=np.full(channels, -1, np.int32),
        next_new=np.empty(1024, np.int32),
        new=np.empty(1024, np.int32),
    )
    run(intact_loads, 50.0 * len(pair), intact, space, ends)
    order = np.argsort(-intact.load, kind="stable")
    rank = np.empty(channels, np.int64)
    rank[order] = np.arange(channels)
    return intact._replace(order=order, rank=rank), space


def room(space: Space, size: int) -> Space:
    """Return the same space with room for longer lists of changed routes."""
    next_added, next_new, new = (np.empty(size, np.int32) for _ in range(3))
    return space._replace(next_added=next_added, added=np.empty(size, np.int64), next_new=next_new, new=new)


def _dependencies(routing: FabricRouting) -> tuple[Array, Array, Array]:
    """Return a number for every channel that rises along each dependency, and what comes right after each channel.

    The numbers are 0 if some dependencies form a cycle.
    """
    topology = routing.topology
    slots, first, after = dependencies_of(routing.routes.traces)
    channel = topology.channel_of[slots]
    before = np.repeat(np.arange(len(slots)), np.diff(first))
    layer = np.zeros(len(slots), np.int32)
    waiting = np.bincount(after, minlength=len(slots))
    ready, at, left = np.flatnonzero(waiting == 0), 0, len(slots)
    while len(ready):  # layer by layer
        layer[ready] = at
        left -= len(ready)
        size = np.diff(first)[ready]
        inside = np.arange(int(size.sum())) - np.repeat(starts(size)[:-1], size)
        heads = after[np.repeat(first[:-1][ready], size) + inside]
        waiting -= np.bincount(heads, minlength=len(slots))
        ready, at = np.unique(heads[waiting[heads] == 0]), at + 1
    found = np.zeros(topology.channels, np.int32)
    found[channel] = layer if not left else 0
    first_after, order = grouped(channel[before], topology.channels)
    return found, first_after, channel[after[order]]
