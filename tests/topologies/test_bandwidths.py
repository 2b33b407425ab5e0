"""Bandwidths and rates in the specs of meshes and tori (Towles, footnote 2)."""

from __future__ import annotations

from fractions import Fraction

import pytest

import obliv


@pytest.mark.parametrize("spec", ["mesh:4x4,bandwidth=2", "mesh:4x3,bandwidth=1x1/2", "torus:5x4,bandwidth=3x2"])
def test_uniform_traffic_under_dimension_order_runs_at_capacity(spec: str) -> None:
    """The middle cut of a dimension bounds every routing, and dimension order attains the larger of the bounds."""
    network = obliv.topology(spec)
    assert network.spec == spec
    assert obliv.throughput(obliv.DOR(network), "uniform").patterns[0].fraction_of_capacity == 1


def test_bandwidths_divide_the_loads_of_their_dimension() -> None:
    plain, wide = obliv.mesh(4, 3), obliv.mesh(4, 3, bandwidth="2x1/3")
    loads, narrower = obliv.ROMM(plain).pair_loads(), obliv.ROMM(wide).pair_loads()
    under, other = (pair.under(obliv.traffic("complement", net)) for pair, net in ((loads, plain), (narrower, wide)))
    speed = [(Fraction(2), Fraction(1, 3))[dim] for dim in plain.dim_of]
    assert other == [load / b for load, b in zip(under, speed, strict=True)]


def test_rates_scale_the_worst_case_and_are_proved() -> None:
    half = obliv.worst_case(obliv.DOR(obliv.topology("torus:5x5,injection=1/2,ejection=1/2")), certificate=True)
    assert half.channel_load == obliv.worst_case(obliv.DOR(obliv.torus(5, 5))).channel_load / 2
    assert half.fraction_of_capacity is None
    assert obliv.verify(half).proved


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mesh:4x4,bandwidth=0", "bandwidth is 0: it must be a positive"),
        ("mesh:4x4,bandwidth=1x2x3", "3 bandwidths 1x2x3; give one, or one for each dimension"),
        ("torus:4x4,injection=a", "injection is a: it must be a positive"),
        ("ring:4,bandwith=2", "did you mean bandwidth"),
    ],
)
def test_mistakes(spec: str, words: str) -> None:
    with pytest.raises(obliv.OblivError, match=words):
        obliv.topology(spec)
