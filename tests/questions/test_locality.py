"""Locality against plain enumeration of pairs, paths and distances."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.fabric.by_hand import random_fabric, random_tables

import obliv
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.questions.locality import minimal_hops
from obliv.routings.mixes import TwoPhase
from obliv.routings.shortest import Distances

ROUTINGS = [
    *("dor", "o1turn", "romm", "romm:xy", "valiant", "xyx", "yxy", "u2turn", "u2turn-a:p=1/3", "ival", "i2turn"),
    *("shortest", "ecmp", "1/3*dor+2/3*valiant", "1/2*ecmp+1/2*ival"),
]
SMALL = ["mesh:3x3", "mesh:4x2", "torus:4x2", "torus:3x3", "torus:2x3", "hyperx:3x3", "hypercube:3", "ring:6", "line:5"]
LARGER = ["torus:4x4", "mesh:2x3x2", "torus:3x2x2", "hyperx:3x2x2"]


def enumerated(routing: Any) -> dict[int, Fraction]:
    terminals = routing.topology.terminals.tolist()
    result: dict[int, Fraction] = {}
    for source in terminals:
        for destination in terminals:
            for channels, chance in routing.paths(source, destination):
                result[len(channels)] = result.get(len(channels), Fraction(0)) + chance / len(terminals) ** 2
    return {length: share for length, share in result.items() if share}


def searched(topology: obliv.Topology) -> Fraction:
    onward: dict[int, list[int]] = {node: [] for node in range(topology.nodes)}
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        onward[tail].append(head)
    total = 0
    for source in topology.terminals.tolist():
        far, queue = {source: 0}, deque([source])
        while queue:
            node = queue.popleft()
            for head in onward[node]:
                if head not in far:
                    far[head] = far[node] + 1
                    queue.append(head)
        total += sum(far[destination] for destination in topology.terminals.tolist())
    return Fraction(total, len(topology.terminals) ** 2)


def agrees(routing: Any) -> None:
    result = obliv.locality(routing)
    assert {h: share for h, share in enumerate(result.lengths or ()) if share} == enumerated(routing)
    assert sum(result.lengths or ()) == 1
    assert result.hops == routing.pair_loads().hops() == obliv.locality(routing.pair_loads()).hops


@pytest.mark.sampled(8)
@pytest.mark.parametrize("spec", [*SMALL, *(pytest.param(each, marks=pytest.mark.nightly) for each in LARGER)])
def test_lengths_are_those_of_the_paths(spec: str) -> None:
    topology = obliv.topology(spec)
    tried = 0
    for name in ROUTINGS:
        try:
            routing = obliv.routing(name, topology)
        except obliv.RoutingError:
            continue
        agrees(routing)
        tried += 1
    assert tried >= 8


def own_network() -> obliv.Topology:
    links = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 0), (0, 4), (1, 3), (1, 3)]
    return obliv.build("own", 5, links, terminals=[0, 2, 3])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["shortest", "ecmp", "valiant"])
def test_where_not_every_node_is_a_terminal(name: str) -> None:
    agrees(obliv.routing(name, own_network()))
    some = obliv.torus(3, 4).with_terminals([0, 3, 7, 11])
    for each in (name, "dor", "romm"):
        agrees(obliv.routing(each, some))


class Detours(obliv.HopRouting):
    """Shortest paths, or now and then one channel round the ring the wrong way at the start."""

    def next_hops(self, node: int, destination: int) -> list[tuple[int, Fraction]]:
        n = self.topology.nodes
        left = (destination - node) % n
        if left == 0:
            return []
        up, down = 2 * node, 2 * node + 1
        if left == 1 and n > 3:
            return [(up, Fraction(1))]
        return [(up, Fraction(3, 4)), (down, Fraction(1, 4))] if left == n - 1 else [(up, Fraction(1))]


def test_next_hops_that_take_ways_of_different_lengths() -> None:
    agrees(Detours(obliv.ring(6), "detours"))


class Circling(obliv.HopRouting):
    def next_hops(self, node: int, destination: int) -> list[int]:
        return [] if node == destination else [2 * node + (node % 2)]


class Gaps(obliv.Routing):
    def paths(self, source: int, destination: int) -> list[Any]:
        return []


def test_loops_and_gaps_are_refused() -> None:
    with pytest.raises(obliv.RoutingError, match="loop"):
        obliv.locality(Circling(obliv.ring(6), "circling"))
    with pytest.raises(obliv.RoutingError, match="total probability 0"):
        obliv.locality(Gaps(obliv.ring(6), "gaps"))


@pytest.mark.parametrize("spec", [*SMALL, *LARGER, "complete:5", "random-regular:n=20,d=3,seed=1"])
def test_the_least_hops_are_the_distances(spec: str) -> None:
    topology = obliv.topology(spec)
    assert minimal_hops(topology) == searched(topology)


def test_the_least_hops_between_some_nodes() -> None:
    assert minimal_hops(own_network()) == searched(own_network())
    some = obliv.torus(3, 4).with_terminals([0, 3, 7, 11])
    assert minimal_hops(some) == searched(some)
    with pytest.raises(obliv.InputError, match="cannot be reached"):
        minimal_hops(obliv.build("one way", 2, [(0, 1)]))


@pytest.mark.parametrize("k", range(3, 14))
def test_closed_forms_of_the_u2turn_paper(k: int) -> None:
    mesh = obliv.mesh(k, k)
    least = Fraction(2 * (k * k - 1), 3 * k)
    assert obliv.locality(obliv.routing("dor", mesh)).hops == least
    assert obliv.locality(obliv.routing("valiant", mesh)).hops_over_minimal == 2
    assert obliv.locality(obliv.routing("u2turn", mesh)).hops_over_minimal == Fraction(3 * k - 1, 2 * k)


@pytest.mark.parametrize(
    ("k", "name", "hops"),
    [
        (3, "ival", "56/27"),
        (6, "i2turn", "515/108"),
        (9, "u2turn", "520/81"),
        (9, "romm", "40/9"),
        (10, "ival", "813/100"),
    ],
)
def test_tori(k: int, name: str, hops: str) -> None:
    assert obliv.locality(obliv.routing(name, obliv.torus(k, k))).hops == Fraction(hops)


def test_large_networks_take_no_enumeration() -> None:
    result = obliv.locality(obliv.routing("valiant", obliv.torus(64, 64)))
    assert result.hops == 64
    assert len(result.lengths or ()) == 129


def test_a_saved_result_is_the_same(tmp_path: Path) -> None:
    result = obliv.locality(obliv.routing("ival", obliv.torus(4, 4)))
    result.save(tmp_path / "locality.json")
    assert obliv.load(tmp_path / "locality.json") == result
    assert "49/16" in repr(result)
    assert [row["hops"] for row in result.rows()] == list(range(8))
    bare = obliv.locality(obliv.routing("ival", obliv.torus(4, 4)).pair_loads())
    assert bare.lengths is None
    assert "lengths_reason" in bare.to_dict()


def test_estimates_are_refused() -> None:
    with pytest.raises(obliv.InputError, match="exact"):
        obliv.locality(obliv.routing("dor", obliv.mesh(3, 3)).pair_loads(samples=3))


def _damaged(offset: str) -> Any:
    fabric = random_fabric(7, lmc=2)
    return fabric_routing(network(fabric), random_tables(fabric, 1, damage=4), offset, missing="skip")


def _half_lost(topology: obliv.Topology) -> obliv.Routing:
    """Half of the packets between neighbors of a ring do not arrive, and none from node 0 to node 2."""

    class HalfLost(obliv.Routing):
        partial = True

        def paths(self, source: int, destination: int) -> list[Any]:
            hops = (destination - source) % topology.nodes
            path = tuple(int(topology.first_channel[(source + k) % topology.nodes]) for k in range(hops))
            return [] if (source, destination) == (0, 2) else [(path, Fraction(1, 2) if hops == 1 else Fraction(1))]

    return HalfLost(topology, "half-lost")


PARTIAL = {
    "first LID": lambda: _damaged("0"),
    "all LIDs": lambda: _damaged("spread"),
    "mix": lambda: Fraction(1, 3) * _damaged("0") + Fraction(2, 3) * _damaged("spread"),
    "own": lambda: _half_lost(obliv.ring(6)),
}


@pytest.mark.parametrize("name", PARTIAL)
def test_a_partial_routing_is_measured_over_the_packets_that_it_serves(name: str) -> None:
    routing = PARTIAL[name]()
    topology = routing.topology
    assert routing.partial
    served = hops = least = Fraction(0)
    shares: dict[int, Fraction] = {}
    skipped = 0
    for destination in topology.terminals.tolist():
        numerators, over = routing.served(destination)
        for at, source in enumerate(topology.terminals.tolist()):
            outcome = list(routing.paths(source, destination)) if source != destination else [((), Fraction(1))]
            share = sum((chance for _, chance in outcome), Fraction(0))
            assert Fraction(int(numerators[at]), over) == share
            served += share
            skipped += share < 1
            least += share * _apart(topology, source, destination) if share else 0
            for channels, chance in outcome:
                hops += chance * len(channels)
                shares[len(channels)] = shares.get(len(channels), Fraction(0)) + chance
    assert served < len(topology.terminals) ** 2
    result = obliv.locality(routing)
    assert (result.hops, result.minimal_hops) == (hops / served, least / served)
    assert result.hops_over_minimal is not None
    assert result.skipped == skipped
    assert "left out" in repr(result)
    assert result.hops_over_minimal >= 1
    assert {h: share for h, share in enumerate(result.lengths or ()) if share} == {
        h: share / served for h, share in shares.items()
    }
    (row,) = obliv.compare(topology, routing).entries
    assert (row.hops, row.minimal_hops, row.skipped) == (result.hops, result.minimal_hops, skipped)
    assert routing.pair_loads(200, 1).partial
    with pytest.raises(obliv.InputError, match="give the routing"):
        obliv.locality(routing.pair_loads())


def _apart(topology: obliv.Topology, source: int, destination: int) -> int:
    far = Distances(topology.nodes, topology.tail, topology.head)([destination])
    return int(far[source])


def test_two_phases_need_a_routing_that_serves_all_pairs() -> None:
    with pytest.raises(obliv.RoutingError, match="serves all pairs"):
        TwoPhase(_damaged("0"), "valiant")
