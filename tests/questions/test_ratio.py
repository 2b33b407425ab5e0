"""The oblivious ratio against reference values, the general engine, and all permutations."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from math import isqrt
from pathlib import Path

import numpy as np
import pytest

import obliv
from obliv._util.progress import silent
from obliv.loads.tree import TreeLoads
from obliv.questions.disjoint import largest_disjoint, max_disjoint_size, max_disjoint_sizes
from obliv.questions.ratio import all_paths_worst, tree_ratio
from obliv.routings.trees import TreeRouting

REFERENCE = Path(__file__).parents[1] / "reference" / "fat_tree.json"
SPECS = {"MLID(smodk)": "mlid", "DMODK": "dmodk", "OSRM2": "osrm2", "OSRM3": "osrm3", "WSR0": "wsr"}


@pytest.mark.parametrize("trees", [3, pytest.param(None, marks=pytest.mark.nightly)])
def test_by_height_and_direction(trees: int | None) -> None:
    """Source: exact matchings per height, up and down, made apart from this code."""
    rows = json.loads(REFERENCE.read_text())["table1"]
    for tree, routings in list(rows.items())[:trees]:
        topology = obliv.topology(f"fattree:{tree[3:-1]}")
        for name, wanted in routings.items():
            if name not in SPECS:
                continue
            loads = obliv.routing(SPECS[name], topology).pair_loads()
            assert isinstance(loads, TreeLoads)
            result = largest_disjoint(loads, every=True)
            assert result.size == wanted["ratio"]
            for height, sizes in wanted["per"].items():
                assert [result.by_height[int(height), up] for up in (True, False)] == sizes


@pytest.mark.sampled(3)
@pytest.mark.parametrize("m", range(4, 26, 2))
def test_table_1_of_the_paper(m: int) -> None:
    k = m // 2
    two, three = obliv.fattree(m, 2), obliv.fattree(m, 3)
    wanted = {(two, "dmodk"): k, (two, "mlid"): k, (three, "dmodk"): m - 1, (three, "osrm3-d"): k}
    if isqrt(k) ** 2 == k:
        wanted[two, "osrm2"] = isqrt(k)
    if m <= 16:
        wanted |= {(three, "mlid"): m - 1, (three, "osrm3"): k}
    for (tree, name), value in wanted.items():
        result = obliv.ratio(obliv.routing(name, tree))
        assert result.ratio == value
        assert result.lower_bound is not None
        assert result.lower_bound <= value
        assert result.optimal == (name in ("osrm2", "osrm3", "osrm3-d") or value == result.lower_bound)
    assert all_paths_worst(two) == all_paths_worst(three) == 1


@pytest.mark.nightly
@pytest.mark.parametrize("m", range(4, 50, 2))
def test_osrm3_d_is_optimal_up_to_48_ports(m: int) -> None:
    result = obliv.ratio(obliv.routing("osrm3-d", obliv.fattree(m, 3)), certificate=True)
    assert result.ratio == result.lower_bound == m // 2
    assert obliv.verify(result, budget=900).proved


@pytest.mark.sampled(24)
@pytest.mark.parametrize("tree", ["fattree:4,2", "fattree:6,2", "fattree:4,3", "eft2:6,4", "xgft:3;2,3,4;1,2,3"])
@pytest.mark.parametrize("seed", range(4))
def test_three_ways_agree_on_random_routings(tree: str, seed: int) -> None:
    """The engine by path numbers, by hosts and by leaves, the general one, and sets of pairs from the paths."""
    topology = obliv.topology(tree)
    rng = np.random.default_rng(seed)
    hosts = topology.below[-1]
    ports = [
        rng.integers(0, topology.parents[level], (topology.first_node[level + 1] - topology.first_node[level], hosts))
        for level in range(1, topology.levels)
    ]
    for routing in (obliv.TreeTable(topology, ports), obliv.Hash(topology, seed)):
        loads = routing.pair_loads()
        assert isinstance(loads, TreeLoads)
        result = largest_disjoint(loads, every=True)
        by_host = largest_disjoint(TreeLoads(topology, routing.ways), every=True)
        assert result.by_height == by_host.by_height
        assert result.size == obliv.worst_case(loads, symmetry="off").channel_load == max_disjoint_size(routing)
        sizes = max_disjoint_sizes(routing)
        assert sizes[result.channel] == result.size
        pairs = {(s, d) for s, d in result.pairs if s != d}
        assert len({s for s, _ in pairs}) == len(pairs) == len({d for _, d in pairs})
        image = obliv.ratio(routing).permutation if topology.parents[0] == 1 else None
        if image is not None:
            assert loads.under(obliv.permutation(image))[result.channel] == result.size


@pytest.mark.parametrize(
    "routings",
    [
        ("osrm2", "hash:seed=3"),
        pytest.param(("dmodk", "smodk", "omrmn", "kpath:2,select=random"), marks=pytest.mark.nightly),
    ],
)
def test_all_permutations_of_a_small_tree(routings: tuple[str, ...]) -> None:
    tree = obliv.topology("eft2:4,3")  # 6 hosts
    for name in routings:
        loads = obliv.routing(name, tree).pair_loads()
        every = max(max(loads.under(obliv.permutation(image))) for image in permutations(range(6)))
        assert obliv.ratio(loads).ratio == every


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["dmodk", "osrm3", "omrmn", "kpath:3,select=disjoint", "osrm-k:4", "hash:seed=2"])
def test_loads_are_those_of_the_paths(name: str) -> None:
    routing = obliv.routing(name, obliv.fattree(4, 3))
    assert isinstance(routing, TreeRouting)
    ours, theirs = routing.pair_loads(), obliv.Routing._loads(routing, silent)
    for channel in range(0, routing.topology.channels, 7):
        a, b = ours.on_channel(channel) * theirs.denominator, theirs.on_channel(channel) * ours.denominator
        assert (a != b).nnz == 0
    assert ours.hops() == theirs.hops()
    uniform = obliv.traffic("uniform", routing.topology)
    assert ours.under(uniform) == theirs.under(uniform)
    for g in routing.topology.generators:
        assert ours.keeps(g) == theirs.keeps(g)


def test_up_ports_make_the_routing_again() -> None:
    tree = obliv.fattree(4, 3)
    host = np.arange(16)
    for name in ("dmodk", "osrm3-d", "wsr"):
        routing = obliv.routing(name, tree)
        again = obliv.TreeTable(tree, obliv.up_ports(routing))
        assert np.array_equal(routing.ways(host[:, None], host), again.ways(host[:, None], host))
    with pytest.raises(obliv.RoutingError, match="depends on its source"):
        obliv.up_ports(obliv.routing("osrm3", tree))


@pytest.mark.parametrize(
    ("topology", "says"),
    [
        ("sub-eft2:8,6", "tapered"),
        ("mesh:4x4", "fat trees only"),
        ("xgft:2;4,4;1,2", "tapered"),
        ("xgft:1;4;2", "2 links"),
    ],
)
def test_the_closed_form_is_refused_where_the_best_routing_is_not_known(topology: str, says: str) -> None:
    routing = obliv.routing("ecmp", obliv.topology(topology))
    with pytest.raises(obliv.InputError, match=says):
        tree_ratio(routing)


def test_ratio_under_traffic() -> None:
    tree = obliv.fattree(8, 2)
    routing = obliv.routing("dmodk", tree)
    worst = obliv.ratio(routing)
    assert obliv.traffic_ratio(routing, obliv.permutation(worst.permutation)).ratio == worst.ratio == 4
    rng = np.random.default_rng(5)
    for _ in range(20):
        rows = rng.integers(0, 3, (32, 32)) * Fraction(1, 96)
        result = obliv.traffic_ratio(obliv.routing("omrmn", tree), obliv.matrix(rows.tolist())).ratio
        assert result == 1  # Corollary 1: the base load is reached
        assert 1 <= obliv.traffic_ratio(routing, obliv.matrix(rows.tolist())).ratio <= 4
    one, two = (obliv.traffic_ratio(routing, "ring", instances=8, rng=3).patterns for _ in range(2))
    assert one == two
    for traffic, options, says in (
        ("shift:1", {"instances": 4}, "is not random"),
        ("ring", {"instances": 1}, "2 are"),
    ):
        with pytest.raises(obliv.InputError, match=says):
            obliv.traffic_ratio(routing, traffic, **options)


@pytest.mark.nightly
def test_the_loads_beside_the_ratio() -> None:
    """MLOAD, OPTU and PERF of Yuan et al. apart; on FT(8,3) all by hand from the loads of every link."""
    tree = obliv.fattree(8, 3)
    routing = obliv.routing("dmodk", tree)
    traffic = [obliv.traffic(spec, tree) for spec in ("shift:1", "uniform", "tree:seed=3", "bernoulli:1/3,seed=2")]
    result = obliv.traffic_ratio(routing, *traffic)
    for row, flows in zip(result.patterns, traffic, strict=True):
        matrix = flows.to_matrix()
        others = [[rate * (s != d) for d, rate in enumerate(line)] for s, line in enumerate(matrix)]
        assert row.channel_load == max(routing.pair_loads().under(flows))
        assert row.optimal_load == max(max(map(sum, others)), max(map(sum, zip(*others, strict=True))))
        assert row.ratio == row.channel_load / row.optimal_load
        assert f"(load {row.channel_load}" in str(result)
    mean = obliv.traffic_ratio(routing, "tree", instances=4).patterns[0]
    assert mean.channel_load == mean.ratio  # jobs have a base load of 1
    assert mean.optimal_load == obliv.Estimate(1.0, 0.0, 4)
    assert type(result).from_dict(result.to_dict()) == result
