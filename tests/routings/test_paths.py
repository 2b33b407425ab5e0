"""Paths of routings: each once, and those of a user by channels or by nodes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import obliv
from obliv.topologies.base import Topology

MESH = obliv.mesh(4, 3)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "spec",
    [
        "dor",
        "o1turn",
        "romm",
        "valiant",
        "xyx",
        "u2turn",
        "ival",
        "i2turn",
        "ecmp",
        "1/2*dor+1/2*dor:yx",
        "1/3*romm+2/3*ecmp",
    ],
)
@pytest.mark.parametrize("topology", [MESH, obliv.torus(4, 3), obliv.hypercube(2)])
def test_built_in_routings_give_each_path_once(spec: str, topology: Topology) -> None:
    routing = obliv.routing(spec, topology)
    for source in (0, topology.nodes - 1):
        for destination in range(topology.nodes):
            paths = list(routing.paths(source, destination))
            assert len(paths) == len({channels for channels, _ in paths})
            assert sum(chance for _, chance in paths) == (source != destination or bool(paths))


def test_valiant_on_any_network_gives_each_path_once() -> None:
    paths = list(obliv.valiant(obliv.kautz(2, 2)).paths(0, 3))
    assert len(paths) == len({channels for channels, _ in paths})


class ByName:
    """O1TURN by the nodes of its paths, as names or as coordinates."""

    def __init__(self, topology: Topology, names: bool = True) -> None:
        self.topology, self.names = topology, names

    def paths(self, source: int, destination: int) -> Iterator[tuple[list[Any], Any]]:
        (x, y), (u, v) = self.topology.coordinates(source), self.topology.coordinates(destination)
        columns = range(x, u + 1) if u >= x else range(x, u - 1, -1)
        rows = range(y, v + 1) if v >= y else range(y, v - 1, -1)
        for nodes in (
            [(c, y) for c in columns] + [(u, r) for r in rows][1:],
            [(x, r) for r in rows] + [(c, v) for c in columns][1:],
        ):
            yield [str(node) for node in nodes] if self.names else nodes, 0.5


@pytest.mark.sampled(2)
@pytest.mark.parametrize("names", [True, False])
def test_paths_by_nodes(names: bool) -> None:
    own, o1turn = obliv.routing(ByName(MESH, names)), obliv.O1TURN(MESH)
    assert own.pair_loads() == o1turn.pair_loads()
    worst = obliv.worst_case(own, certificate=True)
    assert worst.channel_load == obliv.worst_case(o1turn).channel_load
    assert obliv.verify(worst, routing=own).proved
    assert obliv.locality(own).hops == obliv.locality(o1turn).hops
    assert obliv.deadlock(own).acyclic == obliv.deadlock(o1turn).acyclic
    assert (0.5 * own + 0.5 * o1turn).pair_loads() == o1turn.pair_loads()
    assert obliv.worst_case(own, samples=20).provenance.exactness == "estimated"
    mixed = dict((0.5 * own + 0.5 * o1turn).paths(0, 11))
    assert mixed == dict(o1turn.paths(0, 11))
    assert len(mixed) == 2


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (["a", "c"], "no channel leads from a to c"),
        (["b", "c"], "begins at b"),
        (["a", "z"], "no node 'z'"),
        (["a", "b"], "ends at b"),
        (["a", 1], "ends at b"),
    ],
)
def test_wrong_nodes_of_a_path(path: list[Any], message: str) -> None:
    line = obliv.build("abc", 3, [(0, 1), (1, 2), (1, 0), (2, 1)], labels=("a", "b", "c"))

    class Wrong(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            return [(path, Fraction(1))] if (source, destination) == (0, 2) else []

    with pytest.raises(obliv.RoutingError, match=message):
        list((1 * Wrong(line, "wrong")).paths(0, 2))


def test_hops_without_their_base_class_get_a_hint() -> None:
    class Direct(obliv.Routing):
        def next_hops(self, node: int, destination: int) -> list[tuple[int, int]]:
            return [(self.topology.channel(node, destination), 1)]

    with pytest.raises(NotImplementedError, match="derive it from HopRouting"):
        obliv.worst_case(Direct(obliv.topology("complete:3"), "direct"))
