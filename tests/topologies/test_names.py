"""Nodes and channels by number, name and coordinates."""

from __future__ import annotations

from typing import Any

import pytest

import obliv
from obliv.specs.registry import TOPOLOGIES

SPECS = sorted(e.example for e in TOPOLOGIES if e.make.__module__.startswith("obliv.") and not e.reads_file)
MESH = obliv.mesh(8, 8)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("spec", SPECS)
def test_names_and_ends_lead_back_to_nodes_and_channels(spec: str) -> None:
    topology = obliv.topology(spec)
    step = max(1, topology.nodes // 200)
    for node in range(0, topology.nodes, step):
        assert topology.node(topology.name_of(node)) == topology.node(node) == topology.node(str(node)) == node
        if topology.radices:
            assert topology.node(topology.coordinates(node)) == topology.node(str(topology.coordinates(node))) == node
    for channel in range(0, topology.channels, max(1, topology.channels // 200)):
        ends = int(topology.tail[channel]), int(topology.head[channel])
        alike = topology.channels_between(*map(topology.name_of, ends))
        assert channel in alike
        if len(alike) == 1:
            assert topology.channel(*ends) == topology.channel(*map(topology.name_of, ends)) == channel
        else:
            with pytest.raises(obliv.TopologyError, match=f"{len(alike)} channels lead from"):
                topology.channel(*ends)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MESH.node("(3,8)"), r"mesh:8x8 has no node \(3,8\); nodes are \(0,0\) to \(7,7\)"),
        (lambda: MESH.node((3,)), "has no node"),
        (lambda: MESH.node((-1, 0)), "has no node"),
        (lambda: MESH.node((0.5, 0)), "coordinate 0 0.5 is not a whole number"),
        (lambda: MESH.node("(3;2)"), "has no node"),
        (lambda: MESH.node(64), "nodes are 0 to 63"),
        (lambda: MESH.channel(8, 10), r"no channel leads from \(0,1\) to \(2,1\)"),
        (lambda: MESH.channel(8, 64), "has no node"),
        (lambda: MESH.channels_between(8, 64), "has no node"),
        (lambda: obliv.kautz(2, 3).node((0, 1)), "has no coordinates"),
    ],
)
def test_what_is_not_there_is_refused(call: Any, message: str) -> None:
    with pytest.raises(obliv.TopologyError, match=message):
        call()


def test_a_channel_has_two_ends() -> None:
    with pytest.raises(TypeError):
        MESH.channel(8, 0, 7)  # type: ignore[call-arg]


def test_equal_labels_are_told_apart_by_their_numbers() -> None:
    links = [(0, 1), (1, 0), (1, 2), (2, 1)]
    path = obliv.build("path", 3, links, labels=("a", "b", "a"))
    assert path.node("b") == 1
    assert path.node("a #2") == 2
    with pytest.raises(obliv.TopologyError, match="2 nodes of path are called 'a'"):
        path.node("a")
