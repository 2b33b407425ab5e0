"""Fat trees: numbering, the paper's properties, and paths by number against the network itself."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

import obliv
from obliv.questions.ratio import tree_ratio
from obliv.testing import check_topology
from obliv.topologies.trees import Tree

TREES = [
    "fattree:4,2",
    "fattree:6,2",
    "fattree:4,3",
    "fattree:4,4",
    "eft2:8,5",
    "sub-eft2:6,4",
    "subft:4,1",
    "subft:6,3",
    "xgft:3;2,3,4;1,2,3",
    "xgft:2;3,4;2,3",
    "xgft:1;4;1",
]


def channels_of(tree: Tree, s: int, d: int, number: int) -> list[int]:
    turn = int(tree.turn(s, d))
    part = [number // (tree.width[turn] // tree.width[h + 1]) for h in range(turn)]
    up = [int(tree.up_channel(h, s // tree.below[h] * tree.width[h + 1] + part[h])) for h in range(turn)]
    down = [int(tree.down_channel(h, d // tree.below[h] * tree.width[h + 1] + part[h])) for h in range(turn)]
    return [*up, *reversed(down)]


@pytest.mark.parametrize("spec", TREES)
def test_paths_by_number_are_the_shortest_paths(spec: str) -> None:
    tree = obliv.topology(spec)
    graph = nx.DiGraph(zip(tree.tail.tolist(), tree.head.tolist(), strict=True))
    hosts = len(tree.terminals)
    rng = np.random.default_rng(1)
    for s, d in rng.integers(0, hosts, (20, 2)).tolist():
        names = set()
        for number in range(tree.width[int(tree.turn(s, d))]):
            nodes = [s]
            for c in channels_of(tree, s, d, number):
                assert tree.tail[c] == nodes[-1]
                nodes.append(int(tree.head[c]))
            names.add(tuple(nodes))
        assert names == {tuple(path) for path in nx.all_shortest_paths(graph, s, d)}


@pytest.mark.parametrize("spec", TREES)
def test_links_are_all_channels_once(spec: str) -> None:
    tree = obliv.topology(spec)
    seen = []
    for height in range(tree.levels):
        every = np.arange(tree.links(height))
        up, down = tree.up_channel(height, every), tree.down_channel(height, every)
        assert np.array_equal(tree.tail[up], tree.head[down])
        assert np.array_equal(tree.head[up], tree.tail[down])
        assert {tree.level_of(v) for v in tree.tail[up].tolist()} == {height}
        seen += [*up.tolist(), *down.tolist()]
    assert sorted(seen) == list(range(tree.channels))


@pytest.mark.parametrize("spec", TREES)
def test_trees_are_what_they_claim_to_be(spec: str) -> None:
    check_topology(spec)


@pytest.mark.parametrize(("m", "n"), [(4, 2), (8, 2), (4, 3), (8, 3), (6, 4)])
def test_sizes_and_properties_of_the_paper(m: int, n: int) -> None:
    tree = obliv.fattree(m, n)
    k = m // 2
    assert len(tree.terminals) == m * k ** (n - 1)
    assert tree.nodes - len(tree.terminals) == (2 * n - 1) * k ** (n - 1)
    assert tree.channels == 2 * n * m * k ** (n - 1)
    degree = np.bincount(tree.tail)
    assert set(degree[len(tree.terminals) :].tolist()) == {m}
    for i in range(1, n):  # Property 1
        assert len(tree.terminals) // tree.below[i] == m * k ** (n - 1 - i)
    for s, d in ((0, 1), (0, len(tree.terminals) - 1), (0, k)):  # Properties 3 and 4
        turn = int(tree.turn(s, d))
        assert tree.width[turn] == k ** (turn - 1)
        uses = Counter(c for number in range(tree.width[turn]) for c in channels_of(tree, s, d, number))
        assert set(uses.values()) <= {k**x for x in range(turn)}
    assert tree.below[:n] == tuple(k**i for i in range(n))  # Property 5: so many hosts below a link of height i


def test_names_are_those_of_the_paper() -> None:
    tree = obliv.fattree(4, 3)
    assert tree.name_of(6) == "(1,1,0)"
    leaf = int(tree.head[tree.first_channel[6]])
    assert tree.name_of(leaf) == "((1,1),2)"
    assert tree.name_of(tree.nodes - 1) == "((1,1),0)"
    roots = [v for v in range(tree.nodes) if tree.level_of(v) == 3]
    above = {tree.name_of(int(h)) for v in roots for h in tree.head[tree.tail == v] if tree.name_of(v) == "((1,0),0)"}
    assert above == {f"(({i},1),1)" for i in range(4)}  # level 1 switch (i0,i1) is joined to the roots (i1,X)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("fattree:5,2", "must be even"),
        ("fattree:2,3", "at least 4"),
        ("fattree:4,1", "at least 2"),
        ("eft2:8,1", "at least 2"),
        ("sub-eft2:8,1", "at least 2"),
        ("subft:7,2", "must be even"),
        ("subft:8,0", "at least 1"),
        ("subft:8", "levels"),
        ("xgft:3;4,4;1,2", "that many"),
        ("xgft:2;4,x;1,2", "write LEVELS"),
        ("xgft:2;4,0;1,2", "needs a child"),
        ("xgft:", "nothing follows"),
    ],
)
def test_mistakes(spec: str, says: str) -> None:
    with pytest.raises(obliv.InputError, match=says):
        obliv.topology(spec)


def test_capacities_that_grow() -> None:
    """Figure 1 of Yuan et al.: the binary tree, the binary fat tree, and Figure 2 in its place."""
    fat = obliv.topology("xgft:3;2,2,2;1,1,1;1,2,4")
    assert obliv.topology(fat.spec) == fat == obliv.xgft((2, 2, 2), (1, 1, 1), bandwidth=(1, 2, 4))
    for channel in range(fat.channels):
        ends = int(fat.tail[channel]), int(fat.head[channel])
        assert fat.bandwidth_of(channel) == 2 ** min(map(fat.level_of, ends))
    loads = {
        spec: obliv.worst_case(obliv.routing("dmodk", obliv.topology(spec))).channel_load
        for spec in ("xgft:3;2,2,2;1,1,1", fat.spec, "xgft:3;2,2,2;1,1,1;1,3/2,2")
    }
    assert list(loads.values()) == [4, 1, 2]
    assert obliv.topology("xgft:2;2,2;1,2;1,1").bandwidth == ()


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("xgft:3;2,2,2;1,1,1;1,2", "3 levels need that many bandwidths, not 2"),
        ("xgft:2;2,2;1,1;1,0", "must be a positive"),
        ("xgft:2;2,2;1,1;1,x", "must be a positive"),
        ("xgft:2;2,2;1,1;1,1;1", "write LEVELS;CHILDREN"),
    ],
)
def test_capacities_that_are_invalid(spec: str, match: str) -> None:
    with pytest.raises(obliv.TopologyError, match=match):
        obliv.topology(spec)


def test_the_ratio_is_refused_for_capacities_that_grow() -> None:
    with pytest.raises(obliv.InputError, match="equal links"):
        tree_ratio(obliv.routing("dmodk", obliv.topology("xgft:3;2,2,2;1,1,1;1,2,4")))


Links = set[tuple[object, object]]


def built(half: int, levels: int, name: tuple[int, ...]) -> tuple[Links, list[object], list[object]]:
    """Build SUBFT(2 half, levels) as section II-B of Yuan et al. does: links, hosts, owner of each up-link port."""
    if levels == 1:
        hosts: list[object] = [("host", *name, p) for p in range(half)]
        switch = ("switch", 1, name)
        return {(switch, host) for host in hosts}, hosts, [switch] * half
    links: Links = set()
    hosts, ports = [], []
    tops = [("switch", levels, name, i) for i in range(half ** (levels - 1))]
    for child in range(half):
        below, more, owners = built(half, levels - 1, (*name, child))
        links |= below | {(tops[i], owner) for i, owner in enumerate(owners)}
        hosts += more
    for i in range(half ** (levels - 1)):
        ports += [tops[i]] * half
    return links, hosts, ports


def edges(tree: Tree) -> Counter[tuple[int, int]]:
    return Counter((int(a), int(b)) for a, b in zip(tree.tail, tree.head, strict=True))


@pytest.mark.parametrize(("half", "levels"), [(2, 1), (5, 1), (2, 2), (3, 2), (2, 3), (3, 3), (2, 4)])
def test_the_sub_tree_is_the_papers(half: int, levels: int) -> None:
    """One correspondence of nodes fits all links: hosts in order, then each switch by the hosts below and its ports."""
    tree = obliv.subft(2 * half, levels)
    links, hosts, ports = built(half, levels, ())
    assert len(hosts) == len(ports) == half**levels
    number = {host: k for k, host in enumerate(hosts)}
    children = {}
    for upper, lower in links:
        children.setdefault(upper, set()).add(lower)
    tops = [ports[i * half] for i in range(half ** (levels - 1))]
    number |= {top: tree.first_node[levels] + i for i, top in enumerate(tops)}
    assert {number[top] for top in ports} == set(range(tree.first_node[levels], tree.nodes))
    assert [number[top] for top in ports] == tree.up_link_ports.tolist()
    assert len(obliv.fattree(2 * half, 2).up_link_ports) == 0
    reached = nx.Graph(list(links))
    ours = nx.Graph([edge for edge in edges(tree) if edge[0] < edge[1]])
    matcher = nx.algorithms.isomorphism.GraphMatcher(
        _marked(reached, number), _marked(ours, {node: node for node in number.values()}), _same_mark
    )
    assert matcher.is_isomorphic()
    assert set(edges(tree).values()) == {1}
    assert tree.channels == 2 * len(links)
    degree = Counter(end for link in links for end in link)
    for switch in children:  # m ports, of which those of top switches that lead up are open
        assert degree[switch] + ports.count(switch) == 2 * half


def _marked(graph: nx.Graph, number: dict[object, int]) -> nx.Graph:
    nx.set_node_attributes(graph, {node: number.get(node, -1) for node in graph}, "mark")
    return graph


def _same_mark(a: dict[str, int], b: dict[str, int]) -> bool:
    return a["mark"] == b["mark"]


@pytest.mark.parametrize(("m", "n"), [(4, 2), (8, 2), (4, 3), (6, 3), (4, 4)])
def test_a_fat_tree_is_sub_trees_below_roots(m: int, n: int) -> None:
    """FT(m, n): root i is connected to up-link port i of each of the m SUBFT(m, n-1)."""
    half = m // 2
    part, whole = obliv.subft(m, n - 1), obliv.fattree(m, n)
    up = {edge for edge in edges(whole) if edge[0] < edge[1]}
    wired = set()
    for copy in range(m):

        def place(node: int, copy: int = copy) -> int:
            level = part.level_of(node)
            size = part.first_node[level + 1] - part.first_node[level]
            return whole.first_node[level] + copy * size + node - part.first_node[level]

        wired |= {(place(a), place(b)) for a, b in edges(part) if a < b}
        assert len(part.up_link_ports) == half ** (n - 1)
        for port, switch in enumerate(part.up_link_ports.tolist()):
            wired.add((place(switch), whole.first_node[n] + port))
    assert wired == up
