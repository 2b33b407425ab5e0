"""Named graphs of NetworkX, and graphs that users' functions return."""

from __future__ import annotations

import networkx
import pytest

import obliv
from obliv.specs.registry import TOPOLOGIES


@pytest.mark.parametrize(
    ("spec", "nodes", "edges"),
    [
        ("graph:petersen", 10, 15),
        ("graph:heawood", 14, 21),
        ("graph:hoffman-singleton", 50, 175),
        ("graph:karate_club", 34, 78),
        ("graph:Petersen_graph", 10, 15),
        ("graph:tutte", 46, 69),
    ],
)
def test_named_graphs(spec: str, nodes: int, edges: int) -> None:
    topology = obliv.topology(spec)
    assert (topology.nodes, topology.channels, topology.unit_bandwidth) == (nodes, 2 * edges, True)
    assert obliv.topology(topology.spec) == topology


def test_the_worst_case_of_the_petersen_graph() -> None:
    worst = obliv.worst_case("graph:petersen", "shortest", certificate=True)
    assert worst.topology == "graph:petersen"
    assert obliv.verify(worst).proved


@pytest.mark.parametrize("name", ["peterson", "LCF", "generalized-petersen", "os.system", "__all__"])
def test_other_names(name: str) -> None:
    with pytest.raises(obliv.SpecError, match="NetworkX has no such named graph; "):
        obliv.topology(f"graph:{name}")
    with pytest.raises(obliv.SpecError, match="did you mean petersen"):
        obliv.topology("graph:peterson")


def test_a_function_that_returns_a_graph() -> None:
    if "wheel-of-tests" not in TOPOLOGIES:

        @obliv.register_topology("wheel-of-tests", example="wheel-of-tests:5")
        def wheel(nodes: int) -> networkx.Graph:
            """A hub and a rim."""
            return networkx.wheel_graph(nodes)

    topology = obliv.topology("wheel-of-tests:6")
    assert topology.spec == "wheel-of-tests:6"
    assert topology.same_network(obliv.from_networkx(networkx.wheel_graph(6)))
    assert obliv.worst_case("wheel-of-tests:6", "ecmp").topology == "wheel-of-tests:6"
