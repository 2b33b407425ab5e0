"""Claims that obliv 0.2.0 saved are proved, by its definitions where they changed since, and the answer says so."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv._util.files import digest_of

#: Written by version 0.2.0. whole-tree.json is about c.net, two-speeds.json about t.net: HDR hosts on an EDR cable.
SAVED = Path(__file__).parent / "saved_by_0_2_0"

#: The claims, and the definition that the note names: the first part of it, or nothing where none changed.
CLAIMS = {
    "mesh-4x4-dor": "",
    "xgft-dmodk": "",  # with a proof of its capacity
    "fattree-4-2-dmodk": "the capacity of fat trees is 1 on FT(m, n)",
    "fattree-4-2-design": "the capacity of fat trees is 1 on FT(m, n)",
    "eft2-4-3-ecmp": "the capacity of fat trees is 1 on FT(m, n)",  # not known then
    "whole-tree": "the capacity of fat trees is 1 on FT(m, n)",
    "two-speeds": "HDR, NDR and XDR lanes carry 64/66",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SAVED, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def resaved(name: str, **changes: Any) -> Path:
    """Return a claim with other content and the digest of that."""
    content = json.loads((SAVED / f"{name}.json").read_text())
    content |= changes
    content["certificate"]["digest"] = digest_of(content)
    path = Path("changed.json")
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("name", CLAIMS)
def test_it_is_proved(name: str) -> None:
    content = json.loads(Path(f"{name}.json").read_text())
    assert content["provenance"]["version"] == "0.2.0"
    checked = obliv.verify(f"{name}.json")
    assert checked.proved
    notes = [step.detail for step in checked.checks if step.check == "definitions"]
    assert len(notes) == bool(CLAIMS[name])
    assert all(note.startswith(f"those of obliv 0.2.0: {CLAIMS[name]}") for note in notes)
    assert obliv.verify(obliv.load(f"{name}.json")).proved
    by = " by the definitions of obliv 0.2.0" if CLAIMS[name] else ""
    assert checked.verdict == f"proved{by}"
    assert checked.claim.startswith("by the definitions of obliv 0.2.0, ") == bool(by)
    assert checked.to_dict().get("definitions", "") == by.removeprefix(" by the definitions of ")


@pytest.mark.parametrize("name", ["fattree-4-2-dmodk", "eft2-4-3-ecmp", "two-speeds"])
def test_a_later_version_has_no_earlier_definitions(name: str) -> None:
    made = json.loads((SAVED / f"{name}.json").read_text())["provenance"]
    assert obliv.verify(resaved(name)).proved
    assert not obliv.verify(resaved(name, provenance=made | {"version": "0.3.0"})).proved
    assert not obliv.verify(resaved(name, provenance=None)).proved


def test_no_other_capacity_is_proved() -> None:
    for capacity in (Fraction(9, 8), Fraction(1, 2)):
        exact = {"exact": str(capacity), "value": float(capacity)}
        share = {"exact": str(Fraction(1, 2) / capacity), "value": float(Fraction(1, 2) / capacity)}
        assert not obliv.verify(resaved("fattree-4-2-dmodk", capacity=exact, fraction_of_capacity=share)).proved


def test_lanes_are_as_they_were() -> None:
    # Two hosts with HDR send through EDR: 2 × 53.125 / 25.78125, as 64/66 of both were data; today 2 × 50 / 25.
    content = json.loads(Path("two-speeds.json").read_text())
    assert Fraction(content["channel_load"]["exact"]) == 2 * Fraction(425, 8) / Fraction(825, 32)
    today = obliv.worst_case("fabric:t.net", "lft:t.lft").channel_load
    assert today == 2 * Fraction(50) / (Fraction(825, 32) * Fraction(64, 66)) == 4


def test_a_proof_beside_a_closed_form_must_agree() -> None:
    content = obliv.worst_case("mesh:3x3", "dor", certificate=True).to_dict()
    content["certificate"]["capacity"] = {"whole": 1, "lengths": [1] * 24, "flows": []}
    content["certificate"]["digest"] = digest_of(content)
    Path("forged.json").write_text(json.dumps(content))
    assert not obliv.verify("forged.json").proved
