"""Fabrics made from topologies have their cabling, and tables made from routings go the routings' ways."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.fabric.walks import walked

import obliv
from obliv.errors import RoutingError, TopologyError
from obliv.fabric.generate import _of_paths, from_topology, tables_of, tree_ports
from obliv.fabric.generate import cabling_of as _plan_of
from obliv.fabric.model import NONE, RATES, Fabric
from obliv.fabric.names import with_lids
from obliv.topologies.make import build

SPECS = (
    "fattree:4,2", "fattree:8,2", "fattree:4,3", "eft2:8,6", "xgft:2;3,4;2,2", "torus:5x5", "torus:2x3", "mesh:4x3",
    "hypercube:4", "complete:5", "random-regular:n=16,d=3,seed=1", "ring:2",
)  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_the_cabling_is_that_of_the_topology(spec: str) -> None:
    topology = obliv.topology(spec)
    fabric = from_topology(topology)
    ends = fabric.endpoints
    assert len(ends) == len(topology.terminals)
    assert (
        fabric.ports.peer[fabric.ports.peer[fabric.ports.peer >= 0]] == np.flatnonzero(fabric.ports.peer >= 0)
    ).all()
    hosts = {int(v) for v in topology.terminals} if len(fabric.switches) < topology.nodes else set()
    switch_of = {v: int(s) for v, s in zip((v for v in range(topology.nodes) if v not in hosts), fabric.switches)}
    node = {**switch_of, **{int(v): int(fabric.node_of[e]) for v, e in zip(topology.terminals, ends) if hosts}}
    wanted = sorted((node[int(a)], node[int(b)]) for a, b in zip(topology.tail, topology.head))
    cabled = np.flatnonzero(fabric.ports.peer >= 0)
    result = [(int(fabric.node_of[s]), int(fabric.node_of[fabric.ports.peer[s]])) for s in cabled]
    added = [] if hosts else [(int(fabric.node_of[e]), node[int(v)]) for v, e in zip(topology.terminals, ends)]
    assert sorted(result) == sorted(wanted + added + [(b, a) for a, b in added])
    assert (
        len({*fabric.nodes.ident})
        == len({*fabric.nodes.guid.tolist()})
        == len({*fabric.nodes.description})
        == len(fabric.nodes)
    )
    assert (fabric.ports.rate[cabled] >= 0).all()
    assert (fabric.ports.rate[fabric.ports.peer < 0] == -1).all()


def test_ports_are_in_the_order_of_the_channels() -> None:
    fabric = from_topology(obliv.topology("torus:4x4"))
    first = int(fabric.switches[0])
    beside = [int(fabric.node_of[fabric.ports.peer[fabric.slot(first, port)]]) for port in range(1, 6)]
    assert beside == [0, *(16 + v for v in (1, 3, 4, 12))]  # its host, then x up, x down, y up, y down
    leaf = from_topology(obliv.topology("fattree:4,2"))
    at = int(leaf.switches[1])
    assert [int(leaf.node_of[leaf.ports.peer[leaf.slot(at, port)]]) for port in range(1, 5)] == [2, 3, 12, 13]


@pytest.mark.parametrize(
    ("spec", "lost"), [("fattree:4,3", "16-24"), ("fattree:4,3", "24"), ("mesh:3x3", "0-1"), ("torus:3x3", "4,0-1")]
)
def test_lost_cables_leave_their_ports_free(spec: str, lost: str) -> None:
    before, after = (from_topology(obliv.topology(each)) for each in (spec, f"damaged:({spec}),{lost}"))

    def cables(fabric: Fabric) -> set[frozenset[tuple[str, int]]]:
        def end(slot: int) -> tuple[str, int]:
            node = int(fabric.node_of[slot])
            name = fabric.nodes.description[node].replace("(", "").replace(")", "")  # labels of damaged grids have none
            return name, slot - int(fabric.first_slot[node])

        return {
            frozenset(map(end, (slot, int(fabric.ports.peer[slot])))) for slot in np.flatnonzero(fabric.ports.peer >= 0)
        }

    there, left = cables(before), cables(after)
    assert left < there
    names = {name for cable in left for name, _ in cable}
    alone = [cable for cable in there - left if {name for name, _ in cable} <= names]
    assert len(alone) == lost.count("-")  # the others ended at a node that is lost


def test_bandwidths_become_rates_of_cables() -> None:
    links = [(0, 2), (2, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3)]
    topology = build(
        "slow", 5, links, bandwidth=[1, 1, Fraction(1, 4), Fraction(1, 4), 1, 1, 1, 1], terminals=[0, 1, 4]
    )
    fabric = from_topology(topology)
    assert [fabric.rate_at(int(slot)) for slot in fabric.endpoints] == [32, 8, 32]
    with pytest.raises(TopologyError, match="a rate that no cable has"):
        from_topology(build("odd", 5, links, bandwidth=[7] * 8, terminals=[0, 1, 4]))
    with pytest.raises(TopologyError, match="as 4xHDR for 200 Gb/s"):
        from_topology(topology, rate="200Gb")
    with pytest.raises(TopologyError, match="4xQDR"):
        from_topology(topology, rate="4xqdx")


def test_added_hosts_have_the_rates_of_the_terminals() -> None:
    ring = obliv.topology("ring:3").with_rates([1, Fraction(1, 2), 1], [1, Fraction(1, 2), 1])
    fabric = from_topology(ring)
    assert [fabric.rate_at(int(slot)) for slot in fabric.endpoints] == [32, 16, 32]
    with pytest.raises(TopologyError, match="terminal 1 sends 1/2 and takes 1"):
        from_topology(obliv.topology("ring:3").with_rates([1, Fraction(1, 2), 1]))


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([(0, 1), (1, 0), (1, 2)], "1 -> 2 has no opposite channel"),
        ([(0, 1), (1, 0), (1, 1)], "a single channel to itself"),
    ],
)
def test_what_is_no_cable_is_refused(links: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(TopologyError, match=message):
        from_topology(build("odd", 3, links))


def test_parallel_cables_and_self_cables_are_kept() -> None:
    fabric = from_topology(build("double", 2, [(0, 1), (0, 1), (1, 0), (1, 0), (0, 0), (0, 0)]))
    first, second = fabric.switches.tolist()
    assert [fabric.port_of(int(fabric.ports.peer[fabric.slot(first, port)])) for port in (2, 3)] == [2, 3]
    assert int(fabric.ports.peer[fabric.slot(first, 4)]) == fabric.slot(first, 5)
    assert int(fabric.node_of[fabric.ports.peer[fabric.slot(second, 2)]]) == first


def test_a_switch_has_at_most_254_ports() -> None:
    star = [(0, v) for v in range(1, 257)]
    with pytest.raises(TopologyError, match="256 ports"):
        from_topology(build("star", 257, star + [(v, 0) for _, v in star], terminals=range(1, 257)))


@pytest.mark.parametrize("lmc", [0, 1, 3, 7])
def test_lids_are_aligned_and_unlike(lmc: int) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"), lmc=lmc)
    ends = fabric.endpoints
    own = [(int(base), 1 << lmc) for base in fabric.ports.lid[ends]]
    own += [(int(lid), 1) for lid in fabric.ports.lid[fabric.first_slot[fabric.switches]]]
    taken = [lid for base, many in own for lid in range(base, base + many)]
    assert len({*taken}) == len(taken)
    assert min(taken) == 1
    assert all(base % (1 << lmc) == 0 for base in fabric.ports.lid[ends])
    assert (fabric.ports.lmc[ends] == lmc).all()


def test_lids_run_out() -> None:
    with pytest.raises(TopologyError, match="49151 available LIDs"):
        from_topology(obliv.topology("fattree:16,3"), lmc=6)
    with pytest.raises(TopologyError, match="0 to 7"):
        with_lids(from_topology(obliv.topology("ring:3")), 8)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("fattree:4,3", "dmodk"), ("fattree:4,3", "osrm3-d"), ("fattree:8,2", "osrm2-c:lids=1"), ("torus:5x5", "dor"),
        ("mesh:4x3", "dor:yx"), ("hypercube:3", "dor"), ("random-regular:n=12,d=3,seed=2", "shortest"),
        ("xgft:2;3,4;2,2", "dmodk"),
    ],
)  # fmt: skip
def test_tables_go_the_way_of_the_routing(spec: str, routing: str) -> None:
    topology = obliv.topology(spec)
    fabric, result = from_topology(topology, lmc=1), obliv.routing(routing, topology)
    tables = tables_of(result, fabric)
    plan = _plan_of(topology)
    ends = fabric.endpoints
    for i, s in enumerate(topology.terminals.tolist()):
        for j, d in enumerate(topology.terminals.tolist()):
            if i == j:
                continue
            ((channels, _),) = result.paths(s, d)
            wanted = [int(plan.slot[c]) for c in channels]
            slots = walked(fabric, tables, int(ends[i]), int(fabric.ports.lid[ends[j]]) + (i + j) % 2)
            assert (slots[1:-1] if plan.added else slots) == wanted


def test_trees_take_a_short_cut_to_the_same_tables() -> None:
    tree = obliv.topology("fattree:4,3")
    fabric, plan = from_topology(tree), _plan_of(tree)
    for name in ("dmodk", "osrm3-d"):
        routing = obliv.routing(name, tree)
        quick, slow = tree_ports(tree, routing.ways, np.arange(16)), _of_paths(routing, plan, fabric)
        used = slow != NONE
        assert (quick[used] == slow[used]).all()
        assert used.sum() > 100


@pytest.mark.parametrize(
    ("spec", "routing", "message"),
    [
        ("fattree:4,3", "osrm3", "depends on the source"),
        ("fattree:8,2", "osrm2", "depends on the source"),
        ("fattree:4,2", "omrmn", "paths"),
        ("torus:4x4", "valiant", "paths"),
        ("fattree:4,2", "updown", "several next hops"),
        ("mesh:3x3", "o1turn", "paths"),
    ],
)
def test_what_tables_cannot_do_is_refused(spec: str, routing: str, message: str) -> None:
    topology = obliv.topology(spec)
    with pytest.raises(RoutingError, match=message):
        tables_of(obliv.routing(routing, topology), from_topology(topology))


def test_the_fabric_has_to_be_that_of_the_routing_and_to_have_lids() -> None:
    tree = obliv.topology("fattree:4,2")
    routing = obliv.routing("dmodk", tree)
    with pytest.raises(RoutingError, match="has other cables"):
        tables_of(routing, from_topology(obliv.topology("fattree:4,3")))
    with pytest.raises(RoutingError, match="no LIDs"):
        tables_of(routing, from_topology(tree, lids=False))


def test_rates_are_known_however_they_are_written_and_lids_are_counted_first() -> None:
    assert from_topology(obliv.topology("fattree:4,2"), rate="4xqdr").rates == (RATES["4xQDR"],)
    with pytest.raises(TopologyError, match="90000 switches and 90000 ports of hosts"):
        from_topology(obliv.topology("torus:300x300"))
