"""Distances against those of NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliv.routings.shortest import Distances, distances_to

CHANNELS = st.integers(1, 9).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(*2 * (st.integers(0, n - 1),)), max_size=30),
        st.lists(st.integers(0, n - 1), min_size=1, max_size=4),
    )
)


def expected(nodes: int, channels: list[tuple[int, int]], goals: list[int]) -> list[int]:
    graph = nx.DiGraph([(head, tail) for tail, head in channels])
    graph.add_nodes_from(range(nodes))
    result = nx.multi_source_dijkstra_path_length(graph, set(goals), weight=None)
    return [int(result.get(v, -1)) for v in range(nodes)]


@given(CHANNELS)
def test_distances(drawn: tuple[int, list[tuple[int, int]], list[int]]) -> None:
    nodes, channels, goals = drawn
    tail, head = np.array(channels, np.int64).reshape(-1, 2).T
    assert Distances(nodes, tail, head)(goals).tolist() == expected(nodes, channels, goals)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_the_compiled_kernel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tail, head = rng.integers(40, size=(2, 70))
    far, queue = np.empty(40, np.int64), np.empty(40, np.int64)
    order = np.argsort(head, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(head, minlength=40))])
    distances_to.compiled()(np.array([3, 5, 3]), first, tail[order], far, queue)
    channels = list(zip(tail.tolist(), head.tolist(), strict=True))
    assert far.tolist() == expected(40, channels, [3, 5])
