"""Pair loads of a routing on a fat tree, from the numbers of its paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from obliv._util.arrays import addable
from obliv._util.cost import Work, require_memory
from obliv._util.typing import Array
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.loads.kernels.tree import NumberedRoutes, PairPaths, add_flows, same_paths
from obliv.matching.weights import Weights, from_entries
from obliv.patterns.base import Traffic
from obliv.topologies.trees import NumberedPaths, Tree

__all__ = ["TreeLoads", "Ways", "link_places"]


#: Numbers of the paths of pairs: arrays of sources and of destinations, which broadcast, to one of shape (..., K).
Ways = Callable[[Array, Array], Array]

_BLOCK = 1 << 22  # path numbers that are held at a time
_MANY = 15_000  # flows from which on one pass of compiled code is worth a table of all path numbers


class TreeLoads(PairLoads):
    """Loads of K equally likely shortest paths per pair, given by their numbers: see :class:`obliv.Tree`.

    Parameters
    ----------
    topology : Tree
    ways : function
        Path numbers of pairs of hosts; a number may occur several times.
    spread : int
        K; the denominator.
    alike : int
        How many consecutive hosts have the same paths to all other hosts: 1, or the hosts of a leaf where forwarding
        goes by switch and destination.
    """

    topology: Tree

    def __init__(self, topology: Tree, ways: Ways, spread: int = 1, alike: int = 1) -> None:
        self.topology = topology
        self.ways = ways
        self.denominator = spread
        self.alike = alike

    @property
    def numbered_paths(self) -> NumberedPaths | None:
        return self if self.denominator == 1 else None

    def without_self(self) -> PairLoads:
        return self  # a host reaches itself without a channel

    @cached_property
    def _place(self) -> tuple[Array, Array, Array]:
        return link_places(self.topology)

    def weights(self, channel: int) -> Weights:
        tree, n = self.topology, self.terminals
        height, up, number = (int(entry[channel]) for entry in self._place)
        sub = number // tree.width[height + 1]
        near = np.arange(sub * tree.below[height], (sub + 1) * tree.below[height])
        far = np.concatenate([np.arange(near[0]), np.arange(near[-1] + 1, n)])
        require_memory(48.0 * len(near) * len(far) * self.denominator, f"the paths over a link of {tree.spec}")
        source, destination = np.meshgrid(*((near, far) if up else (far, near)), indexing="ij")
        ways = self.ways(source, destination)
        used = tree.links_of(source[..., None], destination[..., None], ways, height, bool(up)) == number
        count = used.sum(axis=-1)
        hit = np.nonzero(count)
        return from_entries(source[hit], destination[hit], count[hit].astype(np.int64))

    def work(self, channels: Array, symmetries: int = 0) -> Work:
        tree, n = self.topology, self.terminals
        inside = np.array(tree.below)[self._place[0][channels]]
        numbers = inside * (n - inside) * float(self.denominator)
        checks = 12e-9 * symmetries * n * n * self.denominator
        return Work(50e-9 * float(numbers.sum()) + checks, 48.0 * float(numbers.max(initial=0)))

    def _blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield all pairs, a few sources at a time."""
        n = self.terminals
        step = max(1, _BLOCK // (n * self.denominator))
        for first in range(0, n, step):
            source = np.arange(first, min(n, first + step))
            yield np.repeat(source, n), np.tile(np.arange(n), len(source))

    def _added(self, source: Array, destination: Array, amount: Array) -> Array:
        """Return Σ amount × numerator of some pairs, for every channel."""
        tree = self.topology
        total: Array = np.zeros(tree.channels, amount.dtype)
        turn, ways, width = tree.turn(source, destination), self.ways(source, destination), np.array(tree.width)
        for height in range(tree.levels):
            above = np.flatnonzero(turn > height)
            ports = ways[above] // (width // width[height + 1])[turn[above], None]
            for end, channel_of in ((source, tree.up_channel), (destination, tree.down_channel)):
                link = (end[above] // tree.below[height] * tree.width[height + 1])[:, None] + ports
                sums = np.zeros(tree.links(height), amount.dtype)
                np.add.at(sums, link, amount[above, None])
                total[channel_of(height, np.arange(len(sums)))] += sums
        return total

    def totals(self) -> Array:
        total = np.zeros(self.topology.channels, np.int64)
        for source, destination in self._blocks():
            total += self._added(source, destination, np.ones(len(source), np.int64))
        return total

    def _carried(self, traffic: Traffic) -> Array:
        amount = addable(traffic.amount, self.denominator)
        numbers = self.terminals**2 // self.alike
        small = self.denominator == 1 and amount.dtype != object and numbers <= _BLOCK
        if small and len(amount) > _MANY:
            return self._counted(traffic.source, traffic.destination, amount)
        total: Array = np.zeros(self.topology.channels, amount.dtype)
        step = max(1, _BLOCK // self.denominator)
        for first in range(0, len(amount), step):
            part = slice(first, first + step)
            source, destination = traffic.source[part].astype(np.int64), traffic.destination[part].astype(np.int64)
            total = total + self._added(source, destination, amount[part])
        return total

    @cached_property
    def _numbers(self) -> Array:
        """The path number of every row of alike hosts and every host, for one path per pair."""
        hosts = np.arange(self.terminals)
        ways = self.ways(hosts[:: self.alike, None], hosts)[..., 0]
        return ways.astype(np.min_scalar_type(self.topology.width[-1]), order="C")

    def _counted(self, source: Array, destination: Array, amount: Array) -> Array:
        """Return Σ amount of the flows on every channel, for one path per pair by the table of all path numbers."""
        tree = self.topology
        totals = np.zeros((2, tree.levels, max(map(tree.links, range(tree.levels)))), np.int64)
        hosts = np.arange(self.terminals)
        first = np.stack([hosts // tree.below[h] * tree.width[h + 1] for h in range(tree.levels)])
        routes = NumberedRoutes(self._numbers, self.alike, first, np.array(tree.parents, np.int64))
        run(add_flows, 20.0 * len(amount), routes, source, destination, amount, totals)
        height, up, number = self._place
        return np.asarray(totals[up, height, number])

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        # a shortest path is given by its ends and its topmost link, and an automorphism leaves turns where they are
        tree = self.topology
        start = np.cumsum([0, *(tree.links(h) for h in range(tree.levels))])
        top = np.concatenate([tree.up_channel(h, np.arange(tree.links(h))) for h in range(tree.levels)])
        channel = np.stack([moved[top], top])
        balance = np.zeros(tree.channels, np.int64)
        for source, destination in self._blocks():
            there, end = place[source], place[destination]
            turn = tree.turn(source, destination)
            if not np.array_equal(turn, tree.turn(there, end)):
                return False
            paths = PairPaths(self._tops(start, source, turn), self.ways(source, destination))
            image = PairPaths(self._tops(start, there, turn), self.ways(there, end))
            if not run(same_paths, 4.0 * paths.path.size, paths, image, channel, balance):
                return False
        return True

    def _tops(self, start: Array, source: Array, turn: Array) -> Array:
        """Return where the topmost up links of pairs begin in a list of all up links by height; -1 without."""
        below, width = np.array(self.topology.below), np.array(self.topology.width)
        height = np.maximum(turn - 1, 0)
        return np.where(turn > 0, start[height] + source // below[height] * width[height + 1], -1)


def link_places(tree: Tree) -> tuple[Array, Array, Array]:
    """Return height, direction (1 up) and number of every channel's link."""
    height, up, number = (np.zeros(tree.channels, np.int64) for _ in range(3))
    for h in range(tree.levels):
        every = np.arange(tree.links(h))
        for direction, channel in ((1, tree.up_channel(h, every)), (0, tree.down_channel(h, every))):
            height[channel], up[channel], number[channel] = h, direction, every
    return height, up, number
