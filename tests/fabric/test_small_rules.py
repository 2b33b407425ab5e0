"""Small rules of the rooms of fabrics, each by an example that is worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

import obliv
from obliv.errors import InputError
from obliv.fabric.files.assemble import NAMES, plain, rate_number
from obliv.fabric.files.lft import rate_name
from obliv.fabric.generate import from_topology, tables_of, tree_ports
from obliv.fabric.jobs.collectives import pattern_of, ring, stencil
from obliv.fabric.jobs.host_files import expanded, items_of, per_host_of
from obliv.fabric.jobs.worst_placement import phase_matching
from obliv.fabric.lanes.pairs import one_level, sls_of
from obliv.fabric.lanes.sl2vl import identity
from obliv.fabric.names import guid_of, largest_lid, nearest, split_port, with_lids
from obliv.fabric.reroute.quality import in_tree_bound
from obliv.fabric.reroute.spread_trees import RouteTree, bisection_bound, next_places
from obliv.fabric.reroute.tiers import pairs_apart, switch_network
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.trace import trace_all
from obliv.fabric.topology import capacity_load

TREE = from_topology(obliv.topology("fattree:4,2"))


def test_arguments_of_another_kind() -> None:
    with pytest.raises(InputError, match=r"^network: fabric is a Fabric, made by obliv.fabric.read_fabric\(FILE\);"):
        obliv.fabric.network("cluster.net")


def test_text_of_files() -> None:
    assert (NAMES[rate_number(b"4xQDR")], rate_number(b"4x???")) == ("4xQDR", -1)
    assert (rate_name(Fraction(32)), rate_name(None)) == ("4xQDR", "")
    assert plain('n1"\n0x0001 002') == "n1??0x0001 002"


def test_names() -> None:
    assert [split_port(text) for text in ("a/17", "a port 17", "a/P17", "a:17", "a[17]")] == [("a", 17)] * 5
    assert (guid_of("0x2c9"), guid_of("S-00000000000002c9"), guid_of("2c9")) == (713, 713, 0)
    leaf, other, spine = switches = [f"MF0;{name}:MQM8700/U1" for name in ("leaf-01", "leaf-02", "spine-1")]
    assert [nearest(name, switches) for name in ("leaf-01", "LEAF-2", "spin-1")] == [[leaf], [other], [spine]]


def test_lids() -> None:
    bare = from_topology(obliv.topology("fattree:4,2"), lids=False)
    assert with_lids(bare, lmc=1).ports.lid[bare.endpoints].tolist() == [8, 10, 12, 14, 16, 18, 20, 22]
    assert largest_lid(TREE) == 0xBFFF


def test_hosts() -> None:
    assert expanded("n[008-010,7]-ib[0-1],login", 20)[-4:] == ["n010-ib1", "n7-ib0", "n7-ib1", "login"]
    assert items_of("a[1,3], b host(0,1)") == ["a[1,3]", "b", "host(0,1)"]
    assert (per_host_of("4(x2),1", 3), per_host_of("2", 3)) == ([4, 4, 1], [2, 2, 2])


def test_phases() -> None:
    assert [phase.name for phase in stencil("stencil2d:2x4", 8)] == ["+x", "-x", "+y", "-y"]
    second = pattern_of("recursive-doubling", np.arange(8)).phases[1]
    assert (second.name, second.messages()[1].tolist()) == ("exchange 2", [2, 3, 0, 1, 6, 7, 4, 5])
    assert phase_matching(ring(5)[0]) == [(0, 1), (2, 3)]


def test_lanes() -> None:
    assert repr(one_level(3)) == "<Levels SL 3>"
    assert sls_of(0b101) == [0, 2]
    fabric = from_topology(obliv.topology("ring:4"))
    assert identity(fabric).lane(fabric, int(fabric.switches[0]), 1, 2, 3) == 3
    torus = obliv.topology("torus:5x5")
    wired = from_topology(torus)
    loops = credit_loops(trace_all(wired, tables_of(obliv.routing("dor", torus), wired)))
    assert (loops.acyclic, len(loops.cycle)) == (False, 5)


def test_trees_and_grids() -> None:
    ports, *_ = tree_ports(obliv.fattree(4, 2), lambda s, d: d % 2, np.arange(8))
    assert ports.tolist() == [1, 2, 3, 4, 3, 4, 3, 4]  # the first leaf
    assert pairs_apart(TREE) == (0, 1)
    ring_of_four = switch_network(obliv.fabric.network(from_topology(obliv.ring(4))))
    assert ring_of_four.switches.head.tolist() == [1, 3, 2, 0, 3, 1, 0, 2]
    places = next_places(obliv.topology("mesh:3x2"), RouteTree((0, 1), (2, -1), (0, 0)))
    assert places[3].tolist() == [1, 2, 5, -1, 3, 4]


def test_bounds() -> None:
    torus = obliv.topology("torus:4x4x4")
    assert in_tree_bound(torus.tail, torus.head, np.ones(64, int)) == 2
    assert [bisection_bound(obliv.topology(spec)) for spec in ("torus:8x8", "mesh:7x6")] == [2, 3]
    assert capacity_load(from_topology(obliv.torus(9, 9))) == Fraction(10, 9)
