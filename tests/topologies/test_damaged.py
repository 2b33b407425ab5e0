"""Networks after failures, against networks that are built by hand without what failed."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from tests.mistakes import mistake

import obliv
from obliv.topologies.base import heights_of
from obliv.topologies.damaged import all_links, link_of, link_text, link_texts, node_text, node_texts


def by_hand(network: obliv.Topology, gone: set[int], cut: set[frozenset[int]]) -> obliv.Topology:
    """The network without nodes and links, its nodes renumbered in order."""
    left = [v for v in range(network.nodes) if v not in gone]
    links = [
        (left.index(a), left.index(b))
        for a, b in zip(network.tail.tolist(), network.head.tolist(), strict=True)
        if not {a, b} & gone and frozenset((a, b)) not in cut
    ]
    terminals = [left.index(v) for v in network.terminals.tolist() if v not in gone]
    return obliv.build("by-hand", len(left), links, terminals=terminals)


@pytest.mark.parametrize("routing", ["ecmp", "shortest", "updown", "valiant"])
def test_a_damaged_mesh_is_the_mesh_without_what_failed(routing: str) -> None:
    damaged = obliv.topology("damaged:mesh:4x3,4-5,(3,2),(1,0)-(2,0)")
    plain = by_hand(obliv.mesh(4, 3), {11}, {frozenset((4, 5)), frozenset((1, 2))})
    assert damaged.same_network(plain)
    found = obliv.worst_case(obliv.routing(routing, damaged), certificate=True)
    assert found.channel_load == obliv.worst_case(obliv.routing(routing, plain)).channel_load
    assert obliv.verify(found).proved
    assert found.topology == "damaged:mesh:4x3,11,1-2,4-5"
    assert damaged.name_of(10) == "(2,2)"
    assert obliv.topology(str(damaged)) == damaged


def test_patterns_are_those_of_the_network_before_the_failures_while_all_terminals_are_left() -> None:
    mesh, damaged = obliv.mesh(4, 4), obliv.topology("damaged:mesh:4x4,5-6")
    for pattern in ("transpose", "tornado", "nearest-neighbor", "mesh2d:seed=3"):
        assert obliv.traffic(pattern, damaged) == obliv.traffic(pattern, mesh)
    with pytest.raises(obliv.TrafficError, match="transpose needs a network with coordinates"):
        obliv.traffic("transpose", obliv.topology("damaged:mesh:4x4,5"))


def test_two_lines_of_a_cut_ring_by_pencil() -> None:
    """Without link 5-0 a ring of 6 is a line: its middle channel carries what 3 terminals send to 3 others."""
    assert obliv.worst_case("damaged:ring:6,5-0", "ecmp").channel_load == 3
    parts = obliv.topology("damaged:ring:6,5-0,1-2,component=largest")
    assert [parts.name_of(v) for v in range(parts.nodes)] == ["2", "3", "4", "5"]
    assert parts.notes == ("cut off by the failures: 2 nodes (0, 1)",)
    assert obliv.worst_case(obliv.routing("ecmp", parts)).channel_load == 2


def test_parallel_links_fail_one_by_one() -> None:
    torus = obliv.torus(2, 2)
    one, two = sorted({link_of(torus, c) for c in torus.channels_between(0, 1)})
    assert link_text(torus, one[0]) == "0-1#0"
    left = obliv.topology("damaged:torus:2x2,0-1#1")
    assert left.channel_of is not None  # type: ignore[attr-defined]
    assert set(range(torus.channels)) - set(left.channel_of.tolist()) == set(two)  # type: ignore[attr-defined]


def test_links_of_other_bandwidths_fail_with_their_opposites(tmp_path: Path) -> None:
    slow_and_fast = obliv.build("pair", 2, [(0, 1), (0, 1), (1, 0), (1, 0)], bandwidth=[1, 10, 10, 1])
    assert {link_of(slow_and_fast, c) for c in range(4)} == {(0, 3), (1, 2)}


def test_a_fat_tree_keeps_its_roots_and_switches_that_carry_nothing_go() -> None:
    tree = obliv.topology("damaged:(fattree:4,2),8-12")
    heights = heights_of(tree)
    assert heights is not None
    assert heights.max() == 2
    assert obliv.worst_case(obliv.routing("updown", tree)).channel_load == Fraction(2)
    one_root = obliv.topology("damaged:(fattree:4,2),8-12,9-12,10-12,11-12")
    assert one_root.nodes == 13
    assert one_root.notes == (f"cut off by the failures: 1 node ({obliv.fattree(4, 2).name_of(12)})",)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("damaged:mesh:4x4", "nothing failed: name nodes or links, as in damaged:mesh:4x4,0-1"),
        ("damaged:mesh:4x4,0-5", r"no link of mesh:4x4 joins \(0,0\) and \(1,1\)"),
        ("damaged:mesh:4x4,0-99", "mesh:4x4 has no node '99'; nodes are 0 to 15"),
        ("damaged:mesh:4x4,0-1,1-0", "1-0 of mesh:4x4 is named twice"),
        ("damaged:torus:2x2,0-1", "2 links of torus:2x2 join .* write 0-1#0 to 0-1#1"),
        ("damaged:torus:2x2,0-1#2", "have 2 links, counted from 0"),
        ("damaged:line:3,0-1,1-2", r"1 node \(2\); no two terminals are joined"),
        ("damaged:line:4,1-2", r"falls into 2 components: 2 nodes \(0, 1\); 2 nodes \(2, 3\); component=largest"),
        ("damaged:line:2,0,1", "no terminal is left"),
        ("damaged:line:4,0,component=any", "component is 'any': leave it out, or use largest"),
        ("damaged:damaged:mesh:4x4,0-1", "name all that failed in one list"),
        ("damaged:random-regular:n=20,d=4,3", r"unknown parameter 'd'.*write for example damaged:\(fattree:4,2\)"),
        ("damaged:mesh4x4,0-1", "unknown topology 'mesh4x4'"),
    ],
)
def test_mistakes(spec: str, message: str) -> None:
    with pytest.raises(obliv.InputError, match=message) as error:
        obliv.topology(spec)
    assert "\n" not in str(error.value)


def test_routings_of_grids_refuse_a_damaged_one() -> None:
    with pytest.raises(obliv.RoutingError, match="has no coordinates: shortest, ecmp and valiant fit any network"):
        obliv.routing("dor", obliv.topology("damaged:mesh:4x4,0-1"))


@pytest.mark.parametrize("seed", range(8))
def test_all_links_at_once_are_those_one_by_one(seed: int) -> None:
    """Parallel channels, channels without an opposite, loops, bandwidths, and names that are other nodes' numbers."""
    rng = random.Random(seed)
    nodes = rng.randint(2, 6)
    ends = [(v, (v + 1) % nodes) for v in range(nodes)]
    ends += [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(15)]
    labels = rng.sample([str(v) for v in range(nodes)], nodes)
    base = obliv.build("drawn", nodes, ends, bandwidth=[rng.choice([1, 2, 10]) for _ in ends], labels=labels)
    links = [link_of(base, c) for c in range(base.channels) if min(link_of(base, c)) == c]
    assert all_links(base) == links
    assert link_texts(base, links) == [link_text(base, link[0]) for link in links]
    assert node_texts(base) == [node_text(base, node) for node in range(nodes)]


@pytest.mark.parametrize("text", ["(0,0),(1,0)", "(0,0)->(1,0)", "(0,0) -> (1,0)", "(0,0) to (1,0)"])
def test_a_link_with_another_sign_between_its_ends(text: str) -> None:
    assert "write the link as (0,0)-(1,0)" in mistake(lambda: obliv.failures("mesh:3x3", "ecmp", fail=[text]))
