"""Bandwidths and rates in any unit: the best routing is the same, the loads are those of the unit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import obliv
from obliv.designs.bounds.congestion import with_capacity

LINKS = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2), (0, 3), (3, 0)]
SPEEDS = [1, 1, 2, 2, Fraction(5, 2), Fraction(5, 2), 3, 3]


def network(speed: Fraction, rate: Fraction) -> obliv.Topology:
    links = obliv.build("some", 4, LINKS, bandwidth=[speed * relative for relative in SPEEDS])
    return links.with_rates([rate, rate, 2 * rate, rate], rate)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("speed", "rate"),
    [(10**10, 1), pytest.param(45 * 10**6, 1, marks=pytest.mark.nightly), (Fraction(1, 10**12), 10**9)],
)
def test_designs_and_bounds(speed: Fraction, rate: Fraction) -> None:
    plain, other = (network(*units) for units in ((Fraction(1), Fraction(1)), (speed, rate)))
    unit = Fraction(rate) / Fraction(speed)
    for options in ({}, {"paths": 2}):
        one, two = obliv.design(plain, **options), obliv.design(other, **options)
        assert one.channel_load == two.channel_load / unit
        assert one.hops == two.hops
    assert obliv.verify(two).proved
    one, two = obliv.bounds(plain.with_rates()), obliv.bounds(other.with_rates())
    assert one.capacity == two.capacity * speed
    assert one.oblivious == two.oblivious * speed


def test_the_average_in_any_unit() -> None:
    plain, other = (network(Fraction(speed), Fraction(1)).with_rates() for speed in (1, 10**10))
    one, two = (obliv.design(some, objective="average", samples=4) for some in (plain, other))
    assert one.hops == two.hops
    assert one.channel_load == two.channel_load * 10**10


def test_bandwidths_too_far_apart_are_refused() -> None:
    far = obliv.build("far", 2, [(0, 1), (1, 0)], bandwidth=[10**15, Fraction(1, 10**15)])
    with pytest.raises(obliv.OblivError, match="fewer orders of magnitude"):
        obliv.design(far)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_the_hops_is_that_of_the_rounded_load(seed: int) -> None:
    """The claim states a load that is rounded up, which allows fewer hops than the exact one."""
    rng = np.random.default_rng(seed)
    rates = [[Fraction(int(rng.integers(1, 10)), int(rng.integers(1, 10))) for _ in range(5)] for _ in range(2)]
    design = obliv.design(obliv.ring(5).with_rates(*rates), exact=False)
    assert obliv.verify(design).proved


def test_one_far_faster_link_leaves_the_capacity_known() -> None:
    """The topology zoo has such networks, where the units of some links are missing."""
    speeds = {(0, 1): 10**10, (0, 2): 10, (1, 2): Fraction(5, 2)}
    both = {pair: speed for (u, v), speed in speeds.items() for pair in ((u, v), (v, u))}
    triangle = obliv.build("triangle", 3, sorted(both), bandwidth=[both[pair] for pair in sorted(both)])
    known = with_capacity(triangle)
    assert known.capacity_load == Fraction(4, 75)
