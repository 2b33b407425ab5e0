"""Topologies as values: equal, hashable, picklable, with plain defaults for what only some kinds of network know."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import obliv
from obliv.bufferless.leveled.base import Leveled
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.base import Topology, heights_of, port_names

BUILT_IN = [entry for entry in TOPOLOGIES if entry.make.__module__.startswith("obliv.")]
SPECS = sorted(entry.example for entry in BUILT_IN if not entry.reads_file)


@pytest.mark.parametrize("spec", SPECS)
def test_a_pickled_topology_is_equal_to_itself(spec: str) -> None:
    topology = obliv.topology(spec)
    _ = topology.first_channel, topology.all_terminals, heights_of(topology)  # cached ones included
    if isinstance(topology, Leveled):
        _ = topology.edge_ends, topology.node_level
    copy = pickle.loads(pickle.dumps(topology))
    assert copy == topology
    assert hash(copy) == hash(topology)
    assert copy.same_network(topology)
    assert copy.name_of(topology.nodes - 1) == topology.name_of(topology.nodes - 1)
    assert topology == obliv.topology(spec)
    assert topology != topology.with_terminals([1, 0])


def test_equality_sees_every_field() -> None:
    ring = obliv.ring(4)
    assert ring != obliv.torus(4)
    assert ring != obliv.build("ring:4", 4, list(zip(ring.tail.tolist(), ring.head.tolist(), strict=True)))
    links = [(0, 1), (1, 2), (2, 0)]
    assert obliv.build("x", 3, links) == obliv.build("x", 3, links)
    assert obliv.build("x", 3, links) != obliv.build("x", 3, links, bandwidth=[1, 1, 2])
    assert obliv.build("x", 3, links) != obliv.build("x", 3, links, labels=("a", "b", "c"))
    assert obliv.build("x", 3, links) != obliv.build("x", 3, links, positions=np.eye(3)[:, :2])


def test_positions_may_be_any_rows_of_two_numbers() -> None:
    links = [(0, 1), (1, 2), (2, 0)]
    array = obliv.build("x", 3, links, positions=np.array([(0, 0), (1, 0), (0, 1)]))
    assert obliv.build("x", 3, links, positions=[(0, 0), (1, 0), (0, 1)]) == array  # type: ignore[arg-type]
    for wrong in ([(0, 0), (1, 0)], [0, 1, 2], [(0, 0, 0)] * 3, [(0, 0), (1, 0), (0,)], [("a", "b")] * 3):
        with pytest.raises(obliv.TopologyError, match="positions"):
            obliv.build("x", 3, links, positions=wrong)


def test_kinds_of_network_know_more_than_the_default() -> None:
    plain: Topology = obliv.build("x", 2, [(0, 1), (1, 0)])
    assert (plain.radices, plain.coordinates(1), plain.describe()) == ((), (), ())
    assert (heights_of(plain), port_names(plain, 0)) == (None, ("", ""))
    torus, tree = obliv.topology("torus:3x4"), obliv.topology("fattree:4,2")
    assert (torus.radices, torus.coordinates(5)) == ((3, 4), (2, 1))
    heights = heights_of(tree)
    assert heights is not None
    assert heights.tolist() == [0] * 8 + [1] * 4 + [2] * 2


def test_self_loops_and_unconnected_nodes_are_kept() -> None:
    network = obliv.build("x", 3, [(0, 0), (0, 1), (0, 1)])
    assert network.channels == 3
    with pytest.raises(obliv.RoutingError):
        list(obliv.routing("shortest", network).paths(2, 0))
