"""The fat tree and its properties, counted on small trees; sub-fat-trees, labels and routes (sections I to III, V)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import permutations, product

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import obliv
from obliv._util.arrays import Array
from obliv.fabric.generate import from_topology
from obliv.fabric.names import with_lids
from obliv.papers.paper import ComputedEntry, agreeing, exactly
from obliv.questions.ratio import max_link_load, optimal_load
from obliv.routings.trees import single_path

# The fat tree and its properties (sections I to III and V), counted on small trees


_TREES = ((4, 2), (8, 2), (12, 2), (4, 3), (6, 3), (8, 3), (4, 4), (6, 4))
_SMALL = ((4, 2), (8, 2), (4, 3), (6, 3), (4, 4))


def _binary(bandwidth: tuple[int, ...], parents: tuple[int, ...]) -> Callable[[], ComputedEntry]:
    def worst() -> ComputedEntry:
        tree = obliv.xgft((2, 2, 2), parents, bandwidth)
        return ComputedEntry(
            exactly(obliv.worst_case(obliv.OMRMN(tree)).channel_load), f"{tree.spec}, all paths equally."
        )

    return worst


def on_trees(
    trees: tuple[tuple[int, int], ...], fits: Callable[[obliv.Tree, int, int], bool]
) -> Callable[[], ComputedEntry]:
    """Return a function that counts the trees FT(m, n) of which a statement about (tree, m/2, n) is true."""
    return lambda: agreeing(((f"FT({m},{n})", fits(obliv.fattree(m, n), m // 2, n)) for m, n in trees), "trees")


def _sizes(tree: obliv.Tree, half: int, n: int) -> bool:
    hosts, switches = tree.below[-1], tree.nodes - tree.below[-1]
    return (hosts, switches) == (2 * half**n, (2 * n - 1) * half ** (n - 1))


def _degrees(tree: obliv.Tree, half: int, n: int) -> bool:
    return set(np.diff(tree.first_channel)[tree.below[-1] :].tolist()) == {2 * half}


def _hosts(m: int, n: int) -> Callable[[], ComputedEntry]:
    return lambda: ComputedEntry(Fraction(obliv.fattree(m, n).below[-1]))


def _property1(tree: obliv.Tree, half: int, n: int) -> bool:
    counts = [tree.below[-1] // tree.below[level] for level in range(n - 1, 0, -1)]
    return counts == [2 * half * half**above for above in range(n - 1)]


def _property2(tree: obliv.Tree, half: int, n: int) -> bool:
    """Compare the parts of the upper level switches that up-link ports lead to, for sub-trees of every height."""
    for level in range(1, n):
        part = connected(tree, level + 1, n)
        ports: dict[int, set[int]] = {}
        for link in range(tree.links(level)):
            switch = int(tree.head[tree.up_channel(level, link)])
            ports.setdefault(part[switch], set()).add(link % half**level)
        if sorted(ports.values(), key=min) != [{number} for number in range(half**level)]:
            return False
    return True


def up_links(tree: obliv.Tree) -> set[tuple[int, int]]:
    """Return the links, each with its lower end first."""
    return {(a, b) for a, b in zip(tree.tail.tolist(), tree.head.tolist(), strict=True) if a < b}


def connected(tree: obliv.Tree, low: int, high: int) -> dict[int, int]:
    """Return for every node of the levels from `low` to `high` the number of its connected part, by these levels."""
    nodes = range(tree.first_node[low], tree.first_node[high + 1])
    inside = np.isin(tree.tail, nodes) & np.isin(tree.head, nodes)
    ends = tree.tail[inside], tree.head[inside]
    part = connected_components(coo_array((np.ones(len(ends[0])), ends), (tree.nodes, tree.nodes)))[1]
    return {node: int(part[node]) for node in nodes}


def _property3(tree: obliv.Tree, half: int, n: int) -> bool:
    routing = obliv.OMRMN(tree)
    smallest = {d: next((level for level in range(1, n) if tree.below[level] > d), n) for d in range(1, tree.below[-1])}
    return all(sum(1 for _ in routing.paths(0, d)) == half ** (level - 1) for d, level in smallest.items())


def _property4(tree: obliv.Tree, half: int, n: int) -> bool:
    routing = obliv.OMRMN(tree)
    for d in range(1, tree.below[-1]):
        used = Counter(c for channels, _ in routing.paths(0, d) for c in channels)
        above = tree.turn(0, d) - 1
        if any(times != half ** (above - _height(tree, c)) for c, times in used.items()):
            return False
    return True


def _height(tree: obliv.Tree, channel: int) -> int:
    """Return the level of the lower end of a channel, 0 for the links of hosts."""
    return min(tree.level_of(int(tree.tail[channel])), tree.level_of(int(tree.head[channel])))


def _property5(tree: obliv.Tree, half: int, n: int) -> bool:
    loads = obliv.OMRMN(tree).pair_loads()
    for c in range(tree.channels):
        used = loads.on_channel(c).tocoo()
        up = tree.level_of(int(tree.head[c])) > tree.level_of(int(tree.tail[c]))
        if len(set((used.row if up else used.col).tolist())) > half ** _height(tree, c):
            return False
    return True


def _figure3() -> ComputedEntry:
    return ComputedEntry(Fraction(sum(1 for _ in obliv.OMRMN(obliv.fattree(4, 3)).paths(0, 15))))


def _corollary1() -> ComputedEntry:
    tree = obliv.fattree(8, 3)
    loads = obliv.OMRMN(tree).pair_loads()
    cases = []
    for spec in ("ring", "tree", "torus3d", "clustered:4", "hotspot:4,8", "bernoulli:1/10", "bernoulli:1/2"):
        for seed in range(4):
            traffic = obliv.traffic(f"{spec}{',' if ':' in spec else ':'}seed={seed}", tree)
            cases.append((traffic.spec, max_link_load(loads, traffic) == optimal_load(tree, traffic)))
    return agreeing(cases, "traffic matrices on FT(8,3)")


def _through_roots() -> ComputedEntry:
    cases = []
    for m, k in ((4, 3), (8, 6), (8, 8), (12, 5)):
        tree = obliv.eft2(m, k)
        hosts = np.arange(tree.below[-1])
        crossing = int((tree.turn(hosts[:, None], hosts) == 2).sum())
        cases.append((f"EFT2({m},{k})", crossing == k * (k - 1) * (m // 2) ** 2))
    return agreeing(cases, "trees")


def _equivalent() -> ComputedEntry:
    cases = ((f"m = {m}", obliv.fattree(m, 2).same_network(obliv.eft2(m, m))) for m in range(4, 18, 2))
    return agreeing(cases, "sizes")


def _figure8() -> ComputedEntry:
    tree = obliv.fattree(8, 2)
    routing = obliv.OSRM2(tree)
    cases = []
    for s, d in product(range(32), repeat=2):
        if s // 4 != d // 4:
            channels, _ = next(iter(routing.paths(s, d)))
            root = tree.name_of(int(tree.head[channels[1]]))
            cases.append((f"{s} to {d}", root == f"(({s % 4 // 2 * 2 + d % 4 // 2}),0)"))
    return agreeing(cases, "pairs of hosts at different switches")


def _spread() -> ComputedEntry:
    cases = []
    for (m, n), spec in product(((8, 2), (8, 3), (4, 4)), ("mlid", "wsr")):
        tree = obliv.fattree(m, n)
        totals = obliv.routing(spec, tree).pair_loads().totals()
        for height, channel_of in product(range(n), (tree.up_channel, tree.down_channel)):
            loads = totals[channel_of(height, np.arange(tree.links(height)))]
            cases.append((f"FT({m},{n}) {spec}, height {height}", len(set(loads.tolist())) == 1))
    return agreeing(cases, "sets of links of one height and direction, all pairs sending,")


def _improvement(m: int, n: int) -> Callable[[], ComputedEntry]:
    def factor() -> ComputedEntry:
        tree = obliv.fattree(m, n)
        known, new = (obliv.ratio(obliv.routing(spec, tree)).upper for spec in ("wsr", f"osrm{n}"))
        return ComputedEntry(known / new, f"{known} and {new}.")

    return factor


#: The properties of the network, in the order of printed.toml.
NETWORK: tuple[Callable[[], ComputedEntry], ...] = (
    _binary((), (1, 1, 1)),
    _binary((1, 2, 4), (1, 1, 1)),
    _binary((), (1, 2, 2)),
    on_trees(_TREES, _sizes),
    on_trees(_TREES, _degrees),
    _figure3,
    on_trees(_TREES, _property1),
    on_trees(_TREES, _property2),
    on_trees(_SMALL, _property3),
    on_trees(_SMALL, _property4),
    on_trees(_SMALL, _property5),
    _corollary1,
    _equivalent,
    _through_roots,
    *(_hosts(m, 3) for m in (24, 32, 48)),
    _figure8,
    *(_hosts(m, n) for m, n in ((32, 2), (8, 3), (16, 3))),
    _spread,
    _improvement(32, 2),
    _improvement(16, 3),
)


Link = tuple[int, int]
Labels = tuple[int, ...]
Node = tuple[Labels, int]  # labels and level; hosts are below the last level of switches
Walk = tuple[Node, ...]

_FLAT = ((4, 2), (8, 2), (4, 3), (6, 3), (8, 3))
_DEEP = (*_FLAT, (4, 4))


def stacked(part: obliv.Tree, whole: obliv.Tree, half: int) -> set[Link]:
    """Return the links, from below, of copies of SUBFT(m, l) under switches that are connected to ports of one number.

    Nodes have the numbers of `whole`, a tree with one level more; port j of a copy belongs to its top switch j / half.
    """
    links = set()
    top = part.levels
    for copy in range(whole.children[top]):
        start = [
            whole.first_node[level] + copy * part.below[-1] // part.below[level] * part.width[level]
            for level in range(top + 1)
        ]
        shift = [first - own for first, own in zip(start, part.first_node, strict=False)]
        for a, b in zip(part.tail.tolist(), part.head.tolist(), strict=True):
            if a < b:
                links.add((a + shift[part.level_of(a)], b + shift[part.level_of(b)]))
        links |= {(start[top] + port // half, whole.first_node[top + 1] + port) for port in range(half**top)}
    return links


def _recursion() -> ComputedEntry:
    cases = []
    for half, levels in product((2, 3, 4), (2, 3)):
        part, whole = obliv.subft(2 * half, levels - 1), obliv.subft(2 * half, levels)
        cases.append((whole.spec, stacked(part, whole, half) == up_links(whole)))
    return agreeing(cases, "sub-trees SUBFT(m,2) and SUBFT(m,3)")


def _below_roots(whole: obliv.Tree, half: int, n: int) -> bool:
    return stacked(obliv.subft(2 * half, n - 1), whole, half) == up_links(whole)


def _sub_trees_of_switches(tree: obliv.Tree, half: int, n: int) -> bool:
    """Check, on the network without the levels above height x, which switches are in a SUBFT(m, x)."""
    heights: dict[int, list[int]] = defaultdict(list)  # of the sub-trees that a switch is in
    for height in range(1, n):
        parts: dict[int, list[int]] = defaultdict(list)
        for node, part in connected(tree, 0, height).items():
            parts[part].append(node)
        sizes = np.diff(obliv.subft(2 * half, height).first_node).tolist()
        for nodes in parts.values():
            if np.bincount([tree.level_of(node) for node in nodes]).tolist() == sizes:
                for node in nodes:
                    heights[node].append(height)
    switches = range(tree.below[-1], tree.nodes)
    return all(heights[switch] == list(range(tree.level_of(switch), n)) for switch in switches)


def _labels(tree: obliv.Tree, half: int, n: int) -> bool:
    """Compare the links by their labels with those that sections V-A and V-B list."""
    m, k = 2 * half, half
    if n == 2:
        listed = {(f"({i},{x})", f"(({i}),1)") for i, x in product(range(m), range(k))}
        listed |= {(f"(({j}),1)", f"(({i}),0)") for i, j in product(range(k), range(m))}
    else:
        places = list(product(range(m), range(k), range(k)))
        listed = {(f"({a},{b},{x})", f"(({a},{b}),2)") for a, b, x in places}
        listed |= {(f"(({a},{b}),2)", f"(({a},{x}),1)") for a, b, x in places}
        listed |= {(f"(({a},{b}),1)", f"(({b},{x}),0)") for a, b, x in places}
    return {(tree.name_of(a), tree.name_of(b)) for a, b in up_links(tree)} == listed


class _Within(obliv.TreeRouting):
    """OSRM3 with another routing within each SUBFT(m, 2)."""

    def __init__(self, tree: obliv.Tree, inner: str) -> None:
        super().__init__(tree, f"osrm3, {inner} within")
        routing = single_path(obliv.routing(inner, tree))
        if routing is None:
            raise ValueError(f"{inner} is not a routing of single paths on fat trees")
        self.inner, self.outer = routing, obliv.OSRM3(tree)

    def ways(self, source: Array, destination: Array) -> Array:
        beyond = self.topology.turn(source, destination)[..., None] == self.topology.levels
        return np.where(beyond, self.outer.ways(source, destination), self.inner.ways(source, destination))


def _within() -> ComputedEntry:
    cases = []
    for m, inner in product((4, 6), ("dmodk", "smodk", "osrm3-d", "hash:seed=1", "hash:seed=2")):
        ratio = obliv.ratio(_Within(obliv.fattree(m, 3), inner)).upper
        cases.append((f"FT({m},3) {inner}", ratio == Fraction(m, 2)))
    return agreeing(cases, "trees and routings within the sub-trees")


# Each rule names the next nodes, all equally likely, from the labels of a switch, of the source and of the destination.
Rule = Callable[[Labels, int, Labels, Labels, int], Iterable[Node]]


def _osrm2(label: Labels, level: int, source: Labels, destination: Labels, half: int) -> Iterable[Node]:
    root = round(half**0.5)
    if level == 0:
        return [((destination[0],), 1)]
    if label == destination[:1]:
        return [(destination, 2)]
    return [((source[1] // root * root + destination[1] // root,), 0)]


def _down3(label: Labels, level: int, destination: Labels) -> Node | None:
    """Return the next node on FT(m, 3) towards a destination below this switch."""
    if level == 0:
        return (destination[0], label[0]), 1
    if label[:level] == destination[:level]:
        return (destination, 3) if level == 2 else (destination[:2], 2)
    return None


def _osrm3(label: Labels, level: int, source: Labels, destination: Labels, half: int) -> Iterable[Node]:
    below = _down3(label, level, destination)
    up = ((source[0], source[2]), 1) if level == 2 else ((source[2], destination[2]), 0)
    return [up if below is None else below]


def _omrmn(label: Labels, level: int, source: Labels, destination: Labels, half: int) -> Iterable[Node]:
    below = _down3(label, level, destination)
    if below is not None:
        return [below]
    return [((label[0] if level == 2 else label[1], port), level - 1) for port in range(half)]


def _hop_by_hop() -> ComputedEntry:
    """Follow the rules from label to label, and compare the paths with those of the routings."""
    rules: tuple[tuple[int, int, str, Rule], ...] = (
        (8, 2, "osrm2", _osrm2),
        (4, 3, "osrm3", _osrm3),
        (4, 3, "omrmn", _omrmn),
    )
    cases = []
    for m, n, spec, rule in rules:
        tree = obliv.fattree(m, n)
        routing = obliv.routing(spec, tree)
        for s, d in permutations(range(tree.below[-1]), 2):
            source, destination = tree.digits(s), tree.digits(d)
            walks: dict[Walk, Fraction] = {((source, n), (source[:-1], n - 1)): Fraction(1)}
            while any(walk[-1] != (destination, n) for walk in walks):
                longer: dict[Walk, Fraction] = {}
                for walk, share in walks.items():
                    after = list(rule(*walk[-1], source, destination, m // 2))
                    longer |= {(*walk, node): share / len(after) for node in after}
                walks = longer
            named = {tuple(_name(*node, n) for node in walk): share for walk, share in walks.items()}
            paths = {
                tuple(map(tree.name_of, [s, *tree.head[list(channels)].tolist()])): share
                for channels, share in routing.paths(s, d)
            }
            cases.append((f"FT({m},{n}) {spec} {s} to {d}", named == paths))
    return agreeing(cases, "pairs of hosts")


def _name(label: Labels, level: int, n: int) -> str:
    place = ",".join(map(str, label))
    return f"({place})" if level == n else f"(({place}),{level})"


def _most_paths() -> ComputedEntry:
    """Count the addresses of a host with the largest LMC that obliv accepts."""
    fabric = from_topology(obliv.fattree(4, 2))
    most = 0
    for lmc in range(16):
        try:
            most = 1 << int(with_lids(fabric, lmc).ports.lmc.max())
        except obliv.TopologyError:
            break
    return ComputedEntry(Fraction(most), "A host has 2^LMC addresses, one for each path; LMC 8 is refused.")


def _beyond_128() -> ComputedEntry:
    paths = {m: obliv.fattree(m, 3).width[-1] for m in (24, 32, 48)}
    listed = ", ".join(f"FT({m},3) {count}" for m, count in paths.items())
    return ComputedEntry(Fraction(sum(count > 128 for count in paths.values())), f"Shortest paths: {listed}.")


def _limited() -> ComputedEntry:
    cases = []
    for (m, n), part in product(((8, 2), (8, 3)), ("shift", "disjoint")):
        tree = obliv.fattree(m, n)
        for count in range(1, tree.width[-1]):
            if tree.width[-1] % count == 0:
                ratio = obliv.ratio(obliv.KPath(tree, count, select=part)).lower
                cases.append((f"FT({m},{n}) {count} {part}", ratio > 1))
    note = "Their ratios are above 1; a ratio of 1 needs all (m/2)^(n-1) paths (docs/explanation/fat-trees.md)."
    return agreeing(cases, "routings with fewer paths than all", note)


ROUTES: tuple[Callable[[], ComputedEntry], ...] = (
    _recursion,
    on_trees(_DEEP, _below_roots),
    on_trees(_DEEP, _sub_trees_of_switches),
    on_trees(_FLAT, _labels),
    _within,
    _hop_by_hop,
    _most_paths,
    _beyond_128,
    _limited,
)
