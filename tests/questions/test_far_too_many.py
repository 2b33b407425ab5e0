"""Numbers of samples and loads beyond what arrays hold are refused, or answered, but are no internal errors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

import obliv

MANY = 10**40


@pytest.mark.parametrize("samples", [MANY, 2**62])
@pytest.mark.parametrize(
    "call",
    [
        lambda samples: obliv.worst_case("mesh:2x2", "dor", samples=samples),
        lambda samples: obliv.throughput("mesh:2x2", "dor", "uniform", samples=samples),
        lambda samples: obliv.average_case("mesh:2x2", "dor", path_samples=samples),
        lambda samples: obliv.collisions("fattree:4,2", "shift:2", samples=samples),
    ],
)
def test_samples(call: Callable[[int], object], samples: int) -> None:
    with pytest.raises(obliv.TooLargeError):
        call(samples)


def test_placements() -> None:
    with pytest.raises(obliv.InputError, match="at most"):
        obliv.traffic_ratio("fattree:4,2", "dmodk", "ring", instances=MANY)


@pytest.mark.parametrize(("topology", "traffic"), [("fattree:4,2", "shift:2"), ("fattree:8,3", "random-permutation")])
def test_a_load_that_no_channel_can_have_is_kept_for_certain(topology: str, traffic: str) -> None:
    (needed,) = obliv.collisions(topology, traffic, guarantee=[f"{MANY}@0.99"]).needed
    assert (needed.load, needed.enough) == (Fraction(MANY), 1)
