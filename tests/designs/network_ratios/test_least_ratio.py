"""Designs of the least oblivious ratio: known values, a plain linear program, other routings, forged claims."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims import reasons, refused, save_claim
from tests.designs.network_ratios.test_ratios import ABILENE
from tests.designs.networks import both_ways, networks
from tests.oracles.optima import least_ratio
from tests.strategies import examples

import obliv
from obliv._util.files import read_json, unpack
from obliv.checker import ratios
from obliv.designs import programme as flows
from obliv.designs.network_ratios import best, bounds
from obliv.designs.network_ratios import best as demands
from obliv.errors import Interrupted
from obliv.results.claims import MalformedError
from obliv.results.markup import from_content


def ends(ratio: Fraction | obliv.Bounds) -> tuple[Fraction, Fraction]:
    return (ratio.lower, ratio.upper) if isinstance(ratio, obliv.Bounds) else (ratio, ratio)


def least(network: Any, **options: Any) -> obliv.RatioDesign:
    result = obliv.design(network, objective="ratio", **options)
    assert isinstance(result, obliv.RatioDesign)
    return result


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("spec", "ratio"),
    [
        ("ring:4", "3/2"),  # 2 - 2/n for cycles and complete graphs
        ("ring:5", "8/5"),
        ("ring:6", "5/3"),
        ("ring:8", "7/4"),
        ("complete:4", "3/2"),
        ("complete:5", "8/5"),
        ("fattree:4,2", "1"),
    ],
)
def test_known_optima_are_proved(spec: str, ratio: str) -> None:
    result = least(spec)
    assert result.ratio == Fraction(ratio)
    assert result.gap == 0
    assert obliv.verify(result).proved


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("network", "ratio"), [("mesh:3x2", "39/23"), (obliv.build("abilene", 11, both_ways(ABILENE)), "161/87")]
)
def test_vertices_without_simple_rationals(network: Any, ratio: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The basis of the simplex method is solved exactly where the solver's floats show no simple rationals."""
    for module in (best, bounds, demands):
        monkeypatch.setattr(module, "as_rationals", lambda values: None)
    result = least(network, exact=True)
    assert result.ratio == Fraction(ratio)
    assert obliv.verify(result).proved
    hops = least("mesh:3x2", then="hops", max_hops=Fraction("1.8"))
    assert hops.gap == 0
    assert hops.hops == hops.hops_bound
    assert obliv.verify(hops).proved


@pytest.mark.nightly
def test_abilene() -> None:
    network = obliv.build("abilene", 11, both_ways(ABILENE))
    result = least(network)
    lower, upper = ends(result.ratio)
    assert lower <= Fraction("1.85058")
    assert upper >= Fraction("1.85055")
    assert upper <= lower * Fraction("1.001")
    assert obliv.verify(result, topology=network).proved


@pytest.mark.nightly
def test_fewest_hops_at_the_least_ratio() -> None:
    one, two = least("mesh:3x2"), least("mesh:3x2", then="hops")
    assert one.ratio == two.ratio
    assert two.hops_bound is not None
    assert two.hops_bound <= two.hops <= one.hops
    assert obliv.verify(two).proved
    shortest = least("mesh:3x2", minimal=True)
    assert ends(shortest.ratio)[1] >= ends(one.ratio)[0]
    assert obliv.verify(shortest).proved


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [1, 38, 64, 83])
def test_bandwidths_are_not_rounded(seed: int) -> None:
    """Lengths divided by bandwidths remain whole, and no ratio is below 1, so that both bounds meet."""
    result = least(networks(seed))
    assert result.gap == 0
    assert obliv.verify(result).proved


@pytest.mark.nightly
@examples(12)
@given(st.integers(0, 10**9))
def test_against_the_plain_program_and_other_routings(seed: int) -> None:
    network = networks(seed)
    result = least(network)
    lower, upper = ends(result.ratio)
    links = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    plain = least_ratio(network.nodes, links, network.terminals.tolist(), list(map(float, network.bandwidth)))
    assert lower <= plain * (1 + 1e-7)
    assert upper >= plain * (1 - 1e-7)
    assert upper <= lower * Fraction("1.001")
    for name in ("ecmp", "shortest", "valiant"):
        assert obliv.ratio(obliv.routing(name, network)).upper >= lower
    assert obliv.ratio(result.subject).lower <= upper
    assert obliv.verify(result).proved


@pytest.fixture(scope="module", params=["ring:4", "mesh:3x2"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("designs") / "best.json.gz"
    least(request.param, then="hops").save(path)
    return path


@pytest.mark.sampled(2)
def test_a_saved_design_is_loaded_and_used(saved: Path) -> None:
    result = obliv.load(saved)
    assert isinstance(result, obliv.RatioDesign)
    routing = obliv.routing(f"design:{saved}", obliv.topology(result.topology))
    assert obliv.ratio(routing).lower <= ends(result.ratio)[1]
    assert obliv.verify(saved).proved


def _exact(value: Fraction) -> dict[str, Any]:
    return {"exact": str(value), "value": float(value)}


def lower_the_ratio(content: dict[str, Any]) -> None:
    content["ratio"] = _exact(Fraction(content["ratio"]["exact"]) * Fraction(999, 1000))


def raise_the_bound(content: dict[str, Any]) -> None:
    ratio = Fraction(content["ratio"]["exact"])
    content["ratio"] = {"lower": float(ratio) * 1.0001, "upper": float(ratio) * 1.001}
    content["gap"] = {"lower": 0.0, "upper": 1.001 / 1.0001 - 1}


def no_bound(content: dict[str, Any]) -> None:
    content["ratio"] = {"lower": 0.0, "upper": content["ratio"]["value"]}


def drop_a_path(content: dict[str, Any]) -> None:
    paths = content["paths"]
    per_pair, hops, channels, amounts = (unpack(paths[key]) for key in ("per_pair", "hops", "channels", "amounts"))
    pair = next(k for k, count in enumerate(per_pair) if count > 1)
    place = sum(per_pair[:pair])
    per_pair[pair] -= 1
    amounts[place + 1] += amounts[place]
    begin = sum(hops[:place])
    paths |= {
        "per_pair": per_pair,
        "hops": hops[:place] + hops[place + 1 :],
        "amounts": amounts[:place] + amounts[place + 1 :],
    }
    paths["channels"] = channels[:begin] + channels[begin + hops[place] :]


def move_a_probability(content: dict[str, Any]) -> None:
    """Move one unit between the first two paths that use other channels."""
    paths = content["paths"]
    per_pair, hops, channels, amounts = (unpack(paths[key]) for key in ("per_pair", "hops", "channels", "amounts"))
    path = next(sum(per_pair[:k]) for k, count in enumerate(per_pair) if count > 1)
    begin = sum(hops[:path])
    middle, end = begin + hops[path], begin + sum(hops[path : path + 2])
    assert sorted(channels[begin:middle]) != sorted(channels[middle:end])
    paths["whole"] *= 1000
    amounts = [1000 * amount for amount in amounts]
    paths["amounts"] = [*amounts[:path], amounts[path] + 1, amounts[path + 1] - 1, *amounts[path + 2 :]]


def more_traffic(content: dict[str, Any]) -> None:
    line = content["certificate"]["ratio_line"]
    rows = unpack(line["flows"][0])
    rows[0][2] *= 3
    line["flows"][0] = rows


def shorter(content: dict[str, Any]) -> None:
    lengths = content["certificate"]["lengths"]
    lengths[0] = [0 for _ in unpack(lengths[0])]


def no_demands(content: dict[str, Any]) -> None:
    content["certificate"]["demands"] = []


def another_map(content: dict[str, Any]) -> None:
    generators = np.array(unpack(content["certificate"]["generators"]))
    generators[0] = np.roll(np.arange(generators.shape[1]), 1)[::-1]
    generators[0, [0, 1]] = generators[0, [1, 0]]
    content["certificate"]["generators"] = generators.tolist()


def a_price(content: dict[str, Any]) -> None:
    content["certificate"]["ratio_line"]["price"] = 1


def fewer_hops(content: dict[str, Any]) -> None:
    content["hops_bound"] = _exact(Fraction(content["hops"]["exact"]) * 2)


FORGERIES: list[Callable[[dict[str, Any]], None]] = [
    lower_the_ratio,
    raise_the_bound,
    no_bound,
    drop_a_path,
    move_a_probability,
    more_traffic,
    shorter,
    no_demands,
    another_map,
    a_price,
    fewer_hops,
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forged_designs_are_refused(forge: Callable[[dict[str, Any]], None], saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    forge(content)
    assert refused(content, tmp_path / "forged.json")


def _with_row(row: list[int]) -> Callable[[dict[str, Any]], None]:
    def change(certificate: dict[str, Any]) -> None:
        line = certificate["ratio_line"]
        line["flows"][0] = [*unpack(line["flows"][0]), row]

    return change


def _negative_lengths(certificate: dict[str, Any]) -> None:
    certificate["lengths"] = [[-length for length in unpack(row)] for row in certificate["lengths"]]


def _exchanged(certificate: dict[str, Any]) -> None:
    image = list(range(len(unpack(certificate["generators"])[0])))
    certificate["generators"][0] = [image[1], image[0], *image[2:]]


@pytest.mark.parametrize(
    ("forge", "text"),
    [
        (_with_row([0, 0, -5]), "a row of the flows is out of range"),
        (_with_row([0, 0, 2**62]), "a row of the flows is out of range"),
        (_with_row([2, 0, 10**6]), "more flow leaves a node than enters it"),
        (_negative_lengths, "a length is out of range"),
        (_exchanged, "a generator is not a symmetry of the network"),
        (lambda c: c["ratio_line"].update(flows=[]), "flows are missing for a class of channels"),
        (lambda c: c["demands"][0].__setitem__(1, 10**6), "an entry of demands is out of range"),
    ],
)
def test_proofs_that_could_prove_anything_are_refused(
    forge: Callable[[dict[str, Any]], None], text: str, saved: Path, tmp_path: Path
) -> None:
    content = copy.deepcopy(read_json(saved))
    forge(content["certificate"])
    with pytest.raises(obliv.FileError, match=text):
        obliv.verify(save_claim(content, tmp_path / "forged.json"))


def _claimed(**changes: Any) -> Callable[[dict[str, Any]], None]:
    """Claim something else, with the figures that follow from it."""

    def change(content: dict[str, Any]) -> None:
        result = from_content(copy.deepcopy(content))
        made = dataclasses.replace(result, **changes).to_dict()  # type: ignore[type-var]
        content.clear()
        content.update(made)

    return change


def _part(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["certificate"].update({key: value})


@pytest.mark.parametrize(
    ("forge", "why"),
    [
        (_claimed(constraints=("hops ≤ 1/2",), hops_bound=None), "mean hops exceed 1/2"),
        (_claimed(constraints=("at most 1 turn",)), "has no limit of turns, virtual channels or next hops"),
        (_claimed(constraints=("within ecmp",)), "has no limit of turns, virtual channels or next hops"),
        (_claimed(hops_bound=Fraction(9)), "flows prove"),
        (_claimed(constraints=("minimal",)), "a path is longer than the shortest"),
        (_claimed(ratio=obliv.Bounds(Fraction(8), Fraction(9)), hops_bound=None), "traffic and its flows prove"),
        (shorter, "channel 0 may carry more than claimed"),
        (_part("demands", None), "demands must list which traffic every channel takes"),
        (_part("demands", [None]), "an entry of demands is not [channel, class, word, reversed]"),
        (_part("demands", [[0, 0, []]]), "an entry of demands is not [channel, class, word, reversed]"),
        (_part("demands", [[0, 0, 0, 0]]), "an entry of demands is not [channel, class, word, reversed]"),
        (_part("demands", [[99, 0, [], 0]]), "an entry of demands is out of range"),
        (_part("demands", [[0, 0, [99], 0]]), "a word contains something other than generator numbers"),
        (_part("demands", [[0, 0, [], 2]]), "an entry of demands is out of range"),
        (_part("lengths", []), "lengths must be given for every channel"),
        (_part("lengths", [[0]] * 99), "lengths must be given for every channel"),
        (_part("ratio_line", None), "a line of the certificate is missing"),
        (_part("ratio_line", {"price": -1}), "its price is not a whole number"),
        (_part("ratio_line", {"price": 0}), "flows are missing for a class of channels"),
        (_part("generators", "x"), "generators cannot be unpacked"),
    ],
)
def test_each_part_is_refused_by_its_own_check(
    forge: Callable[[dict[str, Any]], None], why: str, saved: Path, tmp_path: Path
) -> None:
    content = copy.deepcopy(read_json(saved))
    forge(content)
    (said,) = reasons(content, tmp_path / "forged.json")
    assert why in said


def test_lengths_of_some_channels_alone_prove_nothing(saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    rows = content["certificate"]["lengths"]
    rows[:] = [unpack(row)[:-1] for row in rows]
    (said,) = reasons(content, tmp_path / "forged.json")
    assert "lengths must be one number for each channel and channel" in said


def test_flows_too_large_to_be_added_up_are_refused(saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    for rows in content["certificate"]["ratio_line"]["flows"]:
        factor = 2**60 // sum(amount for _, _, amount in rows)
        for row in rows:
            row[2] *= factor
    assert any(
        "too large" in step.detail for step in obliv.verify(save_claim(content, tmp_path / "forged.json")).checks
    )


def test_traffic_of_one_way_networks_is_not_reversed() -> None:
    ring = obliv.build("one-way-ring", 3, [(0, 1), (1, 2), (2, 0)])
    with pytest.raises(MalformedError, match="traffic is reversed where"):
        ratios._parts({"generators": [], "demands": [[0, 0, [], 1]]}, ring)


def test_an_interruption_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    solved, calls = flows.solve, list[int]()

    def stop_at_the_second(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return solved(*arguments, **options)

    monkeypatch.setattr(flows, "solve", stop_at_the_second)
    with pytest.raises(Interrupted) as stopped:
        least("mesh:3x2", then="hops")
    assert obliv.verify(stopped.value.so_far).proved


def test_what_cannot_be_designed() -> None:
    with pytest.raises(obliv.InputError, match="choose worst, ratio or average"):
        obliv.design("ring:4", objective="least")
    with pytest.raises(obliv.InputError, match="without limits of turns"):
        obliv.design("mesh:3x3", objective="ratio", max_turns=2)
    with pytest.raises(obliv.TopologyError, match="no path leads"):
        obliv.design(obliv.build("apart", 3, [(0, 1), (1, 0)]), objective="ratio")
    with pytest.raises(obliv.TooLargeError, match="linear program"):
        obliv.design("random-regular:n=300,d=6", objective="ratio")


def test_programs_on_which_the_first_order_method_does_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    links = [(0, 1), (0, 1), (0, 3), (0, 2), (1, 4), (1, 3), (2, 1), (2, 4), (3, 0), (3, 2), (3, 0), (4, 3), (4, 1)]
    speeds = [1, 3, "1/2", 3, 1, 1, "1/2", 1, "1/2", "1/2", "1/2", 1, 2]
    network = obliv.build("slow", 5, links, bandwidth=speeds).with_terminals([4, 3])
    monkeypatch.setattr(best, "_ITERATIONS", 100)  # this program takes more in every version of the solver
    result = least(network, exact=False)
    assert ends(result.ratio)[1] <= ends(result.ratio)[0] * Fraction("1.001")
    assert obliv.verify(result).proved
    monkeypatch.setattr(best, "_INTERIOR_ROWS", 10)
    with pytest.raises(obliv.OblivError, match="did not converge within 100 iterations"):
        least(network, exact=False)
