"""Ratios over all permutations, any traffic and patterns of jobs."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from tests.routings.trees.by_paper import (
    Crossings,
    F,
    crossings,
    drawn,
    laws_of,
    off_diagonal,
    random_rows,
    random_table,
    route,
    tree,
)

import obliv


@functools.lru_cache(maxsize=1)
def permutations_of_8() -> Any:
    return np.array(list(itertools.permutations(range(8))), dtype=np.int8)


FT42 = ["dmodk", "smodk", "osrm2", "wsr", "hash:seed=2", "shortest", "omrmn", "kpath:2", "1/2*dmodk+1/2*smodk"]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", [*FT42, "1/3*hash:seed=5+2/3*osrm2", "table 3", "table 4", "shares 3"])
def test_all_permutations_of_ft_4_2(name: str) -> None:
    spec = "fattree:4,2"
    if name.startswith("table"):
        routing = random_table(spec, int(name[-1]))
    else:
        routing = drawn(spec, 6, 2) if name.startswith("shares") else route(spec, name)
    match = Crossings(laws_of(routing))
    denominator = match.denominator
    table = np.zeros((tree(spec).channels, 8, 8), np.int32)
    for channel, pairs in match.on.items():
        for (i, j), share in pairs.items():
            table[channel, i, j] = share
    everything = permutations_of_8()
    loads = sum(table[:, i, everything[:, i]] for i in range(8))
    worst = F(int(np.max(loads)), denominator)  # the optimum is 1 for all but the identity, which loads nothing
    result = obliv.ratio(routing)
    assert result.ratio == worst
    row = int(np.flatnonzero((everything == np.array(result.permutation)).all(axis=1))[0])
    assert F(int(np.asarray(loads)[result.channel.id, row]), denominator) == worst


TRAFFIC_CASES = [
    ("fattree:4,2", [*FT42, "kpath:2,base=osrm2,select=random"]),
    ("fattree:4,3", ["omrmn", "dmodk", "osrm3-d", "osrm-k:2"]),
    ("eft2:6,4", ["omrmn", "ecmp", "dmodk", "osrm2", "hash:seed=3"]),
    ("xgft:3;2,3,2;1,2,3", ["omrmn", "dmodk"]),
    ("xgft:2;2,5;1,3", ["omrmn", "dmodk"]),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("spec", "names"), TRAFFIC_CASES)
def test_any_traffic(spec: str, names: list[str]) -> None:
    """Base load and optimum (Theorem 1, Corollary 1); PERF is at least 1 and at most the oblivious ratio."""
    hosts = len(tree(spec).terminals)
    traffics = [random_rows(hosts, seed) for seed in range(3)]
    for name in names:
        routing = route(spec, name)
        match, ratio = crossings(spec, name), obliv.ratio(routing).ratio
        for rows in traffics:
            traffic = obliv.matrix(rows)
            load, base = max(match.under(rows).values()), off_diagonal(rows)
            assert max(routing.pair_loads().under(traffic)) == load
            result = obliv.traffic_ratio(routing, traffic)
            assert result.patterns[0].ratio == result.ratio == load / base
            assert 1 <= load / base <= ratio
            if name in ("omrmn", "updown", "ecmp"):
                assert load == base
            # The scale of the traffic does not matter, and neither does what hosts send to themselves.
            alone = [[F(0) if i == j else value / 3 for j, value in enumerate(row)] for i, row in enumerate(rows)]
            assert obliv.traffic_ratio(routing, obliv.matrix(alone)).ratio == load / base


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "one", "two"),
    [
        ("fattree:4,2", "dmodk", "osrm2"),
        ("xgft:2;3,3;1,5", "hash:seed=1", "omrmn"),
        ("eft2:8,3", "kpath:3", "wsr"),
    ],
)
def test_linear_algebra(spec: str, one: str, two: str) -> None:
    """Loads of a mix are the mix of the loads; its ratio is at most the mix of the ratios."""
    a, b = route(spec, one), route(spec, two)
    left, right = crossings(spec, one), crossings(spec, two)
    share = F(2, 7)
    mixed = share * a + (1 - share) * b
    both = Crossings(laws_of(mixed))
    assert both.same_as(mixed.pair_loads())
    for channel in range(tree(spec).channels):
        x, y, z = left.on[channel], right.on[channel], both.on[channel]
        outcome = {
            pair: share * F(x.get(pair, 0), left.denominator) + (1 - share) * F(y.get(pair, 0), right.denominator)
            for pair in {*x, *y}
        }
        assert outcome == {pair: F(value, both.denominator) for pair, value in z.items()}
    result = obliv.ratio(mixed)
    assert result.ratio == both.ratio
    assert result.ratio <= share * obliv.ratio(a).ratio + (1 - share) * obliv.ratio(b).ratio
    traffic = obliv.matrix(random_rows(len(tree(spec).terminals), 1))
    under = zip(a.pair_loads().under(traffic), b.pair_loads().under(traffic), strict=True)
    assert mixed.pair_loads().under(traffic) == [share * x + (1 - share) * y for x, y in under]
    assert obliv.ratio(F(1, 2) * a + F(1, 2) * a).ratio == obliv.ratio(a).ratio
    named = obliv.routing(f"1/2*{one}+1/2*{two}", tree(spec))
    assert obliv.ratio(named).ratio == obliv.ratio(F(1, 2) * a + F(1, 2) * b).ratio


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "name"),
    [
        *(("fattree:8,3", name) for name in ("dmodk", "osrm3", "osrm3-d", "hash:seed=1", "osrm-k:4", "kpath:3")),
        # Once the identity, which loads nothing, and above which uniform traffic was.
        ("fattree:4,2", "valiant"),
        ("fattree:4,3", "valiant"),
        ("fattree:4,2", "1/3*omrmn+2/3*valiant"),
    ],
)
def test_the_ratio_of_the_witness_is_the_ratio(spec: str, name: str) -> None:
    routing = route(spec, name)
    result = obliv.ratio(routing)
    assert obliv.traffic_ratio(routing, obliv.permutation(result.permutation)).ratio == result.ratio


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("fattree:4,2", "omrmn"),
        ("fattree:4,3", "osrm3"),
        ("fattree:4,3", "dmodk"),
        ("eft2:6,4", "osrm2"),
        # Once 32/5 under uniform traffic, and 6 at most over all traffic.
        ("fattree:4,3", "valiant"),
        ("fattree:4,2", "valiant"),
    ],
)
def test_no_pattern_is_beyond_the_ratio(spec: str, name: str) -> None:
    routing = route(spec, name)
    patterns = ["uniform", "shift:1", "ring", "mesh2d", "torus3d", "tree", "clustered:3", "bernoulli:1/2"]
    patterns += ["hotspot:2,2", "1/2*uniform+1/2*ring:seed=4", "random-permutation:seed=3"]
    if spec in ("fattree:4,2", "fattree:4,3"):
        patterns += ["hypercube", "bit-reverse", "bit-complement", "shuffle"]
    result = obliv.traffic_ratio(routing, *patterns)
    assert [row["traffic"].split(":")[0] for row in result.patterns] == [each.split(":")[0] for each in patterns]
    assert result.ratio == max(row["ratio"] for row in result.patterns)
    assert min(row["ratio"] for row in result.patterns) >= 1
    assert result.ratio <= obliv.ratio(routing).ratio


def flows(spec: str, topology: Any) -> tuple[nx.DiGraph, int]:
    """Who sends to whom; all flows of a job are equal."""
    rows = obliv.traffic(spec, topology).to_matrix()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(rows)))
    graph.add_edges_from((i, j) for i, row in enumerate(rows) for j, value in enumerate(row) if value)
    assert len({value for row in rows for value in row if value}) <= 1
    assert all(row[i] == 0 for i, row in enumerate(rows))
    assert max(sum(row) for row in rows) <= 1
    return graph, len(rows)


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", ["fattree:4,3", "eft2:8,6", "fattree:6,2", "fattree:4,4"])
def test_job_patterns(spec: str) -> None:
    topology = tree(spec)
    n = len(topology.terminals)  # 16, 24, 18, 32
    sides2 = {16: (4, 4), 24: (4, 6), 18: (3, 6), 32: (4, 8)}[n]
    sides3 = {16: (2, 2, 4), 24: (2, 3, 4), 18: (2, 3, 3), 32: (2, 4, 4)}[n]
    wanted = {
        "ring": nx.cycle_graph(n),
        "mesh2d": nx.grid_graph(sides2),
        "torus2d": nx.grid_graph(sides2, periodic=True),
        "mesh3d": nx.grid_graph(sides3),
        "torus3d": nx.grid_graph(sides3, periodic=True),
        "tree": nx.Graph([((i - 1) // 2, i) for i in range(1, n)]),
    }
    if n in (16, 32):
        wanted["hypercube"] = nx.hypercube_graph(n.bit_length() - 1)
    for name, graph in wanted.items():
        result = flows(f"{name}:seed=3", topology)[0]
        assert set(result.edges) == {(b, a) for a, b in result.edges}
        assert nx.is_isomorphic(result.to_undirected(), nx.Graph(graph.edges)), name
        others = [set(flows(f"{name}:seed={seed}", topology)[0].edges) for seed in (3, 4, 5)]
        assert others[0] == set(result.edges)
        assert others[1] != others[0] != others[2]
    for size in (2, 3, 4, 8, n):
        parts = [len(part) for part in nx.strongly_connected_components(flows(f"clustered:{size},seed=2", topology)[0])]
        assert sorted(parts, reverse=True) == [size] * (n // size) + ([n % size] if n % size else [])
        assert flows(f"clustered:{size},seed=2", topology)[0].size() == sum(part * (part - 1) for part in parts)
    hot = flows("hotspot:3,5,seed=1", topology)[0]
    assert sorted(map(len, nx.strongly_connected_components(hot))) == [1] * (n - 15) + [5, 5, 5]
    assert hot.size() == 3 * 20
    assert flows("bernoulli:1", topology)[0].size() == n * (n - 1)
    sizes = [flows(f"bernoulli:0.25,seed={seed}", topology)[0].size() for seed in range(12)]
    assert abs(sum(sizes) / 12 - n * (n - 1) / 4) < 5 * math.sqrt(n * (n - 1) * 3 / 16 / 12)
    assert len(set(sizes)) > 1


def test_means_over_placements() -> None:
    routing = route("fattree:4,3", "dmodk")
    one = obliv.traffic_ratio(routing, "ring", "clustered:4", instances=16, rng=3)
    two = obliv.traffic_ratio(routing, "ring", "clustered:4", instances=16, rng=3)
    other = obliv.traffic_ratio(routing, "clustered:4", instances=16, rng=4)
    assert one.patterns == two.patterns
    assert one.patterns[1].ratio != other.patterns[0].ratio
    for row in one.patterns:
        assert 1 <= row.ratio.value <= 3
        assert row.ratio.samples == 16
        assert 0 < row.ratio.stderr < 0.5
    content = one.to_dict()
    assert set(content["patterns"][0]["ratio"]) == {"value", "stderr", "samples"}
    assert content["provenance"]["exactness"] == "estimated"
    exact = obliv.traffic_ratio(routing, "ring", "ring:seed=0", "ring:seed=8")
    assert [row.traffic for row in exact.patterns] == ["ring", "ring:seed=8"]  # one pattern, one row
    for row in exact.patterns:
        rows = obliv.traffic(row.traffic, tree("fattree:4,3")).to_matrix()
        assert row.ratio == max(crossings("fattree:4,3", "dmodk").under(rows).values()) / off_diagonal(rows)
    # All shortest paths: 1 under every placement, and so without an error.
    (row,) = obliv.traffic_ratio(route("fattree:4,3", "omrmn"), "tree", instances=5).patterns
    assert (row.ratio.value, row.ratio.stderr) == (1, 0)
