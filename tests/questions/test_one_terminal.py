"""No analysis answers about a network of one terminal, or without channels, where there is no traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import obliv

ALONE = obliv.build("alone", 3, [(0, 1), (1, 0), (1, 2), (2, 1)], terminals=[1], labels=("a", "hub", "b"))
WAY = obliv.routing("ecmp", ALONE)
ANALYSES: dict[str, Callable[[Any], Any]] = {
    "worst": obliv.worst_case,
    "worst channels": obliv.worst_channels,
    "pair loads": lambda way: obliv.worst_case(way.pair_loads()),
    "throughput": lambda way: obliv.throughput(way, "uniform"),
    "average": lambda way: obliv.average_case(way, 10),
    "ratio": obliv.ratio,
    "locality": obliv.locality,
    "deadlock": obliv.deadlock,
    "virtual channels": obliv.fewest_virtual_channels,
    "failures": obliv.failures,
    "compare": lambda way: obliv.compare(way.topology, "ecmp"),
    "worst channels, saved": lambda way: obliv.worst_channels(way, certificate=True),
    "ratio under traffic": lambda way: obliv.traffic_ratio(way, "uniform"),
    "pareto": lambda way: obliv.pareto(way.topology, 2),
    "collisions": lambda way: obliv.collisions(way.topology, "uniform", flows=2),
    "design": lambda way: obliv.design(way.topology),
    "bounds": lambda way: obliv.bounds(way.topology),
}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_one_terminal_is_refused(analysis: str) -> None:
    with pytest.raises(obliv.TopologyError, match=r"alone has one terminal \(hub\), so there is no traffic"):
        ANALYSES[analysis](WAY)


@pytest.mark.parametrize("analysis", [name for name in ANALYSES if name != "pair loads"])
def test_a_network_without_channels_is_refused(analysis: str) -> None:
    apart = obliv.ECMP(obliv.build("apart", 2, []))
    with pytest.raises(obliv.TopologyError, match=r"apart has no channels, so there is no traffic to analyze; give it"):
        ANALYSES[analysis](apart)


def test_a_failure_may_leave_one_terminal() -> None:
    """Line 0 - 1 - 2 without node 1, or one of its two ends: four of six pairs have lost one end, or all have."""
    rows = obliv.failures(obliv.routing("ecmp", "line:3"), of="nodes", repair="ecmp").failures
    assert {row.failed: (row.pairs_lost, row.channel_load) for row in rows} == {
        "node 1": (6, 0),
        "node 0": (4, 1),
        "node 2": (4, 1),
    }
