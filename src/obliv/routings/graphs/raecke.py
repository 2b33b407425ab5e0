"""Räcke's routing: a mix of random decomposition trees, each against what the ones before it load most."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import starts
from obliv._util.cost import Work, announce
from obliv._util.progress import Progress, silent
from obliv._util.rationals import boolean, integer
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.cuts import CutLoads, Cuts
from obliv.routings.base import Path, Routing
from obliv.routings.checks import merged, terminal_numbers
from obliv.routings.graphs.decompose import without_loops
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology
from obliv.topologies.links import Links, links_of

__all__ = ["Raecke"]

_LONGEST = 2**16  # largest length of a link; lengths are whole numbers from 1
_STEEPNESS = 6.0  # logarithm of the lengths' ratio between the most loaded link and one without load


class Tree(NamedTuple):
    """A decomposition tree over terminals: clusters in an order in which parents come first.

    Attributes
    ----------
    parent : int64 array
        Of every cluster; -1 for the first one, which contains all terminals.
    first, end : int64 arrays
        The terminals of every cluster, as an interval of `order`.
    order : int64 array
    leaf : int64 array
        The cluster of each terminal alone.
    up : list of tuple of int
        The channels from the center of every cluster to that of its parent.
    """

    parent: Array
    first: Array
    end: Array
    order: Array
    leaf: Array
    up: list[tuple[int, ...]]


@register_routing("raecke", example="raecke:trees=8,seed=1")
class Raecke(Routing):
    """Räcke's trees: each packet climbs a random decomposition tree of the network and comes down to its destination.

    Each tree is drawn with equal probability. A tree edge stands for a shortest path between the centers of its two
    clusters, so paths can visit a node twice; such loops stay in the paths and count as load unless they are removed.

    Parameters
    ----------
    topology : Topology
        Connected; every channel needs an opposite of the same bandwidth.
    trees : int
        Number of trees.
    seed : int
        Random seed; the same seed gives the same trees.
    loops : bool
        Whether loops stay in the paths; without them all paths are listed, which takes long on large networks.

    Notes
    -----
    Each tree is that of Fakcharoenphol, Rao and Talwar, with terminals as centers, for lengths that grow exponentially
    with the load of the trees before it (multiplicative weights). The load of a tree edge is the most that admissible
    traffic can send over it, the smaller number of terminals on its two sides; in Räcke's own scheme it is the capacity
    of the cluster's boundary.

    References
    ----------
    [Rae08] H. Räcke, "Optimal hierarchical decompositions for congestion minimization in networks", STOC 2008.

    [FRT03] J. Fakcharoenphol, S. Rao, K. Talwar, "A tight bound on approximating arbitrary metrics by tree metrics",
    STOC 2003.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("raecke:trees=4,seed=1", obliv.mesh(4, 4))
    >>> sum(chance for channels, chance in routing.paths(0, 15))
    Fraction(1, 1)
    """

    def __init__(self, topology: Topology, trees: int = 8, seed: int = 0, loops: bool = True) -> None:
        loops = boolean(loops, "loops")
        trees, seed = integer(trees, "raecke: trees"), integer(seed, "raecke: seed")
        super().__init__(topology, f"raecke:trees={trees},seed={seed}" + ",loops=false" * (not loops))
        if trees < 1:
            raise RoutingError(f"{self.spec}: at least one tree is needed")
        if seed < 0:
            raise RoutingError(f"{self.spec}: a random seed must be 0 or more")
        self.count, self.seed, self.loops = trees, seed, loops
        links_of(topology, self.spec)

    @cached_property
    def trees(self) -> list[Tree]:
        """The trees, each taken with equal probability."""
        return decomposition_trees(self.topology, self.count, self.seed, self.spec, silent)

    @property
    def cluster_trees(self) -> list[Tree] | None:
        return self.trees if self.loops else None

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        ends = terminal_numbers(self, source, destination)
        if source == destination:
            return iter(())
        share = Fraction(1, self.count)
        return merged((self._path(tree, *ends), share) for tree in self.trees)

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        tree = self.trees[int(rng.integers(self.count))]
        return self._path(tree, *terminal_numbers(self, source, destination))

    @cached_property
    def _opposite(self) -> Array:
        links = links_of(self.topology, self.spec)
        opposite = np.empty(self.topology.channels, np.int64)
        opposite[links.forward], opposite[links.backward] = links.backward, links.forward
        return opposite

    def _path(self, tree: Tree, source: int, destination: int) -> tuple[int, ...]:
        """Return the path of a pair of terminals: up to the smallest cluster of both, then down."""
        up: list[int] = []
        down: list[int] = []
        one, two = int(tree.leaf[source]), int(tree.leaf[destination])
        while one != two:  # parents have lower numbers
            if one > two:
                up += tree.up[one]
                one = int(tree.parent[one])
            else:
                down += tree.up[two]
                two = int(tree.parent[two])
        path = (*up, *self._opposite[down[::-1]].tolist()) if down else tuple(up)
        return path if self.loops else without_loops(self.topology, path)

    def _loads(self, progress: Progress) -> PairLoads:
        if not self.loops:
            return super()._loads(progress)
        if "trees" not in vars(self):
            vars(self)["trees"] = decomposition_trees(self.topology, self.count, self.seed, self.spec, progress)
        rows = []
        place = np.empty((self.count, len(self.topology.terminals)), np.int64)
        for number, tree in enumerate(self.trees):
            place[number, tree.order] = np.arange(len(tree.order))
            for cluster, channels in enumerate(tree.up):
                interval = (number, int(tree.first[cluster]), int(tree.end[cluster]))
                rows += [(channel, *interval, 1) for channel in channels]
                rows += [(channel, *interval, 0) for channel in self._opposite[list(channels)].tolist()]
        table = np.array(rows, np.int64).reshape(-1, 5)
        table = table[np.argsort(table[:, 0], kind="stable")]
        counts = np.bincount(table[:, 0], minlength=self.topology.channels)
        start = starts(counts)
        cuts = Cuts(start, table[:, 1], table[:, 2], table[:, 3], table[:, 4] == 1, place)
        return CutLoads(self.topology, cuts, self.count)


def decomposition_trees(topology: Topology, count: int, seed: int, spec: str, progress: Progress) -> list[Tree]:
    """Return random trees, each for lengths that grow with the load of those before it."""
    links = links_of(topology, spec)
    n = topology.nodes
    announce(progress, f"{count} trees of {topology.spec}", Work(4e-7 * n * n * count, 40.0 * n * n))
    rng = np.random.default_rng(seed)
    speed = np.array([float(topology.bandwidth_of(channel)) for channel in links.forward.tolist()])
    load = np.zeros(len(speed))
    trees = []
    for number in range(count):
        used = load / speed
        weight = np.exp(_STEEPNESS * used / used.max()) / speed if number and used.any() else 1 / speed
        length = np.maximum(1, np.rint(weight * (_LONGEST / weight.max(initial=1e-300)))).astype(np.int64)
        tree = _tree(topology, links, length, rng, spec)
        trees.append(tree)
        size = tree.end - tree.first
        side = np.minimum(size, len(tree.order) - size)
        for cluster, channels in enumerate(tree.up):
            np.add.at(load, links.link[list(channels)], side[cluster])
        progress("trees", (number + 1) / count)
    return trees


def _tree(topology: Topology, links: Links, length: Array, rng: np.random.Generator, spec: str) -> Tree:
    """Return the tree of Fakcharoenphol, Rao and Talwar for a permutation of the nodes and a scale, both random."""
    terminals = topology.terminals.astype(np.int64)
    distance = _distances(topology, length[links.link], spec)
    parent, center, members = _clusters(distance[:, terminals], rng)
    up = _paths(topology, links, length, terminals[np.array(center)], np.array(parent), distance, center)
    return _arranged(np.array(parent), members, up, terminals.size)


def _distances(topology: Topology, along: Array, spec: str) -> Array:
    """Return the distance of every node from every terminal, with a length for each channel."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    n, terminals = topology.nodes, topology.terminals.astype(np.int64)
    key = np.lexsort((along, topology.head, topology.tail))
    alone = np.unique((topology.tail.astype(np.int64) * n + topology.head)[key], return_index=True)[1]
    short = key[alone]  # the shortest of parallel channels
    ends = (topology.tail[short], topology.head[short])
    graph = coo_array((along[short].astype(float), ends), shape=(n, n)).tocsr()
    distance: Array = dijkstra(graph, indices=terminals)
    if len(terminals) and not np.isfinite(distance[0][terminals]).all():
        lost = int(terminals[np.argmin(np.isfinite(distance[0][terminals]))])
        name = topology.name_of
        raise RoutingError(f"{spec}: {name(lost)} cannot be reached from {name(int(terminals[0]))}")
    return distance


def _clusters(between: Array, rng: np.random.Generator) -> tuple[list[int], list[int], list[Array]]:
    """Return the parent, the center and the terminals of every cluster, given the distances between terminals.

    Clusters are divided by balls around the terminals in random order, with radii that are halved from level to level.
    """
    rank = rng.permutation(len(between))
    between = between[:, rank]  # to the terminals, as centers, in random order
    radius = float(2.0 ** rng.random())
    far = between.max(initial=0.0)
    while radius < far:
        radius *= 2
    parent, center, members = [-1], [int(rank[0]) if len(rank) else 0], [np.arange(len(rank))]
    level = [0]
    while level:
        radius /= 2
        below = []
        nearest = rank[np.argmax(between <= radius, axis=1)]
        for cluster in level:
            inside = members[cluster]
            if len(inside) == 1:
                continue
            groups = np.unique(nearest[inside])
            if len(groups) == 1:
                below.append(cluster)
                continue
            for group in groups.tolist():
                part = inside[nearest[inside] == group]
                parent.append(cluster)
                center.append(group if len(part) > 1 else int(part[0]))
                members.append(part)
                if len(part) > 1:
                    below.append(len(parent) - 1)
        level = below
    return parent, center, members


def _paths(
    topology: Topology, links: Links, length: Array, node: Array, parent: Array, distance: Array, center: list[int]
) -> list[tuple[int, ...]]:
    """Return the shortest path from every center to that of its parent, along the lowest channels that lead closer."""
    first, head = topology.first_channel.tolist(), topology.head.tolist()
    along = length[links.link].tolist()
    paths: list[tuple[int, ...]] = [()]
    for cluster in range(1, len(parent)):
        far = distance[center[parent[cluster]]]
        at, goal = int(node[cluster]), int(node[parent[cluster]])
        path = []
        while at != goal:
            channel = next(c for c in range(first[at], first[at + 1]) if far[head[c]] + along[c] == far[at])
            path.append(channel)
            at = head[channel]
        paths.append(tuple(path))
    return paths


def _arranged(parent: Array, members: list[Array], up: list[tuple[int, ...]], terminals: int) -> Tree:
    """Return a tree whose clusters are intervals of one order of the terminals."""
    first = np.zeros(len(parent), np.int64)
    filled = np.zeros(len(parent), np.int64)
    leaf = np.zeros(terminals, np.int64)
    order = np.zeros(terminals, np.int64)
    for cluster in range(len(parent)):
        above = int(parent[cluster])
        if above >= 0:
            first[cluster] = first[above] + filled[above]
            filled[above] += len(members[cluster])
        if len(members[cluster]) == 1:
            leaf[members[cluster]] = cluster
            order[first[cluster]] = members[cluster][0]
    size = np.array([len(inside) for inside in members], np.int64)
    return Tree(parent, first, first + size, order, leaf, up)
