"""Batches of random permutations against their loads one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import obliv
from obliv.papers import paper as batches
from obliv.papers.paper import worst_of_batches


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", ["dor", "romm"])
def test_worst_is_the_worst_of_the_drawn_permutations(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_CHUNK", 2)
    loads = obliv.routing(spec, obliv.topology("torus:7x3")).pair_loads()
    loads_of_batches = worst_of_batches(loads, 3, 8, np.random.default_rng(3), Fraction(100), lambda share: None)
    for stream, worst in zip(np.random.default_rng(3).spawn(8), loads_of_batches, strict=True):
        drawn = np.concatenate(
            [stream.permuted(np.broadcast_to(np.arange(21), (count, 21)), axis=1) for count in (2, 1)]
        )
        assert worst == max(max(loads.under(obliv.permutation(p))) for p in drawn)
    assert len(set(loads_of_batches)) > 1  # else this could not fail


def test_the_ceiling_changes_no_result() -> None:
    routing = obliv.routing("dor", obliv.topology("torus:5x5"))
    loads, worst = routing.pair_loads(), obliv.worst_case(routing).channel_load
    runs = [
        worst_of_batches(loads, 2500, 3, np.random.default_rng(1), ceiling, lambda share: None)
        for ceiling in (worst, worst + 1)
    ]
    assert runs[0] == runs[1] == [worst] * 3


@pytest.mark.nightly
def test_numerators_do_not_overflow() -> None:
    loads = obliv.routing("valiant", obliv.topology("torus:9x9")).pair_loads()
    loads_of_batches = worst_of_batches(loads, 20, 2, np.random.default_rng(1), Fraction(100), lambda share: None)
    assert loads_of_batches == [Fraction(20, 9)] * 2  # every permutation loads Valiant's channels alike
