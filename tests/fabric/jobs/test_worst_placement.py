"""The worst hosts for a job: against all placements, and bounds that no placement exceeds."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.jobs.clusters import routed
from tests.strategies import examples

import obliv
from obliv.fabric.jobs import worst_placement as module
from obliv.fabric.jobs.collectives import MessagePhase
from obliv.fabric.jobs.job import job, prepared
from obliv.fabric.jobs.worst_placement import ceilings, phase_matching, ways_are_apart, worst_placement
from obliv.fabric.routes.routing import FabricRouting

PATTERNS = ("ring", "recursive-doubling", "rabenseifner", "alltoall", "bruck", "binomial", "stencil2d")


class Clockwise(obliv.Routing):
    """The long way round a ring too: a host takes over the cables over which it sends."""

    name = "clockwise"

    def paths(self, source: int, destination: int) -> Any:
        size = len(self.topology.terminals)
        return [([2 * ((source + k) % size) for k in range((destination - source) % size)], 1)]


def labels(routing: FabricRouting) -> list[str]:
    topology = routing.topology
    return [topology.name_of(int(node)) for node in topology.terminals.tolist()]


@pytest.mark.parametrize(
    ("spec", "engine", "ranks", "pattern"),
    [
        ("fattree:4,2", "dmodk", 3, "ring"),
        ("ring:4", Clockwise, 3, "binomial"),
        pytest.param("fattree:4,2", "dmodk", 4, "recursive-doubling", marks=pytest.mark.nightly),
        pytest.param("ring:5", "shortest", 4, "binomial", marks=pytest.mark.nightly),
        pytest.param("ring:5", Clockwise, 5, "ring", marks=pytest.mark.nightly),
        pytest.param("mesh:2x3", "dor", 5, "alltoall", marks=pytest.mark.nightly),
        pytest.param("torus:3x3", "dor", 4, "rabenseifner", marks=pytest.mark.nightly),
    ],
)
def test_against_all_placements(spec: str, engine: Any, ranks: int, pattern: str, monkeypatch: Any) -> None:
    routing = routed(spec, routing=engine)
    found = [
        (result.load, result.mean)
        for hosts in permutations(labels(routing), ranks)
        for result in [job(routing, list(hosts), pattern, hottest=0)]
    ]
    result = worst_placement(routing, ranks, pattern)
    assert result.placement is not None
    assert result.placement.all_tried
    assert result.placement.exact
    assert (result.load, result.mean) == max(found)
    assert result.placement.load == result.load
    assert result.placement.mean == max(mean for _, mean in found)
    assert (job(routing, list(result.placement.hosts), pattern).load, len(found)) == (
        result.load,
        result.placement.tried,
    )
    monkeypatch.setattr(module, "_ALL", 0)  # by the worst cable and a bound
    bounded = worst_placement(routing, ranks, pattern).placement
    assert bounded is not None
    assert not bounded.all_tried
    assert bounded.load <= result.placement.load <= bounded.load_bound
    assert bounded.mean <= result.placement.mean <= bounded.mean_bound


TREES = {engine: routed("fattree:4,3", routing=engine) for engine in ("dmodk", "osrm3-d")}


@examples(40)
@given(st.data(), st.sampled_from(sorted(TREES)), st.sampled_from(PATTERNS), st.integers(2, 16))
def test_no_placement_exceeds_the_bounds(data: st.DataObject, engine: str, pattern: str, ranks: int) -> None:
    routing = TREES[engine]
    hosts = data.draw(st.permutations(labels(routing)))[:ranks]
    loads = prepared(routing, hosts, pattern)
    bounds = ceilings(loads, obliv.fabric.worst(routing, hottest=0).channel_load, ways_are_apart(routing))
    result = job(routing, hosts, pattern, hottest=0)
    assert all(phase.load <= bound for phase, bound in zip(result.phases, bounds, strict=True))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pattern", ["ring", "recursive-doubling"])
@pytest.mark.parametrize("ranks", [2, 5, 8, 15])
def test_exact_on_trees(pattern: str, ranks: int) -> None:
    """Half of the ranks send over the worst cable, until the worst traffic does not load it more."""
    routing = TREES["dmodk"]
    result = worst_placement(routing, ranks, pattern).placement
    assert result is not None
    assert result.exact
    assert result.load == min(ranks // 2, obliv.fabric.worst(routing, hottest=0).channel_load)


def test_ways_share_a_cable_where_a_host_sends_and_takes_over_it() -> None:
    assert ways_are_apart(TREES["dmodk"])
    assert ways_are_apart(routed("ring:5", routing="shortest"))
    assert not ways_are_apart(routed("ring:4", routing=Clockwise))


@given(st.permutations(range(7)), st.integers(0, 7))
def test_a_matching_of_a_permutation_has_half_of_each_circle(image: list[int], count: int) -> None:
    import networkx as nx
    import numpy as np

    source, destination = np.arange(7)[:count], np.array(image[:count], np.int64)
    phase = MessagePhase("some", lambda: (source, destination, np.ones(count, np.int64)))
    chosen = phase_matching(phase)
    graph = nx.Graph(list(zip(source.tolist(), destination.tolist(), strict=True)))
    graph.remove_edges_from(nx.selfloop_edges(graph))
    assert len({rank for pair in chosen for rank in pair}) == 2 * len(chosen)
    assert set(chosen) <= set(zip(source.tolist(), destination.tolist(), strict=True))
    assert len(chosen) == len(nx.max_weight_matching(graph, maxcardinality=True))


@pytest.mark.parametrize("ranks", [1, 9])
def test_hosts_that_are_not_there(ranks: int) -> None:
    with pytest.raises(obliv.errors.InputError, match=r"choose 2 to 8"):
        worst_placement(routed("fattree:4,2"), ranks, "ring")


def test_saved_and_read(tmp_path: Any) -> None:
    result = worst_placement(routed("fattree:4,2"), 3, "ring", hottest=1)
    result.save(tmp_path / "job.json")
    again = obliv.load(tmp_path / "job.json")
    assert again.placement == result.placement
    assert again.to_dict()["placement"]["exact"] is True
    assert isinstance(again.placement.load, Fraction)
