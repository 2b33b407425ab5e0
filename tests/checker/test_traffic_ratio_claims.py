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
from tests.claims import refused, save_claim
from tests.designs.networks import networks
from tests.designs.ratios.test_ratios_of_traffic import some_traffic
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
    arguments = ["ratio", "ring:5", "dor", "--traffic", "tornado", "--set", "rows.txt", "--output", "claim.json"]
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


@examples(8)
@given(st.integers(0, 10**9))
def test_adaptive_rates_of_any_network_are_claims(seed: int) -> None:
    network = networks(seed)
    routing = obliv.routing("sampled:2,base=valiant", network)
    result = obliv.traffic_ratio(routing, some_traffic(network, seed), adaptive=True, certificate=True)
    assert obliv.verify(result).proved
