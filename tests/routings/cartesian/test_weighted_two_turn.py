"""The closed form of 2TURN on square tori: its worst case, its hops, and the inequality of its proof."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

import obliv

RADICES = [3, 4, 5, *(pytest.param(k, marks=pytest.mark.nightly) for k in (6, 7, 8, 9, 10, 11, 12, 13, 14, 16))]


def mean_hops(k: int) -> Fraction:
    if k % 2:
        return Fraction((k * k - 1) * (5 * k**3 - 2 * k * k + 4 * k - 3), 6 * k**4)
    return Fraction(k * k - 1, 3 * k) + Fraction(k - 1, 2) - Fraction((k - 4) * (k - 2), 2 * k * k)


@pytest.mark.nightly
@pytest.mark.parametrize("k", RADICES)
def test_half_of_capacity_with_the_hops_of_2turn(k: int) -> None:
    routing = obliv.routing("weighted-2turn", obliv.torus(k, k))
    assert obliv.worst_case(routing).fraction_of_capacity == Fraction(1, 2)
    assert obliv.locality(routing).hops == mean_hops(k)


@pytest.mark.nightly
@pytest.mark.parametrize("k", RADICES)
def test_the_cover_of_its_loads(k: int) -> None:
    # row 0, the channel from x = 0 to x = 1: p hops before it and q behind it, as in the proof
    torus = obliv.torus(k, k)
    loads = obliv.routing("weighted-2turn", torus).pair_loads()
    half = k // 2

    def cover(far: int, here: bool) -> Fraction:
        if k % 2:
            return Fraction(max(half - far, 0), k) * (here + Fraction(1, k)) / 2
        twice = (k - 1) * max(half - far, 0) if here else max(half - 1 - far, 0)
        return Fraction(twice, 2 * k * (k - 1))

    places = [torus.coordinates(node) for node in range(k * k)]
    source = [cover(-x % k, y == 0) for x, y in places]
    destination = [cover((x - 1) % k, y == 0) for x, y in places]
    assert sum(source) + sum(destination) == 2 * torus.capacity_load
    for channel in torus.channels_between(0, 1):
        table = loads.on_channel(channel).tocoo()
        for s, d, load in zip(*table.coords, table.data, strict=True):
            assert Fraction(int(load), loads.denominator) <= source[s] + destination[d]


@pytest.mark.parametrize(
    "k", [3, 5, pytest.param(7, marks=pytest.mark.nightly), pytest.param(8, marks=pytest.mark.nightly)]
)
def test_no_routing_within_two_turns_has_fewer_hops(k: int) -> None:
    pytest.importorskip("highspy")
    best = obliv.design(obliv.torus(k, k), max_turns=2)
    assert best.fraction_of_capacity == Fraction(1, 2)
    assert best.hops_bound == mean_hops(k)


@pytest.mark.parametrize("k", [4, *(pytest.param(k, marks=pytest.mark.nightly) for k in (5, 6))])
def test_paths_take_two_turns_at_most(k: int) -> None:
    torus = obliv.torus(k, k)
    routing = obliv.routing("weighted-2turn", torus)
    for destination in range(k * k):
        for path, chance in routing.paths(7, destination):
            dims = torus.dim_of[list(path)].tolist()
            assert sum(a != b for a, b in pairwise(dims)) <= 2
            assert chance > 0
    assert obliv.deadlock(routing, "turn+dateline").acyclic


@pytest.mark.parametrize("spec", ["torus:2x2", "torus:5x3", "mesh:5x5", "torus:3x3x3"])
def test_other_networks_are_refused(spec: str) -> None:
    with pytest.raises(obliv.RoutingError, match="square torus"):
        obliv.routing("weighted-2turn", obliv.topology(spec))
