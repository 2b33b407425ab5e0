"""Up*/down*: packets climb towards the roots and come down, and never climb again."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.splits import equal_split
from obliv.routings.graphs.distances import Distances, Recent
from obliv.routings.hops import HopRouting
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["UpDown"]


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
        heights = topology.heights
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
