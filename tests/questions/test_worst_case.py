"""The search for the worst case: which channels stand for others, which of equals is named, estimates, prices kept."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest

import obliv
from obliv._util.files import unpack
from obliv.questions.worst_case import orbits
from obliv.topologies.cartesian import channel_map


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("search_in_process")
@pytest.mark.parametrize(("spec", "classes"), [("ring:33", 1), ("torus:4x4", 1), ("mesh:4x4", 6), ("mesh:3x2", 4)])
def test_symmetries_leave_most_channels_out(spec: str, classes: int) -> None:
    topology = obliv.topology(spec)
    routing = obliv.routing("ecmp", topology)
    results = {symmetry: obliv.worst_case(routing, symmetry=symmetry) for symmetry in ("auto", "search", "off")}
    assert len({result.channel_load for result in results.values()}) == 1
    assert results["off"].focus_channels == topology.channels
    assert results["auto"].focus_channels == results["search"].focus_channels == classes
    with pytest.raises(obliv.InputError, match="choose auto, search or off"):
        obliv.worst_case(routing, symmetry="on")


@pytest.mark.parametrize("spec", ["ring:100", "torus:9x9", "mesh:5x4", "hypercube:4"])
def test_few_generators_lead_to_every_channel(spec: str) -> None:
    """A map is kept with its powers 2, 4, 8 …, no power twice, so that words stay short on long rings."""
    topology = obliv.topology(spec)
    classes = orbits(topology, list(topology.generators))
    maps = [tuple(g.tolist()) for g in classes.generators]
    assert len(set(maps)) == len(maps)
    assert tuple(range(topology.nodes)) not in maps
    moves = [channel_map(topology, g) for g in classes.generators]
    longest = 0
    for c in range(topology.channels):
        at = int(classes.focus[c])
        assert at <= c
        assert classes.word(at) == []
        word = classes.word(c)
        for k in word:
            at = int(moves[k][at])  # type: ignore[index]
        assert at == c
        longest = max(longest, len(word))
    assert longest <= 2 * topology.nodes.bit_length()


@pytest.mark.parametrize("routing", ["ecmp", "1/2*dor+1/2*ecmp", "valiant", "romm"])
def test_of_channels_with_equal_loads_the_first_is_named(routing: str) -> None:
    loads = obliv.routing(routing, obliv.mesh(3, 3)).pair_loads()
    each = [Fraction(loads.solve(c, loads.rates).value, loads.denominator) for c in range(loads.topology.channels)]
    result = obliv.worst_case(loads, symmetry="off")
    assert result.channel_load == max(each)
    assert each.count(max(each)) > 1
    assert result.channel is not None
    assert result.channel.id == each.index(max(each))


def test_estimates_follow_the_rates() -> None:
    """Every terminal sends at most a half or a third: the same traffic, the same paths, loads in proportion."""
    mesh = obliv.mesh(3, 3)
    halves, thirds = (
        obliv.worst_case(obliv.ROMM(mesh.with_rates([share] * 9, [share] * 9)), samples=40, rng=3).channel_load
        for share in (Fraction(1, 2), Fraction(1, 3))
    )
    assert isinstance(halves, obliv.Estimate)
    assert isinstance(thirds, obliv.Estimate)
    assert halves.value == pytest.approx(1.5 * thirds.value)
    assert halves.stderr == pytest.approx(1.5 * thirds.stderr)
    assert halves.stderr > 0


def test_the_seed_of_an_estimate_is_kept() -> None:
    dor = obliv.DOR(obliv.mesh(3, 3))
    assert obliv.worst_case(dor, samples=2, rng=7).provenance.seed == 7
    assert obliv.worst_case(dor, rng=7).provenance.seed is None


def test_prices_of_many_channels_are_rounded() -> None:
    loads = obliv.ECMP(obliv.random_regular(40, 3, seed=1)).pair_loads()
    certificate = obliv.worst_case(loads, certificate=True).certificate
    assert certificate is not None
    duals = unpack(certificate["duals"])
    assert len(duals) > 64
    steps = [gcd(*dual) & -gcd(*dual) for dual in duals]
    assert min(steps) >= 4  # over a denominator of 24; as they are solved some are odd
