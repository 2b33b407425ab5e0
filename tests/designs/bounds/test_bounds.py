"""Bounds of networks: closed forms, brute force on small networks, and claims that are refused once changed."""

from __future__ import annotations

import copy
import dataclasses
import tracemalloc
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims import reasons, refused, save_claim
from tests.designs.test_optimum import networks
from tests.oracles.optima import least_load_of
from tests.strategies import examples

import obliv
from obliv._util.files import digest_of, pack, read_json, unpack, write_json
from obliv.checker import network_bounds
from obliv.designs.bounds import network as search
from obliv.designs.bounds.network import _specs
from obliv.results.markup import from_content


def ends(load: Fraction | obliv.Bounds) -> tuple[Fraction, Fraction]:
    return (load.lower, load.upper) if isinstance(load, obliv.Bounds) else (load, load)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "spec", ["mesh:4x4", "mesh:3x3x3", "ring:6", "torus:5x5", "mesh:5x3", "torus:4x4", "hypercube:4"]
)
def test_capacities_are_the_closed_forms(spec: str) -> None:
    assert obliv.bounds(spec).capacity == obliv.topology(spec).capacity_load


def plain(spec: str) -> obliv.Topology:
    """Return a network without the name and the dimensions that would show a known routing."""
    known = obliv.topology(spec)
    return obliv.build("plain", known.nodes, list(zip(known.tail.tolist(), known.head.tolist(), strict=True)))


KNOWN = {
    "mesh:3x2": "u2turn",
    "mesh:7x6": "u2turn",
    "fattree:4,2": "ecmp",
    "torus:4x4": "",  # two passes of uniform traffic
    "mesh:4x4": "",
    "hypercube:3": "",
    "mesh:5x5": "design",  # 11/5 by U2TURN, but the permutation proves 2 only
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", KNOWN)
def test_known_routings_are_as_good_as_the_linear_program(spec: str) -> None:
    quick, slow = obliv.bounds(spec), obliv.design(spec, then=None, gap=1e-3)
    low, high = ends(quick.oblivious or Fraction(0))
    assert low <= ends(slow.channel_load)[1]
    assert ends(slow.channel_load)[0] <= high
    assert KNOWN[spec] == "design" or (low == high and quick.adaptive == quick.oblivious)
    assert obliv.verify(quick).proved
    inside = (quick.certificate or {}).get("oblivious", {"routing": ""})
    assert inside["routing"] == KNOWN[spec]


@pytest.mark.parametrize(
    ("spec", "load"), [("torus:7x2", "12/7"), ("complete:5", "2/5"), ("hyperx:4x3", "2/3"), ("torus:5x2", "6/5")]
)
def test_permutations_are_improved_from_each_of_the_first_lengths(spec: str, load: str) -> None:
    """Twice the capacity, Valiant's worst case: two passes of uniform traffic on networks alike at every node."""
    found = obliv.bounds(spec)
    assert found.adaptive == found.oblivious == Fraction(load) == 2 * (found.capacity or 0)


def test_names_of_known_routings_are_those_that_the_checker_takes() -> None:
    used = {word for spec in ("mesh:3x3", "torus:4x4", "fattree:4,2") for word in _specs(obliv.topology(spec))}
    assert used == set(network_bounds._KNOWN)


def test_known_routings_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is ended where it speaks."""
    monkeypatch.setattr(search, "_FLOWS_A_SECOND", 0)

    def over() -> None:
        raise search.SolverTimeError("the time limit has passed")

    def slow(network: obliv.Topology, progress: Any) -> None:
        monkeypatch.setattr("obliv.designs.bounds.network.require_time", over)
        progress("symmetries", 0.0)
        raise AssertionError("it was not ended")

    monkeypatch.setattr(search, "best_known", slow)
    assert obliv.verify(obliv.bounds("mesh:3x2", time_limit=60)).proved


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", ["mesh:4x3", "torus:5x4", "hyperx:3x4", "mesh:3x3x2", "ring:6"])
def test_the_flow_of_dimension_order_has_the_capacity(spec: str) -> None:
    assert obliv.bounds(spec).capacity == obliv.bounds(plain(spec)).capacity


def test_where_no_known_routing_is_enough_but_one_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_FLOWS_A_SECOND", 0)
    found = obliv.bounds("mesh:5x5", time_limit=60)
    low, high = ends(found.oblivious or Fraction(0))
    assert (low, high) == (2, pytest.approx(2.2, abs=1e-12))
    assert high >= Fraction(11, 5)
    assert obliv.verify(found).proved
    assert found.provenance.exactness == "bounded"
    assert obliv.bounds("ring:5").provenance.exactness == "exact"


def test_forged_worst_cases_of_known_routings(saved: Path, tmp_path: Path) -> None:
    def forged(**changes: Any) -> bool:
        content = read_json(saved)
        inner = content["certificate"]["oblivious"]
        assert inner["routing"] == "u2turn"
        inner |= changes
        inner["certificate"]["digest"] = digest_of(inner)
        return refused(content, tmp_path / "forged.json")

    half = {"exact": "1/2", "value": 0.5}
    assert forged(channel_load=half)
    assert forged(routing="dor")
    assert forged(routing="table:/etc/passwd")
    assert forged(routing="valiant")
    assert forged(topology="mesh:2x3")
    assert forged(kind="ratio")
    assert forged(kind="worst-channels")
    content = read_json(saved)
    content["certificate"]["oblivious"] = obliv.worst_case("mesh:3x2", "dor", certificate=True).to_dict()
    assert refused(content, tmp_path / "forged.json")
    low = {"lower": 0.5, "upper": 1.0}
    assert refused(
        content | {"oblivious": half, "adaptive": half, "bisection": half, "price": low}, tmp_path / "forged.json"
    )


def test_a_ring_with_a_chord() -> None:
    links = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    network = obliv.build("chord", 4, links + [(head, tail) for tail, head in links])
    limits = obliv.bounds(network)
    assert limits.bisection == 2 / Fraction(3)  # {0, 1} and {2, 3}: three links between them
    assert limits.adaptive == limits.oblivious == limits.bisection
    assert obliv.verify(limits).proved


def congestion(network: obliv.Topology, image: tuple[int, ...]) -> float:
    """Return the least congestion of a permutation by a plain linear program."""
    return least_load_of(network, [[int(d == to) for d in range(len(image))] for to in image])


@examples(16)
@given(st.integers(0, 10**9))
def test_against_brute_force(seed: int) -> None:
    network = networks(seed)
    limits = obliv.bounds(network, gap=1e-4)
    assert obliv.verify(limits).proved
    slack = Fraction(1, 10**6)
    if network.unit_rates:
        images = permutations(range(len(network.terminals)))
        worst = max(congestion(network, image) for image in images)
        lower, upper = ends(limits.adaptive)
        assert lower <= worst + slack
        assert worst <= upper + slack
    terminals = network.terminals.tolist()
    narrowest = Fraction(0)
    for size in range(network.nodes + 1):
        for nodes in combinations(range(network.nodes), size):
            if abs(2 * len(set(nodes) & set(terminals)) - len(terminals)) <= 1:
                side = np.isin(np.arange(network.nodes), nodes)
                narrowest = max(narrowest, crossing(network, side))
    lower, upper = ends(limits.bisection)
    assert lower <= narrowest <= upper


def crossing(network: obliv.Topology, side: np.ndarray) -> Fraction:
    """Return the load across a cut from the definition."""
    injection, ejection = network.rates()
    loads = [Fraction(0)]
    for way in (side, ~side):
        speed = sum(
            network.bandwidth_of(c)
            for c in range(network.channels)
            if way[network.tail[c]] and not way[network.head[c]]
        )
        sent = sum(rate for rate, node in zip(injection, network.terminals, strict=True) if way[node])
        taken = sum(rate for rate, node in zip(ejection, network.terminals, strict=True) if not way[node])
        loads.append(Fraction(min(sent, taken)) / speed if speed else Fraction(0))
    return max(loads)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bounds") / "bounds.json"
    obliv.bounds("mesh:3x2").save(path)
    return path


def test_bounds_are_saved_and_verified(saved: Path) -> None:
    assert obliv.verify(saved).proved
    assert obliv.load(saved) == obliv.bounds("mesh:3x2")


def test_bounds_of_networks_made_in_python_contain_the_network(tmp_path: Path) -> None:
    obliv.bounds(plain("mesh:3x3")).save(tmp_path / "bounds.json")
    assert obliv.verify(tmp_path / "bounds.json").proved
    content = read_json(tmp_path / "bounds.json")
    content["certificate"]["oblivious"]["certificate"]["network"]["head"][0] = 2
    for claim in (content["certificate"]["oblivious"], content):
        claim["certificate"]["digest"] = digest_of(claim)
    write_json(content, tmp_path / "forged.json")
    assert not obliv.verify(tmp_path / "forged.json").proved


@pytest.mark.parametrize("key", ["capacity", "oblivious", "adaptive", "bisection", "matching_bound", "price"])
def test_raised_bounds_are_refused(key: str, saved: Path, tmp_path: Path) -> None:
    for factor in (Fraction(1001, 1000), Fraction(999, 1000)):
        content = copy.deepcopy(read_json(saved))
        load = Fraction(content[key]["exact"]) * factor
        content[key] = {"exact": str(load), "value": float(load)}
        assert refused(content, tmp_path / "forged.json")


def test_loads_beyond_64_bits_do_not_vanish(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    paths = content["certificate"]["capacity_paths"]
    there = paths["channels"][0]
    mesh = obliv.mesh(3, 2)
    back = mesh.channel(int(mesh.head[there]), int(mesh.tail[there]))
    loops, factor = 2**6, 2**28
    paths["channels"] = [there, back] * loops + paths["channels"]
    paths["hops"][0] += 2 * loops
    paths["whole"] *= factor
    paths["amounts"] = [factor * amount for amount in paths["amounts"]]
    content["certificate"]["digest"] = digest_of(content)
    write_json(content, tmp_path / "forged.json")
    failed = [step.check for step in obliv.verify(tmp_path / "forged.json").checks if step.ok is False]
    assert failed == ["capacity"]


@pytest.mark.parametrize("key", ["capacity_lengths", "adaptive_lengths"])
@pytest.mark.parametrize("change", [lambda x: [-length for length in x], lambda x: x[1:], lambda x: [0 * k for k in x]])
def test_forged_lengths_are_refused(key: str, change: Any, saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content["certificate"][key] = change(unpack(content["certificate"][key]))
    assert refused(content, tmp_path / "forged.json")


def test_capacities_by_the_paths_of_one_source_are_refused(tmp_path: Path) -> None:
    obliv.bounds("ring:4").save(tmp_path / "bounds.json")
    content = read_json(tmp_path / "bounds.json")
    design = obliv.design("ring:4").to_dict()["paths"]
    assert len(design["per_pair"]) == 4
    content["certificate"]["capacity_paths"] = design
    assert refused(content, tmp_path / "forged.json")
    content["certificate"]["capacity_paths"] = content["certificate"]["capacity_lengths"]
    assert refused(content, tmp_path / "forged.json")


def test_designs_of_another_objective_prove_no_bounds(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    other = obliv.design("mesh:3x2", objective="ratio")  # its worst case is not the least one
    wide = {"lower": 1.0, "upper": 2.0}
    load = {"exact": str(other.channel_load), "value": float(other.channel_load)}
    content |= {"oblivious": load, "adaptive": wide, "bisection": wide}
    content |= {"price": {"lower": 1.0, "upper": float(other.channel_load)}}
    for design in (other.to_dict(), None, {}):
        content["certificate"]["oblivious"] = design
        assert refused(content, tmp_path / "forged.json")


@pytest.mark.parametrize("key", ["permutation", "matching_permutation", "half"])
def test_compressed_arrays_of_very_many_numbers_are_not_unpacked(key: str, saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content[key] = pack(np.zeros(2_000_000, np.int64))
    save_claim(content, tmp_path / "forged.json")
    tracemalloc.start()
    with pytest.raises(obliv.FileError, match="an array of 2000000 numbers"):
        obliv.verify(tmp_path / "forged.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("key", ["permutation", "matching_permutation", "half"])
@pytest.mark.parametrize("value", [[0, [1]], 7, [[0, 1], [2, 3]]])
def test_lists_within_lists_are_refused(key: str, value: object, saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content[key] = value
    save_claim(content, tmp_path / "forged.json")
    with pytest.raises(obliv.FileError, match="a list of whole numbers is expected"):
        obliv.verify(tmp_path / "forged.json")


def test_bad_input() -> None:
    with pytest.raises(obliv.InputError, match="between 0 and 1"):
        obliv.bounds("mesh:3x3", gap=0)
    with pytest.raises(obliv.TopologyError, match="no path leads"):
        obliv.bounds(obliv.build("apart", 3, [(0, 1), (1, 0)]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_in_no_time_hold_for_the_optimum(seed: int) -> None:
    network = obliv.topology(f"random-regular:n=6,d=3,seed={seed}")
    exact = ends(obliv.bounds(network).oblivious or Fraction(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_FLOWS_A_SECOND", 0)
        rough = obliv.bounds(network, time_limit=60)
    low, high = ends(rough.oblivious or Fraction(0))
    assert low <= exact[1]
    assert exact[0] <= high
    assert obliv.verify(rough).proved


def test_forged_bounds_without_a_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_FLOWS_A_SECOND", 0)
    result = obliv.bounds("random-regular:n=8,d=3,seed=1", time_limit=60)
    result.save(tmp_path / "bounds.json")
    content = read_json(tmp_path / "bounds.json")
    low, high = content["oblivious"]["lower"], content["oblivious"]["upper"]
    assert low < high
    for key in ("oblivious", "adaptive"):
        for change in ({"lower": low, "upper": (low + high) / 2}, {"lower": (low + high) / 2, "upper": high}):
            assert refused(content | {key: change}, tmp_path / "forged.json")
    assert refused(content | {"capacity": None}, tmp_path / "forged.json")
    with pytest.raises(obliv.InputError, match="a time limit of 0"):
        obliv.bounds("mesh:3x3", time_limit=0)


def test_the_matching_bound_needs_no_linear_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise obliv.TooLargeError("the linear program would not fit")

    monkeypatch.setattr(search, "design", refuse)
    some = obliv.bounds(plain("mesh:3x2"))
    assert some.capacity == Fraction(2, 3)
    assert isinstance(some.oblivious, obliv.Bounds)
    assert some.oblivious == some.adaptive
    assert 0 <= some.oblivious.upper - Fraction(4, 3) < 1e-15  # two passes of uniform traffic
    assert isinstance(some.bisection, obliv.Bounds)
    assert obliv.verify(some).proved
    obliv.bounds(plain("ring:4")).save(tmp_path / "square.json")
    assert obliv.verify(tmp_path / "square.json").proved
    content = read_json(tmp_path / "square.json")
    for channels in (7, 9, 2**40, "8", None):
        content["certificate"]["channels"] = channels
        assert refused(content, tmp_path / "forged.json")
    with pytest.raises(obliv.TooLargeError, match="linear program"):
        obliv.bounds(obliv.topology("mesh:3x2").with_rates(2, 2))
    monkeypatch.setattr(search, "_COLUMNS", 0)
    result = obliv.bounds(plain("mesh:3x2"))
    assert (result.capacity, result.oblivious, result.adaptive, result.bisection, result.price) == (None,) * 5
    assert result.matching_bound == obliv.bounds("mesh:3x2").matching_bound
    assert result.to_dict()["oblivious_reason"] == "the linear program does not fit in memory or in the time limit"
    assert "matching bound" in repr(result)
    result.save(tmp_path / "bounds.json")
    assert obliv.verify(tmp_path / "bounds.json").proved
    for change in (
        {"matching_bound": {"exact": "3", "value": 3.0}},
        {"matching_bound": None},
        {"oblivious": {"lower": 1.0, "upper": 9.0}},
        {"capacity": {"lower": 1.0, "upper": 9.0}},
        {"adaptive": {"lower": 1.0, "upper": 9.0}},
        {"bisection": {"lower": 1.0, "upper": 9.0}},
    ):
        content = read_json(tmp_path / "bounds.json") | change
        content["certificate"]["digest"] = digest_of(content)
        write_json(content, tmp_path / "forged.json")
        try:
            assert not obliv.verify(tmp_path / "forged.json").proved
        except obliv.FileError as error:
            assert "\n" not in str(error)


def claimed(**changes: Any) -> Any:
    """Claim something else, with the figures that follow from it."""

    def change(content: dict[str, Any]) -> None:
        made = dataclasses.replace(from_content(copy.deepcopy(content)), **changes).to_dict()  # type: ignore[type-var]
        content.clear()
        content.update(made)

    return change


def proof(key: str, value: Any) -> Any:
    return lambda content: content["certificate"].update({key: value})


def inside(**changes: Any) -> Any:
    """Change the worst case that proves the oblivious bound."""

    def change(content: dict[str, Any]) -> None:
        worst = content["certificate"]["oblivious"]
        worst |= changes
        worst["certificate"]["digest"] = digest_of(worst)

    return change


def add_up_to_more(content: dict[str, Any]) -> None:
    paths = content["certificate"]["capacity_paths"]
    amounts = unpack(paths["amounts"])
    paths["amounts"] = [amounts[0] + 1, *amounts[1:]]


NINE_TENTHS = {"exact": "9/10", "value": 0.9}
NOTHING = dict.fromkeys(("capacity", "oblivious", "adaptive", "bisection", "matching_bound"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (claimed(**NOTHING), "it claims no bound"),
        (claimed(oblivious=None), "adaptive is bounded by oblivious, which is missing"),
        (claimed(capacity=Fraction(11, 15)), "claimed 11/15"),
        (claimed(capacity=obliv.Bounds(Fraction(1, 3), Fraction(3, 5))), "claimed between 0.333333 and 0.6"),
        (claimed(oblivious=Fraction(9, 10)), "claimed 9/10"),
        (claimed(adaptive=Fraction(11, 10)), "claimed 11/10"),
        (claimed(adaptive=obliv.Bounds(Fraction(1, 2), Fraction(9, 10))), "claimed between 0.5 and 0.9"),
        (claimed(bisection=Fraction(11, 10)), "claimed 11/10"),
        (claimed(bisection=obliv.Bounds(Fraction(1, 2), Fraction(9, 10))), "claimed between 0.5 and 0.9"),
        (claimed(matching_bound=Fraction(11, 10)), "claimed 11/10"),
        (claimed(matching_bound=Fraction(9, 10)), "claimed 9/10"),
        (claimed(permutation=(0,) * 6), "the permutation is invalid"),
        (claimed(matching_permutation=(0,) * 6), "the permutation is invalid"),
        (claimed(half=(99,)), "a node of the half does not exist, or is listed twice"),
        (claimed(half=(0, 0, 1)), "a node of the half does not exist, or is listed twice"),
        (claimed(half=(0,)), "the half holds 1 of 6 terminals"),
        (proof("capacity_lengths", [1]), "capacity_lengths must be one whole number for each channel, 0 or more"),
        (proof("capacity_lengths", [-1] * 14), "capacity_lengths must be one whole number for each channel, 0 or more"),
        (proof("adaptive_lengths", [-1] * 14), "adaptive_lengths must be one whole number for each channel, 0 or more"),
        (proof("oblivious", None), "oblivious is missing in the certificate, or has another objective"),
        (lambda content: content["certificate"].pop("oblivious"), "between 1 and 1.33333, claimed 1"),
        (proof("capacity_paths", None), "paths is not a list of paths"),
        (add_up_to_more, "a probability is not between 0 and 1"),
        (inside(routing="dor"), "oblivious is the worst case of another routing than"),
        (inside(topology="mesh:3x3"), "oblivious is a worst case on another network than mesh:3x2"),
        (inside(skipped=2), "or skips pairs"),
        (inside(channel_load=NINE_TENTHS), "no admissible traffic loads a channel by more than 9/10"),
    ],
)
def test_each_part_is_refused_by_its_own_check(change: Any, why: str, saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    change(content)
    (said,) = reasons(content, tmp_path / "forged.json")
    assert why in said


def source_alone(content: dict[str, Any]) -> None:
    """List the paths of terminal 0 alone, whose loads are a fourth of those of all."""
    content["certificate"]["capacity_paths"] = {
        "whole": 2,
        "per_pair": [0, 1, 2, 1],
        "hops": [1, 2, 2, 1],
        "channels": [0, 0, 2, 1, 7, 1],
        "amounts": [2, 1, 1, 2],
    }


@pytest.mark.parametrize(
    ("network", "change", "why"),
    [
        ("ring:4", source_alone, "capacity_paths must list the paths of all pairs"),
        (
            "ring:4",
            claimed(capacity=None, oblivious=None, adaptive=None),
            "a bisection is bounded by capacity or oblivious, and both are missing",
        ),
        (
            "ring:4,injection=2",  # twice the capacity's load is 1, less than the 5/4 of the best routing
            lambda content: content["certificate"].pop("oblivious"),
            "oblivious has neither a design nor a capacity that proves it",
        ),
    ],
)
def test_what_proves_nothing_on_other_networks_is_refused(network: str, change: Any, why: str, tmp_path: Path) -> None:
    content = obliv.bounds(network).to_dict()
    assert reasons(copy.deepcopy(content), tmp_path / "claim.json") == []
    change(content)
    (said,) = reasons(content, tmp_path / "forged.json")
    assert why in said


def test_a_quick_check_proves_no_bound(saved: Path, tmp_path: Path) -> None:
    """The channels that it leaves out are those of the claim inside."""
    (said,) = reasons(read_json(saved), tmp_path / "claim.json", quick=True)
    assert "a quick check leaves them out" in said
