"""The share that is reported to ``progress`` is from 0 to 1 and never falls during one call."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.study.files import written

import obliv
from obliv._util.progress import Progress
from obliv.fabric.generate import from_topology

TORUS = obliv.torus(3, 3)
DOR, ECMP, TREE = obliv.DOR(TORUS), obliv.ECMP(TORUS), obliv.DModK(obliv.fattree(4, 2))
TABLES = obliv.fabric.from_routing(TREE)

CALLS: dict[str, Callable[[Progress], Any]] = {
    "average_case": lambda step: obliv.average_case(DOR, 500, progress=step),
    "bounds": lambda step: obliv.bounds(TORUS, progress=step),
    "bounds with a time limit": lambda step: obliv.bounds(TORUS, time_limit=60, progress=step),
    "compare": lambda step: obliv.compare(TORUS, "dor", "ecmp", samples=100, progress=step),
    "design": lambda step: obliv.design("mesh:3x2", progress=step),
    "design of few paths": lambda step: obliv.design("mesh:3x2", paths=2, quantize=4, progress=step),
    "design of the average": lambda step: obliv.design("mesh:3x2", objective="average", samples=5, progress=step),
    "design of the ratio": lambda step: obliv.design("mesh:3x2", objective="ratio", then="hops", progress=step),
    "fabric.failures": lambda step: obliv.fabric.failures(TABLES, repair="updown", certificate=True, progress=step),
    "fabric.route": lambda step: obliv.fabric.route(from_topology(TORUS), progress=step),
    "failures": lambda step: obliv.failures(ECMP, progress=step),
    "failures of nodes": lambda step: obliv.failures("random-regular:n=8,d=3", "updown", of="nodes", progress=step),
    "fewest_virtual_channels": lambda step: obliv.fewest_virtual_channels(DOR, progress=step),
    "collisions": lambda step: obliv.collisions(
        "fattree:4,2", "shift:1", samples=100, guarantee=["2@0.9", "1@0.9"], progress=step
    ),
    "pareto": lambda step: obliv.pareto("mesh:3x2", 3, progress=step),
    "ratio": lambda step: obliv.ratio(DOR, progress=step),
    "throughput": lambda step: obliv.throughput(ECMP, "uniform", "tornado", progress=step),
    "traffic_ratio": lambda step: obliv.traffic_ratio(TREE, "tree", instances=5, progress=step),
    "worst_placement": lambda step: obliv.fabric.worst_placement(TABLES, 4, "ring", progress=step),
    "verify": lambda step: obliv.verify(obliv.worst_case(DOR, certificate=True), progress=step),
    "worst_case": lambda step: obliv.worst_case(ECMP, certificate=True, progress=step),
    "worst_channels": lambda step: obliv.worst_channels(ECMP, progress=step),
}


def rises(call: Callable[[Progress], Any]) -> None:
    shares: list[float] = []
    call(lambda what, share: shares.append(share))
    assert shares
    assert all(0 <= share <= 1 for share in shares)
    assert all(one <= two for one, two in pairwise(shares)), shares


@pytest.mark.parametrize("name", CALLS)
def test_the_share_never_falls(name: str) -> None:
    rises(CALLS[name])


def test_the_share_of_a_study_never_falls(tmp_path: Path) -> None:
    file = written(tmp_path, 'topologies = ["ring:5"]\nroutings = ["dor", "ecmp"]\nmeasures = ["worst", "hops"]')
    rises(lambda step: obliv.study.run(file, tmp_path / "s.db", jobs=1, progress=step))


def test_most_of_the_failures_are_still_to_come_after_the_first() -> None:
    shares: list[float] = []
    obliv.failures(
        ECMP, symmetry="off", progress=lambda what, share: shares.append(share) if what == "failures" else None
    )
    assert shares[0] <= 0.2
    assert len(set(shares)) > 5
