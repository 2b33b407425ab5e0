"""What is not a number where one is needed is refused with one line, in an error of the tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from tests.mistakes import mistake

import obliv
from obliv.fabric.generate import from_topology

TORUS = obliv.torus(3, 3)
DOR = obliv.DOR(TORUS)
TABLES = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
HOSTS = ["host(0,0)", "host(1,0)"]

REALS: dict[str, Callable[[Any], Any]] = {
    "bounds gap": lambda number: obliv.bounds(TORUS, gap=number),
    "bounds time_limit": lambda number: obliv.bounds(TORUS, time_limit=number),
    "design gap": lambda number: obliv.design(TORUS, gap=number),
    "pareto gap": lambda number: obliv.pareto(TORUS, gap=number),
    "verify budget": lambda number: obliv.verify(obliv.worst_case(DOR, certificate=True), budget=number),
    "route effort": lambda number: obliv.fabric.route(from_topology(TORUS), effort=number),
    "job effort": lambda number: obliv.fabric.job(TABLES, HOSTS, "ring", order=True, effort=number),
}
WHOLE: dict[str, Callable[[Any], Any]] = {
    "average_case jobs": lambda number: obliv.average_case(DOR, 5, jobs=number),
    "fabric.average samples": lambda number: obliv.fabric.average(TABLES, samples=number),
    "fabric.average jobs": lambda number: obliv.fabric.average(TABLES, samples=5, jobs=number),
    "fabric.bisection samples": lambda number: obliv.fabric.bisection(TABLES, samples=number),
    "fabric.shifts jobs": lambda number: obliv.fabric.shifts(TABLES, jobs=number),
    "fabric.worst hottest": lambda number: obliv.fabric.worst(TABLES, hottest=number),
    "fabric.throughput hottest": lambda number: obliv.fabric.throughput(TABLES, "shift:1", hottest=number),
    "fabric.job hottest": lambda number: obliv.fabric.job(TABLES, HOSTS, "ring", hottest=number),
    "fabric.worst_placement ranks": lambda number: obliv.fabric.worst_placement(TABLES, number, "ring"),
    "fabric.route lanes": lambda number: obliv.fabric.route(from_topology(TORUS), lanes=number),
    "fabric.route most_lmc": lambda number: obliv.fabric.route(from_topology(TORUS), most_lmc=number),
    "fabric.from_topology lmc": lambda number: from_topology(TORUS, lmc=number),
}


@pytest.mark.parametrize("wrong", ["x", "2", [1], 1j, math.nan])
@pytest.mark.parametrize("name", [*REALS, *WHOLE])
def test_no_number(name: str, wrong: object) -> None:
    call = REALS.get(name) or WHOLE[name]
    text = mistake(lambda: call(wrong))
    assert name.split()[-1] in text
    assert "number" in text


@pytest.mark.parametrize("name", WHOLE)
def test_no_whole_number(name: str) -> None:
    assert "1.5 is not a whole number" in mistake(lambda: WHOLE[name](1.5))


@pytest.mark.parametrize("name", ["fabric.worst hottest", "fabric.from_topology lmc"])
def test_negative_numbers(name: str) -> None:
    assert f"{name.split()[-1]}=-1" in mistake(lambda: WHOLE[name](-1))
