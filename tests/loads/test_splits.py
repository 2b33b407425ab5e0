"""Equal splits on fat trees against next hops propagated and against whole paths."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import obliv
from obliv.loads.stored import StoredLoads, from_hops
from obliv.loads.tree import SplitLoads, TreeLoads, equal_split
from obliv.patterns import files as matrices
from obliv.routings.hops import HopRouting

TREES = [
    "fattree:4,2",
    "fattree:4,3",
    "eft2:8,5",
    "sub-eft2:8,6",
    "subft:8,2",
    "xgft:3;3,2,4;1,2,3",
    "xgft:2;3,4;2,3",
    "xgft:3;2,2,2;1,1,1;1,2,4",
    "xgft:3;2,1,3;2,3,2",
    "xgft:3;2,3,1;2,3,2",
    "xgft:1;4;3",
]


def terminals_of(tree: obliv.Topology, kind: str) -> obliv.Topology:
    hosts = np.random.default_rng(1).permutation(tree.terminals).tolist()
    return {
        "all": tree,
        "reordered": tree.with_terminals(hosts),
        "some": tree.with_terminals(hosts[: max(2, 2 * len(hosts) // 3)]),
        "two": tree.with_terminals([1, 0]),
    }[kind]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("kind", ["all", "reordered", "some", "two"])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("routing", ["ecmp", "updown"])
def test_equal_to_the_propagation_of_next_hops(tree: str, kind: str, routing: str) -> None:
    topology = terminals_of(obliv.topology(tree), kind)
    by_hops = obliv.routing(routing, topology)
    assert isinstance(by_hops, HopRouting)
    loads, propagated = by_hops.pair_loads(), from_hops(topology, by_hops.hops_to, routing)
    assert isinstance(loads, SplitLoads)
    assert loads == propagated
    assert loads.denominator == propagated.denominator
    assert loads.totals().tolist() == propagated.totals().tolist()
    rng = np.random.default_rng(2)
    matrix = rng.integers(0, 3, (len(topology.terminals),) * 2)
    top = int(max(matrix.sum(0).max(), matrix.sum(1).max()))
    traffic = matrices.matrix([[Fraction(int(x), top) for x in row] for row in matrix])
    assert loads.under(traffic) == propagated.under(traffic)
    some = topology.generators[:1]
    assert [loads.keeps(g) for g in topology.generators] == [propagated.keeps(g) for g in topology.generators]
    assert [loads.keeps(g[g]) for g in some] == [propagated.keeps(g[g]) for g in some]
    worst, old = (obliv.worst_case(x, certificate=True) for x in (loads, propagated))
    assert (worst.channel_load, worst.channel, worst.focus_channels) == (
        old.channel_load,
        old.channel,
        old.focus_channels,
    )


@pytest.mark.sampled(9)
@pytest.mark.parametrize("tree", TREES)
def test_all_paths_of_a_pair_are_the_same_loads(tree: str) -> None:
    topology = obliv.topology(tree)
    routing = obliv.OMRMN(topology)
    numbered = TreeLoads(routing.topology, routing.ways, routing.spread, routing.alike)
    loads = routing.pair_loads()
    assert loads == numbered
    assert isinstance(loads, TreeLoads if routing.spread == 1 else SplitLoads)
    assert loads == obliv.ECMP(topology).pair_loads() == obliv.UpDown(topology).pair_loads()


def test_maps_that_move_terminals_are_refused_or_kept_as_next_hops_are() -> None:
    tree = obliv.fattree(4, 2).with_terminals([0, 1, 2, 4])
    loads = obliv.ECMP(tree).pair_loads()
    propagated = from_hops(tree, obliv.ECMP(tree).hops_to, "ecmp")
    answers = [loads.keeps(g) for g in obliv.fattree(4, 2).generators]
    assert answers == [propagated.keeps(g) for g in obliv.fattree(4, 2).generators]
    assert set(answers) == {True, False}


def test_routings_of_a_user_keep_their_own_hops() -> None:
    class Lowest(obliv.ECMP):
        def next_hops(self, node: int, destination: int) -> list[int]:
            return super().next_hops(node, destination)[:1]

    class Highest(obliv.UpDown):
        def next_hops(self, node: int, destination: int) -> list[int]:
            return super().next_hops(node, destination)[-1:]

    class First(obliv.OMRMN):
        def ways(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
            return 0 * super().ways(source, destination)

    tree = obliv.fattree(4, 2)
    for routing in (Lowest(tree), Highest(tree), First(tree)):
        assert not isinstance(routing.pair_loads(), SplitLoads)
        assert obliv.worst_case(routing).channel_load == 2
    assert isinstance(obliv.Shortest(tree).pair_loads(), StoredLoads)


def test_only_complete_trees() -> None:
    tree = obliv.fattree(4, 2)
    assert equal_split(obliv.mesh(3, 2)) is None
    assert equal_split(tree.with_terminals([0, 1, tree.nodes - 1])) is None
    assert equal_split(replace(tree, tail=tree.tail[:-2], head=tree.head[:-2], generators=())) is None
    head = tree.head.copy()
    head[[-1, -2]] = head[[-2, -1]]
    assert equal_split(replace(tree, head=head, generators=())) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("routing", ["ecmp", "updown", "omrmn"])
def test_no_entry_is_stored_for_a_pair(routing: str) -> None:
    """What was stored pair by pair took 4.8 GB on FT(16, 3); a megabyte is one byte a pair."""
    subject = obliv.routing(routing, obliv.fattree(16, 3))
    tracemalloc.start()
    result = obliv.worst_case(subject, certificate=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (result.channel_load, result.focus_channels) == (1, 6)
    assert peak < 30 * 2**20
