"""Claims that say something beside what is checked: nothing at all, other words, or a larger figure of another kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.checker.leaves import CLAIMS, changed, content_of, fit

import obliv
from obliv._util.files import write_json
from obliv.checker.report import Report
from obliv.results.claims import is_certified


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def failing(content: Any) -> str:
    """What is wrong with a claim: the error, or the first step that fails; "" if it is proved."""
    write_json(content, "forged.json")
    try:
        checked = obliv.verify("forged.json")
    except obliv.OblivError as error:
        return str(error)
    return next((f"{step.check}: {step.detail}" for step in checked.checks if step.ok is not True), "")


def test_nothing_is_not_proved() -> None:
    assert not Report().holds
    content = content_of(CLAIMS["throughput"]())
    assert "no traffic pattern" in failing(changed(content, ("patterns",), []))
    assert "listed twice" in failing(changed(content, ("patterns",), content["patterns"] * 2))


def test_a_point_stands_on_a_curve_once() -> None:
    content = content_of(CLAIMS["pareto"]())
    content["points"] *= 2
    content["certificate"]["designs"] *= 2
    assert "listed twice" in failing(changed(content, ("provenance", "seed"), None))


@pytest.mark.parametrize("kind", ["worst", "throughput", "average", "deadlock", "pareto", "bounds", "design"])
def test_keys_of_other_claims(kind: str) -> None:
    content = content_of(CLAIMS[kind]())
    assert failing(content) == ""
    assert failing(changed(content, ("best",), 7)).startswith("keys: best is not")


def test_a_reason_is_no_figure() -> None:
    content = content_of(CLAIMS["average idle"]())
    assert "not a reason that obliv writes" in failing(changed(content, ("mean_throughput_reason",), "19/20 = 0.95"))
    noisy = "paths are sampled: the mean of reciprocals of noisy loads has no known error"
    assert failing(changed(content, ("mean_throughput_reason",), noisy)).startswith("figures:")
    capacity = content_of(CLAIMS["worst rates"]())
    assert failing(changed(capacity, ("capacity_reason",), "7/8")).startswith("keys: capacity_reason")
    ratio = content_of(CLAIMS["network ratio"]())
    assert "bound of single paths" in failing(changed(ratio, ("lower_bound_reason",), "it is 3"))


@pytest.mark.parametrize("text", ["exact, validated and confirmed by obliv", "exactly", "bounded, and confirmed", ""])
def test_exactness_is_one_of_few_sentences(text: str) -> None:
    content = content_of(CLAIMS["worst"]())
    content["provenance"]["exactness"] = text
    fit(content)
    write_json(content, "forged.json")
    with pytest.raises(obliv.FileError):
        obliv.load("forged.json")
    assert failing(content)


@pytest.mark.parametrize("text", ["declared relative, not verified for all pairs", "exact, with samples beside"])
def test_exactness_that_obliv_writes(text: str) -> None:
    content = content_of(CLAIMS["worst"]())
    content["provenance"]["exactness"] = text
    fit(content)
    assert failing(content) == ""


def test_a_cycle_is_walked_once() -> None:
    content = content_of(CLAIMS["deadlock cycle"]())
    assert failing(content) == ""
    assert "twice" in failing(changed(content, ("cycle",), content["cycle"] * 2))


def test_every_row_of_a_claim_about_channels() -> None:
    content = content_of(CLAIMS["channels"]())
    checked = obliv.verify("claim.json")
    assert checked.proved
    assert not any("channel_load" in key for key in checked.beside)
    least = min(range(len(content["channels"])), key=lambda c: content["channels"][c]["channel_load"]["value"])
    for text, value in (("1/7", 1 / 7), ("0", 0.0)):
        forged = changed(content, ("channels", least, "channel_load"), {"exact": text, "value": value})
        assert failing(forged).startswith("rows: ")


@pytest.mark.parametrize("forge", ["form", "digest"])
def test_a_certificate_counts_if_it_may_be_one(forge: str) -> None:
    content = content_of(CLAIMS["worst"]())
    assert is_certified(obliv.load("claim.json"))
    if forge == "form":
        content["certificate"] = {"x": 1, "digest": ""}
        fit(content)
    else:
        content["focus_channels"] += 1
    Path("forged.json").write_text(json.dumps(content))
    loaded = obliv.load("forged.json")
    assert loaded.certificate  # type: ignore[attr-defined]
    assert not is_certified(loaded)
