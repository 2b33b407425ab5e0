"""Dependencies of routings by next hops, many destinations at a time, no path enumerated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import starts
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.analysis.deadlocks.graph import Dependencies, distinct, short_cycle
from obliv.analysis.deadlocks.schemes import Move, Scheme, directions, find
from obliv.errors import RoutingError
from obliv.loads.hops import joined
from obliv.routings.hops import HopRouting
from obliv.topologies.axes import Directions

__all__ = ["count_paths", "follow_hops", "follow_two_phases"]

_STATES = 1 << 24  # (destination, channel, virtual channel) that are marked at a time


class Ends(NamedTuple):
    """The channels that a path may begin with, and those that it may end with."""

    begins: Array
    arrives: Array


@dataclass(frozen=True, eq=False)
class _Block:
    """Next hops towards some destinations; place k·nodes + v is node v on the way to the k-th."""

    nodes: int
    targets: Array
    ptr: Array
    channel: Array

    def onward(self, places: Array) -> tuple[Array, Array]:
        """Return the next hops of places: the number of the place among those given, and the channel."""
        counts = self.ptr[places + 1] - self.ptr[places]
        which = np.repeat(np.arange(len(places)), counts)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return which, self.channel[self.ptr[places][which] + nth]

    def arrived(self, places: Array) -> Array:
        """Return whether places are at their destination."""
        here: Array = self.targets[places // self.nodes] == places % self.nodes
        return here


def follow_hops(
    routing: HopRouting, scheme: Scheme, dependencies: Dependencies, progress: Progress, starts: Array
) -> Ends:
    """Add the dependencies of next hops of the packets from some nodes, for a scheme that only counts turns."""
    topology, where = routing.topology, directions(routing.topology, scheme)
    ends = Ends(np.zeros(topology.channels, bool), np.zeros(topology.channels, bool))
    classes = done = 1
    for block, sources in _blocks(routing, starts):
        _count(routing, block, sources)
        while not _spread(routing, scheme, block, sources, where, classes, dependencies, ends):
            classes *= 2
        done += len(block.targets)
        progress("dependencies", min(1.0, done / len(topology.terminals)))
    return ends


def count_paths(routing: HopRouting) -> float:
    """Return the number of paths along the next hops, between all terminals together."""
    return sum(_count(routing, block, sources) for block, sources in _blocks(routing, routing.topology.terminals))


def follow_two_phases(base: HopRouting, scheme: Scheme, dependencies: Dependencies, progress: Progress) -> None:
    """Add the dependencies of two phases by the same next hops, for a scheme that depends on the phase only."""
    topology = base.topology
    alone = Dependencies(topology.channels)
    ends = follow_hops(base, find("none"), alone, progress, topology.terminals)
    graph = alone.graph()
    tail, head = graph.channel[np.repeat(np.arange(len(graph.channel)), np.diff(graph.ptr))], graph.channel[graph.head]
    first, second = (
        dependencies.label((label, 0)) * topology.channels for label in scheme.labels([Move(0, 0, 0), Move(0, 0, 1)])
    )
    for start in (first, second):
        dependencies.use(graph.channel + start)
        dependencies.follow(tail + start, head + start)
    begins = np.flatnonzero(ends.begins)
    ptr = np.searchsorted(topology.tail[begins], np.arange(topology.nodes + 1))
    for c in np.flatnonzero(ends.arrives).tolist():
        node = int(topology.head[c])
        dependencies.follow(np.array(c + first), begins[ptr[node] : ptr[node + 1]] + second)


def _blocks(routing: HopRouting, starts: Array) -> Iterator[tuple[_Block, Array]]:
    """Yield the next hops towards all terminals, some at a time, and the places where packets from `starts` begin."""
    topology = routing.topology
    terminals = topology.terminals.astype(np.int64)
    size = max(1, min(64, _STATES // (8 * max(1, topology.channels))))
    for first in range(0, len(terminals), size):
        targets = terminals[first : first + size]
        hops = joined([routing.hops_to(target) for target in targets.tolist()])
        block = _Block(topology.nodes, targets, hops.ptr, hops.channel.astype(np.int64))
        places = (np.arange(len(targets))[:, None] * topology.nodes + starts).ravel()
        yield block, places[~block.arrived(places)]


def _spread(
    routing: HopRouting,
    scheme: Scheme,
    block: _Block,
    sources: Array,
    where: Directions,
    classes: int,
    dependencies: Dependencies,
    ends: Ends,
) -> bool:
    """Follow all packets hop by hop with the virtual channels that they hold; False if more classes are needed."""
    has_turned = scheme.turned
    if has_turned is None:
        raise RoutingError(f"scheme {scheme.name} depends on more than turns: paths must be followed one by one")
    head, channels = routing.topology.head.astype(np.int64), routing.topology.channels
    held = 2 * classes  # by class and dateline bit
    offset = np.array([dependencies.label((k // 2, k % 2)) for k in range(held)], np.int64) * channels
    seen = np.zeros(len(block.targets) * channels * held, bool)
    which, channel = block.onward(sources)
    ends.begins[channel] = True
    states = _new((sources[which] // block.nodes * channels + channel) * held, seen)
    while len(states):
        pair, vc = states // held, states % held
        channel, places = pair % channels, pair // channels * block.nodes + head[pair % channels]
        dependencies.use(channel + offset[vc])
        there = block.arrived(places)
        ends.arrives[channel[there]] = True
        pair, vc, channel, places = pair[~there], vc[~there], channel[~there], places[~there]
        which, after = block.onward(places)
        pair, vc, channel = pair[which], vc[which], channel[which]
        here, then = (where.dim[channel], where.step[channel]), (where.dim[after], where.step[after])
        turned = np.asarray(has_turned(*here, *then), bool)
        count = vc // 2 + turned
        if len(count) and count.max() >= classes:
            return False
        bit = np.zeros(len(vc), np.int64)
        if scheme.dateline:
            straight = ~turned & (here[0] == then[0]) & (here[1] == then[1])
            bit = (straight & ((vc % 2 > 0) | where.wraps[channel])).astype(np.int64)
        dependencies.follow(channel + offset[vc], after + offset[2 * count + bit])
        states = _new((pair // channels * channels + after) * held + 2 * count + bit, seen)
    return True


def _new(states: Array, seen: Array) -> Array:
    """Return the states that were not seen before, without duplicates, and mark them as seen."""
    fresh: Array = distinct(states[~seen[states]])
    seen[fresh] = True
    return fresh


def _count(routing: HopRouting, block: _Block, sources: Array) -> float:
    """Return the number of paths; RoutingError if next hops end before the destination or form a loop."""
    head = routing.topology.head.astype(np.int64)
    reached = np.zeros(len(block.targets) * block.nodes, bool)
    incoming = np.zeros(len(reached), np.int64)

    def onward(front: Array) -> tuple[Array, Array]:
        which, channel = block.onward(front)
        return which, front[which] // block.nodes * block.nodes + head[channel]

    front = _new(sources, reached)
    while len(front):
        front = front[~block.arrived(front)]
        stuck = front[block.ptr[front] == block.ptr[front + 1]]
        if len(stuck):
            here, end = _names(routing, block, int(stuck[0]))
            raise RoutingError(f"{routing.spec}: {here} has no next hop towards {end}")
        _, after = onward(front)
        np.add.at(incoming, after, 1)
        front = _new(after, reached)
    paths = np.zeros(len(reached))
    paths[sources] = 1.0
    total = 0.0
    front = np.flatnonzero(reached & (incoming == 0))
    while len(front):  # in topological order, so that the counts are complete
        reached[front] = False
        there = block.arrived(front)
        total += float(paths[front[there]].sum())
        front = front[~there]
        which, after = onward(front)
        np.add.at(paths, after, paths[front[which]])
        np.subtract.at(incoming, after, 1)
        front = distinct(after[incoming[after] == 0])
    if reached.any():
        _refuse_loop(routing, block, reached)
    return total


def _refuse_loop(routing: HopRouting, block: _Block, left: Array) -> None:
    places = np.flatnonzero(left & ~block.arrived(np.arange(len(left))))
    which, channel = block.onward(places)
    after = places[which] // block.nodes * block.nodes + routing.topology.head.astype(np.int64)[channel]
    ptr = starts(np.bincount(places[which], minlength=len(left)))
    circle = short_cycle(ptr, after)
    here, end = _names(routing, block, int(places[0]) if circle is None else circle[0])
    raise RoutingError(f"{routing.spec}: the next hops towards {end} form a loop through {here}")


def _names(routing: HopRouting, block: _Block, place: int) -> tuple[str, str]:
    """Describe a place: its node and its destination."""
    name = routing.topology.name_of
    return name(place % block.nodes), name(int(block.targets[place // block.nodes]))
