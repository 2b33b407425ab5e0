"""Loads of numbered paths on fat trees: the table of all numbers, flow by flow, and path by path."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import obliv
from obliv.patterns.base import Traffic
from obliv.questions.ratio import base_load


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "tree",
    [
        pytest.param("fattree:8,3", marks=pytest.mark.nightly),
        "fattree:4,3",
        "eft2:8,5",
        "xgft:3;3,2,4;1,2,3",
        "xgft:2;3,4;2,3",
    ],
)
@pytest.mark.parametrize("routing", ["dmodk", "smodk", "hash:seed=2", "omrmn"])
def test_loads_of_flows(tree: str, routing: str) -> None:
    topology = obliv.topology(tree)
    way = obliv.routing(routing, topology)
    loads = way.pair_loads()
    n = len(topology.terminals)
    rng = np.random.default_rng(3)
    some = np.flatnonzero(rng.random(n * n) < 0.4)
    traffic = Traffic(
        "drawn",
        n,
        Fraction(0),
        (some // n).astype(np.int32),
        (some % n).astype(np.int32),
        rng.integers(1, 9, len(some)),
        7,
    )
    wanted = [Fraction(0)] * topology.channels
    for s, d, amount in zip(
        traffic.source.tolist(), traffic.destination.tolist(), traffic.amount.tolist(), strict=True
    ):
        for channels, chance in way.paths(s, d):
            for c in channels:
                wanted[c] += chance * Fraction(amount, 7)
    assert loads.under(traffic) == wanted
    assert loads.largest_under(traffic) == max(wanted)
    if loads.denominator == 1:
        counted = loads._counted(traffic.source, traffic.destination, traffic.amount)
        assert [Fraction(int(load), 7) for load in counted] == wanted
    matrix = traffic.to_matrix()
    others = [[rate * (s != d) for d, rate in enumerate(row)] for s, row in enumerate(matrix)]
    assert base_load(traffic) == max(max(map(sum, others)), max(map(sum, zip(*others, strict=True))))


def test_the_largest_load_of_uniform_traffic_and_of_huge_amounts() -> None:
    tree = obliv.fattree(4, 2)
    loads = obliv.DModK(tree).pair_loads()
    uniform = obliv.traffic("uniform", tree)
    assert loads.largest_under(uniform) == max(loads.under(uniform))
    assert base_load(uniform) == Fraction(7, 8)
    ends = np.array([0, 1], np.int32), np.array([4, 4], np.int32)
    huge = Traffic("huge", 8, Fraction(0), *ends, np.array([2**62, 2**62]))
    assert loads.largest_under(huge) == base_load(huge) == 2**63
