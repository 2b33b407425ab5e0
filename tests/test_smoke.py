"""A few whole paths through the package, in seconds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import obliv
from obliv.cli import main


def test_the_first_answer() -> None:
    result = obliv.worst_case(obliv.routing("romm", obliv.topology("torus:9x9")))
    assert result.channel_load == Fraction(32, 5)
    assert result.fraction_of_capacity == Fraction(25, 144)


def test_a_claim_is_saved_and_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = tmp_path / "claim.json"
    assert main(["worst", "mesh:4x4", "o1turn", "--output", str(claim)]) == 0
    assert main(["verify", str(claim)]) == 0
    assert "proved" in capsys.readouterr().out
    assert obliv.load(claim).kind == "worst"


def test_a_fabric_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, tables = str(tmp_path / "f.net"), str(tmp_path / "f.lft")
    assert main(["fabric", "generate", "fattree:4,2", "--output", net, "--routing", "dmodk", "--tables", tables]) == 0
    assert main(["fabric", "check", net, "--lft", tables]) == 0
    assert main(["fabric", "worst", net, "--lft", tables, "--format", "json"]) == 0
    assert '"exact": "2"' in capsys.readouterr().out


def test_a_schedule_is_verified() -> None:
    schedule = obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:4", "random"), "centralized")
    assert obliv.bufferless.verify(schedule).proved
