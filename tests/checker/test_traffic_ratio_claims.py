"""Ratios under given traffic: saved claims, and what is refused once it is changed."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims import reasons, refused, save_claim
from tests.designs.network_ratios.test_ratios_of_traffic import some_traffic
from tests.designs.networks import networks
from tests.strategies import examples

import obliv
from obliv._util.files import pack, read_json, unpack_array
from obliv.cli import main


@examples(15)
@given(st.integers(0, 10**9))
def test_claims_of_any_network(seed: int) -> None:
    network = networks(seed)
    for name in ("ecmp", "valiant"):
        routing = obliv.routing(name, network)
        result = obliv.traffic_ratio(routing, some_traffic(network, seed), certificate=True)
        assert obliv.verify(result).proved
    checked = obliv.verify(result)
    assert any("inside the claim" in step.detail for step in checked.checks)


@pytest.fixture
def claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.txt").write_text("0 1/2 0 0 1/2\n1/3 0 1/3 0 0\n0 0 0 1 0\n1 0 0 0 0\n0 0 1/4 0 0\n")
    arguments = [
        "ratio",
        "ring:5",
        "dor",
        "--traffic",
        "tornado",
        "--traffic",
        "matrix:rows.txt",
        "--output",
        "claim.json",
    ]
    assert main(arguments) == 0
    return tmp_path / "claim.json"


def test_a_saved_claim(claim: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["verify", "claim.json"]) == 0
    said = capsys.readouterr().out
    assert "tornado: it is that of the spec" in said
    assert obliv.load("claim.json") == obliv.load("claim.json")
    Path("rows.txt").write_text(Path("rows.txt").read_text() + "# changed\n")
    assert main(["verify", "claim.json"]) == 1
    assert "rows.txt has changed" in capsys.readouterr().out


def rows_of(key: str, place: int, column: int, by: int) -> Any:
    def change(content: dict[str, Any]) -> None:
        proof = content["certificate"]["patterns"][0]
        rows = unpack_array(proof[key]).reshape(-1, 3).copy()
        rows[place, column] += by
        proof[key] = pack(rows)

    return change


def part(key: str, value: Any) -> Any:
    return lambda content: content["certificate"]["patterns"][0].update({key: value})


def number(key: str, factor: Fraction) -> Any:
    def change(content: dict[str, Any]) -> None:
        row = content["patterns"][0]
        value = Fraction(row[key]["exact"]) * factor
        row[key] = {"exact": str(value), "value": float(value)}
        largest = max(Fraction(row["ratio"]["exact"]) for row in content["patterns"])
        content["ratio"] = {"exact": str(largest), "value": float(largest)}

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(
            number(key, factor)
            for key in ("ratio", "channel_load", "optimal_load")
            for factor in (Fraction(99, 100), 2)
        ),
        *(rows_of("flows", 0, column, by) for column, by in ((0, 1), (1, 1), (2, 1), (2, -1), (0, 99), (2, -(10**9)))),
        *(rows_of("demand", 0, column, by) for column, by in ((0, 1), (1, 1), (2, 1), (0, 99), (2, -(10**9)))),
        *(part("lengths", value) for value in ([1] * 10, [0] * 10, [1] * 9, [-1] * 10, "x", [1] * 10**5)),
        *(part("scale", value) for value in (2, 0, -1, 1.5)),
        *(part("whole", value) for value in (1, 0, -1, 10**40)),
        *(part(key, []) for key in ("demand", "flows")),
        *(part("lengths", value) for value in (7, {"dtype": "int64", "shape": [], "b64zlib": "eJxjZ4AAAABAAAg="})),
        lambda content: content["certificate"].update({"denominator": "0"}),
        lambda content: content["certificate"].update({"sources": {}}),
        lambda content: content["certificate"]["patterns"].pop(),
        lambda content: content["certificate"]["patterns"].reverse(),
        lambda content: content["certificate"].update({"patterns": [None, None]}),
        lambda content: content["patterns"][0].update({"traffic": "complement"}),
        lambda content: content.update({"routing": "valiant"}),
        lambda content: content.update({"adaptive": True}),
        lambda content: content.update({"topology": "ring:6"}),
        lambda content: content.update({"ratio": {"exact": "1", "value": 1.0}}),
    ],
)
def test_forged_claims_are_refused(claim: Path, change: Any) -> None:
    content = copy.deepcopy(read_json(claim))
    if content["certificate"]["patterns"][0]["scale"] == 1:
        assert obliv.verify(claim).proved
    before = copy.deepcopy(content)
    change(content)
    if content == before:
        pytest.fail("nothing was changed")
    assert refused(content, claim.with_name("forged.json"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (part("scale", 0), "is not a complete claim: scale must be a positive integer"),
        (part("lengths", [1] * 9), "lengths must be one whole number for each channel"),
        (part("flows", 7), "the flows cannot be unpacked"),
        (rows_of("flows", 0, 0, 99), "a row of the flows is out of range"),
        (rows_of("demand", 0, 0, 99), "a row of the demand is out of range"),
        (lambda c: c["certificate"]["patterns"].pop(), "there must be a proof for each pattern"),
        (rows_of("flows", 0, 2, 1), "they do not carry the traffic"),
        (lambda c: c["patterns"][0].update(traffic="complement"), "tornado: the claim is about another one"),
        (number("optimal_load", Fraction(99, 100)), "claimed"),
        (lambda c: c["certificate"].update(sources={}), "has no SHA-256 in the claim"),
    ],
)
def test_each_part_is_refused_by_its_own_check(claim: Path, change: Any, why: str) -> None:
    content = read_json(claim)
    change(content)
    (said,) = reasons(content, claim.with_name("forged.json"))
    assert why.replace("tornado", content["patterns"][0]["traffic"]) in said


def test_loads_that_are_not_whole_over_the_denominator_prove_nothing(tmp_path: Path) -> None:
    content = obliv.traffic_ratio(obliv.routing("ecmp", obliv.ring(4)), "shift:2", certificate=True).to_dict()
    assert content["certificate"]["denominator"] in (2, "2")
    content["certificate"]["denominator"] = 1
    assert reasons(content, tmp_path / "forged.json") == ["the loads of ecmp are not integers over 1"]


def test_bounds_are_claims_too(claim: Path) -> None:
    """Bounds that are not tight hold, others do not."""
    content = read_json(claim)
    row = content["patterns"][0]
    for lower, upper, holds in ((0.9, 1.1, True), (1.01, 1.1, False), (0.9, 0.99, False)):
        for key in ("ratio", "optimal_load"):
            value = float(Fraction(read_json(claim)["patterns"][0][key]["exact"]))
            row[key] = {"lower": lower * value, "upper": upper * value}
        other = float(Fraction(content["patterns"][1]["ratio"]["exact"]))
        ends = row["ratio"]
        content["ratio"] = {"lower": max(ends["lower"], other), "upper": max(ends["upper"], other)}
        save_claim(content, claim.with_name("bounds.json"))
        assert obliv.verify("bounds.json").proved == holds


def test_estimates_and_closed_forms_have_no_certificate() -> None:
    tree = obliv.routing("dmodk", obliv.topology("fattree:4,2"))
    assert obliv.traffic_ratio(tree, "shift:1", certificate=True).certificate is None
    ring = obliv.routing("dor", obliv.ring(5))
    assert obliv.traffic_ratio(ring, "ring", instances=2, certificate=True).certificate is None
    with pytest.raises(obliv.InputError, match="no certificate"):
        obliv.verify(obliv.traffic_ratio(ring, "tornado"))
    assert np.isclose(float(obliv.traffic_ratio(ring, "tornado").ratio), 1.4, atol=1)  # type: ignore[arg-type]


@pytest.fixture
def adaptive_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    arguments = ["ratio", "mesh:3x3", "sampled:3,base=valiant,seed=1", "--traffic", "transpose", "--traffic", "shift:2"]
    assert main([*arguments, "--adaptive", "--output", "claim.json"]) == 0
    assert main(["verify", "claim.json"]) == 0
    return tmp_path / "claim.json"


def rates_of(column: int, by: int) -> Any:
    def change(content: dict[str, Any]) -> None:
        proof = content["certificate"]["patterns"][0]
        rows = unpack_array(proof["rates"]).reshape(-1, 4).copy()
        rows[0, column] += by
        proof["rates"] = pack(rows)

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(
            number(key, factor)
            for key in ("ratio", "channel_load", "optimal_load")
            for factor in (Fraction(99, 100), Fraction(101, 100))
        ),
        *(rates_of(column, by) for column, by in ((0, 1), (1, 1), (2, 99), (2, -99), (3, 1), (3, -1), (3, -(10**9)))),
        *(part("path_lengths", value) for value in ([0] * 24, [1] * 23, [-1] * 24, "x", 7, [[1]] * 24)),
        *(part("path_whole", value) for value in (0, -1, 1.5, 10**40)),
        part("rates", []),
        lambda content: content.pop("adaptive"),
        lambda content: content.update({"loss": {"exact": "1/100", "value": 0.01}}),
        lambda content: content.update({"routing": "sampled:3,base=valiant,seed=2"}),
        lambda content: content.update({"routing": "dor"}),
    ],
)
def test_forged_adaptive_rates_are_refused(adaptive_claim: Path, change: Any) -> None:
    test_forged_claims_are_refused(adaptive_claim, change)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (part("path_whole", 0), "path_whole must be a positive integer"),
        (part("path_lengths", [0] * 23), "path_lengths must be one whole number for each channel, 0 or more"),
        (part("path_lengths", [-1] * 24), "path_lengths must be one whole number for each channel, 0 or more"),
    ],
)
def test_each_part_of_rates_is_refused_by_its_own_check(adaptive_claim: Path, change: Any, why: str) -> None:
    content = read_json(adaptive_claim)
    change(content)
    (said,) = reasons(content, adaptive_claim.with_name("forged.json"))
    assert why in said


def test_rates_below_zero_carry_nothing(adaptive_claim: Path) -> None:
    """They would take load off a channel: one path of a pair carries more than there is, another one less than 0."""
    content = read_json(adaptive_claim)
    proof = content["certificate"]["patterns"][0]
    rows = unpack_array(proof["rates"]).reshape(-1, 4).tolist()
    source, destination, used, units = rows[0]
    other = next(k for k in range(3) if [source, destination, k] not in [row[:3] for row in rows])
    proof["rates"] = [[source, destination, used, 2 * units], [source, destination, other, -units], *rows[1:]]
    (said,) = reasons(content, adaptive_claim.with_name("forged.json"))
    assert said == "they do not carry the traffic over the paths of the routing"


@examples(8)
@given(st.integers(0, 10**9))
def test_adaptive_rates_of_any_network_are_claims(seed: int) -> None:
    network = networks(seed)
    routing = obliv.routing("sampled:2,base=valiant", network)
    result = obliv.traffic_ratio(routing, some_traffic(network, seed), adaptive=True, certificate=True)
    assert obliv.verify(result).proved
