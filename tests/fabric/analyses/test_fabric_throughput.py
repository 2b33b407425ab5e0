"""Jobs on fabrics: loads by walking, cables by name, hosts of unlike speeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.fabric import spelled
from tests.fabric.walks import walked

import obliv
from obliv.errors import InputError, OblivError
from obliv.fabric.analyses.worst import throughput
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.routes.routing import FabricRouting, slowed
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network

PATTERNS = ("uniform", "shift:1", "ring:seed=1", "random-permutation:seed=2", "1/2*uniform+1/2*shift:1")


def tree(spec: str = "fattree:4,2") -> tuple[Fabric, Tables]:
    topology = obliv.topology(spec)
    fabric = from_topology(topology)
    return fabric, tables_of(obliv.routing("dmodk", topology), fabric)


def with_slow_hosts(fabric: Fabric, slow: list[int], rate: Fraction) -> Fabric:
    """Some hosts' cables at another rate than all others."""
    rates = tuple(sorted({*fabric.rates, rate}))
    number = np.array([rates.index(each) for each in fabric.rates] + [-1], np.int32)[fabric.ports.rate]
    ends = fabric.endpoints[slow]
    number[ends] = number[fabric.ports.peer[ends]] = rates.index(rate)
    return replace(fabric.with_ports(rate=number), rates=rates)


def by_hand(fabric: Fabric, tables: Tables, routing: FabricRouting, pattern: str) -> dict[int, tuple[Fraction, int]]:
    """The load of every slot in units of the fastest host's link, and how many pairs cross it."""
    topology = routing.topology
    ends, (send, _) = fabric.endpoints.tolist(), topology.rates()
    matrix = obliv.traffic(pattern, topology).to_matrix()
    load: Counter[int] = Counter()
    pairs: Counter[int] = Counter()
    for i, s in enumerate(ends):
        for j, d in enumerate(ends):
            if i != j and matrix[i][j]:
                for slot in walked(fabric, tables, s, int(fabric.ports.lid[d])):
                    speed = topology.bandwidth[topology.channel_of[slot]] if topology.bandwidth else 1
                    load[slot] += matrix[i][j] * min(send[i], send[j]) / speed  # type: ignore[assignment]
                    pairs[slot] += 1
    return {slot: (Fraction(load[slot]), pairs[slot]) for slot in load}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("slow", [[], [3], [0, 1, 5]])
def test_cables_are_those_that_the_walks_load_most(pattern: str, slow: list[int]) -> None:
    fabric, tables = tree()
    fabric = with_slow_hosts(fabric, slow, fabric.rates[0] / 4) if slow else fabric
    routing = fabric_routing(network(fabric), tables)
    result = throughput(routing, pattern, hottest=4)
    right = by_hand(fabric, tables, routing, pattern)
    (row,), (cables,) = result.patterns, result.cables
    assert row.channel_load == max(load for load, _ in right.values())
    assert [cable.load for cable in cables] == sorted((load for load, _ in right.values()), reverse=True)[:4]
    for cable in cables:
        slot = int(routing.topology.slot_of[cable.channel])
        assert (cable.load, cable.pairs) == right[slot]
        assert cable.tail_port == fabric.port_of(slot)
        assert fabric.nodes.description[fabric.node_of[slot]] == cable.tail
        assert fabric.nodes.description[fabric.node_of[fabric.ports.peer[slot]]] == cable.head
    assert any("slower of its two ends" in note for note in result.notes) == bool(slow)
    assert row.admissible


def test_hosts_of_one_speed_change_nothing() -> None:
    fabric, tables = tree("fattree:4,3")
    routing = fabric_routing(network(fabric), tables)
    result = throughput(routing, *PATTERNS)
    plain = obliv.throughput(routing, *PATTERNS).patterns
    assert [vars(row) | {"hottest": ()} for row in result.patterns] == [vars(row) | {"hottest": ()} for row in plain]
    for pattern in PATTERNS:
        traffic = obliv.traffic(pattern, routing.topology)
        assert slowed(traffic, routing.topology) is traffic


@pytest.mark.parametrize("pattern", PATTERNS)
def test_slowed_traffic_by_its_definition(pattern: str) -> None:
    fabric, _ = tree()
    topology = network(with_slow_hosts(fabric, [2, 6], fabric.rates[0] / 5))
    before, after = obliv.traffic(pattern, topology), slowed(obliv.traffic(pattern, topology), topology)
    rate = topology.rates()[0]
    assert after.to_matrix() == [
        [share * min(rate[s], rate[d]) for d, share in enumerate(row)] for s, row in enumerate(before.to_matrix())
    ]
    (row,) = obliv.throughput(fabric_routing(topology, tree()[1]), pattern).patterns
    assert not row.admissible
    assert row.throughput <= Fraction(1, 5)


def test_it_is_kept_and_loaded_again(tmp_path: Path) -> None:
    fabric, tables = tree()
    result = throughput(fabric_routing(network(fabric), tables), *PATTERNS)
    result.save(tmp_path / "x.json")
    again = obliv.load(tmp_path / "x.json")
    assert again.to_dict() == result.to_dict()
    assert repr(again) == repr(result)
    plain = obliv.throughput(fabric_routing(network(fabric), tables), *PATTERNS)
    plain.save(tmp_path / "plain.json")
    assert type(obliv.load(tmp_path / "plain.json")) is obliv.results.Throughput


def test_nothing_to_name() -> None:
    fabric, tables = tree()
    routing = fabric_routing(network(fabric), tables)
    result = throughput(routing, "shift:0", hottest=3)
    assert result.cables == ((),)
    assert next(iter(result.rows()))["channel"] is None
    with pytest.raises(InputError, match="must be 0 or more"):
        throughput(routing, "uniform", hottest=-1)


@pytest.mark.parametrize("seed", range(8))
def test_odd_fabrics(seed: int) -> None:
    """Parallel cables, cables to oneself, adapters with two ports, unlike rates: whatever arrives."""
    rng = np.random.default_rng(seed)
    fabric = spelled.random_fabric(rng)
    try:
        routing = fabric_routing(network(fabric), spelled.random_tables(rng, fabric), missing="skip")
    except OblivError:
        return
    result = throughput(routing, "uniform")
    assert [cable.load for cable in result.cables[0]][:1] == [result.patterns[0].channel_load][: len(result.cables[0])]
    assert all(cable.load > 0 and cable.pairs > 0 for cable in result.cables[0])
