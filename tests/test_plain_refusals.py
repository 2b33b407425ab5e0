"""One short line for input that used to end with an internal error, or was taken for what it is not."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv._util.files import digest_of, pack, plain
from obliv._util.text import in_ascii
from obliv.cli import main
from obliv.explore.question import question_of

RING = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (2, 1), (3, 2), (0, 3)]
CALLS: dict[str, Callable[[], Any]] = {
    "no links": lambda: obliv.failures(obliv.build("two", 2, []), "ecmp"),
    "links=None": lambda: obliv.build("x", 3, None),  # type: ignore[arg-type]
    "links=5": lambda: obliv.build("x", 3, 5),  # type: ignore[arg-type]
    "nodes=True": lambda: obliv.build("x", True, []),
    "nodes=10**30": lambda: obliv.build("x", 10**30, []),
    "load": lambda: obliv.load(""),
    "verify": lambda: obliv.verify(""),
    "minimal": lambda: obliv.design("ring:4", minimal="no"),  # type: ignore[arg-type]
    "paths": lambda: obliv.design("ring:4", paths=True),
    "flows": lambda: obliv.collisions("fattree:4,2", "shift:2", flows=True),
    "certificate": lambda: obliv.worst_case("ring:4", "dor", certificate="no"),
    "exact": lambda: obliv.average_case("ring:4", "dor", exact="no"),
    "quick": lambda: obliv.verify("x.json", quick="no"),  # type: ignore[arg-type]
    "digits": lambda: obliv.topology("mesh:" + "3x" * 40_000 + "3"),
    "nested": lambda: obliv.routing("sampled:1,base=" * 40_000, "ring:4"),
    "names": lambda: obliv.topology("x" * 40_000),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused_in_a_line(name: str) -> None:
    with pytest.raises((obliv.InputError, FileNotFoundError)) as refusal:
        CALLS[name]()
    assert 10 < len(str(refusal.value)) < 1000
    assert "\n" not in str(refusal.value)


def test_repeated_keys_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    path.write_text('{"kind": "worst", "topology": "ring:4", "kind": "ratio"}')
    for read in (obliv.load, obliv.verify):
        with pytest.raises(obliv.FileError, match="the key 'kind' is repeated"):
            read(path)


def test_repeated_keys_are_refused_wherever_json_is_read(tmp_path: Path) -> None:
    """Of two values of a key, one reader believes the first and another one the last."""
    graph, image = tmp_path / "graph.json", tmp_path / "image.json"
    graph.write_text('{"nodes": [{"id": "a"}, {"id": "b", "id": "c"}], "links": [{"source": "a", "target": "c"}]}')
    image.write_text('{"permutation": [1, 2, 3, 0], "permutation": [0, 1, 2, 3]}')
    reads: dict[str, Callable[[], Any]] = {
        "id": lambda: obliv.topology(f"file:{graph}"),
        "permutation": lambda: obliv.traffic(f"permutation:{image}", "ring:4"),
        "samples": lambda: question_of(b'{"samples": 0, "samples": 1}'),
    }
    for key, read in reads.items():
        with pytest.raises(obliv.OblivError, match=f"the key '{key}' is repeated") as refusal:
            read()
        assert "\n" not in str(refusal.value)


def test_nothing_is_divided_by_zero(tmp_path: Path) -> None:
    path, zero = tmp_path / "zero.json", {"exact": "0", "value": 0.0}
    claims = [
        (obliv.worst_case("mesh:3x3", "dor", certificate=True).to_dict(), "capacity"),
        (obliv.bounds("mesh:3x3").to_dict(), "adaptive"),
        (obliv.bounds("mesh:3x3").to_dict(), "oblivious"),
    ]
    for content, key in claims:
        content[key] = zero
        content["certificate"]["digest"] = digest_of(content)
        path.write_text(json.dumps(content))
        for read in (obliv.load, obliv.verify):
            try:
                repr(read(path))
            except obliv.OblivError:
                continue
            assert read is obliv.load or not obliv.verify(path).proved


def test_failures_of_an_own_network_are_proved(tmp_path: Path) -> None:
    path = tmp_path / "failures.json"
    result = obliv.failures(obliv.build("own", 4, RING), "ecmp", certificate=True)
    assert obliv.verify(result).proved
    result.save(path)
    checked = obliv.verify(path)
    assert checked.proved
    shown = r"the one inside the claim: network [0-9a-f]{16} \(4 nodes, 8 channels, 4 terminals\) called 'own'"
    assert re.fullmatch(shown, checked.checks[0].detail)
    content = json.loads(path.read_text())
    content["certificate"]["network"]["head"][0] = 2
    content["certificate"]["digest"] = digest_of(content)
    path.write_text(json.dumps(content))
    assert not obliv.verify(path).proved


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii", "utf-8"])
def test_any_encoding_is_enough(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in ("worst mesh:4x4 electrical", "list routings", "reproduce --help", "worst mesh:3x3 dor --format json"):
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        assert main(words.split()) == 0
        out.flush()
        text = out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
        assert text
        if words.endswith("json"):
            assert json.loads(text)["kind"] == "worst"


def test_signs_have_forms_in_ascii() -> None:
    assert in_ascii("2 × √(m/2) ≤ λ² → Räcke") == "2 x sqrt(m/2) <= lambda^2 -> Racke"


def test_standard_output_has_plain_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(pack(range(400)), dict)
    assert plain({"a": [pack(range(400))]}) == {"a": [list(range(400))]}
    assert main(["worst", "mesh:17x17", "dor", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert sorted(content["permutation"]) == list(range(289))


@pytest.mark.parametrize(
    ("words", "checkable"),
    [
        ("throughput mesh:2x2 dor uniform", True),
        ("throughput mesh:2x2 dor uniform --samples 4", False),
        ("average mesh:2x2 dor --exact", True),
        ("average mesh:2x2 dor --samples 4", False),
        ("deadlock mesh:2x2 dor", True),
        ("design mesh:2x2 --pareto 2", True),
        ("bounds mesh:2x2", True),
        ("collisions fattree:4,2 shift:2 --flows 2", True),
        ("collisions fattree:4,3 random-permutation --flows 2 --samples 50", True),
        ("compare mesh:2x2 dor", False),
    ],
)
def test_what_verify_checks_is_announced(
    words: str, checkable: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "saved.json"
    assert main([*words.split(), "--output", str(path)]) == 0
    assert (f"saved in {path}; check it with  obliv verify {path}" in capsys.readouterr().err) is checkable
    assert main(["verify", str(path)]) == (0 if checkable else 2)
