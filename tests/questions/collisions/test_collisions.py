"""The colliding flows: exact laws equal enumeration, bounds hold it, samples lie between bounds."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.oracles.collisions import largest_loads

import obliv
from obliv._util.progress import silent
from obliv.checker.collisions import _Draws, _Law
from obliv.checker.report import TimeLimit
from obliv.errors import InputError
from obliv.questions.collisions.bounds import CertifiedBounds, FixedPart, Largest
from obliv.questions.collisions.collisions import Collisions
from obliv.questions.collisions.draws import draws
from obliv.questions.collisions.joints import LEAST, MOST, TINY, Joints, Law, weighted_sum
from obliv.results.numbers import bounds_of

NETWORKS = (
    "fattree:4,2",
    "xgft:2;2,3;2,2",
    "xgft:2;1,3;1,3",
    "xgft:3;1,2,2;1,2,2",
    "mesh:2x3",
    "ring:4",
    "hypercube:3",
)


def at_least(law: dict[Fraction, Fraction], load: Fraction) -> Fraction:
    return sum((chance for value, chance in law.items() if value >= load), Fraction(0))


@st.composite
def some_traffic(draw: st.DrawFn, terminals: int) -> obliv.Traffic:
    """A few pairs, with equal rates or not."""
    pair = st.tuples(st.integers(0, terminals - 1), st.integers(0, terminals - 1)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, min_size=1, max_size=6, unique=True))
    equal = draw(st.booleans())
    matrix = [[Fraction(0)] * terminals for _ in range(terminals)]
    for s, d in pairs:
        matrix[s][d] = Fraction(1, 8) if equal else draw(st.sampled_from([Fraction(1, 8), Fraction(1, 12)]))
    return obliv.matrix(matrix)


@given(st.sampled_from(NETWORKS), st.data(), st.integers(1, 2), st.booleans())
def test_intervals_hold_the_enumeration(spec: str, data: st.DataObject, flows: int, polarised: bool) -> None:
    """Exact laws equal it; bounds hold it, those of laminar networks and those of others."""
    topology = obliv.topology(spec)
    traffic = data.draw(some_traffic(len(topology.terminals)))
    law = largest_loads(topology, traffic, flows, polarised, most=600)
    assume(law is not None)
    assert law is not None
    place = FixedPart(draws(topology, traffic, polarised, None, silent), None)
    largest = Largest(place, flows)
    assert largest.exact is not None
    bounds = CertifiedBounds(place.crossings, flows)
    assert set(law) <= {load * largest.step for load in largest.loads}
    for steps in largest.loads:
        chance = 1 - at_least(law, (steps + 1) * largest.step)
        assert largest.within(steps) == (chance, chance)
        here = steps * largest.step
        assert largest.beyond(steps) >= sum((load - here) * p for load, p in law.items() if load > here)
        low, high = bounds.within(largest._most(steps))
        assert low <= chance <= high
    mean = sum((load * chance for load, chance in law.items()), Fraction(0))
    hashed = "polarised" if polarised else "independent"
    assert obliv.collisions(topology, traffic, flows=flows, hash=hashed).mean == mean


def hold(spec: str, traffic: str, flows: int, hashed: str = "independent") -> float:
    """Check that bounds of a laminar network hold what flows give one by one; return the largest width."""
    topology = obliv.topology(spec)
    pattern = obliv.traffic(traffic, topology)
    place = FixedPart(draws(topology, pattern, hashed == "polarised", None, silent), None)
    largest, bounds = Largest(place, flows), CertifiedBounds(place.crossings, flows)
    assert place.crossings.laminar
    claim = Collisions(topology=topology.spec, traffic=pattern.spec, flows=flows, hash=hashed)
    limit = TimeLimit(float("inf"))
    law = _Law(_Draws(topology, pattern, claim, limit), flows, limit)
    width = 0.0
    for steps in largest.loads:
        low, high = bounds.within(largest._most(steps))
        assert Fraction(low) <= law.within(steps * largest.step) <= Fraction(high)
        width = max(width, high - low)
    return width


@pytest.mark.parametrize(
    ("spec", "traffic", "flows", "width"),
    [
        ("fattree:4,3", "random-permutation:seed=0", 2, 0.24),
        ("fattree:4,3", "random-permutation:seed=2", 1, 0.27),
        ("xgft:3;2,2,3;1,2,2", "random-permutation:seed=2", 2, 0.34),
    ],
)
def test_bounds_of_trees_hold_what_is_counted(spec: str, traffic: str, flows: int, width: float) -> None:
    assert hold(spec, traffic, flows) < width


@pytest.mark.nightly
@pytest.mark.parametrize("hashed", ["independent", "polarised"])
@pytest.mark.parametrize("seed", [0, 1, 3])  # others have parts with too many states
@pytest.mark.parametrize("spec", ["fattree:4,3", "xgft:3;2,2,3;1,2,2"])
def test_bounds_of_many_trees_hold_what_is_counted(spec: str, seed: int, hashed: str) -> None:
    for flows in (1, 2) if hashed == "independent" else (1, 2, 3, 5):
        hold(spec, f"random-permutation:seed={seed}", flows, hashed)


def joint(place: FixedPart, flows: int, one: int, two: int, limits: tuple[int, int]) -> tuple[float, float, float]:
    """The probabilities that more flows than the limits cross one channel, the other one, and both, flow by flow."""
    some = place.draws
    law = np.zeros((20, 20))
    law[0, 0] = 1.0
    for kind, pairs in enumerate(some.pairs.tolist()):
        rows = some.type_of_path == kind
        crossed = [(some.path[rows] == place.crossings.channel[c]).any(axis=1) for c in (one, two)]
        share = some.ways[rows] / some.total
        for _ in range(pairs * flows):
            after = np.zeros_like(law)
            for a, b, p in zip(*crossed, share.tolist(), strict=True):
                after[int(a) :, int(b) :] += p * law[: 20 - int(a), : 20 - int(b)]
            law = after
    over_one, over_two = law[limits[0] + 1 :].sum(), law[:, limits[1] + 1 :].sum()
    return over_one, over_two, law[limits[0] + 1 :, limits[1] + 1 :].sum()


@pytest.mark.parametrize(("spec", "traffic"), [("xgft:3;2,2,2;1,2,2", "shift:3"), ("xgft:3;1,2,2;1,2,2", "shift:1")])
@pytest.mark.parametrize("most", [0, 1])
def test_covariances_of_channels_are_bounded(spec: str, traffic: str, most: int) -> None:
    topology, flows = obliv.topology(spec), 2
    place = FixedPart(draws(topology, obliv.traffic(traffic, topology), False, None, silent), None)
    on = place.crossings
    assert on.laminar
    joints = Joints(on, flows)
    limit = np.full(on.groups, most)
    of_group = {int(g): joint(place, flows, c, c, (most, most))[0] for c, g in enumerate(on.group)}
    over = np.array([[of_group[g]] * 2 for g in range(on.groups)])
    gain, loss = joints.covariances(limit, over)
    on_a_path = set(zip(on.one.tolist(), on.two.tolist(), strict=True))
    seen = set()
    for two in range(len(on.channel)):
        for one in range(two):
            groups = sorted((int(on.group[one]), int(on.group[two])))
            at = joints.place.get((groups[0], groups[1]))
            if at is None:
                continue
            alone, other, both = joint(place, flows, one, two, (most, most))
            more = both - alone * other
            near = (one, two) in on_a_path or (two, one) in on_a_path
            seen.add(near)
            if near:
                assert gain[at] >= more - 1e-12
                assert gain[at] == pytest.approx(max(0.0, more), abs=1e-6)
            else:
                assert loss[at] >= -more - 1e-12
                assert loss[at] == pytest.approx(max(0.0, -more), abs=1e-6)
    assert seen == {True, False}


def test_the_weight_of_a_pair_of_channels_is_that_of_the_later_one() -> None:
    """A case in which any smaller weight bounds a probability of zero from below by more."""
    topology = obliv.topology("mesh:2x3")
    rows = [[Fraction(0)] * 6 for _ in range(6)]
    rows[0][2] = rows[0][3] = rows[1][2] = Fraction(1, 8)
    traffic = obliv.matrix(rows)
    place = FixedPart(draws(topology, traffic, False, None, silent), None)
    low, _ = CertifiedBounds(place.crossings, 1).within(Largest(place, 1)._most(1))
    assert low == 0


def test_bandwidths_and_rates_that_always_cross_a_channel_count() -> None:
    topology = obliv.topology("xgft:2;2,2;1,2;2,1")
    law = largest_loads(topology, obliv.traffic("shift:1", topology), 2)
    result = obliv.collisions(topology, "shift:1", flows=2)
    assert law is not None
    assert [row.probability for row in result.distribution] == [at_least(law, r.load) for r in result.distribution]


def test_uplinks_of_leaves_are_multinomial() -> None:
    """Leaves are independent; the flows of each fill its uplinks as balls fill bins."""
    flows, hosts, links = 2, 4, 4
    result = obliv.collisions("fattree:8,2", "shift:4", flows=flows, among="leaf-up")
    assert result.method == "exact"
    n = hosts * flows

    def ways(balls: int, bins: int, most: int) -> int:
        if bins == 1:
            return int(balls <= most)
        return sum(comb(balls, k) * ways(balls - k, bins - 1, most) for k in range(min(balls, most) + 1))

    for row in result.distribution:
        most = int(row.load * flows) - 1
        assert row.probability == 1 - Fraction(ways(n, links, most), links**n) ** 8


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 40), st.integers(1, 7)), min_size=1, max_size=3))
def test_laws_are_within_their_errors(parts: list[tuple[int, int, int]]) -> None:
    exact = [Fraction(1)]
    for weight, n, eighths in parts:
        q = Fraction(eighths, 8)
        one = [Fraction(0)] * (n * weight + 1)
        for k in range(n + 1):
            one[k * weight] = comb(n, k) * q**k * (1 - q) ** (n - k)
        product = [Fraction(0)] * (len(exact) + len(one) - 1)
        for i, a in enumerate(exact):
            for j, b in enumerate(one):
                product[i + j] += a * b
        exact = product
    law = Law(weighted_sum(tuple((weight, n, eighths, 8 - eighths) for weight, n, eighths in parts)))
    for most in range(-1, len(exact) + 1):
        above = sum(exact[most + 1 :], Fraction(0))
        low, high = law.above(most)
        assert Fraction(low) <= above <= Fraction(high)
        assert high <= float(above) * MOST / LEAST * MOST + 3 * TINY or high == 1
        low, high = law.within(most)
        assert Fraction(low) <= 1 - above <= Fraction(high)


def agree(spec: str, traffic: str, flows: int, samples: int, hashed: str = "independent") -> float:
    """Check that samples lie inside the bounds but for the DKW band; return the width of the mean's interval."""
    result = obliv.collisions(spec, traffic, flows=flows, samples=samples, hash=hashed)
    band = sqrt(log(2 / 1e-6) / (2 * samples))
    assert result.distribution
    for row in result.distribution:
        low, high = bounds_of(row.probability)
        assert row.sampled is not None
        assert float(low) - band <= row.sampled.value <= float(high) + band
    low, high = bounds_of(result.mean)
    mean = result.sampled_mean
    assert mean is not None
    assert float(low) - 6 * mean.stderr <= mean.value <= float(high) + 6 * mean.stderr
    return float((high - low) / low)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("hashed", ["independent", "polarised"])
def test_samples_lie_inside_the_bounds(hashed: str) -> None:
    assert agree("fattree:8,2", "random-permutation", 4, 2_000, hashed) < 0.04
    agree("torus:4x4", "random-permutation", 2, 1_000, hashed)


@pytest.mark.nightly
@pytest.mark.parametrize("hashed", ["independent", "polarised"])
@pytest.mark.parametrize(
    ("spec", "traffic", "flows"),
    [
        ("fattree:4,3", "random-permutation", 1),
        ("fattree:8,3", "random-permutation", 3),
        ("fattree:8,3", "shift:17", 1),
        ("fattree:8,2", "uniform", 1),
        ("xgft:3;4,4,4;1,2,2", "bit-reverse", 2),
        ("torus:5x5", "random-permutation", 2),
        ("random-regular:n=20,d=4,seed=1", "random-permutation", 2),
        ("hypercube:4", "random-permutation", 2),
    ],
)
def test_a_million_samples_lie_inside_the_bounds(spec: str, traffic: str, flows: int, hashed: str) -> None:
    agree(spec, traffic, flows, 1_000_000, hashed)


@pytest.mark.nightly
@pytest.mark.parametrize("flows", [1, 2, 4, 8, 16])
def test_a_thousand_hosts_within_one_percent(flows: int) -> None:
    assert agree("fattree:16,3", "random-permutation", flows, 20_000) < 0.01
    for row in obliv.collisions("fattree:16,3", "random-permutation", flows=flows).distribution:
        low, high = bounds_of(row.probability)
        assert high - low < 0.03


def test_a_shift_of_a_thousand_hosts_is_known_within_two_hundredths() -> None:
    for row in obliv.collisions("fattree:16,3", "shift:512", flows=8).distribution:
        low, high = bounds_of(row.probability)
        assert high - low < 0.02


def test_what_a_guarantee_needs_agrees_with_the_distribution() -> None:
    result = obliv.collisions("fattree:8,2", "shift:4", guarantee=["2@0.9", "1/2@0.5"])
    enough, never = result.needed
    assert enough.enough is not None
    assert enough.too_few is not None
    for flows, holds in ((enough.enough, True), (enough.too_few, False)):
        law = obliv.collisions("fattree:8,2", "shift:4", flows=flows).distribution
        low, high = bounds_of(next(row for row in law if row.load > 2).probability)
        assert (1 - high >= enough.probability) if holds else (1 - low < enough.probability)
    assert never.enough is None
    assert "up to 16" in str(never)


def test_seeds_decide_samples() -> None:
    one, two, other = (
        obliv.collisions("fattree:4,2", "shift:2", samples=500, rng=seed) for seed in (3, np.int64(3), 4)
    )
    assert one == two
    assert one != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flows": 0}, "flows=0"),
        ({"flows": 1.5}, "not a whole number"),
        ({"hash": "crc"}, "independent or polarised"),
        ({"among": "sideways"}, "leaf-up"),
        ({"samples": -1}, "samples=-1"),
        ({"guarantee": ["2"]}, "LOAD@PROBABILITY"),
        ({"guarantee": ["2@1.5"]}, "between 0 and 1"),
    ],
)
def test_what_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        obliv.collisions("fattree:4,2", "shift:2", **options)  # type: ignore[arg-type]


def test_levels_need_a_hierarchy() -> None:
    with pytest.raises(InputError, match="hierarchy"):
        obliv.collisions("mesh:3x3", "transpose", among="up")


def test_a_single_guarantee_needs_no_list() -> None:
    one, listed = (obliv.collisions("fattree:4,2", "shift:2", guarantee=wanted) for wanted in ("2@0.9", ["2@0.9"]))
    assert one == listed
