"""Loads that the search works with: exact near the largest one, upper bounds elsewhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import examples

from obliv._util.arrays import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.reroute import layers as improve


def drawn(seed: int) -> tuple[Switches, Array]:
    """Connected switches, some without hosts, and a random tree of routes to every host."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    graph = nx.random_labeled_tree(n, seed=seed)
    graph.add_edges_from(rng.integers(0, n, (int(rng.integers(0, 9)), 2)).tolist())
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    pairs = sorted((u, v) for u, v in graph.to_directed().edges)
    tail, head = (np.array([pair[k] for pair in pairs], np.int32) for k in (0, 1))
    hosts = rng.integers(0, 4, n).astype(np.int32)
    switches = Switches(
        tail=tail,
        head=head,
        first=np.searchsorted(tail, np.arange(n + 1)).astype(np.int32),
        unit=rng.integers(1, 4, len(tail)).astype(np.int64),
        hosts=hosts,
        home=np.repeat(np.arange(n), hosts).astype(np.int32),
    )
    routes = np.full((len(switches.home), n), -1, np.int32)
    for d, goal in enumerate(switches.home.tolist()):
        reached, channels = {goal}, rng.permutation(len(tail)).tolist()
        while len(reached) < n:
            c = next(c for c in channels if head[c] in reached and tail[c] not in reached)
            routes[d, tail[c]] = c
            reached.add(int(tail[c]))
    return switches, routes


def by_matching(switches: Switches, routes: Array) -> list[int]:
    """The worst load of every channel: a largest matching of hosts that send over it and hosts reached over it."""
    crossing: list[nx.Graph] = [nx.Graph() for _ in switches.tail]
    for d, goal in enumerate(switches.home.tolist()):
        for s, at in enumerate(switches.home.tolist()):
            while at != goal:
                c = int(routes[d, at])
                crossing[c].add_edge(("from", s), ("to", d))
                at = int(switches.head[c])
    loads = []
    for graph, unit in zip(crossing, switches.unit.tolist(), strict=True):
        senders = [node for node in graph if node[0] == "from"]
        loads.append(len(nx.bipartite.maximum_matching(graph, senders)) // 2 * unit)
    return loads


@examples(25)
@given(st.integers(0, 10**6))
def test_loads_are_exact_or_bounds(seed: int) -> None:
    switches, routes = drawn(seed)
    exact = np.array(by_matching(switches, routes))
    assert improve.worst_loads(switches, routes).tolist() == exact.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(improve, "_EXACT", -1)
        patch.setattr(improve, "_NEAR", 1)
        bounded = improve.worst_loads(switches, routes)
    assert (bounded >= exact).all()
    near = bounded > exact.max(initial=0) - int(switches.unit.max(initial=1))
    assert bounded[near].tolist() == exact[near].tolist()
