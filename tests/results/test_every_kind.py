"""Every kind of result survives pickling and saving, equal to itself; seeds and counts may be NumPy's integers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import obliv
from obliv import fabric, papers
from obliv.io.simulators.booksim_runs import SimulatedRun
from obliv.io.simulators.simulation import CountedChannel, Simulation
from obliv.papers.results import PaperName, Papers
from obliv.results import Bounds, Estimate, Results
from obliv.results.base import Listing, Name, Result
from obliv.results.markup import all_results, schemas
from obliv.results.study import (
    CellVerdict,
    Difference,
    Study,
    StudyCell,
    StudyDiff,
    StudyRow,
    StudyRun,
    StudyVerification,
)

MESH = obliv.mesh(3, 3)
TREE = obliv.fattree(4, 2)
FABRIC = fabric.from_topology(TREE)
TABLES = fabric.tables_of(obliv.routing("dmodk", TREE), FABRIC)
ROUTING = fabric.routing(fabric.network(FABRIC), TABLES)
JOB = ["host(0,0)", "host(2,1)", "host(0,1)"]
PACKETS = obliv.bufferless.instance("leveled-mesh:5x5", "random", rng=1)
CELL = StudyCell(topology="mesh:3x3", routing="dor", measure="worst", options={"samples": 5}, reason="too large")
ROW = StudyRow("mesh:3x3", "dor", "worst", status="done", figures={"channel_load": Fraction(3, 2), "hops": None})
DIFFERENCE = Difference("mesh:3x3", "dor", "worst", figure="load", first=Fraction(3, 2), second=Estimate(1, 0, 5))
RUN = SimulatedRun(0.9, 1, latency=12.5, longest=40.0, accepted=0.9, least_accepted=0.89)
LOAD = CountedChannel(0, "(0,0) -> (1,0)", Fraction(2, 3), Estimate(0.66, 0.01, 5000))
VERDICT = CellVerdict("mesh:3x3", "dor", "worst", verdict="proved")


def scheduled(algorithm: str, **options: Any) -> Callable[[Any], Result]:
    return lambda number: obliv.bufferless.schedule(PACKETS, algorithm, rng=number(3), **options)


#: A small result of every class and kind of parts; `number` makes the kind of integer of seeds and counts.
MAKERS: dict[str, Callable[[Any], Result]] = {
    "worst": lambda number: obliv.worst_case(obliv.DOR(MESH), certificate=True),
    "worst, estimated": lambda number: obliv.worst_case(obliv.DOR(MESH), samples=number(20), rng=number(3)),
    "worst channels": lambda number: obliv.worst_channels(obliv.DOR(MESH)),
    "heaviest permutation": lambda number: obliv.heaviest_permutation(obliv.DOR(MESH), "uniform"),
    "throughput": lambda number: obliv.throughput(obliv.DOR(MESH), "uniform", f"random-permutation:seed={number(3)}"),
    "average": lambda number: obliv.average_case(obliv.DOR(MESH), number(20), number(3)),
    "locality": lambda number: obliv.locality(obliv.DOR(MESH)),
    "compare": lambda number: obliv.compare(MESH, "dor", "romm", traffic="tornado", samples=number(20), rng=number(3)),
    "ratio": lambda number: obliv.ratio(obliv.DModK(TREE), certificate=True),
    "ratio of a traffic": lambda number: obliv.traffic_ratio(
        obliv.DModK(TREE), "random-permutation", instances=number(3), rng=number(3)
    ),
    "design": lambda number: obliv.design("mesh:3x2"),
    "design of a ratio": lambda number: obliv.design("ring:4", objective="ratio"),
    "design of an average": lambda number: obliv.design(
        "ring:4", objective="average", samples=number(5), rng=number(3)
    ),
    "bounds": lambda number: obliv.bounds("mesh:3x2"),
    "pareto": lambda number: obliv.pareto("mesh:3x2", number(2)),
    "deadlock": lambda number: obliv.deadlock(obliv.ROMM(MESH)),
    "virtual channels": lambda number: obliv.fewest_virtual_channels(obliv.ROMM(MESH)),
    "verification": lambda number: obliv.verify(obliv.worst_case(obliv.DOR(MESH), certificate=True)),
    "explanation": lambda number: obliv.explain(obliv.worst_case(obliv.DOR(MESH), certificate=True), int(number(1))),
    "simulate": lambda number: Simulation(
        "mesh:3x3",
        "dor",
        traffic="uniform",
        measured=Bounds(Fraction(9, 10), Fraction(1)),
        runs=(RUN,),
        channels=(LOAD,),
    ),
    "results": lambda number: Results(entries=(obliv.worst_case(obliv.DOR(MESH)), obliv.locality(obliv.DOR(MESH)))),
    "list": lambda number: Listing(what="traffic", names=(Name("ring", "ring", (), "A ring."),)),
    "reproduce": lambda number: papers.reproduce("towles", "figure9"),
    "papers": lambda number: Papers(papers=(PaperName("towles", "worst cases"),)),
    "fabric worst": lambda number: fabric.worst(ROUTING, hottest=number(2)),
    "fabric throughput": lambda number: fabric.throughput(ROUTING, "uniform"),
    "fabric average": lambda number: fabric.average(ROUTING, samples=number(20), rng=number(3)),
    "fabric job": lambda number: fabric.job(ROUTING, JOB, "ring"),
    "failures": lambda number: obliv.failures("mesh:2x2", "shortest"),
    "what-if": lambda number: fabric.what_if(fabric.base_of(ROUTING), fail=["switch((0),1)/3"]),
    "collisions": lambda number: obliv.collisions(
        "fattree:8,2", "shift:4", flows=number(1), samples=number(50), rng=number(3), guarantee=["3@0.9"]
    ),
    "fabric shifts": lambda number: fabric.shifts(ROUTING),
    "fabric bisection": lambda number: fabric.bisection(ROUTING, samples=number(20), rng=number(3)),
    "fabric check": lambda number: fabric.check(FABRIC, TABLES),
    "fabric route": lambda number: fabric.route(FABRIC),
    "direct": scheduled("direct"),
    "hot-potato": scheduled("hot-potato", priority="random"),
    "random-delay": scheduled("random-delay"),
    "centralized": scheduled("centralized", constants="tuned"),
    "distributed": scheduled("distributed", constants="tuned"),
    "schedules": lambda number: obliv.bufferless.schedules(
        obliv.bufferless.instances("mesh:4x4", rng=number(3)), "direct", rng=number(3)
    ),
    "study run": lambda number: StudyRun(name="small", cells=2, done=1, computed=2, failed=(CELL,)),
    "study": lambda number: Study(name="small", entries=(ROW,)),
    "study diff": lambda number: StudyDiff(first="a.store", second="b.store", same=3, differences=(DIFFERENCE,)),
    "study verification": lambda number: StudyVerification(store="a.store", verdicts=(VERDICT,)),
}


def without_times(result: Result) -> dict[str, Any]:
    data = json.loads(json.dumps(result.to_dict()))
    for part in (data, *data.get("classes", ()), *data.get("results", ())):
        (part.get("provenance") or {}).pop("wall_seconds", None)
        part.pop("digest", None)
        part.pop("verified", None)  # a file does not say it of itself
    (data.get("certificate") or {}).pop("digest", None)
    return dict(data)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MAKERS)
def test_round_trips(name: str, tmp_path: Path) -> None:
    result = MAKERS[name](int)
    copy = pickle.loads(pickle.dumps(result))
    jsonschema.validate(json.loads(json.dumps(result.to_dict())), schemas()[result.kind])
    result.save(tmp_path / "result.json.gz")
    loaded = obliv.load(tmp_path / "result.json.gz")
    for other in (copy, loaded, MAKERS[name](np.int64)):
        assert type(other) is type(result)
        assert other == result
        assert hash(other) == hash(result)
        assert without_times(other) == without_times(result)


def test_every_class_of_results_is_among_them() -> None:
    result = {type(make(int)) for name, make in MAKERS.items() if "," not in name}
    declared = {cls for cls in all_results() if cls.__module__.startswith("obliv.") and cls.kind}
    assert result == declared


def test_a_schema_refuses_what_is_not_the_result() -> None:
    form = schemas()["worst"]
    data = MAKERS["worst"](int).to_dict()
    for change in ({"kind": "ratio"}, {"routing": 3}, {"channel_load": {"value": 2.0}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(json.dumps({**data, **change})), form)


def test_schedules_differ_in_their_moves() -> None:
    other = obliv.bufferless.instance("leveled-mesh:5x5", "random", rng=2)
    assert other != PACKETS
    assert obliv.bufferless.instance("leveled-mesh:5x5", "random", rng=np.int64(1)) == PACKETS
    first, second = (obliv.bufferless.schedule(PACKETS, "random-delay", rng=seed) for seed in (1, 2))
    assert first.moves != second.moves
    assert first != second
