"""Pair loads on fat trees: of routings from the numbers of their paths, and of equal splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from obliv._util.arrays import Array, addable
from obliv._util.progress import require_memory
from obliv.kernels import run
from obliv.loads._kernels import NumberedRoutes, PairPaths, add_flows, same_paths
from obliv.loads.base import PairLoads
from obliv.matching.solve import Weights, from_entries, members_of
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology
from obliv.topologies.trees import NumberedPaths, Tree

__all__ = ["SplitLoads", "TreeLoads", "Ways", "equal_split", "link_places"]


#: Numbers of the paths of pairs: arrays of sources and of destinations, which broadcast, to one of shape (..., K).
Ways = Callable[[Array, Array], Array]

_BLOCK = 1 << 22  # path numbers that are held at a time
_TOGETHER = 4  # most shifts of switches that are tried with one of hosts
_FEW = 1 << 16  # pairs of a channel up to which merging equal hosts is not worth its time
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
    classes : tuple of integer arrays, shape (hosts,), optional
        Class numbers of hosts as sources and as destinations. The path numbers of a pair depend only on the level of
        its turn and on these, so that channels and symmetries take time by classes and not by hosts. By default every
        destination is a class of its own, and so is every group of `alike` sources.
    """

    topology: Tree

    def __init__(
        self,
        topology: Tree,
        ways: Ways,
        spread: int = 1,
        alike: int = 1,
        classes: tuple[Array, Array] | None = None,
    ) -> None:
        self.topology = topology
        hosts = np.arange(topology.below[-1])
        self.classes = (hosts // alike, hosts) if classes is None else classes
        self.ways = ways
        self.denominator = spread
        self.alike = alike

    def describe(self) -> tuple[Any, ...]:
        return (NumberedPaths(self.topology, self.ways, self.alike),) if self.denominator == 1 else ()

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
        of_near, of_far = self.classes if up else self.classes[::-1]
        of_far = tree.turn(int(near[0]), far) * n + of_far[far]  # all near hosts meet a far one at the same level
        if len(near) * len(far) <= _FEW:
            rows, columns = near, far
        else:
            rows, columns = near[_places(of_near[near])], far[_places(of_far)]
        require_memory(48.0 * len(rows) * len(columns) * self.denominator, f"the paths over a link of {tree.spec}")
        source, destination = np.meshgrid(*((rows, columns) if up else (columns, rows)), indexing="ij")
        ways = self.ways(source, destination)
        used = tree.links_of(source[..., None], destination[..., None], ways, height, bool(up)) == number
        count = used.sum(axis=-1)
        hit = np.nonzero(count)
        weights = from_entries(source[hit], destination[hit], count[hit].astype(np.int64))
        if rows is near:
            return weights
        near_members = (
            near,
            of_near[near],
            np.searchsorted(near, weights.row_members[1] if up else weights.column_members[1]),
        )
        far_members = far, of_far, np.searchsorted(far, weights.column_members[1] if up else weights.row_members[1])
        groups = [_groups(*side) for side in (near_members, far_members)]
        return replace(weights, row_members=groups[0 if up else 1], column_members=groups[1 if up else 0])

    def memory(self, channels: Array) -> float:
        tree, n = self.topology, self.terminals
        heights = range(tree.levels)
        pairs = np.zeros((2, tree.levels))
        different = [len(np.unique(of)) for of in self.classes]
        for way, kinds in enumerate((different[::-1], different)):
            for h in heights:
                rows = min(tree.below[h], kinds[0])
                pairs[way, h] = rows * min(n - tree.below[h], (tree.levels - h) * kinds[1])
        height, up, _ = self._place
        return 48.0 * self.denominator * float(pairs[up[channels], height[channels]].max(initial=0))

    def symmetries(self) -> list[Array]:
        # a rule may move with the hosts: then a shift of hosts is a symmetry together with shifts of the switches above
        kept, hosts, ports = [], [], []
        for g in map(np.asarray, self.topology.generators):
            if self.keeps(g):
                kept.append(g)
            elif np.array_equal(g[self.topology.terminals], self.topology.terminals):
                ports.append(g)
            else:
                hosts.append(g)
        for g in hosts:
            for count in range(1, min(len(ports), _TOGETHER) + 1):
                product = next(filter(self.keeps, (_product(g, some) for some in combinations(ports, count))), None)
                if product is not None:
                    kept.append(product)
                    break
        return kept

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
        for below in tree.below:
            image = place // below
            if not np.array_equal(image, image[np.arange(len(place)) // below * below]):
                return False
        work = 4.0 * self._paths_met(place)
        start = np.cumsum([0, *(tree.links(h) for h in range(tree.levels))])
        top = np.concatenate([tree.up_channel(h, np.arange(tree.links(h))) for h in range(tree.levels)])
        channel = np.stack([moved[top], top])
        balance = np.zeros(tree.channels, np.int64)
        for turn, source, destination in self._meetings(place):
            there, end = place[source], place[destination]
            level = np.full(len(source), turn)
            paths = PairPaths(self._tops(start, source, level), self.ways(source, destination))
            images = PairPaths(self._tops(start, there, level), self.ways(there, end))
            if not run(same_paths, work, paths, images, channel, balance):
                return False
        return True

    def _paths_met(self, place: Array) -> float:
        """Return an upper bound of the number of paths that :meth:`_keeps` compares."""
        tree, paths = self.topology, 0.0
        for turn in range(1, tree.levels + 1):
            groups = np.arange(0, self.terminals + 1, tree.below[turn])
            sources, destinations = (np.diff(np.searchsorted(ends, groups)) for ends in self._ends(turn, place))
            paths += float((sources.astype(np.float64) * destinations).sum())
        return paths * self.denominator

    def _ends(self, turn: int, place: Array) -> list[Array]:
        """Return sources, and destinations, that stand for all whose pairs turn at a level, also when moved."""
        n, below = self.terminals, self.topology.below[turn - 1]
        return [_places((np.arange(n) // below * n + of) * n + of[place]) for of in self.classes]

    def _meetings(self, place: Array) -> Iterator[tuple[int, Array, Array]]:
        """Yield pairs of hosts that stand for all pairs with the same links and path numbers, also when moved.

        Grouped by the level at which they turn: (level, sources, destinations).
        """
        tree, n = self.topology, self.terminals
        for turn in range(1, tree.levels + 1):
            below, size = tree.below[turn - 1], tree.below[turn]
            ends = self._ends(turn, place)
            for first in range(0, n, size):
                source, destination = (end[slice(*np.searchsorted(end, (first, first + size)))] for end in ends)
                step = max(1, _BLOCK // (len(destination) * self.denominator))
                for begin in range(0, len(source), step):
                    s, d = np.meshgrid(source[begin : begin + step], destination, indexing="ij")
                    apart = s // below != d // below
                    yield turn, s[apart], d[apart]

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


def _places(numbers: Array) -> Array:
    """Return the first place of every different number, in order."""
    return np.sort(np.unique(numbers, return_index=True)[1])


def _groups(members: Array, class_of: Array, chosen: Array) -> tuple[Array, Array]:
    """Return the members of the classes of some chosen places, as pointers and numbers."""
    ptr, places = members_of(class_of, class_of[chosen])
    return ptr, members[places]


def _product(first: Array, others: tuple[Array, ...]) -> Array:
    """Return the map that applies `first` and then the others."""
    for g in others:
        first = g[first]
    return first


# Pair loads of equal splits on fat trees: every link of a sub-tree carries the same share of what leaves or enters it.
#
# A shortest path from a host of a fat tree climbs until its sub-tree holds the destination, and descends to it by the
# only way down. Every up link on the way is closer to the destination, and no other channel is. So an equal split over
# shortest paths (ECMP), over paths up and down, or over whole paths puts 1 / links on each of the links that lead up
# from a sub-tree, for every pair with the source inside and the destination outside, and likewise on those that lead
# down.


def equal_split(topology: Topology) -> SplitLoads | None:
    """Return the loads of equal splits over the shortest paths of a complete fat tree; None for other networks.

    Terminals may be any hosts, in any order. The channels are compared with those of the definition.
    """
    if not isinstance(topology, Tree) or (topology.terminals >= topology.below[-1]).any():
        return None
    links = [topology.links(height) for height in range(topology.levels)]
    if topology.channels != 2 * sum(links):
        return None
    for height, count in enumerate(links):
        sub, at = np.divmod(np.arange(count), topology.width[height + 1])
        lower = sub * topology.width[height] + at // topology.parents[height] + topology.first_node[height]
        upper = sub // topology.children[height] * topology.width[height + 1] + at + topology.first_node[height + 1]
        up, down = (f(height, np.arange(count)) for f in (topology.up_channel, topology.down_channel))
        for channel, tail, head in ((up, lower, upper), (down, upper, lower)):
            if not (np.array_equal(topology.tail[channel], tail) and np.array_equal(topology.head[channel], head)):
                return None
    return SplitLoads(topology)


class SplitLoads(PairLoads):
    """Loads of equal splits on a fat tree: one number for all pairs that cross a channel.

    Parameters
    ----------
    topology : Tree
        Whose terminals are hosts.
    """

    topology: Tree

    def __init__(self, topology: Tree) -> None:
        self.topology = topology
        # the lowest height at which one sub-tree holds all terminals
        height = next(h for h, below in enumerate(topology.below) if len(np.unique(topology.terminals // below)) < 2)
        self._shares = [topology.width[height] // width for width in topology.width[1 : height + 1]]
        self._shares += [0] * (topology.levels - height)
        self.denominator = topology.width[height]

    def without_self(self) -> PairLoads:
        return self  # a host reaches itself without a channel

    @cached_property
    def _place(self) -> tuple[Array, Array, Array]:
        """Height, direction (1 up) and sub-tree of every channel."""
        height, up, number = link_places(self.topology)
        return height, up, number // np.array(self.topology.width)[height + 1]

    def _subs(self, height: int) -> Array:
        """Return the sub-tree of each terminal."""
        return self.topology.terminals.astype(np.int64) // self.topology.below[height]

    def weights(self, channel: int) -> Weights:
        height, up, sub = (int(entry[channel]) for entry in self._place)
        inside = self._subs(height) == sub
        # one class of rows and one of columns; neither where no pair crosses the channel
        used = np.arange(int(inside.any() and not inside.all()))
        sides = [members_of(side, used + 1) for side in (inside, ~inside)]
        return Weights(
            ptr=np.arange(len(used) + 1, dtype=np.int64),
            col=used.astype(np.int32),
            weight=np.full(len(used), self._shares[height], np.int64),
            row_members=sides[1 - up],
            column_members=sides[up],
        )

    def totals(self) -> Array:
        height, _, sub = self._place
        totals = np.zeros(self.topology.channels, np.int64)
        for h, share in enumerate(self._shares):
            inside = np.bincount(self._subs(h), minlength=self.topology.below[-1] // self.topology.below[h])
            here = np.flatnonzero(height == h)
            totals[here] = (share * inside * (self.terminals - inside))[sub[here]]
        return totals

    def _carried(self, traffic: Traffic) -> Array:
        height, up, sub = self._place
        amount = addable(traffic.amount, self.denominator)
        carried: Array = np.zeros(self.topology.channels, amount.dtype)
        for h, share in enumerate(self._shares):
            subs = self._subs(h)
            ends = subs[traffic.destination], subs[traffic.source]  # of what comes down, of what goes up
            apart = ends[0] != ends[1]
            for direction, end in enumerate(ends):
                sums = np.zeros(self.topology.below[-1] // self.topology.below[h], amount.dtype)
                np.add.at(sums, end[apart], amount[apart])
                here = np.flatnonzero((height == h) & (up == direction))
                carried[here] = sums[sub[here]] * share
        return carried

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        # where links keep their height and those of a sub-tree stay together, it suffices that its terminals follow
        height, up, sub = self._place
        if not np.array_equal(height[moved], height) or not np.array_equal(up[moved], up):
            return super()._keeps(node_map, moved, place)
        for h in range(self.topology.levels):
            here, subs = np.flatnonzero(height == h), self._subs(h)
            image = np.zeros(self.topology.below[-1] // self.topology.below[h], np.int64)
            image[sub[here]] = sub[moved[here]]
            if not np.array_equal(image[sub[here]], sub[moved[here]]) or not np.array_equal(image[subs], subs[place]):
                return super()._keeps(node_map, moved, place)
        return True
