"""Lemmas 1 to 9 of Yuan et al. on generated sets of pairs and routings."""

from __future__ import annotations

from itertools import pairwise, product

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import obliv
from obliv.errors import InputError
from obliv.questions.disjoint import (
    destination_set,
    destinations,
    is_disjoint,
    largest_disjoint_subset,
    largest_star,
    lemma1,
    lemma2,
    lemma3,
    lemma3a,
    lemma4,
    lemma5,
    lemma6,
    lemma7,
    lemma8,
    lemma9,
    max_disjoint_sizes,
    most_through_root,
    pairs_on_links,
    source_set,
    sources,
)
from obliv.topologies.trees import single_path_bound, theorem2, theorem3, theorem4, theorem5

Pair = tuple[int, int]
PAIRS = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30)


def size(pairs: set[Pair]) -> int:
    return len(largest_disjoint_subset(pairs))


@given(PAIRS)
def test_largest_subsets(pairs: set[Pair]) -> None:
    result = largest_disjoint_subset(pairs)
    assert result <= pairs
    assert is_disjoint(result)
    graph = nx.Graph([(("s", s), ("d", d)) for s, d in pairs])
    assert len(result) == sum(
        len(nx.bipartite.maximum_matching(graph.subgraph(part), {v for v in part if v[0] == "s"})) // 2
        for part in nx.connected_components(graph)
    )


@given(PAIRS, PAIRS)
def test_lemmas_1_2_and_5(a: set[Pair], b: set[Pair]) -> None:
    assert len(sources(a)) >= size(a)
    assert len(destinations(a)) >= size(a)
    assert size(a) + size(b) >= size(a | b)
    assert len(a) <= size(a) * largest_star(a)


@given(PAIRS)
def test_lemmas_3_and_4(a: set[Pair]) -> None:
    most = size(a)
    heavy_sources = [s for s in sources(a) if len(source_set(a, s)) > most]
    heavy_destinations = [d for d in destinations(a) if len(destination_set(a, d)) > most]
    for s in heavy_sources:
        assert size(a - source_set(a, s)) == most - 1
    for d in heavy_destinations:
        assert size(a - destination_set(a, d)) == most - 1
    left = a.difference(
        *(source_set(a, s) for s in heavy_sources), *(destination_set(a, d) for d in heavy_destinations)
    )
    assert size(left) == most - len(heavy_sources) - len(heavy_destinations)


@given(st.integers(2, 4), st.integers(2, 6), st.data())
def test_lemma_8(half: int, k: int, data: st.DataObject) -> None:
    """However pairs are chosen, the root carries no more than the bound for what its links then have."""
    hosts = half * k
    pairs = data.draw(st.sets(st.tuples(st.integers(0, hosts - 1), st.integers(0, hosts - 1)), max_size=60))
    across = {(s, d) for s, d in pairs if s // half != d // half}
    up = max((size({(s, d) for s, d in across if s // half == leaf}) for leaf in range(k)), default=0)
    down = max((size({(s, d) for s, d in across if d // half == leaf}) for leaf in range(k)), default=0)
    assert len(across) <= most_through_root(2 * half, k, max(up, down))


@given(st.sampled_from(["fattree:4,2", "eft2:6,4", "fattree:4,3"]), st.integers(0, 10**6))
def test_lemmas_6_7_9_and_the_bounds(tree: str, seed: int) -> None:
    topology = obliv.topology(tree)
    routing = obliv.Hash(topology, seed)
    on_links = pairs_on_links(routing)
    ratio = obliv.ratio(routing).ratio
    assert ratio == max(max_disjoint_sizes(routing).values())  # Lemma 7, and Theorem 1 the other way
    assert ratio <= max(min(len(sources(pairs)), len(destinations(pairs))) for pairs in on_links.values())  # Lemma 9
    bound = obliv.ratio(routing).lower_bound
    assert bound is not None
    assert bound <= ratio


@pytest.mark.parametrize("spec", ["hash:seed=3", "osrm3", "dmodk"])
def test_pairs_on_links_are_those_of_the_paths(spec: str) -> None:
    routing = obliv.routing(spec, obliv.fattree(4, 3))
    pairs: dict[int, set[Pair]] = {}
    for pair in product(range(16), repeat=2):
        ((channels, _),) = routing.paths(*pair)
        for channel in channels:
            pairs.setdefault(channel, set()).add(pair)
    assert pairs_on_links(routing) == pairs


def test_bounds_as_whole_numbers() -> None:
    assert [theorem3(m) for m in (4, 8, 10, 18, 36)] == [2, 2, 3, 3, 5]
    assert [theorem2(8, k) for k in (3, 4, 8)] == [1, 2, 2]
    for m in range(4, 50, 2):
        assert theorem4(m) == m // 2 == single_path_bound(m, 3)
        assert theorem3(m) == single_path_bound(m, 2)
        for n in range(2, 8):
            assert single_path_bound(m, n) >= theorem5(m, n)


# The lemmas as functions.


@given(PAIRS, PAIRS)
def test_functions_of_lemmas_1_to_5(a: set[Pair], b: set[Pair]) -> None:
    assert lemma1(a) == min(len({s for s, _ in a}), len({d for _, d in a})) >= size(a)
    assert lemma2(a, b) == size(a) + size(b) >= size(a | b)
    assert len(a) <= lemma5(a)
    rest, left = lemma4(a)
    assert rest <= a
    assert size(rest) == left
    for end, lemma in ((0, lemma3), (1, lemma3a)):
        for node in {pair[end] for pair in a}:
            star = {pair for pair in a if pair[end] == node}
            if len(star) > size(a):
                assert lemma(a, node) == size(a - star)
            else:
                with pytest.raises(InputError, match="the lemma is for more than"):
                    lemma(a, node)


@given(st.integers(2, 5), st.integers(2, 8), st.data())
def test_lemma_6_gives_link_disjoint_paths(half: int, k: int, data: st.DataObject) -> None:
    """Node by node: every path leads from its source to its destination, and no two share a channel."""
    tree = obliv.eft2(2 * half, min(k, 2 * half))
    hosts = st.permutations(range(tree.below[-1]))
    count = data.draw(st.integers(0, half))
    pairs = list(zip(data.draw(hosts)[:count], data.draw(hosts)[:count], strict=True))
    paths = lemma6(tree, pairs)
    assert list(paths) == pairs
    used = [channel for path in paths.values() for channel in path]
    assert len(used) == len(set(used))
    for (s, d), path in paths.items():
        nodes = [s, *(int(tree.head[c]) for c in path)]
        assert nodes[-1] == d
        assert all(int(tree.tail[c]) == a for c, (a, _) in zip(path, pairwise(nodes), strict=True))


def test_lemma_6_refuses() -> None:
    tree = obliv.eft2(4, 3)
    for pairs, match in (
        ([(0, 1), (0, 2)], "node-disjoint"),
        ([(0, 1), (1, 2), (2, 3)], "it has 2 roots"),
        ([(0, 9)], "no host 9"),
    ):
        with pytest.raises(InputError, match=match):
            lemma6(tree, pairs)
    with pytest.raises(InputError, match="two levels"):
        lemma6(obliv.fattree(4, 3), [(0, 1)])


@pytest.mark.nightly
def test_lemmas_7_to_9() -> None:
    for spec in ("dmodk", "smodk", "hash:seed=3", "osrm2"):
        for k in (3, 5, 8):
            routing = obliv.routing(spec, obliv.eft2(8, k))
            assert lemma7(routing) <= obliv.ratio(routing).ratio <= lemma9(routing)
    assert lemma8(8, 4, 2) == 4 * 3 * 4 >= most_through_root(8, 4, 2)
    with pytest.raises(InputError, match="below m/k"):
        lemma8(8, 4, 1)
    with pytest.raises(InputError, match="two levels"):
        lemma7(obliv.routing("dmodk", obliv.fattree(4, 3)))
