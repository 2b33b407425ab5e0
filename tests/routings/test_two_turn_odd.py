"""The closed form of 2TURN on odd tori: its worst case, its hops, and the inequality of its proof."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

import obliv

RADICES = [3, 5, 7, *(pytest.param(k, marks=pytest.mark.nightly) for k in (9, 11, 13, 15))]


def least_hops(k: int) -> Fraction:
    return Fraction((k * k - 1) * (5 * k**3 - 2 * k * k + 4 * k - 3), 6 * k**4)


@pytest.mark.parametrize("k", RADICES)
def test_half_of_capacity_with_the_hops_of_2turn(k: int) -> None:
    routing = obliv.routing("2turn-odd", obliv.torus(k, k))
    assert obliv.worst_case(routing).fraction_of_capacity == Fraction(1, 2)
    assert obliv.locality(routing).hops == least_hops(k)


@pytest.mark.parametrize("k", RADICES)
def test_the_cover_of_its_loads(k: int) -> None:
    # row 0, the channel from x = 0 to x = 1: p hops before it and q behind it, as in the proof
    torus = obliv.torus(k, k)
    loads = obliv.routing("2turn-odd", torus).pair_loads()
    ahead = [Fraction(max(k // 2 - far, 0), k) for far in range(k)]
    source, destination = [], []
    for node in range(k * k):
        x, y = torus.coordinates(node)
        share = (y == 0) + Fraction(1, k)
        source.append(ahead[-x % k] * share / 2)
        destination.append(ahead[(x - 1) % k] * share / 2)
    assert sum(source) + sum(destination) == Fraction(k * k - 1, 4 * k)
    for channel in torus.channels_between(0, 1):
        table = loads.on_channel(channel).tocoo()
        for s, d, load in zip(*table.coords, table.data, strict=True):
            assert Fraction(int(load), loads.denominator) <= source[s] + destination[d]


@pytest.mark.parametrize("k", [3, 5, 7])
def test_no_routing_within_two_turns_has_fewer_hops(k: int) -> None:
    pytest.importorskip("highspy")
    best = obliv.design(obliv.torus(k, k), max_turns=2)
    assert best.fraction_of_capacity == Fraction(1, 2)
    assert best.hops_bound == least_hops(k)


def test_paths_take_two_turns_at_most() -> None:
    torus = obliv.torus(5, 5)
    routing = obliv.routing("2turn-odd", torus)
    for destination in range(25):
        for path, chance in routing.paths(7, destination):
            dims = torus.dim_of[list(path)].tolist()
            assert sum(a != b for a, b in pairwise(dims)) <= 2
            assert chance > 0
    assert obliv.deadlock(routing, "turn+dateline").acyclic


@pytest.mark.parametrize(
    ("spec", "message"), [("torus:4x4", "odd radix"), ("torus:5x3", "square torus"), ("mesh:5x5", "square torus")]
)
def test_other_networks_are_refused(spec: str, message: str) -> None:
    with pytest.raises(obliv.RoutingError, match=message):
        obliv.routing("2turn-odd", obliv.topology(spec))
