"""The verb: mistakes, hostile files of networks and paths, and what it answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.bufferless.plain import PRIORITIES, QUEUES, told, without_time
from tests.oracles import schedules as oracle

import obliv
import obliv.kernels
from obliv.cli import main


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    status, out, err = told(capsys, *words)
    assert status == 2
    assert out == ""
    assert err.startswith("obliv: ")
    assert err.count("\n") == 1
    assert "fault" not in err
    assert "Traceback" not in err
    return err


HUGE = "1" + "0" * 30


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["butterfly:3", "--algorithm", "nope"],
        ["butterfly:3", "--algorithm", "fifo", "--priority", "age"],
        ["butterfly:3", "--algorithm", "hot-potato", "--priority", "oldest"],
        ["butterfly:3", "--algorithm", "centralized", "--constants", "best"],
        ["butterfly:3", "--algorithm", "direct", "--constants", "paper"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "5"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "0"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "-2"],
        ["butterfly:3", "--algorithm", "centralized", "--sets", "0"],
        ["butterfly:3", "--algorithm", "distributed", "--boats", "0"],
        ["butterfly:3", "--algorithm", "distributed", "--timetable", "magic"],
        ["butterfly:3", "--paths", "nope"],
        ["butterfly:3", "--paths", "/nonexistent/file"],
        ["butterfly:3", "--paths", "."],
        ["butterfly:3", "--seed", "-1"],
        ["butterfly:3", "--seed", "x"],
        ["butterfly:3", "--format", "xml"],
        ["butterfly:3", "--output", "nowhere/x.json"],
        ["butterfly:3", "--output", "."],
        ["butterfly:3", "--plot", "x.nope"],
        ["butterfly:7", "--plot", "x.gif"],  # before the schedule is computed
        ["deep:L=200,W=4,S=2", "--plot", "x.html"],
        ["butterfly:40"],
        ["butterfly:27"],
        ["torus:4x4"],
        ["leveled-file:nofile"],
        ["butterfly:3", "--algorithm", "distributed", "--boats", "99999999999"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", HUGE],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "1000000000000"],
        ["butterfly:3", "--algorithm", "centralized", "--sets", HUGE],
        ["butterfly:3", "--algorithm", "distributed", "--sets", HUGE],
        ["butterfly:3", "--algorithm", "distributed", "--boats", HUGE],
    ],
)
def test_mistakes_on_the_command_line(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keep = [] if "--output" in words or not words else ["--output", "kept.json"]
    refused(capsys, "bufferless", *words, *keep)
    assert not list(tmp_path.iterdir()), "something half-written"


def test_advice_on_the_command_line_names_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bufferless", "array:30", "--algorithm", "centralized", "--lambda", "2", "--sets", "1"]
    text = refused(capsys, *words)
    assert "--lambda" in text
    assert "--sets" in text


NETWORKS = {
    "a b\nb c\nc a\n": "cycle",
    "a b\nb c\na c\n": "levels",
    "a a\n": "nowhere",
    "": "empty",
    "\0\1\2": "binary",
    "a\n": "",
    '{"levels": [0, 2], "edges": [[0, 1]]}': "level",
    '{"levels": [0, 1], "edges": [[0, 5]]}': "",
    '{"levels": [0, 1]}': "",
    '{"levels": "x", "edges": []}': "",
    "[1,": "",
    "{}": "",
    "[" * 100_000: "",
}


@pytest.mark.parametrize(("text", "word"), NETWORKS.items(), ids=[f"network{n}" for n in range(len(NETWORKS))])
def test_hostile_networks(text: str, word: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "network"
    path.write_text(text)
    assert word in refused(capsys, "bufferless", f"leveled-file:{path}")


PATHS = {
    "0 3\n": ":1",
    "0 2\n3 1\n": ":2",
    "d->b\n": ":1",
    "a->d\n": ":1",
    "a->z\n": ":1",
    "0 x\n": ":1",
    "0 2\n99\n": ":2",
    "-1\n": ":1",
    "1e5\n": ":1",
    "": "empty",
    "# nothing\n": "",
    "\0\1": "binary",
    "{}": "",
    "[1,2": "",
    "1" + "0" * 50 + "\n": ":1",
    "0" * 10_000 + "9\n": ":1",
    "²\n": ":1",
    "->\n": ":1",
    "a->\n": ":1",
}


@pytest.mark.parametrize(("text", "word"), PATHS.items(), ids=[f"paths{n}" for n in range(len(PATHS))])
def test_hostile_paths(text: str, word: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    network, paths = tmp_path / "network", tmp_path / "paths"
    network.write_text("a b\na c\nb d\nc d\n")
    paths.write_text(text)
    assert word in refused(capsys, "bufferless", f"leveled-file:{network}", "--paths", str(paths))


def test_an_unknown_node_is_told_the_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    network, paths = tmp_path / "network", tmp_path / "paths"
    network.write_text("a b\na c\nb d\nc d\n")
    paths.write_text("a->z\n")
    assert "0 to 3" not in refused(capsys, "bufferless", f"leveled-file:{network}", "--paths", str(paths))


def test_files_of_paths_mean_what_they_say(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    network, paths, remaining = (tmp_path / name for name in ("network", "paths", "kept.json"))
    network.write_text("a b\na c\nb d\nc d\n")
    paths.write_text("0 2  # by way of b\n\na -> c -> d\n1\n")
    words = ["bufferless", f"leveled-file:{network}", "--paths", str(paths), "--output", str(remaining)]
    status, _, _ = told(capsys, *words)
    assert status == 0
    content = json.loads(remaining.read_text())
    assert content["instance"]["paths"] == [[0, 2], [1, 3], [1]]
    oracle.audit_all(content)
    assert told(capsys, "verify", str(remaining))[0] == 0


KEYS = {"kind", "topology", "routing", "provenance", "packets", "congestion", "dilation", "makespan", "lower_bound"}
KEYS |= {"deflections", "verified", "algorithm", "rules"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "words",
    [
        ["--algorithm", "centralized", "--constants", "tuned"],
        ["--algorithm", "centralized", "--constants", "paper"],
        ["--algorithm", "centralized", "--constants", "one-frame"],
        ["--algorithm", "distributed", "--constants", "tuned"],
        ["--algorithm", "distributed"],
        ["--algorithm", "direct"],
        *(["--algorithm", "hot-potato", "--priority", priority] for priority in PRIORITIES),
        *(["--algorithm", name] for name in QUEUES),
    ],
    ids=" ".join,
)
def test_answers_and_files_are_as_the_contract_says(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    remaining = tmp_path / "kept.json"
    words = ["bufferless", "butterfly:3", *words, "--seed", "4", "--format", "json"]
    status, out, err = told(capsys, *words, "--output", str(remaining))
    assert status == 0
    answer = json.loads(out)
    assert answer.keys() >= KEYS
    assert answer["kind"] == "bufferless"
    assert answer["topology"] == "butterfly:3"
    assert "moves" not in answer
    assert answer["provenance"].keys() >= {"version", "specs", "seed", "wall_seconds", "exactness"}
    assert answer["provenance"]["seed"] == 4
    assert answer["verified"] is True
    content = json.loads(remaining.read_text())
    assert all(content[key] == answer[key] for key in KEYS)
    assert content["instance"].keys() >= {"levels", "edges", "paths", "sources", "destinations"}
    rows = oracle.unpack(content["moves"])
    assert {len(row) for row in rows} <= {4, 5}
    assert {row[3] for row in rows} <= {1, -1}
    assert min(row[0] for row in rows) >= 1
    assert all(type(number) is int for row in rows for number in row)
    oracle.audit_all(content)
    assert str(remaining) in err
    status, out, _ = told(capsys, "verify", str(remaining), "--format", "json")
    assert status == 0
    assert json.loads(out)["proved"] is True
    del content["digest"]
    assert without_time(obliv.load(remaining)) == {  # a file cannot say that it was verified
        **content,
        "verified": False,
        "provenance": without_time(obliv.load(remaining))["provenance"],
    }
    again = json.loads(told(capsys, *words)[1])
    for each in (again, answer):
        del each["provenance"]["wall_seconds"]
    assert again == answer


@pytest.mark.parametrize("spec", ["mesh:4x3", "line:7", "hypercube:3"])
def test_leveled_forms_are_told(spec: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    remaining = tmp_path / "kept.json.gz"
    status, out, _ = told(capsys, "bufferless", spec, "--algorithm", "fifo", "--output", str(remaining))
    assert status == 0
    assert {"mesh": "leveled-mesh:3x4", "line": "array:7", "hyp": "leveled-hypercube:3"}[
        next(key for key in ("mesh", "line", "hyp") if spec.startswith(key))
    ] in out
    assert told(capsys, "verify", str(remaining))[0] == 0
    status, out, _ = told(capsys, "bufferless", spec, "--algorithm", "fifo", "--format", "json")
    answer = json.loads(out)
    assert answer.keys() >= KEYS - {"constants"}
    assert answer["makespan"] == sum(each["makespan"] for each in answer.get("classes", [answer]))


def test_a_routing_time_is_written_without_an_exponent(capsys: pytest.CaptureFixture[str]) -> None:
    """With the paper's constants, some thousand times C + D = 6."""
    assert main(["bufferless", "butterfly:4", "-a", "centralized"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "times C + D" in line)
    steps, times = (int(word.replace(",", "")) for word in re.findall(r"[\d,]*\d", line)[:2])
    assert "e+" not in line
    assert times == round(steps / 6) > 1000
