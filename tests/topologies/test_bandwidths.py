"""Bandwidths and rates in the specs of meshes and tori (Towles, footnote 2)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import obliv


@pytest.mark.parametrize(
    "spec",
    ["mesh:4x4,bandwidth=2", "mesh:4x3,bandwidth=1x1/2", "torus:5x4,bandwidth=3x2", "hypercube:3,bandwidth=1x2x1/2"],
)
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


@pytest.mark.parametrize(
    ("make", "arguments", "spec"),
    [
        (obliv.mesh, (4, 3), "mesh:4x3,bandwidth=1x1/2"),
        (obliv.torus, (4, 3), "torus:4x3,bandwidth=1x1/2"),
        (obliv.hypercube, (2,), "hypercube:2,bandwidth=1x1/2"),
        (obliv.hyperx, (4, 3), "hyperx:4x3,bandwidth=1x1/2"),
    ],
)
def test_bandwidths_of_dimensions_as_a_sequence(make: Any, arguments: tuple[int, ...], spec: str) -> None:
    for bandwidth in ([1, "1/2"], (Fraction(1), 0.5), np.array([1.0, 0.5]), "1x1/2"):
        network = make(*arguments, bandwidth=bandwidth)
        assert network.spec == spec
        assert obliv.topology(spec) == network
        assert {network.bandwidth_of(c) for c in range(network.channels)} == {Fraction(1), Fraction(1, 2)}


@pytest.mark.parametrize("name", ["hypercube:3", "hyperx:3x3", "complete:5", "ring:5", "line:4"])
def test_every_cartesian_network_takes_bandwidth_and_rates(name: str) -> None:
    plain, other = obliv.topology(name), obliv.topology(f"{name},bandwidth=2,injection=1/2,ejection=3/4")
    assert other.spec == f"{name},bandwidth=2,injection=1/2,ejection=3/4"
    assert other.injection == (Fraction(1, 2),) * plain.nodes
    assert other.ejection == (Fraction(3, 4),) * plain.nodes
    before, after = (obliv.DOR(net).pair_loads().under(obliv.traffic("uniform", net)) for net in (plain, other))
    assert after == [load / 2 for load in before]
    assert obliv.verify(obliv.worst_case(obliv.DOR(other), certificate=True)).proved


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
        ("torus:4x4,injection=a", "injection=a is neither a number nor a file"),
        ("hyperx:4x4,bandwidth=1x2x3", "3 bandwidths 1x2x3"),
        ("hypercube:3,injection=-1", "injection is -1"),
        ("ring:4,bandwith=2", "did you mean bandwidth"),
    ],
)
def test_mistakes(spec: str, words: str) -> None:
    with pytest.raises(obliv.OblivError, match=words):
        obliv.topology(spec)
