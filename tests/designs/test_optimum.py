"""Designs against known optima, against a plain linear program, and against every other routing."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims import refused
from tests.designs.networks import both_ways, networks
from tests.oracles.optima import least_load
from tests.strategies import examples

import obliv
from obliv._util.files import read_json, unpack
from obliv.designs import fewest_hops, search
from obliv.designs.bounds.congestion import hop_distances

ROUTINGS = ["ecmp", "shortest", "valiant", "updown", "electrical", "raecke:trees=3", "sampled:2,base=valiant", "wsr"]
PETERSEN = [(v, (v + 1) % 5) for v in range(5)] + [(v, v + 5) for v in range(5)]
PETERSEN += [(5 + v, 5 + (v + 2) % 5) for v in range(5)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("spec", "load"),
    [
        ("mesh:3x3", "7/6"),  # (k + 1)/(2k + 1) of capacity (U2TURN paper, section III)
        ("mesh:4x4", "2"),
        pytest.param("mesh:5x5", "11/5", marks=pytest.mark.nightly),
        ("torus:4x4", "1"),  # half of capacity (Towles and Dally)
        pytest.param("torus:5x5", "6/5", marks=pytest.mark.nightly),
        pytest.param("torus:6x6", "3/2", marks=pytest.mark.nightly),
        ("hypercube:4", "1"),
        pytest.param("hypercube:5", "1", marks=pytest.mark.nightly),
        ("ring:7", "12/7"),
        ("complete:5", "2/5"),  # Valiant: 2/n
        ("fattree:4,2", "1"),
    ],
)
def test_known_optima_are_proved(spec: str, load: str) -> None:
    best = obliv.design(spec)
    assert best.channel_load == Fraction(load)
    assert best.gap == 0
    assert obliv.worst_case(best.subject, symmetry="off").channel_load == Fraction(load)
    assert obliv.locality(best.subject).hops == best.hops
    assert obliv.verify(best).proved


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "hops"), [("mesh:3x3", "64/27"), ("mesh:4x4", "5/2"), ("torus:4x4", "27/10"), ("torus:5x5", "468/125")]
)
def test_fewest_hops_at_the_optimum_are_proved(spec: str, hops: str) -> None:
    best = obliv.design(spec)
    assert best.hops == best.hops_bound == Fraction(hops)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("rows", [0, 1000])  # up to which the interior-point method is tried
@pytest.mark.parametrize(("spec", "hops"), [("mesh:3x3", "64/27"), ("mesh:4x4", "5/2"), ("torus:4x4", "27/10")])
def test_fewest_hops_where_the_first_order_method_is_slow(
    spec: str, hops: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ITERATIONS", 1)
    monkeypatch.setattr(fewest_hops, "_INTERIOR_ROWS", rows)
    best = obliv.design(spec, exact=False)
    assert best.hops_bound is not None
    assert best.hops_bound <= best.hops <= best.hops_bound * (1 + Fraction(1, 10**4))
    assert float(best.hops) == pytest.approx(float(Fraction(hops)), rel=1e-3)  # the load may exceed the least by 1e-4
    lower, upper = bounds(best)
    assert upper <= lower * (1 + Fraction(1, 10**4))
    assert obliv.verify(best).proved


def test_hops_without_a_bound_where_no_method_converges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "ITERATIONS", 1)
    monkeypatch.setattr(fewest_hops, "ITERATIONS", 1)
    monkeypatch.setattr(fewest_hops, "_INTERIOR_ROWS", 0)
    best = obliv.design("mesh:3x3", exact=False)
    assert best.hops_bound is None or best.hops_bound <= best.hops
    assert obliv.verify(best).proved


@pytest.mark.nightly
@pytest.mark.parametrize("spec", ["random-regular:n=20,d=4,seed=1", "random-regular:n=24,d=3,seed=1"])
def test_fewest_hops_without_symmetries(spec: str) -> None:
    best = obliv.design(spec)
    assert best.hops_bound is not None
    assert best.hops <= best.hops_bound * (1 + Fraction(1, 10**4))
    lower, upper = bounds(best)
    assert upper <= lower * (1 + Fraction(1, 10**4))


@pytest.mark.nightly
def test_symmetries_of_small_named_graphs_are_searched() -> None:
    pytest.importorskip("igraph")
    assert obliv.design("graph:moebius-kantor", then=None).channel_load == Fraction(17, 12)


def test_u2turn_is_optimal_on_odd_square_meshes() -> None:
    for k, least in ((3, "7/6"), (5, "11/5")):  # the optima that are proved above
        assert obliv.worst_case(obliv.U2TURN(obliv.mesh(k, k))).channel_load == Fraction(least)


@pytest.mark.nightly
def test_petersen_from_a_list_of_links() -> None:
    graph = obliv.build("petersen", 10, both_ways(PETERSEN))
    assert obliv.design(graph).channel_load == 1


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("hops", "fraction"), [("2", "1/3"), ("2.2", "25/62"), ("2.6", "37/76"), ("2.7", "1/2")])
def test_the_curve_of_hops_on_a_torus(hops: str, fraction: str) -> None:
    # Pareto curve of the 4-ary 2-cube: .33333, .40323, .48684, .5 at 1, 1.1, 1.3 and 1.35 times the minimal hops
    best = obliv.design("torus:4x4", max_hops=hops)
    assert best.fraction_of_capacity == Fraction(fraction)
    assert best.hops <= Fraction(hops)
    assert obliv.verify(best).proved


def test_minimal_designs_use_shortest_paths() -> None:
    best = obliv.design("mesh:3x3", minimal=True)
    assert best.fraction_of_capacity == Fraction(4, 9)
    distances = hop_distances(best.subject.topology)
    for source in range(9):
        for destination in range(9):
            for path, _ in best.subject.paths(source, destination):
                assert len(path) == distances[source, destination]
    assert obliv.verify(best).proved


def bounds(made: obliv.Design | obliv.WorstCase) -> tuple[Fraction, Fraction]:
    """Return the proved lower bound and the worst case of the routing."""
    load = made.channel_load
    return (load.lower, load.upper) if isinstance(load, obliv.Bounds) else (load, load)


def check_against_the_plain_program(network: obliv.Topology, routings: list[str]) -> obliv.Design:
    best = obliv.design(network, then=None)
    links = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    rates = [list(map(float, side)) for side in network.rates()]
    plain = least_load(network.nodes, links, network.terminals.tolist(), list(map(float, network.bandwidth)), *rates)
    lower, upper = bounds(best)
    assert lower <= plain * (1 + 1e-7)
    assert upper >= plain * (1 - 1e-7)
    assert upper <= lower * (1 + Fraction(1, 10**4))
    for name in routings:
        with suppress(obliv.InputError, obliv.TopologyError):  # some need links both ways
            assert bounds(obliv.worst_case(obliv.routing(name, network)))[1] >= lower, name
    return best


@examples(30)
@given(st.integers(0, 10**9))
def test_against_the_plain_program(seed: int) -> None:
    best = check_against_the_plain_program(networks(seed), ["ecmp"])
    assert obliv.verify(best).proved


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(10))
def test_five_hundred_networks(block: int, tmp_path: Path) -> None:
    """No routing has a worst case below the optimum, its claim is proved, and forged claims are refused."""
    path = tmp_path / "best.json"
    for seed in range(50 * block, 50 * block + 50):
        best = check_against_the_plain_program(networks(seed), ROUTINGS)
        best.save(path)
        content = read_json(path)
        assert obliv.verify(path).proved, seed
        lower, upper = map(float, bounds(best))
        raised, lowered, moved = (copy.deepcopy(content) for _ in range(3))
        raised["channel_load"] = {"lower": upper * (1 + 1e-6), "upper": upper * 1.01}
        lowered["channel_load"] = {"lower": lower * 0.98, "upper": lower * 0.99}
        amounts = unpack(moved["paths"]["amounts"])
        moved["paths"]["amounts"] = [amounts[0] + 1, *amounts[1:]]
        assert all(refused(forged, path) for forged in (raised, lowered, moved)), seed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", ["mesh:3x2", "torus:4x3", "ring:6", "fattree:4,2", "hypercube:3"])
def test_symmetry_changes_no_bound(spec: str) -> None:
    network = obliv.topology(spec)
    links = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    bare = obliv.build(spec, network.nodes, links, terminals=network.terminals.tolist())
    one, two = (bounds(obliv.design(which, then=None, gap=1e-6)) for which in (bare, network))
    assert max(one[0], two[0]) <= min(one[1], two[1]) <= (1 + Fraction(1, 10**5)) * max(one[0], two[0])


def test_the_same_input_gives_the_same_answer() -> None:
    assert obliv.design("torus:4x4") == obliv.design("torus:4x4")


@pytest.mark.nightly
def test_the_same_answer_on_one_and_two_threads(tmp_path: Path) -> None:
    claims = []
    for threads in ("1", "2"):
        limits = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
        command = [sys.executable, "-m", "obliv", "design", "mesh:5x5", "--no-exact", "--output", f"{threads}.json"]
        subprocess.run(command, env={**os.environ, **limits}, cwd=tmp_path, check=True, capture_output=True)
        claims.append(read_json(tmp_path / f"{threads}.json"))
        claims[-1]["provenance"].pop("wall_seconds")
        claims[-1]["certificate"].pop("digest")
    assert claims[0] == claims[1]


def test_what_cannot_be_designed() -> None:
    apart = obliv.build("apart", 3, [(0, 1), (1, 0)])
    with pytest.raises(obliv.TopologyError, match="no path leads from 0 to 2"):
        obliv.design(apart)
    with pytest.raises(obliv.InputError, match="shortest paths take 16/9"):
        obliv.design("mesh:3x3", max_hops=1)
    with pytest.raises(obliv.InputError, match="between 0 and 1"):
        obliv.design("mesh:3x3", gap=2)
    with pytest.raises(obliv.InputError, match="choose hops"):
        obliv.design("mesh:3x3", then="load")
    with pytest.raises(obliv.TooLargeError, match="linear program"):
        obliv.design("mesh:40x40")
    with pytest.raises(obliv.TopologyError, match="has one terminal"):
        obliv.design(obliv.build("one", 1, []))


def test_a_narrow_cut_bounds_a_design_whose_multipliers_are_rounded() -> None:
    """Eight packets cross the eight channels of a bisection, whatever the routing."""
    best = obliv.design("random-regular:n=16,d=4,seed=7", then=None)
    assert obliv.verify(best).proved
    assert best.channel_load == 1 or (isinstance(best.channel_load, obliv.Bounds) and best.channel_load.lower == 1)
