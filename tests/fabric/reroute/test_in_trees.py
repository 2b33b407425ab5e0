"""The bound of tables by counting branches, against the worst load of any tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import obliv
from obliv.fabric.reroute.quality import in_tree_bound


def worst(up: list[list[int]], hosts: list[int]) -> int:
    """The worst load where a packet at switch v for switch t goes to ``up[t][v]``."""
    first = np.concatenate([[0], np.cumsum(hosts)])
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for t, s in product(range(len(hosts)), repeat=2):
        at = s
        while at != t:
            of_two = product(range(first[s], first[s + 1]), range(first[t], first[t + 1]))
            pairs.setdefault((at, up[t][at]), []).extend(of_two)
            at = up[t][at]
    loads = [0]
    for over in pairs.values():
        if over:
            s, t = np.array(over).T
            graph = coo_array((np.ones(len(s)), (s, t)), shape=(first[-1],) * 2).tocsr()
            loads.append(int((maximum_bipartite_matching(graph, "column") >= 0).sum()))
    return max(loads)


def in_trees(near: list[list[int]], root: int) -> list[list[int]]:
    """All trees of routes to a switch."""
    trees = []
    for choice in product(*([v] if v == root else near[v] for v in range(len(near)))):
        for v in range(len(near)):
            for _ in near:
                v = choice[v]
            if v != root:
                break
        else:
            trees.append(list(choice))
    return trees


def channels(near: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(v, u) for v, beside in enumerate(near) for u in beside]
    return np.array([v for v, _ in pairs]), np.array([u for _, u in pairs])


@given(st.integers(0, 1 << 32))
def test_random_tables_are_no_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    links = {(int(rng.integers(v)), v) for v in range(1, count)}
    links |= {(a, b) for b in range(count) for a in range(b) if rng.random() < 0.2}
    near = [[a + b - v for a, b in sorted(links) if v in (a, b)] for v in range(count)]
    hosts = rng.choice([rng.integers(0, 4, count), np.full(count, rng.integers(1, 5))]).tolist()
    up = []
    for t in range(count):
        tree, order = [t] * count, [t]
        for v in order:  # a random order of discovery makes the tree random
            for u in rng.permutation(near[v]).tolist():
                if u not in order:
                    tree[u] = v
                    order.insert(int(rng.integers(order.index(v) + 1, len(order) + 1)), u)
        up.append(tree)
    assert in_tree_bound(*channels(near), np.array(hosts)) <= worst(up, hosts)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hosts", "least"), [([1, 1, 1, 1], 1), ([2, 2, 2, 2], 2), ([3, 3, 3, 3], 3), ([1, 0, 2, 1], 1)]
)
def test_all_tables_of_a_ring_of_four(hosts: list[int], least: int) -> None:
    near = [[1, 3], [0, 2], [1, 3], [0, 2]]
    trees = [in_trees(near, t) for t in range(4)]
    optimum = min(worst(list(up), hosts) for up in product(*trees))
    assert least <= in_tree_bound(*channels(near), np.array(hosts)) <= optimum


@pytest.mark.parametrize(
    ("spec", "hosts", "bound"),
    [
        ("torus:4x4", 1, 2),
        ("torus:4x4x4", 1, 2),
        ("hyperx:4x4", 1, 1),
        ("slimfly:5", 4, 4),
        ("random-regular:n=50,d=6,seed=1", 1, 2),
    ],
)
def test_known_bounds(spec: str, hosts: int, bound: int) -> None:
    network = obliv.topology(spec)
    assert in_tree_bound(network.tail, network.head, np.full(network.nodes, hosts)) == bound
