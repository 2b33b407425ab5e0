"""Räcke's trees: valid trees, loads of cuts, certificates, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.loads.test_sums_over_paths import check_law, check_solutions
from tests.routings.graphs.test_electrical import network

import obliv
from obliv.flows.base import Flow, path_flows
from obliv.flows.sources import source_flows
from obliv.matching.solve import ship
from obliv.routings.congestion import Raecke


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(6, 150))])
def test_loads_are_sums_of_cuts(seed: int) -> None:
    routing = Raecke(network(seed), trees=3, seed=seed)
    loads = routing.pair_loads()
    check_law(routing, loads)
    check_solutions(loads)
    result = obliv.worst_case(routing, certificate=True)
    assert result.channel_load == max((_exact(loads, c) for c in range(loads.topology.channels)), default=0)
    assert obliv.verify(result).proved


def _exact(loads: obliv.PairLoads, channel: int) -> Fraction:
    value = ship(loads.weights(channel), loads.rates, loads.terminals).value
    return Fraction(value, loads.denominator) / loads.topology.bandwidth_of(channel)


def test_clusters_are_nested_and_paths_join_their_centers() -> None:
    topology = obliv.random_regular(24, 3, seed=2)
    for tree in Raecke(topology, trees=4, seed=5).trees:
        assert sorted(tree.order.tolist()) == list(range(24))
        for cluster in range(1, len(tree.parent)):
            above = tree.parent[cluster]
            assert tree.first[above] <= tree.first[cluster] < tree.end[cluster] <= tree.end[above]
            assert tree.end[cluster] - tree.first[cluster] < tree.end[above] - tree.first[above]
        assert (tree.order[tree.first[tree.leaf]] == np.arange(24)).all()


def test_same_seed_same_trees() -> None:
    mesh = obliv.mesh(4, 4)
    one, two, other = (obliv.routing(f"raecke:trees=3,seed={seed}", mesh).pair_loads() for seed in (1, 1, 2))
    assert one == two != other
    assert obliv.routing("raecke:trees=3,seed=1", mesh) == obliv.routing("raecke:trees=3,seed=1", mesh)


@pytest.mark.parametrize(
    ("topology", "spec", "match"),
    [
        ("mesh:3x3", "raecke:trees=0", "at least one tree"),
        ("mesh:3x3", "raecke:trees=2,seed=-1", "0 or more"),
        ("kautz:2,2", "raecke", "undirected network"),
    ],
)
def test_bad_input(topology: str, spec: str, match: str) -> None:
    with pytest.raises(obliv.OblivError, match=match):
        obliv.routing(spec, topology)


def test_parts_that_are_not_connected() -> None:
    parts = obliv.build("parts", 4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    with pytest.raises(obliv.OblivError, match="2 cannot be reached from 0"):
        Raecke(parts, trees=1).pair_loads()


def test_paths_without_loops() -> None:
    topology = network(3)
    routing = Raecke(topology, trees=5, seed=1, loops=False)
    check_law(routing, routing.pair_loads())
    whole = Raecke(topology, trees=5, seed=1)
    nodes = topology.terminals.tolist()
    for source in nodes:
        for destination in nodes:
            for channels, _ in routing.paths(source, destination):
                heads = [source, *topology.head[list(channels)].tolist()]
                assert len(set(heads)) == len(heads)
    assert obliv.worst_case(routing).channel_load <= obliv.worst_case(whole).channel_load
    assert obliv.routing(routing.spec, topology) == routing


@pytest.mark.parametrize("seed", range(4))
def test_the_checker_follows_trees_as_it_follows_paths(seed: int) -> None:
    routing = Raecke(network(seed), trees=3, seed=seed)
    trees, paths = source_flows(routing, 3), path_flows(routing, lambda: None)
    for i in range(len(routing.topology.terminals)):
        for j in range(len(routing.topology.terminals)):
            by_tree, by_path = (_entries(flows(i), j) for flows in (trees, paths))
            assert by_tree == by_path


def _entries(flow: Flow, j: int) -> dict[int, Fraction]:
    part = slice(int(flow.ends[j - 1]) if j else 0, int(flow.ends[j]))
    pairs = zip(flow.channel[part].tolist(), flow.amount[part].tolist(), strict=True)
    return {channel: Fraction(amount, int(flow.whole[j])) for channel, amount in pairs}


def test_trees_that_do_not_hold_are_refused() -> None:
    routing = Raecke(obliv.mesh(3, 3), trees=2, seed=1)
    tree = routing.trees[0]
    cluster = next(k for k, path in enumerate(tree.up) if path)
    swapped = tree.order.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    cut = [path[:-1] if k == cluster else path for k, path in enumerate(tree.up)]
    for changed in (tree._replace(order=swapped), tree._replace(up=cut), tree._replace(end=tree.end + 1)):
        routing.trees[0] = changed
        with pytest.raises(obliv.OblivError, match=r"raecke.*(nested|channel|paths to a cluster)"):
            source_flows(routing, 2)
