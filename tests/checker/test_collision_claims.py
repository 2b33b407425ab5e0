"""Claims about hash collisions: honest ones are proved where the draws can be counted, forged ones refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims import reasons

import obliv
from obliv._util.files import write_json
from obliv.errors import FileError

Claim = dict[str, Any]
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("fattree:4,2", "shift:2", {"flows": 2, "samples": 50}),
    ("fattree:4,2", "1/2*shift:2+1/2*shift:3", {}),
    ("fattree:8,2", "shift:4", {"guarantee": ["2@0.9"]}),
    ("fattree:8,2", "shift:4", {"flows": 3, "hash": "polarised"}),
    ("fattree:4,3", "random-permutation", {"flows": 2, "among": "leaf-up"}),
    ("fattree:4,3", "random-permutation:seed=2", {"flows": 2, "among": "down"}),
    ("fattree:4,3", "random-permutation", {"flows": 2}),  # bounds
    ("torus:4x4", "random-permutation", {"hash": "polarised"}),
    ("mesh:3x3", "transpose", {"flows": 3}),
    ("hypercube:3", "bit-reverse", {"flows": 4}),
    ("complete:4", "uniform", {}),
]


def check_of(result: Any, name: str) -> bool | None:
    return next(check.ok for check in result.checks if check.check == name)


@pytest.mark.parametrize(("spec", "traffic", "options"), CASES)
def test_honest_claims_are_proved(spec: str, traffic: str, options: dict[str, Any]) -> None:
    result = obliv.collisions(spec, traffic, **options)
    checked = obliv.verify(result)
    assert checked.proved, checked


def test_both_methods_are_among_the_cases() -> None:
    methods = {obliv.collisions(spec, traffic, **options).method for spec, traffic, options in CASES[4:7]}
    assert methods == {"exact", "bounds"}


def put(*path: Any, value: Any) -> Callable[[Claim], None]:
    def change(claim: Claim) -> None:
        part: Any = claim
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value

    return change


def number(text: str, value: float) -> dict[str, Any]:
    return {"exact": text, "value": value}


FORGED: dict[str, tuple[Callable[[Claim], None], str]] = {
    "probability": (put("distribution", 0, "probability", value=number("1/2", 0.5)), "distribution"),
    "bounds": (put("distribution", 0, "probability", value={"lower": 0.1, "upper": 0.2}), "distribution"),
    "load": (put("distribution", 0, "load", value=number("5/4", 1.25)), "distribution"),
    "missing row": (lambda claim: claim["distribution"].pop(0), "distribution"),
    "repeated row": (lambda claim: claim["distribution"].append(claim["distribution"][-1]), "distribution"),
    "mean": (put("mean", value=number("3/2", 1.5)), "mean"),
    "quantile": (put("quantiles", 0, "load", value=number("2", 2.0)), "quantiles"),
    "even splits": (put("even_load", value=number("2", 2.0)), "even splits"),
    "flows": (put("flows", value=1), "distribution"),
    "too few": (put("needed", 0, "enough", value=1), "guarantee"),
    "enough": (put("needed", 0, "too_few", value=10), "guarantee"),
}


@pytest.fixture(scope="module")
def honest() -> Claim:
    return obliv.collisions("fattree:4,2", "shift:2", flows=2, guarantee=["7/4@0.5"]).to_dict()


@pytest.mark.parametrize("name", FORGED)
def test_forged_claims_are_refused(name: str, honest: Claim, tmp_path: Path) -> None:
    change, step = FORGED[name]
    claim = copy.deepcopy(honest)
    write_json(claim, tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved
    change(claim)
    write_json(claim, tmp_path / "claim.json")
    result = obliv.verify(tmp_path / "claim.json")
    assert not result.proved
    assert check_of(result, step) is False or (step == "guarantee" and any(c.ok is False for c in result.checks))


@pytest.mark.parametrize(
    "change",
    [
        put("hash", value="md5"),
        put("among", value="none"),
        put("flows", value=0),
        put("distribution", value=3),
        put("traffic", value=None),
        put("traffic", value="nothing"),
        put("mean", value={"exact": "3/2", "value": 1.0}),
    ],
)
def test_malformed_claims_are_refused(change: Callable[[Claim], None], honest: Claim, tmp_path: Path) -> None:
    claim = copy.deepcopy(honest)
    change(claim)
    write_json(claim, tmp_path / "claim.json")
    with pytest.raises(FileError):
        obliv.verify(tmp_path / "claim.json")


#: Terminal 0 has five shortest paths to 1, two by node 2 and three by node 3; a hash of both has six values.
_LINKS = [(0, 2), (0, 3), *((2, v) for v in (4, 5)), *((3, v) for v in (6, 7, 8)), *((v, 1) for v in range(4, 9))]
WIDE = obliv.build("wide", 9, [*_LINKS, *((b, a) for a, b in _LINKS)], terminals=[0, 1])


@pytest.mark.parametrize(
    ("limit", "most", "network", "traffic", "options", "why"),
    [
        ("_CELLS", 1, "fattree:4,2", "shift:2", {"flows": 2}, "states of flows that share channels"),
        ("_PATHS", 4, WIDE, "shift:1", {}, "a pair has more than 4 shortest paths"),
        ("_PATHS", 5, WIDE, "shift:1", {"hash": "polarised"}, "a polarised hash of more than 5 values"),
        ("_LOADS", 1, "fattree:4,2", "shift:2", {}, "a channel can have more than 1 loads"),
        ("_LOADS", 2, "fattree:4,2", "shift:2", {"among": "leaf-up"}, "the largest load can have more than 2 values"),
    ],
)
def test_what_cannot_be_counted_is_not_proved(
    limit: str,
    most: int,
    network: Any,
    traffic: str,
    options: dict[str, Any],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    content = obliv.collisions(network, traffic, **options).to_dict()
    monkeypatch.setattr(f"obliv.checker.collisions.{limit}", most)
    given = {} if isinstance(network, str) else {"topology": network}
    (said,) = reasons(content, tmp_path / "claim.json", digest=False, **given)
    assert why in said


def test_what_is_not_counted_in_time_is_not_proved() -> None:
    assert obliv.verify(obliv.collisions("fattree:4,2", "shift:2"), budget=-1.0).proved is False


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(60))
def test_no_claim_is_refuted(seed: int) -> None:
    """Neither an exact law nor a certified bound differs from the law that is counted again."""
    rng = np.random.default_rng(seed)
    spec = str(rng.choice(["fattree:4,2", "fattree:4,3", "xgft:2;3,2;1,2", "torus:3x3", "mesh:3x3", "hyperx:3x3"]))
    traffic = str(rng.choice(["shift:3", f"random-permutation:seed={seed}", "1/2*shift:1+1/2*shift:2"]))
    hashed, flows = str(rng.choice(["independent", "polarised"])), int(rng.integers(1, 4))
    result = obliv.verify(obliv.collisions(spec, traffic, flows=flows, hash=hashed), budget=60.0)
    assert all(check.ok is not False for check in result.checks), result


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (put("hash", value="md5"), "hash or among is not one that there is"),
        (put("among", value="none"), "hash or among is not one that there is"),
        (put("flows", value=0), "flows is out of range"),
        (put("needed", 0, "enough", value=0), "flows is out of range"),
        (put("method", value="guessed"), "method is not one that there is"),
        (put("quantiles", 0, "probability", value=number("2", 2.0)), "or a probability is not from 0 to 1"),
        (put("needed", 0, "probability", value=number("-1", -1.0)), "or a probability is not from 0 to 1"),
        (lambda claim: claim["quantiles"].append(claim["quantiles"][0]), "is listed twice"),
        (lambda claim: claim["needed"].append(claim["needed"][0]), "is listed twice"),
        (put("quantiles", value=[]), "it has no quantiles"),
        (put("mean", value={"exact": "3/2", "value": 1.0}), "mean: a figure differs from its exact number"),
        (put("flows", value=10**6), "flows a pair are not followed"),
        (lambda claim: claim.update(topology="torus:3x3", among="up"), "has no levels, which among needs"),
        (FORGED["probability"][0], "has the probability"),
        (FORGED["missing row"][0], "the row of 3/2 is missing"),
        (FORGED["repeated row"][0], "rows are not in the order of their loads"),
        (FORGED["mean"][0], ""),
        (FORGED["quantile"][0], "that of "),
        (FORGED["even splits"][0], ""),
        (FORGED["too few"][0], "1 flow a pair: at most 7/4 with 1/2"),
    ],
)
def test_each_part_is_refused_by_its_own_check(
    change: Callable[[Claim], None], why: str, honest: Claim, tmp_path: Path
) -> None:
    claim = copy.deepcopy(honest)
    change(claim)
    write_json(claim, tmp_path / "claim.json")
    try:
        (said,) = [step.detail for step in obliv.verify(tmp_path / "claim.json").checks if step.ok is not True]
    except FileError as error:
        said = str(error)
    assert why in said
