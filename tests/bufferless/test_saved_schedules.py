"""Schedules saved and loaded, figures alone, and plans that are not those of the moves."""

from __future__ import annotations

import copy
import json
import zlib
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks
from tests.oracles import schedules as oracle

import obliv
from obliv._util.files import digest_of
from obliv.bufferless import instances, schedule, schedules
from obliv.cli import main


def made_by(algorithm: str, **options: Any) -> obliv.Schedule:
    rng = np.random.default_rng(5)
    return schedule(walks(layered(40, 5, 2, rng), 40, 5, 35, rng), algorithm, **options)


ALL = [
    ("direct", {}),
    ("hot-potato", {"priority": "closest"}),
    ("fifo", {}),
    ("centralized", {"constants": "tuned"}),
    ("centralized", {"constants": "paper"}),
    ("distributed", {"lam": 36, "chi": 6, "s": 3}),
    ("distributed", {"lam": 36, "chi": 6, "s": 3, "timetable": "oracle"}),
]


def unsealed(result: Any) -> dict[str, Any]:
    """The content of the file of a schedule without its digests, so that it is the check of a change that fails."""
    content: dict[str, Any] = result.to_dict()
    for part in (content, *content.get("classes", ())):
        del part["digest"]
    return content


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("algorithm", "options"), ALL)
@pytest.mark.parametrize("name", ["s.json", "s.json.gz"])
def test_saved_and_loaded_again(algorithm: str, options: dict[str, Any], name: str, tmp_path: Path) -> None:
    result = made_by(algorithm, **options)
    assert result.verified
    assert result.moves is not None
    result.save(tmp_path / name)
    again = obliv.load(tmp_path / name)
    assert isinstance(again, obliv.Schedule)
    assert again == result
    assert not again.verified  # whatever the file says
    assert "not checked" in repr(again)
    assert again.delivery.tolist() == result.delivery.tolist() == result.moves.ends().tolist()
    assert obliv.verify(tmp_path / name).proved
    assert obliv.verify(again).proved
    assert obliv.bufferless.load_instance(tmp_path / name).edge.tolist() == result.instance.edge.tolist()  # type: ignore[union-attr]
    assert set(result.to_dict()) - set(result.bare().to_dict()) == {"digest", "instance", "moves"} | (
        {"plan"} if result.plan else set()
    )


def test_a_file_is_not_believed_that_it_was_verified(tmp_path: Path) -> None:
    """A file without moves that calls itself verified, and the digest that such a change needs."""
    path = tmp_path / "s.json"
    made_by("direct").save(path)
    content = json.loads(path.read_text())
    assert content["verified"] is True
    assert content["digest"] == digest_of(content)
    content["moves"] = []
    path.write_text(json.dumps(content))
    for _ in range(2):
        loaded = obliv.load(path)
        assert not loaded.verified  # type: ignore[attr-defined]
        assert loaded.to_dict()["verified"] is False
        assert "by the verifier" not in repr(loaded) + loaded._repr_html_()
        assert not obliv.verify(path).proved
        path.write_text(json.dumps(content | {"digest": digest_of(content)}))
    assert {step.check: step.ok for step in obliv.verify(path).checks}["digest"]
    content = unsealed(made_by("direct"))
    content["notes"] = ["by another hand"]
    path.write_text(json.dumps(content | {"digest": made_by("direct").to_dict()["digest"]}))
    assert [step.check for step in obliv.verify(path).checks if step.ok is False] == ["digest"]


@pytest.mark.parametrize("packet", [-1, 10**9, 2**62])
def test_a_move_of_no_packet_is_refused_before_anything_is_allocated(packet: int, tmp_path: Path) -> None:
    content = unsealed(made_by("direct")) | {"moves": [[1, packet, 0, 1]]}
    (tmp_path / "s.json").write_text(json.dumps(content))
    with pytest.raises(obliv.FileError, match="packet that does not exist"):
        obliv.load(tmp_path / "s.json")


def test_a_single_instance_counts_as_a_list_of_one() -> None:
    case = obliv.bufferless.instance("array:4")
    assert schedules(case, "hot-potato", rng=1) == schedules([case], "hot-potato", rng=1)


def test_classes_are_reported_together(tmp_path: Path) -> None:
    whole = schedules(instances("mesh:5x4", "permutation", rng=3), "direct", topology="mesh:5x4")
    assert isinstance(whole, obliv.Schedules)
    assert len(whole.classes) == 4
    assert whole.makespan == sum(part.makespan for part in whole.classes)
    whole.save(tmp_path / "m.json")
    assert obliv.load(tmp_path / "m.json") == whole
    assert obliv.verify(tmp_path / "m.json").proved
    assert obliv.verify(whole).proved
    result = unsealed(whole)
    result["makespan"] -= 1
    (tmp_path / "less.json").write_text(json.dumps(result))
    assert main(["verify", str(tmp_path / "less.json")]) == 1
    result = unsealed(whole)
    result["classes"][1]["moves"][0][0] += 1000
    (tmp_path / "other.json").write_text(json.dumps(result))
    assert main(["verify", str(tmp_path / "other.json")]) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("tau", lambda x: x + 2),
        ("tau", lambda x: x - 2),
        ("lam", lambda x: x + 2),
        ("gamma", lambda x: x - 1),
        ("s", lambda x: 1),
        ("session_start", lambda x: [x[0] + 1, x[1]]),
        ("set", lambda x: [x[0] + 1, *x[1:]]),
        ("colour", lambda x: [x[0] + 1, *x[1:]]),
        ("home", lambda x: [*x[:-1], x[-1] + 2]),
        ("group_start", lambda x: [x[0] + 2, *x[1:]]),
        ("phase_start", lambda x: [0, x[1] + 1, *x[2:]]),
        ("phase_start", lambda x: x[:-1]),
        ("home", lambda x: None),
        ("set", lambda x: [2**80, *x[1:]]),
    ],
)
def test_a_plan_that_the_moves_do_not_follow_fails(key: str, change: Any, tmp_path: Path) -> None:
    saved = unsealed(made_by("centralized", lam=12, s=3))
    assert len(saved["plan"]["colour"]) > saved["packets"]  # packets stop somewhere
    saved["plan"][key] = change(copy.deepcopy(saved["plan"][key]))
    (tmp_path / "s.json").write_text(json.dumps(saved))
    assert not obliv.verify(tmp_path / "s.json").proved


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("tau", lambda x: x + 1),
        ("sub_begin", lambda x: [begin + 1 for begin in x]),
        ("sub_rounds", lambda x: [rounds + 1 for rounds in x]),
        ("sub_rounds", lambda x: 3),
        ("sub_phase", lambda x: [phase + (phase == max(x)) for phase in x]),  # the last one that packets ride in
        ("tau", lambda x: "all"),
    ],
)
def test_rounds_that_are_not_undone_fail(key: str, change: Any, tmp_path: Path) -> None:
    saved = unsealed(made_by("distributed", lam=36, chi=6, s=3, timetable="oracle"))
    assert max(saved["plan"]["sub_rounds"]) > 1
    saved["plan"][key] = change(saved["plan"][key])
    (tmp_path / "s.json").write_text(json.dumps(saved))
    assert not obliv.verify(tmp_path / "s.json").proved


@pytest.mark.nightly
@pytest.mark.parametrize(("algorithm", "options"), [ALL[3], ALL[5], ALL[6]])
def test_long_columns_of_a_plan_are_compressed(algorithm: str, options: dict[str, Any], tmp_path: Path) -> None:
    def compressed(values: list[int]) -> dict[str, Any]:
        text = b64encode(zlib.compress(np.array(values, "<i8").tobytes())).decode()
        return {"b64zlib": text, "dtype": "int64", "shape": [len(values)]}

    saved = unsealed(made_by(algorithm, **options))
    saved["plan"] = {
        k: compressed(v) if isinstance(v, list) else v for k, v in json.loads(json.dumps(saved))["plan"].items()
    }
    (tmp_path / "s.json").write_text(json.dumps(saved))
    assert obliv.verify(tmp_path / "s.json").proved


def test_line_has_two_classes() -> None:
    both = instances("line:9", "permutation", rng=1)
    assert [part.network.spec for part in both] == ["array:9", "array:9,orientation=-"]
    assert line(5, 1.0, 2, np.random.default_rng(0)).packets == 4


def test_who_was_beaten_may_come_by_its_destination() -> None:
    """A wanderer is taken out nowhere, not even where the last edge of its path ends; the result and verify say so."""
    passed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        saved = schedule(line(60, 0.6, 30, rng), "distributed", rng=seed, lam=36, chi=6, s=3)
        assert saved.verified
        strict = obliv.verify(replace(saved, algorithm="hot-potato"))  # whose packets arrive wherever they do
        details = [part["detail"] for part in strict.checks if part["check"] == "packets"]
        late = "after the packet has arrived" in details[0]
        passed += late
        gone_on = packets_that_go_on(saved.to_dict())
        assert late == bool(gone_on)
        line_of = next(part["detail"] for part in obliv.verify(saved).checks if part["check"] == "packets")
        notes = [note for note in saved.notes if "section 4.1 does not say" in note]
        assert len(notes) == bool(gone_on)
        assert ("which the paper leaves open" in line_of) == bool(gone_on)
        if gone_on:
            packet, step = min(gone_on.items())
            assert f"(packet {packet} in step {step})" in notes[0]
            assert f"(packet {packet} in step {step})" in line_of
            assert (f"{len(gone_on)} packets" if len(gone_on) > 1 else "1 packet is") in line_of
    assert passed


def packets_that_go_on(saved: dict[str, Any]) -> dict[int, int]:
    """The packets that move on with nothing left of their current path, and the step of it: section 2, move by move."""
    case = oracle.read(saved)
    steps = {}
    for packet, walk in enumerate(case.walks()):
        ahead = [(edge, 1) for edge in case.paths[packet]]
        for time, edge, direction in walk:
            if not ahead:
                steps[packet] = time
                break
            ahead = ahead[1:] if ahead[0] == (edge, direction) else [(edge, -direction), *ahead]
    return steps
