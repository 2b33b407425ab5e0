"""Schedules saved and loaded, figures alone, and plans that are not those of the moves."""

from __future__ import annotations

import copy
import json
import zlib
from base64 import b64encode
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks
from tests.bufferless.plain import opened
from tests.claims import change
from tests.oracles import schedules as oracle

import obliv
from obliv._util.files import digest_of
from obliv.bufferless import instances, schedule, schedules
from obliv.cli import main
from obliv.specs.registry import TOPOLOGIES


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
        details = [part.detail for part in strict.checks if part.check == "packets"]
        late = "after the packet has arrived" in details[0]
        passed += late
        gone_on = packets_that_go_on(saved.to_dict())
        assert late == bool(gone_on)
        line_of = next(part.detail for part in obliv.verify(saved).checks if part.check == "packets")
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


# Each part of a schedule is refused by its own check, and by nothing else.


def said_of(content: dict[str, Any], folder: Path) -> list[str]:
    """Why a schedule is refused: the line of the error, or the details of the checks that do not hold."""
    path = folder / "s.json"
    path.write_text(json.dumps(content))
    try:
        return [step.detail for step in obliv.verify(path).checks if step.ok is not True]
    except obliv.InputError as error:
        return [str(error)]


@cache
def base(algorithm: str) -> dict[str, Any]:
    """A schedule as JSON, all arrays as lists, to be copied before it is changed."""
    list(TOPOLOGIES)  # loads them all, which each copy of this process would do where a network is not known
    if algorithm == "classes":
        return opened(schedules(instances("mesh:5x4", "permutation", rng=3), "direct", topology="mesh:5x4"))
    if algorithm == "two sessions":
        rng = np.random.default_rng(5)
        return opened(schedule(walks(layered(40, 5, 2, rng), 20, 3, 8, rng), "centralized", lam=6, s=3))
    options = {"centralized": {"lam": 12, "s": 3}, "hot-potato": {"priority": "closest"}}
    options["distributed"] = {"lam": 36, "chi": 6, "s": 3, "timetable": "oracle"}
    return opened(made_by(algorithm, **options.get(algorithm, {})))


def first(to: Any) -> Any:
    """Change the first of a list."""
    return lambda values: [to(values[0]) if callable(to) else to, *values[1:]]


def an_empty_path(content: dict[str, Any]) -> None:
    for key, value in (("paths", []), ("sources", 0), ("destinations", 0)):
        content["instance"][key].append(value)
    content["packets"] += 1


def starts_out_of_order(content: dict[str, Any]) -> None:
    paths = content["instance"]["paths"]
    start = [sum(map(len, paths[:k])) for k in range(len(paths) + 1)]
    start[3], start[4] = start[4], start[3]
    content["instance"] |= {"path_starts": start, "paths": [edge for path in paths for edge in path]}


def another_network(content: dict[str, Any]) -> None:
    content["topology"] = content["instance"]["topology"] = "butterfly:3"


def leave_out_the_destinations(content: dict[str, Any]) -> None:
    del content["instance"]["destinations"]


def a_bound_of_a_class(content: dict[str, Any]) -> None:
    for each in (content, content["classes"][0]):
        each["lower_bound"] += 1


def two_at_once(content: dict[str, Any]) -> None:
    """Let a packet with the path of the first one move at the same times."""
    number = len(content["instance"]["paths"])
    for key in ("paths", "sources", "destinations"):
        content["instance"][key].append(content["instance"][key][0])
    content["moves"] += [[time, number, *rest] for time, packet, *rest in content["moves"] if packet == 0]


def last_of_the_first(content: dict[str, Any]) -> int:
    return max(row for row, (_, packet, *_) in enumerate(content["moves"]) if packet == 0)


def too_late(content: dict[str, Any]) -> None:
    content["moves"][last_of_the_first(content)][0] += 1000


def not_to_the_end(content: dict[str, Any]) -> None:
    del content["moves"][last_of_the_first(content)]


def beyond_the_end(content: dict[str, Any]) -> None:
    time, packet, edge, direction = content["moves"][last_of_the_first(content)]
    content["moves"].append([time + 1, packet, edge, -direction])


ALONE: list[tuple[str, Any, str]] = [
    ("direct", change("instance", to=[]), "it contains no instance"),
    ("direct", change("topology", to=3), "topology is missing or not a string"),
    ("direct", change("instance", "topology", to="butterfly:3"), "the instance is of another topology"),
    ("direct", change("instance", "edges", to=[[0]]), "edges must be rows of"),
    ("direct", change("instance", "paths", to=[0]), "paths must be lists of edges"),
    ("direct", change("instance", "levels", to=lambda levels: [levels]), "levels must have 1 dimension"),
    ("direct", leave_out_the_destinations, "destinations is missing"),
    ("direct", change("instance", "path_starts", to=[]), "path_starts is empty"),
    ("direct", starts_out_of_order, "the starts of paths or moves are not in order"),
    ("direct", change("moves", to=[[1, 0, 0]]), "moves must be rows of"),
    ("direct", change("moves", 0, 1, to=-1), "a move is of a packet that does not exist"),
    ("direct", change("moves", 0, 1, to=99), "a move is of a packet that does not exist"),
    ("direct", change("moves", 0, 3, to=2), "a direction is neither 1 nor -1"),
    ("direct", change("moves", 0, 0, to=2**62), "a number of a move is out of range"),
    ("direct", change("moves", 0, 2, to=2**33), "exceeds 32 bits"),
    ("direct", change("moves", 0, 2, to=10**6), "a move refers to a node or an edge"),
    ("direct", change("moves", to=lambda m: [[*row, -1] for row in m]), "the number of oscillations is not given"),
    ("direct", change("plan", to=[]), "plan must be an object"),
    ("direct", change("rules", to="none"), "the rules must be bufferless or buffered"),
    ("direct", change("makespan", to="9"), "makespan is missing or not an integer"),
    ("direct", change("instance", "edges", 0, to=[0, 10**6]), "a edge refers to a node or an edge"),
    ("direct", change("instance", "edges", 0, to=[-1, 0]), "a edge refers to a node or an edge"),
    ("direct", change("instance", "paths", 0, 0, to=-1), "a path refers to a node or an edge"),
    ("direct", change("instance", "sources", 0, to=-1), "a packet's source refers to"),
    ("direct", change("instance", "destinations", 0, to=10**6), "a packet's destination refers to"),
    ("direct", an_empty_path, "is empty; leave out packets"),
    ("direct", change("instance", "sources", to=lambda nodes: [*nodes, nodes[0]]), "different numbers of packets"),
    ("direct", change("instance", "levels", 3, to=lambda level: level + 1), "does not lead from a level to the next"),
    ("direct", another_network, "levels and edges are not those of butterfly:3"),
    ("direct", change("algorithm", to="centralized"), "of None, the algorithm is 'centralized'"),
    ("direct", change("algorithm", to="distributed"), "of None, the algorithm is 'distributed'"),
    ("direct", two_at_once, "two packets go "),
    ("direct", change("moves", 0, 3, to=-1), "begins where the packet is not"),
    ("direct", change("moves", 0, 0, to=0), "or before time 1"),
    ("direct", too_late, "comes after a rest, and no packet may rest"),
    ("direct", not_to_the_end, "is its last, and it has not come to the end of its path"),
    ("direct", beyond_the_end, "comes after the packet has arrived"),
    ("hot-potato", change("algorithm", to="direct"), "which direct routing never does"),
    *(
        ("hot-potato", change(key, to=lambda value: value + 1), f"{key} is ")
        for key in ("packets", "congestion", "dilation", "makespan", "lower_bound", "deflections")
    ),
    ("classes", change("classes", to=[]), "classes must be a list of schedules"),
    ("classes", change("classes", to=[None]), "classes must be a list of schedules"),
    ("classes", change("classes", 0, "kind", to="worst"), "a class is not a schedule"),
    *(
        ("classes", change(key, to=lambda value: value + 1), f"{kind}, claimed ")
        for kind, keys in (
            ("in total", "packets makespan lower_bound deflections"),
            ("at most", "congestion dilation"),
        )
        for key in keys.split()
    ),
    ("classes", change("algorithm", to="none"), "direct in all classes, claimed 'none'"),
    ("classes", change("rules", to="buffered"), "bufferless in all classes, claimed 'buffered'"),
    ("classes", change("classes", 1, "algorithm", to="mine"), "direct in all classes, claimed 'direct'"),
    ("classes", change("classes", 1, "rules", to="buffered"), "bufferless in all classes, claimed 'bufferless'"),
    ("classes", a_bound_of_a_class, "lower_bound is "),
    *(
        ("centralized", change("plan", key, to=to), why)
        for key, to, why in (
            ("tau", lambda x: x + 1, "must be even"),
            ("lam", lambda x: x + 1, "must be even"),
            ("gamma", lambda x: x + 1, "must be even"),
            ("s", 0, "s is 0"),
            ("tau", True, "tau is True"),
            ("session", first(3), "a session is neither 1 nor 2"),
            ("set", first(0), "a set has a number beyond s"),
            ("set", first(99), "a set has a number beyond s"),
            ("set", first(2**50), "set has a number out of range"),
            ("set", lambda x: x[1:], "set has not 40 entries"),
            ("group_start", first(2), "a group begins where none does"),
            ("group_start", first(-6), "a group begins where none does"),
            ("group_start", first(6), "a packet has phases beyond the frames of its group"),
            ("colour", first(0), "a boat has no number"),
            ("colour", first(99), "rides on after the end of its phase"),
            ("phase_start", first(1), "phase_start does not give every packet a phase"),
            ("phase_start", lambda x: [0, 0, *x[2:]], "phase_start does not give every packet a phase"),
            ("phase_start", lambda x: [*x[:4], 4, *x[5:]], "a packet stops in its last phase"),
            ("kind", "distributed", "of 'distributed', the algorithm is 'centralized'"),
        )
    ),
    ("two sessions", change("plan", "session_start", to=lambda x: [x[0], x[0]]), "session 2 begins before"),
    *(
        ("distributed", change("plan", key, to=to), why)
        for key, to, why in (
            ("timetable", "none", "the timetable is neither fixed nor oracle"),
            ("sub_rounds", first(0), "a sub-phase has no round"),
            ("sub_rounds", lambda x: [x[0] + 1, *x[1:]], "begins before the one before it is over"),
            ("sub_begin", first(-1), "begins before the one before it is over"),
            ("sub_begin", lambda x: [begin + 1 for begin in x], "which it mirrors"),
            ("lam", lambda x: x + 1, "lambda, a session or a set is invalid"),
            ("lam", lambda x: x - 2, "lambda, a session or a set is invalid"),
            ("session", first(3), "lambda, a session or a set is invalid"),
            ("set", first(0), "lambda, a session or a set is invalid"),
            ("set", first(99), "lambda, a session or a set is invalid"),
            ("phase", first(lambda phase: phase + 1), "a phase that is not that of its set and frame"),
            ("phase_start", first(1), "a packet has no phase"),
            ("phase_start", lambda x: [0, 0, *x[2:]], "a packet has no phase"),
            ("colour", first(0), "a boat number is out of range"),
            ("colour", first(99), "a boat number is out of range"),
            ("colour", first(lambda boat: boat % 6 + 1), "does not ride as the plan says"),
            ("sub_part", lambda x: [2 - part for part in x], "a packet rides in a sub-phase that does not exist"),
            ("gamma", lambda x: x - 1, "or leaves its group"),
            ("home", first(lambda level: level + 1), "does not ride as the plan says"),
        )
    ),
]


@pytest.mark.parametrize(("algorithm", "forge", "why"), ALONE, ids=[f"{name}-{why}" for name, _, why in ALONE])
def test_each_part_is_refused_by_its_own_check(algorithm: str, forge: Any, why: str, tmp_path: Path) -> None:
    content = copy.deepcopy(base(algorithm))
    forge(content)
    (said,) = said_of(content, tmp_path)
    assert why in said


def test_what_is_forged_is_proved(tmp_path: Path) -> None:
    for algorithm in {algorithm for algorithm, _, _ in ALONE}:
        assert said_of(base(algorithm), tmp_path) == []


@pytest.mark.parametrize(
    ("key", "forge", "whys"),
    [
        (
            "session_start",
            first(lambda start: start - 1),
            ("in the frame of its wave when phase 2", "is not at home when its boat comes", "goes astray at step"),
        ),
        ("tau", lambda tau: tau + 2, ("is not at home when its boat comes", "moves in a phase that is not its own")),
    ],
)
def test_waves_boats_and_homes_are_looked_at_each(key: str, forge: Any, whys: tuple[str, ...], tmp_path: Path) -> None:
    """Frames, boats and homes depend on one another: a plan that is not that of the moves fails by each of them."""
    content = copy.deepcopy(base("centralized"))
    change("plan", key, to=forge)(content)
    said = said_of(content, tmp_path)
    assert len(said) == len(whys)
    assert all(why in detail for why, detail in zip(whys, said, strict=True))


def test_a_schedule_without_moves_is_not_checked() -> None:
    with pytest.raises(obliv.FileError, match="it contains no moves"):
        obliv.verify(replace(made_by("direct"), moves=None))
