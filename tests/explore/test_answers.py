"""What the page is told: the numbers of the library, errors in one line, and nothing from files that are not named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv._util import files
from obliv.explore.answers import answer
from obliv.explore.question import PARTS, Question, commands, question_of
from obliv.results.base import Result


def told(question: Question) -> dict[str, Any]:
    """The parts of an answer by name, each pattern of the traffic under its spec, errors as text."""
    messages: list[dict[str, Any]] = []
    answer(question, messages.append)
    assert messages[-1] == {"kind": "end"}
    json.dumps(messages)
    return {
        message.get("name") or message["part"]: message["text"] if message["kind"] == "error" else message
        for message in messages
        if message["kind"] in ("part", "error")
    }


def as_json(result: Result) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key not in ("provenance", "certificate")}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("topology", "routing", "failed"),
    [
        ("mesh:4x4", "o1turn", ()),
        ("torus:5x5", "romm", ()),
        ("fattree:4,2", "dmodk", ()),
        ("mesh:4x4", "ecmp", ("5-6", "15")),
        ("fattree:4,3", "updown", ("16-24",)),
        ("ring:5", "1/2*dor+1/2*ecmp", ()),
    ],
)
def test_the_numbers_are_those_of_the_library(topology: str, routing: str, failed: tuple[str, ...]) -> None:
    question = Question(topology, routing, ("uniform", "shift:1"), failed, samples=100, seed=7)
    found = told(question)
    network = obliv.with_capacity(obliv.topology(question.spec))
    same = obliv.routing(routing, network)
    expected: dict[str, Result] = {
        "worst": obliv.worst_case(same),
        "hops": obliv.locality(same),
        "uniform": obliv.throughput(same, "uniform"),
        "shift:1": obliv.throughput(same, "shift:1"),
        "deadlock": obliv.deadlock(same),
        "average": obliv.average_case(same, 100, 7),
    }
    for part, result in expected.items():
        shown = {key: value for key, value in found[part]["result"].items() if key != "provenance"}
        assert shown == json.loads(json.dumps(as_json(result))), part
        assert [tuple(line) for line in found[part]["lines"]] == result.summary()
    loads = same.pair_loads().under(obliv.traffic("shift:1", network))
    assert found["shift:1"]["loads"] == list(map(str, loads))
    payload = found["proof"]["payload"]
    assert payload["worst"]["load"] == found["worst"]["result"]["channel_load"]["exact"]
    assert len(payload["channels"]) == network.channels == len(found["network"]["links"])


def test_what_failed_stays_in_its_place() -> None:
    whole = told(Question("mesh:4x4", "ecmp", want=("network",)))["network"]
    found = told(Question("mesh:4x4", "ecmp", failed=("5-6", "15"), want=("network", "worst")))
    left, drawn = found["network"], found["worst"]["payload"]
    assert left["failed"] == [
        {"text": "15", "name": "node (3,3)"},
        {"text": "5-6", "name": "link (1,1) - (2,1)"},
    ]
    assert left["names"] == [str(v) for v in range(15)]
    places = [(node["x"], node["y"]) for node in whole["payload"]["nodes"]]
    for payload in (left["payload"], drawn):
        assert [(node["x"], node["y"]) for node in payload["nodes"]] == places[:15]
        assert [(node["x"], node["y"]) for node in payload["removed"]["nodes"]] == places[15:]
        assert len(payload["removed"]["channels"]) == 48 - len(payload["channels"]) == 2 + 4
    by_ends = {(c["tail"], c["head"]): c.get("lines") for c in whole["payload"]["channels"]}
    assert all(c.get("lines") == by_ends[c["tail"], c["head"]] for c in drawn["channels"])
    again = told(Question("mesh:4x4", "ecmp", failed=(*(each["text"] for each in left["failed"]), left["links"][0])))
    assert again["network"]["channels"] == 40


def test_the_claim_that_is_saved_is_proved(tmp_path: Path) -> None:
    claim = told(Question("mesh:3x3", "ecmp", failed=("0-1",), want=("claim",)))["claim"]["text"]
    (tmp_path / "claim.json").write_text(claim, encoding="utf-8")
    assert obliv.verify(tmp_path / "claim.json").proved


def test_errors_are_one_line_and_stand_once() -> None:
    wrong = told(Question("mesh:4x4", "dro"))
    assert list(wrong) == ["network", "routing"]
    assert wrong["routing"] == "unknown routing 'dro': did you mean dor or romm?"
    assert told(Question("mehs:4x4")) == {"topology": "unknown topology 'mehs': did you mean mesh or cmesh?"}
    damaged = told(Question("mesh:4x4", "dor", failed=("0-1",)))
    assert "network" in damaged
    assert "has no coordinates: shortest, ecmp and valiant fit any network" in damaged["routing"]
    cut = told(Question("line:4", "ecmp", failed=("1-2",)))
    assert list(cut) == ["topology"]
    assert "component=largest takes the largest" in cut["topology"]
    assert told(Question("line:4", "ecmp", failed=("1-2",), largest=True))["network"]["nodes"] == 2
    mixed = told(Question("mesh:4x3", "ecmp", ("uniform", "transpose", "unifrom"), want=("traffic",)))
    assert "needs a square network" in mixed["transpose"]
    assert mixed["unifrom"] == "unknown traffic 'unifrom': did you mean uniform?"
    assert "result" in mixed["uniform"]
    huge = told(Question("complete:100000", "dor", want=("network", "worst")))
    assert all("\n" not in text for text in huge.values() if isinstance(text, str))


def test_names_that_a_user_registers_have_their_file_in_the_commands(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = []
    answer(Question("ring:4", want=("network",)), messages.append, ["own.py"])
    assert messages[1]["commands"]["worst"] == "obliv worst ring:4 ecmp --import own.py"


@pytest.mark.nightly
def test_files_are_read_where_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "secret").mkdir()
    for folder in ("open", "secret"):
        (tmp_path / folder / "net.txt").write_text("# undirected\na <script>alert(1)</script>\na c\n", encoding="utf-8")
    (tmp_path / "open" / "link.txt").symlink_to(tmp_path / "secret" / "net.txt")
    monkeypatch.setattr(files, "_readable", [tmp_path / "open"])
    inside = f"file:{tmp_path}/open/net.txt"
    found = told(Question(inside, "ecmp", want=("network",)))["network"]
    assert found["payload"]["nodes"][1]["name"] == "<script>alert(1)</script>"
    assert found["files"]
    for spec in ("open/../secret/net.txt", "secret/net.txt", "secret/missing.txt", "open/link.txt"):
        asked = Question(f"file:{tmp_path}/{spec}", "ecmp", want=("network",))
        assert "may not be read from here: allow it, or its folder, with --files PATH" in told(asked)["topology"]
    for routing in ("table:/etc/passwd", "design:/etc/passwd"):
        assert "may not be read" in told(Question("mesh:2x2", routing, want=("worst",)))["routing"]
    for pattern in ("permutation:/etc/passwd", "matrix:/etc/passwd", "flows:/etc/passwd", "demands:/etc/passwd"):
        assert "may not be read" in told(Question("mesh:2x2", "dor", (pattern,), want=("traffic",)))[pattern]
    for spec in ("fabric:/etc/passwd", "leveled-file:/etc/passwd", "mesh:2x2,injection=/etc/passwd"):
        assert "may not be read" in told(Question(spec, want=("network",)))["topology"]
    (tmp_path / "open" / "net.txt").write_text("a b\nb c\nc d\n", encoding="utf-8")  # a file that changes is read again
    assert told(Question(inside, "ecmp", want=("network",)))["network"]["nodes"] == 4


def test_questions_and_commands() -> None:
    body = b'{"topology": " fattree:4,2 ", "failed": ["8-12"], "traffic": ["1/2*uniform+1/2*shift:1"], "seed": 3}'
    asked = question_of(body)
    assert asked.spec == "damaged:(fattree:4,2),8-12"
    assert asked.want == PARTS[:7]
    lines = commands(asked, ["my nets.py"])
    assert lines["worst"] == "obliv worst 'damaged:(fattree:4,2),8-12' ecmp --import 'my nets.py'"
    assert lines["traffic"] == (
        "obliv throughput 'damaged:(fattree:4,2),8-12' ecmp '1/2*uniform+1/2*shift:1' --import 'my nets.py'"
    )
    assert lines["average"].endswith("--samples 10000 --seed 3 --import 'my nets.py'")
    assert "average" not in commands(Question(samples=0))
