"""Graphs of igraph, there and back."""

from __future__ import annotations

import sys

import igraph
import pytest
from hypothesis import given
from tests.strategies import Case, cases, examples

import obliv
from obliv.errors import MissingExtraError, TopologyError
from obliv.io import from_igraph, to_igraph


@examples(40)
@given(cases())
def test_networks_come_back(case: Case) -> None:
    network = case.topology
    graph = to_igraph(network)
    assert [edge.tuple for edge in graph.es] == list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    again = from_igraph(graph, bandwidth="bandwidth", terminals="numbered")
    assert again.same_network(network)


def test_labels_places_and_rates_come_back() -> None:
    network = obliv.mesh(3, 2).with_rates(injection=[1, 2, 1, 1, 3, 1], ejection="1/2")
    again = from_igraph(to_igraph(network), injection="injection", ejection="ejection")
    assert again.same_network(network)
    assert again.rates() == network.rates()


def test_igraph_finds_the_same_distances() -> None:
    network = obliv.topology("slimfly:5")
    assert to_igraph(network).diameter() == 2
    named = igraph.Graph.Famous("Petersen")
    assert obliv.worst_case(obliv.routing("ecmp", from_igraph(named))).channel_load == 2
    named.vs["name"] = [f"node {k}" for k in range(10)]
    assert from_igraph(named).labels[3] == "node 3"


def test_other_things_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TopologyError, match="igraph graph is needed"):
        from_igraph([1, 2])
    with pytest.raises(TopologyError, match="no node"):
        from_igraph(igraph.Graph())
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtraError, match="igraph"):
        to_igraph(obliv.ring(3))
