"""The fat tree and its properties (sections I to III and V), counted on small trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import obliv
from obliv.analysis.ratios.under_traffic import max_link_load, optimal_load
from obliv.papers.paper import Printed, Value, agreeing
from obliv.papers.verdicts import exactly

__all__ = ["NETWORK", "connected", "on_trees", "up_links"]

_TREES = ((4, 2), (8, 2), (12, 2), (4, 3), (6, 3), (8, 3), (4, 4), (6, 4))
_SMALL = ((4, 2), (8, 2), (4, 3), (6, 3), (4, 4))


def _binary(bandwidth: tuple[int, ...], parents: tuple[int, ...]) -> Callable[[], Value]:
    def worst() -> Value:
        tree = obliv.xgft((2, 2, 2), parents, bandwidth)
        return Value(exactly(obliv.worst_case(obliv.OMRMN(tree)).channel_load), f"{tree.spec}, all paths equally.")

    return worst


def on_trees(trees: tuple[tuple[int, int], ...], fits: Callable[[obliv.Tree, int, int], bool]) -> Callable[[], Value]:
    """Return a function that counts the trees FT(m, n) of which a statement about (tree, m/2, n) is true."""
    return lambda: agreeing(((f"FT({m},{n})", fits(obliv.fattree(m, n), m // 2, n)) for m, n in trees), "trees")


def _sizes(tree: obliv.Tree, half: int, n: int) -> bool:
    hosts, switches = tree.below[-1], tree.nodes - tree.below[-1]
    return (hosts, switches) == (2 * half**n, (2 * n - 1) * half ** (n - 1))


def _degrees(tree: obliv.Tree, half: int, n: int) -> bool:
    return set(np.diff(tree.first_channel)[tree.below[-1] :].tolist()) == {2 * half}


def _hosts(m: int, n: int) -> Callable[[], Value]:
    return lambda: Value(Fraction(obliv.fattree(m, n).below[-1]))


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


def _figure3() -> Value:
    return Value(Fraction(sum(1 for _ in obliv.OMRMN(obliv.fattree(4, 3)).paths(0, 15))))


def _corollary1() -> Value:
    tree = obliv.fattree(8, 3)
    loads = obliv.OMRMN(tree).pair_loads()
    cases = []
    for spec in ("ring", "tree", "torus3d", "clustered:4", "hotspot:4,8", "bernoulli:1/10", "bernoulli:1/2"):
        for seed in range(4):
            traffic = obliv.traffic(f"{spec}{',' if ':' in spec else ':'}seed={seed}", tree)
            cases.append((traffic.spec, max_link_load(loads, traffic) == optimal_load(tree, traffic)))
    return agreeing(cases, "traffic matrices on FT(8,3)")


def _through_roots() -> Value:
    cases = []
    for m, k in ((4, 3), (8, 6), (8, 8), (12, 5)):
        tree = obliv.eft2(m, k)
        hosts = np.arange(tree.below[-1])
        crossing = int((tree.turn(hosts[:, None], hosts) == 2).sum())
        cases.append((f"EFT2({m},{k})", crossing == k * (k - 1) * (m // 2) ** 2))
    return agreeing(cases, "trees")


def _equivalent() -> Value:
    cases = ((f"m = {m}", obliv.fattree(m, 2).same_network(obliv.eft2(m, m))) for m in range(4, 18, 2))
    return agreeing(cases, "sizes")


def _figure8() -> Value:
    tree = obliv.fattree(8, 2)
    routing = obliv.OSRM2(tree)
    cases = []
    for s, d in product(range(32), repeat=2):
        if s // 4 != d // 4:
            channels, _ = next(iter(routing.paths(s, d)))
            root = tree.name_of(int(tree.head[channels[1]]))
            cases.append((f"{s} to {d}", root == f"(({s % 4 // 2 * 2 + d % 4 // 2}),0)"))
    return agreeing(cases, "pairs of hosts at different switches")


def _spread() -> Value:
    cases = []
    for (m, n), spec in product(((8, 2), (8, 3), (4, 4)), ("mlid", "wsr")):
        tree = obliv.fattree(m, n)
        totals = obliv.routing(spec, tree).pair_loads().totals()
        for height, channel_of in product(range(n), (tree.up_channel, tree.down_channel)):
            loads = totals[channel_of(height, np.arange(tree.links(height)))]
            cases.append((f"FT({m},{n}) {spec}, height {height}", len(set(loads.tolist())) == 1))
    return agreeing(cases, "sets of links of one height and direction, all pairs sending,")


def _improvement(m: int, n: int) -> Callable[[], Value]:
    def factor() -> Value:
        tree = obliv.fattree(m, n)
        known, new = (obliv.ratio(obliv.routing(spec, tree)).upper for spec in ("wsr", f"osrm{n}"))
        return Value(known / new, f"{known} and {new}.")

    return factor


_SWITCHES = (
    "FT(m, n) supports m(m/2)^(n-1) processing nodes. ... the total number of switches in FT(m, n) is (2n-1) x "
    "(m/2)^(n-1)."
)

NETWORK: dict[str, tuple[Printed, Callable[[], Value]]] = {
    "Figure 1 (a), binary tree of 8 nodes: worst load": (
        Printed(
            "the number of links (and thus the aggregate bandwidth) is reduced by half at each level from the leaves "
            "to the root",
            Fraction(4),
        ),
        _binary((), (1, 1, 1)),
    ),
    "Figure 1 (b), binary fat-tree of 8 nodes: worst load over bandwidth": (
        Printed("maintaining the same bandwidth at each level of the network", Fraction(1)),
        _binary((1, 2, 4), (1, 1, 1)),
    ),
    "Figure 2, switches of few ports in place of Figure 1 (b): worst load": (
        Printed("the fat-tree in Fig. 1 (b) can be approximated by the topology in Fig. 2", Fraction(1)),
        _binary((), (1, 2, 2)),
    ),
    "Section II-B: sizes of FT(m,n)": (Printed(_SWITCHES), on_trees(_TREES, _sizes)),
    "Section II-B: degree of switches": (
        Printed("All internal nodes in our fat-tree topology has a degree of m"),
        on_trees(_TREES, _degrees),
    ),
    "Figure 3: shortest paths from a to b on FT(4,3)": (Printed("4", Fraction(4)), _figure3),
    "Property 1": (
        Printed("FT(m, n) contains m SUBFT(m, n-1)'s, m x m/2 SUBFT(m, n-2)'s, ..., m x (m/2)^(n-2) SUBFT(m, 1)'s."),
        on_trees(_TREES, _property1),
    ),
    "Property 2": (
        Printed(
            "an up-link port in a SUBFT(m, i) is only connected to an up-link port of the same port number in any "
            "other SUBFT(m, i)"
        ),
        on_trees(_TREES, _property2),
    ),
    "Property 3": (
        Printed("there exist (m/2)^(i-1) different shortest paths from a to b"),
        on_trees(_SMALL, _property3),
    ),
    "Property 4": (
        Printed(
            "Each of the level n - 1 - i up/down links that carry traffic from s to d is used by (m/2)^(x-i) shortest "
            "paths, 0 ≤ i ≤ x."
        ),
        on_trees(_SMALL, _property4),
    ),
    "Property 5": (
        Printed("a level i ... up link carries traffic from at most (m/2)^(n-1-i) source nodes"),
        on_trees(_SMALL, _property5),
    ),
    "Corollary 1": (Printed("OPTU(TM) = baseload(TM)"), _corollary1),
    "Section IV: FT(m,2) and EFT2(m,m)": (Printed("FT(m, 2) is the same as EFT2(m, m)."), _equivalent),
    "Section IV: pairs through upper level switches of EFT2(m,k)": (Printed("k(k-1)(m/2)²"), _through_roots),
    "Section V: nodes of FT(24,3)": (Printed("3456"), _hosts(24, 3)),
    "Section V: nodes of FT(32,3)": (Printed("8192"), _hosts(32, 3)),
    "Section V: nodes of FT(48,3)": (Printed("27648"), _hosts(48, 3)),
    "Figure 8: OSRM2 on FT(8,2), groups to top switches": (
        Printed("g0 → g0 goes through switch (0, 0) ... and g1 → g1 goes through switch (3, 0)."),
        _figure8,
    ),
    "Section VI: nodes of FT(32,2)": (Printed("512"), _hosts(32, 2)),
    "Section VI: nodes of FT(8,3)": (Printed("128"), _hosts(8, 3)),
    "Section VI: nodes of FT(16,3)": (Printed("1024"), _hosts(16, 3)),
    "Section VI: MLID and WSR on all links": (
        Printed("both MLID and WSR fully spread traffic among all links in the fat-tree topology"),
        _spread,
    ),
    "Section VI: worst case of WSR over that of OSRM2 on FT(32,2)": (
        Printed("√(m/2)", Fraction(4)),
        _improvement(32, 2),
    ),
    "Section VI: worst case of WSR over that of OSRM3 on FT(16,3)": (
        Printed("(m-1)/(m/2) ≈ 2", Fraction(15, 8)),
        _improvement(16, 3),
    ),
}
