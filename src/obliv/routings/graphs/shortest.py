"""Routings that fit any network: shortest paths, one or all of them."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.hops import Hops
from obliv.loads.splits import equal_split
from obliv.routings.graphs.distances import Distances, Recent
from obliv.routings.hops import HopRouting
from obliv.routings.lengths import Lengths
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["ECMP", "Shortest"]


class MinimalRouting(HopRouting):
    """Routings over shortest paths: every next hop is one channel closer to the destination."""

    one_path = False

    @cached_property
    def _recent(self) -> Recent[Array]:
        return Recent()

    def _distances(self, destination: int) -> Array:
        """Return the distances from all nodes to a destination."""
        return self._recent.get(destination, self._measured)

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
        far = self._distances(destination)
        first = self.topology.first_channel
        closer = far[node] - 1
        near = [c for c in range(first[node], first[node + 1]) if far[self.topology.head[c]] == closer]
        if node == destination or closer < 0:
            return []
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
