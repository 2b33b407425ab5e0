"""``obliv deadlock`` as a user meets it."""

from __future__ import annotations

import csv
import io
import json

import pytest

from obliv.cli import main


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def test_a_cycle_is_printed_and_the_answer_is_no(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "deadlock", "mesh:3x3", "o1turn")
    assert status == 1
    assert err == ""
    assert "(0,0) -> (1,0)  +x  vc 0" in out
    assert "cyclic" in out


def test_acyclic_is_yes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "deadlock", "mesh:8x8", "u2turn", "--vc", "turn")
    assert status == 0
    assert "acyclic" in out
    assert run(capsys, "deadlock", "mesh:8x8", "dor")[0] == 0


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "deadlock", "torus:4x4", "romm", "--vc", "turn+dateline", "--format", "json")
    content = json.loads(out)
    assert status == 0
    assert content["kind"] == "deadlock"
    assert content["topology"] == "torus:4x4"
    assert content["routing"] == "romm"
    assert content["acyclic"] is True
    assert content["cycle"] is None
    assert content["virtual_channels"] == 5
    assert content["provenance"]["specs"] == {"topology": "torus:4x4", "routing": "romm", "scheme": "turn+dateline"}
    status, out, _ = run(capsys, "deadlock", "ring:4", "dor", "--format", "json")
    content = json.loads(out)
    assert status == 1
    assert [hop["tail"] for hop in content["cycle"]] == [0, 1, 2, 3]
    assert [hop["virtual_channel"] for hop in content["cycle"]] == [0, 0, 0, 0]


def test_csv(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "deadlock", "ring:4", "dor", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert status == 1
    assert row["acyclic"] == "False"
    assert row["cycle"].count(".") == 4


def test_fewest(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "deadlock", "mesh:4x4", "romm", "--fewest")
    assert status == 0
    assert "2, by double-y" in out
    status, out, _ = run(capsys, "deadlock", "torus:4x4", "valiant", "--fewest", "--format", "json")
    content = json.loads(out)
    assert (content["fewest"], content["scheme"]) == (4, "phase+dateline")
    assert content["left_out"][0]["scheme"] == "double-y"
    status, out, _ = run(capsys, "deadlock", "ring:5", "1/2*dor+1/2*ecmp", "--fewest", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert {row["scheme"]: row["acyclic"] for row in rows}["dateline"] == "True"
    status, out, _ = run(capsys, "deadlock", "random-regular:n=12,d=3,seed=1", "ecmp", "--fewest")
    assert status == 0
    assert "3, by updown" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mesh:4x4", "romm", "--vc", "turns"), "did you mean turn"),
        (("mesh:4x4", "romm", "--vc", ""), "unknown virtual-channel scheme"),
        (("mesh:4x4", "shortest", "--vc", "phase"), "needs phases"),
        (("mesh:4x4", "ecmp", "--vc", "family"), "needs phase programs"),
        (("random-regular:n=10,d=3", "ecmp", "--vc", "turn"), "needs coordinates"),
        (("mesh:4x4", "u2turn", "--vc", "double-y"), "go both"),
        (("mesh:4x4", "romm", "--fewest", "--vc", "turn"), "cannot be combined with --vc"),
        (("mesh:4x4", "rom"), "did you mean romm"),
        (("mesh:4x4",), "ROUTING"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_get_one_line(words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "deadlock", *words)
    assert status == 2
    assert out == ""
    assert err.startswith("obliv: ")
    assert err.count("\n") == 1
    assert says in err


def test_help_shows_an_example_and_the_schemes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "deadlock", "--help")
    assert status == 0
    assert "Example: obliv deadlock mesh:8x8 u2turn --vc turn" in out
    assert "double-y" in out
