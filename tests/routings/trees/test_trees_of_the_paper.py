"""Fat trees are the paper's, link by link, and have Properties 1 to 5."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from tests.routings.trees.by_paper import SMALL, Paper, all_shortest, free_choices, level_of, route, tree, written

import obliv

SIZES = [(4, 2), (6, 2), (8, 2), (10, 2), (4, 3), (6, 3), (8, 3), (4, 4), (6, 4), (4, 5)]


def built(m: int, n: int) -> tuple[Any, str]:
    return tree(f"fattree:{m},{n}"), f"fattree:{m},{n}"


def named_links(topology: Any) -> Counter[tuple[str, str]]:
    names = [topology.name_of(node) for node in range(topology.nodes)]
    return Counter((names[a], names[b]) for a, b in zip(topology.tail.tolist(), topology.head.tolist()))


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_the_tree_is_the_papers_link_by_link(m: int, n: int) -> None:
    paper, topology = Paper(m, n), built(m, n)[0]
    k = m // 2
    assert Counter(paper.links) + Counter((b, a) for a, b in paper.links) == named_links(topology)
    assert [topology.name_of(v) for v in range(m * k ** (n - 1))] == [written(p) for p in paper.hosts]
    assert topology.terminals.tolist() == list(range(m * k ** (n - 1)))
    assert topology.nodes == (m + 2 * n - 1) * k ** (n - 1)
    assert topology.channels == 2 * n * m * k ** (n - 1)
    assert topology.capacity_load == 1 - Fraction(1, m * k ** (n - 1))  # self-pairs do not leave their host
    # All inner nodes have m ports, hosts have one; channels are numbered by tail.
    out = np.bincount(topology.tail, minlength=topology.nodes)
    assert np.array_equal(out, np.bincount(topology.head, minlength=topology.nodes))
    assert set(out[: len(paper.hosts)]) == {1}
    assert set(out[len(paper.hosts) :]) == {m}
    assert topology.unit_bandwidth
    assert topology.unit_rates


def test_the_examples_of_the_notes() -> None:
    for (m, n), (nodes, switches, cables) in {
        (4, 2): (8, 6, 16),
        (8, 2): (32, 12, 64),
        (4, 3): (16, 20, 48),
        (8, 3): (128, 80, 384),
        (16, 3): (1024, 320, 3072),
    }.items():
        topology = built(m, n)[0]
        assert (len(topology.terminals), topology.nodes - nodes, topology.channels // 2) == (nodes, switches, cables)


@pytest.mark.parametrize(("m", "leaves"), [(4, 2), (4, 3), (6, 4), (8, 6), (8, 8), (10, 5), (4, 7)])
def test_eft2_and_seft2(m: int, leaves: int) -> None:
    for spec, roots in ((f"eft2:{m},{leaves}", m // 2), (f"sub-eft2:{m},{leaves}", 1)):
        paper, topology = Paper(m, 2, leaves, roots), tree(spec)
        assert Counter(paper.links) + Counter((b, a) for a, b in paper.links) == named_links(topology)
        assert topology.nodes == leaves * (m // 2) + leaves + roots
        assert len(topology.terminals) == leaves * (m // 2)
    if leaves == m:
        assert tree(f"eft2:{m},{m}").same_network(tree(f"fattree:{m},2"))


def test_a_fat_tree_is_an_xgft() -> None:
    for m, n in ((4, 2), (8, 2), (4, 3), (4, 4)):
        k = m // 2
        children, parents = [k] * (n - 1) + [m], [1] + [k] * (n - 1)
        spec = f"xgft:{n};{','.join(map(str, children))};{','.join(map(str, parents))}"
        assert tree(spec).same_network(tree(f"fattree:{m},{n}"))
        assert obliv.ratio(route(spec, "dmodk")).ratio == obliv.ratio(route(f"fattree:{m},{n}", "dmodk")).ratio
    assert tree("xgft:3;4,4,8;1,2,4").nodes == 128 + 32 * 1 + 8 * 2 + 8


def components(topology: Any, keep: list[bool]) -> list[list[int]]:
    inside = np.array(keep)
    remaining = inside[topology.tail] & inside[topology.head]
    ends = topology.tail[remaining], topology.head[remaining]
    graph = csr_array((np.ones(len(ends[0])), ends), shape=(topology.nodes, topology.nodes))
    label = connected_components(graph, directed=False)[1]
    groups = defaultdict(list)
    for node in np.flatnonzero(inside).tolist():
        groups[label[node]].append(node)
    return list(groups.values())


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_properties_1_and_2(m: int, n: int) -> None:
    topology, k = built(m, n)[0], m // 2
    paper = Paper(m, n)
    level = [level_of(topology, node, n) for node in range(topology.nodes)]
    for i in range(1, n):
        assert paper.found[i] == m * k ** (n - 1 - i)
        parts = components(topology, [each >= n - i for each in level])
        assert len(parts) == m * k ** (n - 1 - i)
        assert all(sum(level[v] == n for v in part) == k**i for part in parts)
        home = {v: number for number, part in enumerate(parts) for v in part}
        upper = components(topology, [each < n - i for each in level])
        assert len(upper) == k**i  # one for each port number
        down = defaultdict(list)
        for a, b in zip(topology.tail.tolist(), topology.head.tolist()):
            if b in home and a not in home:
                down[a].append(home[b])
        for part in upper:
            assert sorted(number for v in part for number in down[v]) == list(range(len(parts)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("m", "n"), SMALL)
def test_properties_3_to_5(m: int, n: int) -> None:
    topology, spec = built(m, n)
    paper, k = Paper(m, n), m // 2
    level = [level_of(topology, node, n) for node in range(topology.nodes)]
    link = [(min(level[a], level[b]), level[a] > level[b]) for a, b in zip(topology.tail, topology.head)]
    sources, destinations = defaultdict(set), defaultdict(set)
    for (s, d), paths in all_shortest(spec).items():
        x = free_choices(paper, s, d)
        assert len(set(paths)) == len(paths) == k**x
        assert {len(path) for path in paths} == {2 * (x + 1)}
        for channel, times in Counter(itertools.chain(*paths)).items():
            i = n - 1 - link[channel][0]
            assert times == k ** (x - i)
            sources[channel].add(s)
            destinations[channel].add(d)
    for channel, (at, up) in enumerate(link):
        assert len(sources[channel] if up else destinations[channel]) == k ** (n - 1 - at)
        assert topology.level_of(topology.tail[channel]) == n - level[topology.tail[channel]]
