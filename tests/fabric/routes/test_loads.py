"""Pair loads of tables: against walks in plain Python, with every rule for the offset, and pairs left out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.fabric.by_hand import climbing, fabric_of, loads_of, random_fabric, random_tables

import obliv
from obliv.errors import RoutingError, SpecError
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.kernels.automaton import bound_channels, spread_routes
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.routes.routing import FabricHops, FabricLoads, FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import offsets_of
from obliv.fabric.topology import network
from obliv.matching.solve import simple_bound
from obliv.patterns.base import Traffic

RULES = ["0", "1", "group", "index", "0-2-1", "spread", [3, 0, 1, 1, 2]]


def rule_for(seed: int, fabric: Fabric) -> Any:
    """A rule, with no offsets beyond what the fabric has."""
    rule, most = RULES[seed % len(RULES)], 1 << int(fabric.ports.lmc[fabric.endpoints].max())
    if isinstance(rule, list):
        return [each % most for each in rule]
    return "-".join(str(int(each) % most) for each in rule.split("-")) if rule[0].isdigit() else rule


def _choice(routing: FabricRouting) -> Any:
    fabric = routing.topology.fabric
    ends = fabric.endpoints.tolist()
    size = [1 << int(fabric.ports.lmc[d]) for d in ends]
    if routing.routes.denominator > 1:
        return lambda i, j: [o % size[j] for o in range(routing.routes.denominator)]
    own = routing.routes.low[routing.routes.class_of].tolist()
    return lambda i, j: [own[i] % size[j]]


def _matrix(loads: FabricLoads, channel: int) -> Any:
    return loads.on_channel(channel).toarray()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(28))
def test_loads_are_those_of_the_walks(seed: int) -> None:
    fabric = random_fabric(seed, lmc=seed % 3)
    rule = rule_for(seed, fabric)
    tables = random_tables(fabric, seed, damage=seed % 2 * 6)
    routing = fabric_routing(network(fabric), tables, rule, missing="skip")
    loads = routing.pair_loads()
    right = loads_of(fabric, tables, _choice(routing))
    result = {c: _matrix(loads, c) for c in range(routing.topology.channels)}
    for (i, j), used in right.items():
        for c, slot in enumerate(routing.topology.slot_of.tolist()):
            assert Fraction(int(result[c][i, j]), loads.denominator) == used.get(slot, 0), (i, j, c)
    assert loads.totals().tolist() == [int(result[c].sum()) for c in result]
    weights = np.random.default_rng(seed).integers(1, 9, 5)
    assert loads.uniform(weights).tolist() == [int((result[c].sum(axis=1) * weights).sum()) for c in result]
    ends = fabric.endpoints.tolist()
    short = sum(used.get(ends[i], Fraction(0)) != 1 for (i, j), used in right.items() if i != j)
    assert routing.skipped == short
    for i in range(5):
        for j in range(5):
            paths = list(routing.paths(i, j))
            total: dict[int, Fraction] = {}
            for channels, chance in paths:
                for c in channels:
                    slot = int(routing.topology.slot_of[c])
                    total[slot] = total.get(slot, Fraction(0)) + chance
            assert total == right[i, j]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(14))
def test_bounds_and_traffic_agree_with_the_weights(seed: int) -> None:
    fabric = random_fabric(seed, lmc=seed % 3, mixed=seed % 2 == 0)
    tables = random_tables(fabric, seed, damage=seed % 3 * 4)
    routing = fabric_routing(network(fabric), tables, rule_for(seed, fabric), missing="skip")
    loads = routing.pair_loads()
    rates = loads.rates
    limits = loads.bounds(rates.supply, rates.demand)
    each = [simple_bound(loads.weights(c), rates) for c in range(routing.topology.channels)]
    assert limits is not None
    assert limits.tolist() == each
    rng = np.random.default_rng(seed)
    flows = rng.permutation(25)[:9]
    amount = rng.integers(1, 5, 9)
    traffic = Traffic("some", 5, Fraction(0), (flows // 5).astype(np.int32), (flows % 5).astype(np.int32), amount, 7)
    slow = [
        Fraction(int((_matrix(loads, c)[flows // 5, flows % 5] * amount).sum()), 7 * loads.denominator)
        / routing.topology.bandwidth_of(c)
        for c in range(routing.topology.channels)
    ]
    assert loads.under(traffic) == slow


def test_hosts_that_are_not_terminals_send_and_take_nothing() -> None:
    fabric = random_fabric(3)
    topology = network(fabric).with_terminals([4, 2, 0])
    routing = fabric_routing(topology, random_tables(fabric, 3))
    loads = routing.pair_loads()
    for host in (1, 3):
        for c in np.flatnonzero((topology.tail == host) | (topology.head == host)).tolist():
            assert not loads.on_channel(c).nnz
    for node in (1, 3, topology.hosts):
        for ends in ((node, 2), (2, node)):
            with pytest.raises(RoutingError, match="is not a terminal of"):
                list(routing.paths(*ends))


def test_huge_rates_are_not_bounded_in_64_bits() -> None:
    loads = fabric_routing(network(random_fabric(1)), random_tables(random_fabric(1), 1)).pair_loads()
    many = np.full(5, 2**60, np.int64)
    assert loads.bounds(many, many) is None
    assert loads.bounds(many.astype(object), many) is None


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(6))
def test_kernels_agree_compiled(seed: int) -> None:
    fabric = random_fabric(seed, lmc=2)
    routing = fabric_routing(network(fabric), random_tables(fabric, seed), "spread")
    loads = routing.pair_loads()
    start, pair, times = loads.entries
    channels = routing.topology.channels
    filled = np.empty_like(pair), np.empty_like(times)
    last = np.full(channels, -1, np.int64)
    spread_routes.compiled()(routing.routes.arrays, True, last, start[:-1].copy(), *filled)
    assert (filled[0] == pair).all()
    assert (filled[1] == times).all()
    ones, bound = np.ones(5, np.int64), np.zeros(channels, np.int64)
    of_class = np.diff(routing.routes.members[0])
    bound_channels.compiled()(start, pair, times, 5, of_class, ones, bound)
    direct = loads.bounds(ones, ones)
    between = (routing.topology.tail >= 5) & (routing.topology.head >= 5)
    assert direct is not None
    assert (bound == direct)[between].all()


def test_rules_for_the_offset() -> None:
    cables = [((h, 1), (4, 4 - h)) for h in range(3)] + [((3, 1), (5, 1)), ((4, 5), (5, 2))]
    topology = network(fabric_of("hhhhss", [1, 1, 1, 1, 5, 2], cables, lmc=2))
    assert offsets_of(topology, 3).tolist() == [3] * 4
    assert offsets_of(topology, "group").tolist() == [2, 1, 0, 0]  # by the switch's ports
    assert offsets_of(topology, "index").tolist() == [2, 1, 0, 0]
    assert offsets_of(topology, "1-3").tolist() == [1, 3, 1, 1]
    assert offsets_of(topology, [0, 1, 2, 3]).tolist() == [0, 1, 2, 3]
    for wrong in ("", "x", "-1", "0--1", "1,2", "٣", "9" * 5000):
        with pytest.raises(SpecError, match="write an offset from 0 to 127"):
            offsets_of(topology, wrong)
    for sequence in ([1, 2], [0.5] * 4, [-1, 0, 0, 0], []):
        with pytest.raises(RoutingError, match="4 whole numbers from 0, one for each terminal"):
            offsets_of(topology, sequence)
    for beyond in ("4", "128", 4, "0-4", [0, 0, 0, 4]):
        with pytest.raises(RoutingError, match=r"fabric:by hand has at most 4 LIDs \(LMC 2\)"):
            offsets_of(topology, beyond)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spec", "rule", "name"), [("fattree:8,2", "group", "osrm2"), ("fattree:4,3", "index", "osrm3")]
)
def test_optimal_tables_with_several_lids(spec: str, rule: str, name: str) -> None:
    """The rule's offset stands for the source in the tables: OSRM2 goes by groups of sources, OSRM3 by their place."""
    tree = obliv.topology(spec)
    k = tree.children[0]
    fabric = from_topology(tree, lmc=1)
    out = np.full((len(fabric.switches), int(fabric.ports.lid.max()) + 2), 255, np.uint8)
    routing = obliv.routing(name, tree)
    channel = network(fabric).slot_of  # the channels of the tree are those of the fabric
    for s in tree.terminals.tolist():
        o = s % k * 2 // k
        for d in tree.terminals.tolist():
            for way, _ in routing.paths(s, d):
                for c in way[1:]:
                    row = int(tree.tail[c]) - tree.first_node[1]
                    lid = int(fabric.ports.lid[fabric.endpoints[d]]) + o
                    port = fabric.port_of(int(channel[c]))
                    assert out[row, lid] in (255, port)
                    out[row, lid] = port
    for d in tree.terminals.tolist():  # a host's own LIDs, which its neighbours need at other offsets too
        slot = int(fabric.ports.peer[fabric.endpoints[d]])
        row = int(fabric.node_of[slot]) - tree.first_node[1]
        lid = int(fabric.ports.lid[fabric.endpoints[d]])
        out[row, lid : lid + 2] = fabric.port_of(slot)
    tables = Tables(name, fabric.switches, out, np.zeros(len(out), np.int32), "opensm")
    result = fabric_routing(network(fabric), tables, rule)
    assert obliv.worst_case(result).channel_load == 2
    assert not isinstance(result, FabricHops)
    assert obliv.verify(obliv.worst_case(result, certificate=True)).proved


def test_spread_over_all_ways_is_multipath() -> None:
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree, lmc=1)
    lids = fabric.ports.lid[fabric.endpoints]
    out = np.full((6, int(lids.max()) + 2), 255, np.uint8)
    for o in range(2):  # offset o goes up by port o
        for d, lid in enumerate(lids.tolist()):
            for leaf in range(4):
                out[leaf, lid + o] = 1 + d % 2 if d // 2 == leaf else 3 + o
            out[4:, lid + o] = 1 + d // 2
    tables = Tables("both", fabric.switches, out, np.zeros(6, np.int32), "opensm")
    even = fabric_routing(network(fabric), tables, "spread")
    ecmp = obliv.routing("ecmp", tree)
    assert obliv.worst_case(even).channel_load == obliv.worst_case(ecmp).channel_load == 1
    for pattern in ("uniform", "shift:3", "random-permutation:seed=5"):
        mine, theirs = (obliv.throughput(x, pattern).patterns[0].channel_load for x in (even, ecmp))
        assert mine == theirs * (Fraction(7, 8) if pattern == "uniform" and theirs == 1 else 1)


def test_pairs_without_a_way_are_named() -> None:
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    tables = tables_of(obliv.routing("dmodk", tree), fabric)
    tables.out[0, int(fabric.ports.lid[fabric.endpoints[5]])] = 255
    routing = fabric_routing(network(fabric), tables)
    messages = (
        r"what host\(0,0\) sends to host\(2,1\) comes to a switch that has no port for it, and 1 other pair does not"
    )
    for call in (routing.pair_loads, lambda: obliv.worst_case(routing), lambda: list(routing.paths(0, 5))):
        with pytest.raises(RoutingError, match=messages):
            call()
    skipping = fabric_routing(network(fabric), tables, missing="skip")
    assert skipping.skipped == 2
    assert list(skipping.paths(0, 5)) == []
    assert len(list(skipping.paths(0, 4))) == 1
    with pytest.raises(SpecError, match="choose refuse or skip"):
        fabric_routing(network(fabric), tables, missing="ignore")


def test_a_lone_source_need_not_reach_itself() -> None:
    fabric = fabric_of("hhss", [1, 1, 2, 2], [((0, 1), (2, 1)), ((1, 1), (3, 1)), ((2, 2), (3, 2))])
    out = np.full((2, 5), 255, np.uint8)
    out[0, 2], out[1, 1] = 2, 2
    out[1, 2], out[0, 1] = 1, 1
    tables = Tables("two", fabric.switches, out, np.zeros(2, np.int32), "opensm")
    routing = fabric_routing(network(fabric), tables)
    assert routing.routes.delivered is None
    out[0, 1] = 255  # nobody but itself would go that way, and its peer's way needs it
    assert fabric_routing(network(fabric), tables).skipped == 1


def test_hosts_back_to_back() -> None:
    fabric = fabric_of("hh", [1, 1], [((0, 1), (1, 1))])
    tables = Tables("none", fabric.switches, np.zeros((0, 3), np.uint8), np.zeros(0, np.int32), "opensm")
    routing = fabric_routing(network(fabric), tables)
    assert obliv.worst_case(routing, certificate=True).channel_load == 1
    assert obliv.throughput(routing, "shift:1").patterns[0].channel_load == 1
    assert [c for c, _ in routing.paths(0, 1)] == [(0,)]


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_compare_deadlock_and_average_take_tables(share: float) -> None:
    tree = obliv.topology("fattree:4,3")
    fabric = from_topology(tree)
    routing = fabric_routing(network(fabric), climbing(tree, fabric, share))
    assert isinstance(routing, FabricHops)
    assert obliv.deadlock(routing).acyclic
    assert obliv.average_case(routing, 200).samples == 200
    assert obliv.compare(routing.topology, [routing], samples=100).to_dict()["rows"]
