"""The worst case of tables: against every permutation, against fat trees, with names, bounds and certificates."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.fabric.by_hand import climbing, loads_of, random_fabric, random_tables, with_nodes, worst_of

import obliv
from obliv.fabric.analyses.worst import hottest_cables, worst
from obliv.fabric.generate import from_routing, from_topology, tables_of
from obliv.fabric.results.worst import FabricWorst
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.routings.trees import TreeTable


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(24))
def test_against_every_permutation(seed: int) -> None:
    fabric = random_fabric(seed, lmc=seed % 2)
    tables = random_tables(fabric, seed, damage=seed % 3 * 4)
    topology = network(fabric)
    rule = "spread" if seed % 4 == 1 else "0"
    routing = fabric_routing(topology, tables, rule, missing="skip")
    loads = loads_of(fabric, tables, lambda i, j: list(range(2)) if rule == "spread" else [0])
    speed = {int(slot): topology.bandwidth_of(c) for c, slot in enumerate(topology.slot_of.tolist())}
    result = worst(routing)
    assert result.channel_load == worst_of(loads, 5, speed)
    ranked = [cable.upper for cable in result.hottest]
    assert ranked == sorted(ranked, reverse=True)
    assert result.hottest[0].upper == result.channel_load
    assert result.hottest[0].solved


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(12))
def test_slow_hosts_send_at_their_own_rate(seed: int) -> None:
    """A host of rate r is r · 20 hosts of rate 1/20 at one place: its own link never carries more than 1."""
    fabric = random_fabric(seed, mixed=True)
    topology = network(fabric)
    routing = fabric_routing(topology, random_tables(fabric, seed))
    result = worst(routing, certificate=True)
    assert obliv.verify(result).proved
    rates = topology.injection or (Fraction(1),) * 5
    if topology.unit_rates:
        assert result.permutation is not None
        return
    assert result.permutation is None
    assert result.traffic is not None
    for i in range(5):
        assert sum(x for s, _, x in result.traffic if s == i) <= rates[i]
        assert sum(x for _, d, x in result.traffic if d == i) <= rates[i]
    for cable in hottest_cables(routing.pair_loads(), 100):
        if int(topology.tail[cable.channel]) < 5:
            assert cable.upper <= 1


@pytest.mark.nightly
@pytest.mark.parametrize(("m", "n", "share"), [(4, 2, 0.5), (8, 2, 1.0), (4, 3, 0.2), (4, 3, 1.0), (8, 3, 0.05)])
def test_fat_trees_agree_with_their_own_solver(m: int, n: int, share: float) -> None:
    tree = obliv.topology(f"fattree:{m},{n}")
    fabric = from_topology(tree)
    tables = climbing(tree, fabric, share, seed=m + n)
    ports = []
    for level in range(1, n):
        rows = slice(tree.first_node[level] - tree.first_node[1], tree.first_node[level + 1] - tree.first_node[1])
        port = tables.out[rows][:, fabric.ports.lid[fabric.endpoints]].astype(int) - 1 - m // 2
        ports.append(np.where(port >= 0, port, 0))
    table = TreeTable(tree, ports)
    result = worst(fabric_routing(network(fabric), tables))
    assert result.channel_load == obliv.worst_case(table).channel_load == obliv.ratio(table).ratio


@pytest.mark.parametrize(("engine", "spec", "load"), [("osrm3-d", "fattree:8,3", 4), ("dmodk", "fattree:8,2", 4)])
def test_known_values(engine: str, spec: str, load: int) -> None:
    tree = obliv.topology(spec)
    fabric = from_topology(tree)
    tables = tables_of(obliv.routing(engine, tree), fabric)
    assert worst(fabric_routing(network(fabric), tables)).channel_load == load


@pytest.mark.nightly
def test_dimension_order_on_the_torus() -> None:
    torus = obliv.topology("torus:9x9")
    fabric = from_topology(torus)
    result = worst(fabric_routing(network(fabric), tables_of(obliv.routing("dor", torus), fabric)))
    assert result.channel_load == 4
    assert result.channel_load == obliv.worst_case(obliv.routing("dor", torus)).channel_load


def test_names_pairs_and_saving(tmp_path: Path) -> None:
    tree = obliv.topology("fattree:4,3")
    fabric = from_topology(tree)
    fabric = with_nodes(fabric, description=tuple(f"evil\x1b[2J\n{text}" for text in fabric.nodes.description))
    routing = fabric_routing(network(fabric), climbing(tree, fabric, 0.4))
    result = worst(routing, certificate=True)
    assert len(list(result.pairs())) == result.channel_load
    for s, d in result.crossing:
        assert any(result.channel.id in channels for channels, _ in routing.paths(s, d))
    assert "port" in result.names[0]
    assert "\x1b" not in repr(result)
    assert all("\n" not in text for _, text in result.summary())
    path = tmp_path / "worst.json"
    result.save(path)
    content = json.loads(path.read_text())
    assert content["kind"] == "worst"
    assert len(content["names"]) == 16
    assert set(content["hottest"][0]) >= {"channel", "tail", "tail_port", "head", "head_port", "channel_load"}
    assert FabricWorst.from_dict(content) == result
    assert obliv.load(path).channel_load == result.channel_load
    assert obliv.verify(path, topology=routing.topology, routing=routing).proved
    content["names"][0] = "other"
    path.write_text(json.dumps(content))
    assert not obliv.verify(path, topology=routing.topology, routing=routing).proved


def test_certificates_of_wrong_tables_fail() -> None:
    tree = obliv.topology("fattree:4,3")
    fabric = from_topology(tree)
    topology = network(fabric)
    good = fabric_routing(topology, tables_of(obliv.routing("osrm3-d", tree), fabric))
    bad = fabric_routing(topology, climbing(tree, fabric, 1.0))
    result = worst(good, certificate=True)
    assert obliv.verify(result, topology=topology, routing=good).proved
    assert not obliv.verify(result, topology=topology, routing=bad).proved


def test_exact_loads_and_bounds_never_look_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = obliv.topology("fattree:8,3")
    fabric = from_topology(tree)
    loads = fabric_routing(network(fabric), climbing(tree, fabric, 1.0)).pair_loads()
    exact = {cable.channel: cable.upper for cable in hottest_cables(loads, 800)}
    assert len(exact) == 768
    few = hottest_cables(loads, 5)
    assert [cable.upper for cable in few] == sorted(exact.values(), reverse=True)[:5]
    assert all(cable.solved for cable in few)
    monkeypatch.setattr("obliv.fabric.analyses.worst._EFFORT", 0)
    monkeypatch.setattr("obliv.fabric.analyses.worst._ENTRIES", 0.0)
    for cable in hottest_cables(loads, 800):
        assert cable.lower <= exact[cable.channel] <= cable.upper
        load = cable.to_dict()["channel_load"]
        assert set(load) == ({"exact", "value"} if cable.solved else {"lower", "upper"})
        assert cable.solved or "bounds" in cable.worst
    assert any(not cable.solved for cable in hottest_cables(loads, 800))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "rule"),
    [("mesh:5x3", "dor"), ("xgft:2;4,6;1,3", "dmodk"), ("fattree:8,2", "dmodk"), ("dragonfly:p=2,a=4,h=2", "shortest")],
)
@pytest.mark.parametrize("count", [1, 3, 12])
def test_the_first_of_the_ranked_is_the_worst_channel(spec: str, rule: str, count: int) -> None:
    """Also where cables have bounds only, and as many are listed in the text as are asked for."""
    result = worst(from_routing(obliv.routing(rule, obliv.topology(spec))), hottest=count)
    assert result.channel is not None
    assert len(result.hottest) == count
    assert result.hottest[0].channel == result.channel.id
    assert result.hottest[0].load == result.channel_load
    assert all(cable.upper <= result.channel_load for cable in result.hottest)
    assert sum(line.strip().startswith("hottest ") for line in repr(result).splitlines()) == count


def test_pairs_that_are_left_out_are_counted() -> None:
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    tables = tables_of(obliv.routing("dmodk", tree), fabric)
    tables.out[1, int(fabric.ports.lid[fabric.endpoints[7]])] = 255
    routing = fabric_routing(network(fabric), tables, missing="skip")
    result = worst(routing)
    assert result.skipped == 2
    assert ("left out", "2 pairs whose packets do not arrive") in result.summary()


@pytest.mark.nightly
def test_eleven_thousand_hosts() -> None:
    tree = obliv.topology("fattree:36,3")
    fabric = from_topology(tree)
    result = worst(fabric_routing(network(fabric), climbing(tree, fabric, 0.01)))
    assert len(result.crossing) == result.channel_load > 35
