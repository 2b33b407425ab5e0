"""Oblivious routings of small congestion: Räcke's mix of decomposition trees, electrical flows; paths of a flow."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.progress import Progress, require_memory, silent
from obliv._util.rationals import boolean, integer
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.cuts import CutLoads, Cuts
from obliv.loads.mixed import DifferenceLoads
from obliv.routings.base import Routing
from obliv.routings.descriptions import ClusterTrees, DecompositionTree, Description
from obliv.routings.paths import Path, merged, terminal_numbers
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import LinkFlows, Links, links_of

# Paths of a flow between two nodes: the widest first, with the loops that the flow has


#: A path by its channels, and its amount.
_Part = tuple[tuple[int, ...], int]


def paths_of_flow(topology: Topology, flow: dict[int, int], source: int, destination: int, spec: str) -> list[_Part]:
    """Return paths whose amounts add up to a flow, channel by channel."""
    parts: list[_Part] = []
    while (path := _widest(topology, flow, source, destination)) is not None:
        parts.append((path, _take(flow, path)))
    while flow:
        loop = _loop(topology, flow)
        _attach(topology, parts, loop, _take(flow, loop), source, spec)
    return parts


def without_loops(topology: Topology, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return a path that goes on from the last visit of every node."""
    last = {int(topology.tail[channel]): k for k, channel in enumerate(path)}
    simple = []
    end = int(topology.head[path[-1]]) if path else -1
    node = int(topology.tail[path[0]]) if path else -1
    while node != end:
        simple.append(path[last[node]])
        node = int(topology.head[simple[-1]])
    return tuple(simple)


def _take(flow: dict[int, int], channels: tuple[int, ...]) -> int:
    """Take the least amount along some channels off a flow, and return it."""
    amount = min(flow[channel] for channel in channels)
    for channel in channels:
        flow[channel] -= amount
        if not flow[channel]:
            del flow[channel]
    return amount


def _widest(topology: Topology, flow: dict[int, int], source: int, destination: int) -> tuple[int, ...] | None:
    """Return the path of largest width; among equals the one with fewest channels, found first."""
    width: dict[int, tuple[int, int]] = {}
    into: dict[int, int] = {}
    heap = [(-sum(flow.values()), 0, source, -1)]
    while heap:
        negative, hops, node, channel = heapq.heappop(heap)
        if node in width:
            continue
        width[node] = negative, hops
        into[node] = channel
        if node == destination:
            path = []
            while node != source:
                path.append(into[node])
                node = int(topology.tail[into[node]])
            return tuple(path[::-1])
        for onward in range(int(topology.first_channel[node]), int(topology.first_channel[node + 1])):
            head = int(topology.head[onward])
            if onward in flow and head not in width:
                heapq.heappush(heap, (max(negative, -flow[onward]), hops + 1, head, onward))
    return None


def _loop(topology: Topology, flow: dict[int, int]) -> tuple[int, ...]:
    """Return a loop of a circulation: from its lowest channel along the lowest channels until a node comes again."""
    trail = [min(flow)]
    seen = {int(topology.tail[trail[0]]): 0}
    while (node := int(topology.head[trail[-1]])) not in seen:
        seen[node] = len(trail)
        first, end = int(topology.first_channel[node]), int(topology.first_channel[node + 1])
        trail.append(next(channel for channel in range(first, end) if channel in flow))
    return tuple(trail[seen[node] :])


def _attach(topology: Topology, parts: list[_Part], loop: tuple[int, ...], amount: int, source: int, spec: str) -> None:
    """Send packets of one path that touches a loop round it, as often as its amount asks for."""
    starts = {int(topology.tail[channel]): k for k, channel in enumerate(loop)}
    for number, (path, share) in enumerate(parts):
        nodes = [source, *(int(topology.head[channel]) for channel in path)]
        place = next((k for k, node in enumerate(nodes) if node in starts), None)
        if place is None:
            continue
        turn = starts[nodes[place]]
        once = loop[turn:] + loop[:turn]
        rounds, rest = divmod(amount, share)
        split = [(rounds, share - rest), (rounds + 1, rest)]
        parts[number : number + 1] = [
            (path[:place] + once * times + path[place:], part) for times, part in split if part
        ]
        return
    raise RoutingError(f"{spec}: the flow from {topology.name_of(source)} has a loop apart from its paths")


_LONGEST = 2**16  # largest length of a link; lengths are whole numbers from 1
_STEEPNESS = 6.0  # logarithm of the lengths' ratio between the most loaded link and one without load


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
    def trees(self) -> list[DecompositionTree]:
        """The trees, each taken with equal probability."""
        return decomposition_trees(self.topology, self.count, self.seed, self.spec, silent)

    def describe(self) -> tuple[Description, ...]:
        return (ClusterTrees(self.trees),) if self.loops else ()

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

    def _path(self, tree: DecompositionTree, source: int, destination: int) -> tuple[int, ...]:
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


def decomposition_trees(
    topology: Topology, count: int, seed: int, spec: str, progress: Progress
) -> list[DecompositionTree]:
    """Return random trees, each for lengths that grow with the load of those before it."""
    links = links_of(topology, spec)
    n = topology.nodes
    require_memory(40.0 * n * n, f"{count} trees of {topology.spec}")
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


def _tree(topology: Topology, links: Links, length: Array, rng: np.random.Generator, spec: str) -> DecompositionTree:
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


def _arranged(parent: Array, members: list[Array], up: list[tuple[int, ...]], terminals: int) -> DecompositionTree:
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
    return DecompositionTree(parent, first, first + size, order, leaf, up)


# Electrical flows as an oblivious routing: channels are resistors, their bandwidths conductances


_BITS = 40  # flows are multiples of 1/2**40
_COLUMNS = 256  # terminals that are solved at a time
_DENSE = 4096  # nodes up to which the inverse is faster than sparse factors, with all terminals as right-hand sides
_ROUNDS = 8  # of refinement at most


@register_routing("electrical")
class Electrical(Routing):
    """Electrical flow of each pair, with bandwidths as conductances, rounded to multiples of 1/2⁴⁰ of a packet.

    The flow of one unit of current from the source to the destination; packets follow it by at most one path per
    link. It needs a connected network in which every channel has an opposite of the same bandwidth.

    Notes
    -----
    What is built: the electrical unit flow from every terminal to the first one; each link outside a spanning tree
    (breadth first from the first terminal) carries it rounded to the nearest multiple of 2⁻⁴⁰, and those of the tree
    carry what conserves it exactly. The flow of a pair is the difference of the flows of its two ends: an exact unit
    flow, within 2⁻⁴⁰ of the electrical one on links outside the tree and within 2⁻⁴⁰ times the number of links on all
    others. Solutions are refined in integers before they are rounded, so that they do not depend on the solver.
    Paths are cut off the flow widest first; rounding can leave loops of some 2⁻⁴⁰ of a packet, which count as load.

    References
    ----------
    [HHN08] P. Harsha, T. Hayes, H. Narayanan, H. Räcke, J. Radhakrishnan, "Minimizing average latency in oblivious
    routing", SODA 2008.

    [KM11] J. Kelner, P. Maymounkov, "Electric routing and concurrent flow cutting", Theoretical Computer Science
    412(32), 2011.

    Examples
    --------
    >>> import obliv
    >>> ring = obliv.routing("electrical", obliv.ring(4))
    >>> [(len(channels), chance) for channels, chance in ring.paths(0, 1)]
    [(1, Fraction(3, 4)), (3, Fraction(1, 4))]
    >>> obliv.worst_case(ring).channel_load
    Fraction(1, 1)
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology, "electrical")
        links_of(topology, self.spec)

    @cached_property
    def _flows(self) -> LinkFlows:
        return electrical_flows(self.topology, silent)

    def describe(self) -> tuple[Description, ...]:
        return (self._flows,)

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        ends = terminal_numbers(self, source, destination)
        if source == destination:
            return
        flow = self._flows.between(*ends)
        used = np.flatnonzero(flow)
        amounts = dict(zip(used.tolist(), flow[used].tolist(), strict=True))
        for channels, amount in paths_of_flow(self.topology, amounts, source, destination, self.spec):
            yield channels, Fraction(amount, self._flows.denominator)

    def _loads(self, progress: Progress) -> PairLoads:
        if "_flows" not in vars(self):
            vars(self)["_flows"] = electrical_flows(self.topology, progress)
        return DifferenceLoads(self.topology, self._flows)


def electrical_flows(topology: Topology, progress: Progress) -> LinkFlows:
    """Return the electrical unit flow from every terminal to the first one, rounded and conserved exactly."""
    spec = "electrical"
    links = links_of(topology, spec)
    terminals = topology.terminals.astype(np.int64)
    count, sends = len(links.forward), len(terminals)
    require_memory(16.0 * count * sends, f"the electrical flows of {topology.spec}")
    root = int(terminals[0]) if sends else 0
    order, parent_link = _spanning_tree(topology, links, root)
    if (parent_link[terminals] < 0).sum() > (sends > 0):
        lost = next(node for node in terminals.tolist() if parent_link[node] < 0 and node != root)
        name = topology.name_of
        raise RoutingError(f"{spec}: {name(lost)} cannot be reached from {name(root)}; use a connected network")
    solver = _Potentials(topology, links, order)
    amount = np.zeros((count, sends), np.int64)
    for first in range(0, sends, _COLUMNS):
        nodes = terminals[first : first + _COLUMNS]
        amount[:, first : first + _COLUMNS] = _conserved(
            topology, links, order, parent_link, solver.flows(nodes), nodes
        )
        progress("electrical flows", min(1.0, (first + _COLUMNS) / sends))
    return LinkFlows(links, root, 2**_BITS, amount)


def _spanning_tree(topology: Topology, links: Links, root: int) -> tuple[Array, Array]:
    """Return the nodes that the root reaches, breadth first, and the link of each towards the root; -1 without."""
    parent: Array = np.full(topology.nodes, -1, np.int64)
    order, seen = [root], {root}
    for node in order:  # grows meanwhile
        for channel in range(int(topology.first_channel[node]), int(topology.first_channel[node + 1])):
            head = int(topology.head[channel])
            if head not in seen:
                seen.add(head)
                order.append(head)
                parent[head] = links.link[channel]
    return np.array(order), parent


class _Potentials:
    """Potentials of unit currents into the first node of a tree, solved with a sparse factorization and refined."""

    def __init__(self, topology: Topology, links: Links, order: Array) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.linalg import splu

        self.conductance = _conductances(topology, links)
        self.place = np.full(topology.nodes, -1, np.int64)
        self.place[order] = np.arange(len(order)) - 1  # the root is -1, and grounded
        self.size = len(order) - 1
        tail, head = (self.place[side[links.forward].astype(np.int64)] for side in (topology.tail, topology.head))
        reached = np.isin(topology.tail[links.forward], order)
        self.tail, self.head = np.where(reached, tail, -1), np.where(reached, head, -1)
        rows, columns, values = [], [], []
        for one, two in ((self.tail, self.head), (self.head, self.tail)):
            inside = one >= 0
            rows.append(one[inside])
            columns.append(one[inside])
            values.append(self.conductance[inside])
            both = inside & (two >= 0)
            rows.append(one[both])
            columns.append(two[both])
            values.append(-self.conductance[both])
        shape = (self.size, self.size)
        entries: Any = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        self.laplacian = coo_array(entries, shape=shape).tocsr()
        if self.size > _DENSE:
            options = {"SymmetricMode": True}
            matrix = self.laplacian.astype(float).tocsc()
            self.solve = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve
        elif self.size:
            self.solve = np.linalg.inv(self.laplacian.toarray().astype(float)).__matmul__

    def flows(self, nodes: Array) -> Array:
        """Return the currents over all links of one unit from each node, nearest integers in units of 1/2**_BITS."""
        if not self.size:
            return np.zeros((len(self.tail), len(nodes)), np.int64)
        place = self.place[nodes]
        inside = np.flatnonzero(place >= 0)
        current = np.zeros((self.size, len(nodes)), np.int64)
        current[place[inside], inside] = 2**_BITS
        potential = np.zeros((self.size + 1, len(nodes)), np.int64)  # the last row is the root
        rest = np.zeros((self.size + 1, len(nodes)))
        widest = int(self.conductance.max()) * int(np.diff(self.laplacian.indptr).max()) * 2
        for _ in range(_ROUNDS):
            rest[:-1] = self.solve((current - self.laplacian @ potential[:-1]).astype(float))
            step = np.rint(rest)
            if not step.any():
                break
            if (np.abs(potential).max() + np.abs(step).max()) * widest >= INT64_SAFE:
                raise RoutingError("electrical: the bandwidths differ too much for flows in 64 bits")
            potential += step.astype(np.int64)
            rest -= step
        if np.abs(rest).max() > 1:
            raise RoutingError("electrical: the bandwidths differ too much for an accurate solution")
        across = potential[self.tail] - potential[self.head]
        fine = np.rint((rest[self.tail] - rest[self.head]) * self.conductance[:, None]).astype(np.int64)
        flows: Array = across * self.conductance[:, None] + fine
        return flows


def _conductances(topology: Topology, links: Links) -> Array:
    """Return the bandwidths of all links as whole numbers without a common divisor."""
    speeds = [topology.bandwidth_of(channel) for channel in links.forward.tolist()]
    common = lcm(*(speed.denominator for speed in speeds))
    numbers = [int(speed * common) for speed in speeds]
    divisor = gcd(*numbers) or 1
    if max(numbers, default=0) // divisor >= 2**20:
        raise RoutingError(
            f"electrical: the bandwidths of {topology.spec} are multiples of {Fraction(divisor, common)} up to "
            f"{max(numbers) // divisor} times it; round them so that they are at most 2**20 times a common divisor"
        )
    return np.array([number // divisor for number in numbers], np.int64)


def _conserved(topology: Topology, links: Links, order: Array, parent_link: Array, flows: Array, nodes: Array) -> Array:
    """Return flows whose tree links carry what conserves them: one unit from each node to the root."""
    tail, head = topology.tail[links.forward], topology.head[links.forward]
    from scipy.sparse import csr_array

    flows[parent_link[order[1:]]] = 0
    excess = np.zeros((topology.nodes, len(nodes)), np.int64)
    excess[nodes, np.arange(len(nodes))] = 2**_BITS
    one, link = np.ones(len(tail), np.int64), np.arange(len(tail))
    shape = (topology.nodes, len(tail))
    excess += csr_array((one, (head, link)), shape) @ flows - csr_array((one, (tail, link)), shape) @ flows
    for node in order[:0:-1].tolist():  # leaves first
        tree_link = int(parent_link[node])
        outward = int(tail[tree_link]) == node
        flows[tree_link] = excess[node] if outward else -excess[node]
        excess[int(head[tree_link]) if outward else int(tail[tree_link])] += excess[node]
    return flows
