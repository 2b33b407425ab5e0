"""The recorder of behaviour (benchmarks/behaviour.py): its commands, what it leaves out, what it compares."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytest.importorskip("resource", reason="the recorder forks")


@pytest.fixture
def behaviour(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import behaviour  # type: ignore[import-not-found]

    yield behaviour
    del sys.modules["behaviour"], sys.modules["behaviour_commands"]


def test_lines_with_alternatives(behaviour: Any) -> None:
    expand = sys.modules["behaviour_commands"].alternatives
    assert expand("a {b|c d|} {x}") == ["a b {x}", "a c d {x}", "a  {x}"]
    assert expand("{1|2}-{3|4}") == ["1-3", "1-4", "2-3", "2-4"]


def test_every_option_is_used_and_every_name_stands_once(behaviour: Any) -> None:
    """If an option is new: add it to a line of benchmarks/behaviour_commands.py."""
    chains = behaviour.chains(slow=False)
    assert behaviour.unused(chains) == []
    names = [chain["name"] for chain in chains]
    assert len(set(names)) == len(names)
    assert {chain["setup"] for chain in chains} == {"", *behaviour.SETUPS}
    without = [{"commands": ["obliv worst mesh:3x3 dor --samples=3"]}]
    assert "worst --seed" in behaviour.unused(without)
    assert "worst --samples" not in behaviour.unused(without)


def test_what_varies_is_left_out(behaviour: Any, tmp_path: Path) -> None:
    for text, rest in (
        (f"saved in {tmp_path}/a.json after 1.5 s", "saved in TEMP/a.json after TIME"),
        ('"wall_seconds": 1.2e-05, "load": 2.5', '"wall_seconds": TIME, "load": 2.5'),
        ('"version": "0.2.0", "obliv 0.2.0"', '"version": "VERSION", "obliv VERSION"'),
        ("obliv: romm: 53% done after 9 seconds, about 8 seconds left\nworst\n", "worst\n"),
        ("obliv: pair loads: 3 minutes so far\nworst\n", "worst\n"),
        ("dragonfly:p=2,a=4,h=2 loads 2/3 = 0.667", "dragonfly:p=2,a=4,h=2 loads 2/3 = 0.667"),
    ):
        assert behaviour.plain(text, tmp_path) == rest


def test_what_is_written_of_files(behaviour: Any, tmp_path: Path) -> None:
    def content(data: bytes) -> str:
        (tmp_path / "file").write_bytes(data)
        return str(behaviour.content(tmp_path / "file"))

    assert content(gzip.compress(b'{"b":1,"a":[2]}')) == json.dumps({"b": 1, "a": [2]}, indent=1)
    assert content(b"\x89PNG" + 1000 * b"x") == "PNG, about 2^10 bytes"
    assert content(b"<svg><!-- two --><text x='1'><tspan>one</tspan></text></svg>").splitlines()[1:] == ["one", "two"]
    assert content(b"<!DOCTYPE html><script>1</script><p>a &lt; <b>b</b></p>").splitlines()[1:] == ["a <", "b"]
    assert content(b"a\xff\n") == "a\\xff\n"
    assert behaviour.section("output", "\n".join(map(str, range(500)))).count("\n") == 402


def test_compare(behaviour: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, load in ((one, 2), (two, 3)):
        folder.mkdir()
        (folder / "same.txt").write_text("$ obliv list\nstatus 0\n")
        (folder / "other.txt").write_text(f"$ obliv worst\nstatus 0\n--- output\nload {load}\n")
    (one / "gone.txt").write_text("$ obliv gone\nstatus 0\n")
    (one / "long.txt").write_text("$ obliv long\nstatus 0\n")
    (two / "long.txt").write_text(f"$ obliv long\n{behaviour.STOPPED}\n")
    assert behaviour.compare(one, one, 6) == 0
    assert capsys.readouterr().out == "0 of 4 commands differ\n"
    assert behaviour.compare(one, two, 6) == 1
    assert capsys.readouterr().out.splitlines() == [
        "gone.txt: $ obliv gone",
        f"    only in {one}",
        "other.txt: $ obliv worst",
        "    -load 2",
        "    +load 3",
        "2 of 4 commands differ; 1 were stopped, not compared",
    ]


@pytest.mark.nightly
def test_two_records_are_equal(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "benchmarks" / "behaviour.py")]
    for name in ("one", "two"):
        words = ["record", str(tmp_path / name), "--only", "throughput mesh:2x2"]
        words += ["--like", str(tmp_path / "one")] if name == "two" else []
        subprocess.run([*program, *words], check=True)
    assert len(list((tmp_path / "one").glob("*.txt"))) > 10
    subprocess.run([*program, "compare", str(tmp_path / "one"), str(tmp_path / "two")], check=True)
