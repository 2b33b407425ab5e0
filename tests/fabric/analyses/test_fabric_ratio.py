"""The ratio of forwarding tables: as for the routing that they were made of, and only where it is known."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import obliv
from obliv.errors import InputError
from obliv.fabric.analyses.worst import ratio
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.route import route
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network


def tables_as_routing(topology: str, routing: str) -> FabricRouting:
    result = obliv.topology(topology)
    fabric = from_topology(result)
    return fabric_routing(network(fabric), tables_of(obliv.routing(routing, result), fabric))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("tree", "routing"),
    [
        ("fattree:4,2", "dmodk"),
        ("fattree:8,2", "dmodk"),
        ("fattree:4,3", "dmodk"),
        ("fattree:4,3", "osrm3-d"),
        ("fattree:4,3", "shortest"),
        ("fattree:8,3", "osrm3-d"),
        pytest.param("fattree:8,3", "shortest", marks=pytest.mark.nightly),
        ("fattree:4,4", "dmodk"),
        ("eft2:8,6", "dmodk"),
        ("xgft:2;4,8;1,4", "dmodk"),
    ],
)
def test_it_is_that_of_the_routing(tree: str, routing: str) -> None:
    result = ratio(tables_as_routing(tree, routing))
    known = obliv.ratio(obliv.routing(routing, obliv.topology(tree)))
    assert result.ratio == known.ratio
    assert result.lower_bound == known.lower_bound


def test_the_witness_is_one() -> None:
    way = tables_as_routing("fattree:4,3", "dmodk")
    result = ratio(way)
    load = way.pair_loads().under(obliv.permutation(result.permutation))
    assert load[result.channel.id] == result.ratio == 3


def test_several_lids() -> None:
    routed = route(from_topology(obliv.topology("fattree:8,2")), "osrm2")
    topology = network(routed.fabric)
    by_rule = ratio(fabric_routing(topology, routed.tables, routed.offset))
    assert by_rule.ratio == by_rule.lower_bound == 2
    assert by_rule.optimal
    spread = ratio(fabric_routing(topology, routed.tables, "spread"))
    assert spread.lower_bound is None
    assert spread.ratio <= by_rule.ratio


def test_paths_that_turn_twice_have_no_bound() -> None:
    """Over a third root, up and down twice: the theorems are not about such paths."""
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    tables = tables_of(obliv.routing("dmodk", tree), fabric)
    leaf, root, other = (int(fabric.switches[k]) for k in (0, 4, 1))  # leaves come first
    ends = [int(s) for s in fabric.endpoints if int(fabric.node_of[fabric.ports.peer[s]]) == int(fabric.switches[2])]
    lid, out = int(fabric.ports.lid[ends[0]]), tables.out.copy()
    rows = tables.row_of

    def port(at: int, to: int) -> int:
        slots = range(int(fabric.first_slot[at]), int(fabric.first_slot[at + 1]))
        return next(
            fabric.port_of(s) for s in slots if fabric.ports.peer[s] >= 0 and fabric.node_of[fabric.ports.peer[s]] == to
        )

    far = int(fabric.switches[5])
    out[rows[leaf], lid] = port(leaf, root)
    out[rows[root], lid] = port(root, other)  # down to a leaf that sends it up again
    out[rows[other], lid] = port(other, far)
    out[rows[far], lid] = port(far, int(fabric.switches[2]))
    result = ratio(fabric_routing(network(fabric), replace(tables, out=out)))
    assert result.lower_bound is None
    assert "no bound" in result.lower_bound_source


def without_a_cable(fabric: Fabric) -> Fabric:
    peer = fabric.ports.peer.copy()
    switches = np.isin(fabric.node_of, fabric.switches)
    cabled = np.flatnonzero((peer >= 0) & switches)
    near = next(int(s) for s in cabled if switches[peer[s]])
    far = int(peer[near])
    peer[[near, far]] = -1
    return fabric.with_ports(peer=peer)


@pytest.mark.nightly
def test_where_it_is_not_known() -> None:
    whole = from_topology(obliv.topology("fattree:4,2"))
    slow = whole.ports.rate.copy()
    slow[whole.endpoints[0]] = slow[whole.ports.peer[whole.endpoints[0]]] = 1
    for fabric, messages in (
        (without_a_cable(whole), "not a complete FT"),
        (replace(whole.with_ports(rate=slow), rates=(Fraction(32), Fraction(16))), "unequal speeds"),
        (from_topology(obliv.topology("torus:3x3")), "not a fat tree"),
        (from_topology(obliv.topology("xgft:3;4,4,8;1,2,4")), "tapered"),
    ):
        routed = route(fabric, "updown")
        with pytest.raises(InputError, match=messages) as error:
            ratio(fabric_routing(network(routed.fabric), routed.tables, routed.offset))
        assert "\n" not in str(error.value)
