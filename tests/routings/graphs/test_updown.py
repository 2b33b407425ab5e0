"""Up*/down* on any network: which nodes are roots, and that every pair is connected by way of them."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import examples

import obliv
from obliv.routings.shortest import UpDown


def linked(spec: str, nodes: int, edges: list[tuple[int, int]], terminals: list[int]) -> obliv.Topology:
    return obliv.build(spec, nodes, [link for a, b in edges for link in ((a, b), (b, a))], terminals=terminals)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 6, 2, 4]])
def test_all_spines_are_roots(order: list[int]) -> None:
    """Hosts 0 to 2, leaves 3 and 4, spines 5 and 6: the nodes farthest from hosts are at the top, if these suffice."""
    edges = [(0, 3), (1, 3), (2, 4), (3, 5), (3, 6), (4, 5), (4, 6)]
    topology = linked("leaves", 7, [(order[a], order[b]) for a, b in edges], [order[h] for h in range(3)])
    rank = UpDown(topology).rank
    hosts, leaves, spines = ([int(rank[order[v]]) for v in part] for part in ((0, 1, 2), (3, 4), (5, 6)))
    assert max(hosts) < min(leaves)
    assert max(leaves) < min(spines)
    assert obliv.worst_case(obliv.routing("updown", topology)).channel_load == 1


@examples(30)
@given(seed=st.integers(0, 10**6))
def test_every_pair_goes_up_and_then_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 9))
    edges = [(v, int(rng.integers(v))) for v in range(1, nodes)]
    edges += [tuple(rng.choice(nodes, 2, replace=False).tolist()) for _ in range(int(rng.integers(4)))]
    place = rng.permutation(nodes)
    edges = [(int(place[a]), int(place[b])) for a, b in edges]
    topology = linked("random", nodes, edges, rng.permutation(nodes)[: int(rng.integers(1, nodes + 1))].tolist())
    routing = UpDown(topology)
    rank = routing.rank
    for source, goal in permutations(topology.terminals.tolist(), 2):
        paths = list(routing.paths(source, goal))
        assert sum(share for _, share in paths) == 1
        for path, _ in paths:
            steps = [source, *(int(topology.head[c]) for c in path)]
            assert steps[-1] == goal
            ups = [rank[b] > rank[a] for a, b in pairwise(steps)]
            assert ups == sorted(ups, reverse=True)
