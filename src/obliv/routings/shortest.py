"""Routings for any network: one shortest path, all of them (ECMP), up*/down*; distances in a network."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import Progress
from obliv.errors import RoutingError
from obliv.kernels import kernel, run
from obliv.loads.base import PairLoads
from obliv.loads.stored import Hops
from obliv.loads.tree import equal_split
from obliv.routings.descriptions import Description
from obliv.routings.hops import HopRouting, hops_of
from obliv.routings.paths import Lengths
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology, heights_of

# Kernel: distances to destinations


@kernel
def distances_to(goals: Array, first_in: Array, tail_in: Array, far: Array, queue: Array) -> None:
    """Find the fewest channels from every node to the nearest of `goals`; -1 where there is no path."""
    for v in range(len(far)):
        far[v] = -1
    end = 0
    for goal in goals:
        if far[goal] < 0:
            far[goal] = 0
            queue[end] = goal
            end += 1
    begin = 0
    while begin < end:
        v = queue[begin]
        begin += 1
        for e in range(first_in[v], first_in[v + 1]):
            w = tail_in[e]
            if far[w] < 0:
                far[w] = far[v] + 1
                queue[end] = w
                end += 1


# Distances in a network, many times over


T = TypeVar("T")


class Distances:
    """Fewest channels from every node to given ones.

    Parameters
    ----------
    nodes : int
    tail, head : int arrays, shape (channels,)
    times : int
        About how often it will be called, which decides whether the kernel is compiled.

    Examples
    --------
    >>> ring = np.arange(6)
    >>> Distances(6, ring, (ring + 1) % 6)([0, 3]).tolist()
    [0, 2, 1, 0, 2, 1]
    """

    def __init__(self, nodes: int, tail: Array, head: Array, times: int = 1) -> None:
        order = np.argsort(head, kind="stable")
        first = starts(np.bincount(head, minlength=nodes))
        self._incoming = first.astype(np.int64), np.asarray(tail)[order].astype(np.int64)
        self._nodes = nodes
        self._work = 10.0 * len(order) * times

    def __call__(self, goals: Any) -> Array:
        """Return the distance from every node to the nearest of `goals`, -1 where no path leads there."""
        far, queue = np.empty(self._nodes, np.int64), np.empty(self._nodes, np.int64)
        run(distances_to, self._work, np.asarray(goals, np.int64), *self._incoming, far, queue)
        return far


class Recent(Generic[T]):
    """A small cache of a function of destinations, since callers ask for all packets of one destination together."""

    def __init__(self, most: int = 4) -> None:
        self._values: dict[int, T] = {}
        self._most = most

    def get(self, destination: int, make: Callable[[int], T]) -> T:
        """Return the value of a destination, computed if it is not in the cache."""
        value = self._values.get(destination)
        if value is None:
            value = make(destination)
            if len(self._values) >= self._most:
                self._values.clear()
            self._values[destination] = value
        return value


@register_routing("updown", example="updown")
class UpDown(HopRouting):
    """Up*/down* by destination: down as soon as a down path exists, otherwise up; equal splits over shortest paths.

    The roots of a fat tree are its own. Elsewhere they are the nodes farthest from all terminals; where every node is a
    terminal, or those roots do not connect all terminals, the first node of least eccentricity is the only root. Nodes
    nearer to the roots, or as near with lower numbers, are higher. Free of deadlock with one virtual channel.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.UpDown(obliv.random_regular(20, 4, seed=1))).channel_load
    Fraction(11, 2)
    """

    def __init__(self, topology: Topology, spec: str = "updown") -> None:
        super().__init__(topology, spec)

    @cached_property
    def _recent(self) -> Recent[tuple[Array, Array]]:
        return Recent()

    @cached_property
    def rank(self) -> Array:
        """The rank of every node, larger for nodes nearer to the roots; ranks differ except on fat trees."""
        topology = self.topology
        heights = heights_of(topology)
        if heights is not None:
            return heights.astype(np.int64)
        far = Distances(topology.nodes, topology.head, topology.tail, topology.nodes)  # along channels
        if len(topology.terminals) < topology.nodes:
            near = far(topology.terminals)
            rank = _heights(far(np.flatnonzero(near == near.max())))
            if _connects(topology, rank):
                return rank
        return _heights(far([int(np.argmin([far([v]).max() for v in range(topology.nodes)]))]))

    @cached_property
    def _up(self) -> Array:
        """Whether a channel leads up."""
        return np.asarray(self.rank[self.topology.head] > self.rank[self.topology.tail])

    @cached_property
    def _down(self) -> Distances:
        """Distances over channels that lead down."""
        topology, down = self.topology, ~self._up
        return Distances(topology.nodes, topology.tail[down], topology.head[down], len(topology.terminals))

    def _measured(self, destination: int) -> tuple[Array, Array]:
        """Return the hops from every node to a destination: by down channels only (-1 without a path), and at all."""
        topology, rank = self.topology, self.rank
        up = self._up
        down = self._down([destination])
        hops = down.copy()
        first = topology.first_channel
        for v in np.argsort(-rank, kind="stable").tolist():  # highest first, so that the nodes above are known
            if down[v] < 0:
                above = [hops[topology.head[c]] for c in range(first[v], first[v + 1]) if up[c]]
                reached = [h for h in above if h >= 0]
                hops[v] = min(reached) + 1 if reached else -1
        lost = topology.terminals[hops[topology.terminals] < 0]
        if len(lost):
            name = topology.name_of
            raise RoutingError(
                f"{self.spec}: no path up and down leads from {name(int(lost[0]))} to {name(destination)}"
            )
        return down, hops

    def _loads(self, progress: Progress) -> PairLoads:
        own_rank = type(self).rank is not UpDown.rank
        return (None if own_rank else equal_split(self.topology)) or super()._loads(progress)

    def next_hops(self, node: int, destination: int) -> list[int]:
        if node == destination:
            return []
        down, hops = self._recent.get(destination, self._measured)
        topology, rank = self.topology, self.rank
        channels = range(topology.first_channel[node], topology.first_channel[node + 1])
        head = topology.head
        if down[node] >= 0:
            return [c for c in channels if rank[head[c]] < rank[node] and down[head[c]] == down[node] - 1]
        return [
            c for c in channels if rank[head[c]] > rank[node] and hops[node] > 0 and hops[head[c]] == hops[node] - 1
        ]


def _heights(depth: Array) -> Array:
    """Return a different rank for every node: larger for less depth, and at equal depth for lower numbers."""
    order = np.lexsort((np.arange(len(depth)), depth))
    rank: Array = np.empty(len(depth), np.int64)
    rank[order] = np.arange(len(depth))[::-1]
    return rank


def _connects(topology: Topology, rank: Array) -> bool:
    """Return whether a path up and down leads from every terminal to every other."""
    first, head = topology.first_channel.tolist(), topology.head.tolist()
    ends = sum(1 << v for v in topology.terminals.tolist())
    below = [0] * topology.nodes  # terminals that are reached down from a node, as bits
    for v in np.argsort(rank, kind="stable").tolist():
        below[v] = 1 << v & ends
        for c in range(first[v], first[v + 1]):
            if rank[head[c]] < rank[v]:
                below[v] |= below[head[c]]
    reached = below  # up and down
    for v in np.argsort(-rank, kind="stable").tolist():
        for c in range(first[v], first[v + 1]):
            if rank[head[c]] > rank[v]:
                reached[v] |= reached[head[c]]
    return all(reached[v] == ends for v in topology.terminals.tolist())


# Routings that fit any network: shortest paths, one or all of them


class MinimalRouting(HopRouting):
    """Routings over shortest paths: every next hop is one channel closer to the destination."""

    one_path = False

    def describe(self) -> tuple[Description, ...]:
        own = type(self).next_hops is not MinimalRouting.next_hops
        return (hops_of(self)._replace(nearest="" if own else "first" if self.one_path else "all"),)

    @cached_property
    def _recent(self) -> Recent[Array]:
        return Recent()

    def _distances(self, destination: int) -> Array:
        """Return the distances from all nodes to a destination."""
        return self._recent.get(destination, self._measured)

    @cached_property
    def _listed(self) -> Recent[list[int]]:
        return Recent()

    @cached_property
    def _ends(self) -> tuple[list[int], list[int]]:
        return self.topology.first_channel.tolist(), self.topology.head.tolist()

    @cached_property
    def _far(self) -> Distances:
        topology = self.topology
        return Distances(topology.nodes, topology.tail, topology.head, len(topology.terminals))

    def _measured(self, destination: int) -> Array:
        far = self._far([destination])
        if (far[self.topology.terminals] < 0).any():
            lost = int(self.topology.terminals[np.argmax(far[self.topology.terminals] < 0)])
            name = self.topology.name_of
            raise RoutingError(f"{self.spec}: {name(destination)} cannot be reached from {name(lost)}")
        return far

    def next_hops(self, node: int, destination: int) -> list[int]:
        far = self._listed.get(destination, lambda end: self._distances(end).tolist())
        first, head = self._ends
        closer = far[node] - 1
        if closer < 0:
            return []
        near = [c for c in range(first[node], first[node + 1]) if far[head[c]] == closer]
        return near[:1] if self.one_path else near

    def path_lengths(self, progress: Progress) -> Lengths:
        counts = np.zeros(self.topology.nodes, np.int64)
        terminals = self.topology.terminals
        for done, destination in enumerate(terminals.tolist(), 1):
            counts += np.bincount(self._measured(destination)[terminals], minlength=len(counts))
            progress("path lengths", done / len(terminals))
        return {h: Fraction(count) for h, count in enumerate(counts.tolist()) if count}

    def _loads(self, progress: Progress) -> PairLoads:
        split = None if self.one_path else equal_split(self.topology)
        return split or super()._loads(progress)

    def hops_to(self, destination: int) -> Hops:
        topology = self.topology
        far = self._distances(destination)
        near = np.flatnonzero((far[topology.head] == far[topology.tail] - 1) & (far[topology.head] >= 0))
        if self.one_path:
            near = near[np.unique(topology.tail[near], return_index=True)[1]]
        return Hops.even(near, topology)


@register_routing("shortest", aliases=("min",))
class Shortest(MinimalRouting):
    """One shortest path per pair: at every node the lowest-numbered channel that leads closer.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.Shortest(obliv.random_regular(20, 4, seed=1))).channel_load
    Fraction(5, 1)
    """

    one_path = True

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology, "shortest")


@register_routing("ecmp")
class ECMP(MinimalRouting):
    """Equal split at every node over all channels on shortest paths (parallel channels count separately).

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.ECMP(obliv.random_regular(20, 4, seed=1))).channel_load
    Fraction(4, 1)
    """

    unnumbered = True

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology, "ecmp")
