"""Forged, damaged and hostile files of schedules are refused."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bufferless.plain import ONE_EACH, QUEUES, file_of, leaves, opened, proved, told, walks
from tests.oracles import schedules as oracle

import obliv
import obliv.kernels
from obliv.bufferless import instance, schedule


def forgeable(algorithm: str, options: dict[str, Any]) -> dict[str, Any]:
    spec = "random-leveled:L=12,W=3,d=2,seed=3"
    network = obliv.topology(spec)
    case = instance(network, walks(network, np.random.default_rng(5), 30, True))
    for seed in range(40):
        try:
            result = schedule(case, algorithm, rng=seed, **options)
        except obliv.InputError:
            continue
        if result.deflections or algorithm not in ("centralized", "distributed", "hot-potato"):
            return opened(result)
    raise AssertionError("nothing to forge")


FORGEABLE = [("centralized", {"lam": 6, "s": 3}), *ONE_EACH[1:]]


def swap(made: dict[str, Any], *places: Any, value: Any) -> None:
    for place in places[:-1]:
        made = made[place]
    before = made[places[-1]]
    made[places[-1]] = value(before) if callable(value) else value
    assert made[places[-1]] != before


def second(made: dict[str, Any]) -> int:
    """A row that follows another of its packet in the step before."""
    rows = [row[:2] for row in made["moves"]]
    return next(n for n in range(1, len(rows)) if rows[n] == [rows[n - 1][0] + 1, rows[n - 1][1]])


def ridden(made: dict[str, Any]) -> int:
    """Where the plan has the last boat of the first packet that goes three edges or more."""
    packet = next(p for p, path in enumerate(made["instance"]["paths"]) if len(path) >= 3)
    at: int = made["plan"]["phase_start"][packet + 1] - 1
    return at


def rename(made: dict[str, Any], spec: str) -> None:
    made["topology"] = made["instance"]["topology"] = spec


def other_algorithm(algorithm: str) -> str:
    """One that keeps the same rules but does not do what was done."""
    return {"direct": "centralized", "fifo": "random-delay", "centralized": "distributed"}.get(
        algorithm, "fifo" if algorithm in QUEUES else "direct"
    )


FORGERIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "makespan lowered": lambda made: swap(made, "makespan", value=lambda m: m - 1),
    "makespan raised": lambda made: swap(made, "makespan", value=lambda m: m + 1),
    "packets raised": lambda made: swap(made, "packets", value=lambda n: n + 1),
    "congestion raised": lambda made: swap(made, "congestion", value=lambda n: n + 1),
    "dilation lowered": lambda made: swap(made, "dilation", value=lambda n: n - 1),
    "deflections changed": lambda made: swap(made, "deflections", value=lambda n: n + 1),
    "lower bound raised": lambda made: swap(made, "lower_bound", value=lambda n: n + 1),
    "a move left out": lambda made: made["moves"].pop(),
    "the first move left out": lambda made: made["moves"].pop(0),
    "all moves left out": lambda made: made["moves"].clear(),
    "a move twice": lambda made: made["moves"].append(made["moves"][0]),
    "two moves at once": lambda made: swap(made, "moves", second(made), 0, value=lambda t: t - 1),
    "a move before time": lambda made: swap(made, "moves", 0, 0, value=-1),
    "a move by another": lambda made: swap(made, "moves", 0, 1, value=lambda p: p + 1),
    "a move over another edge": lambda made: swap(made, "moves", 0, 2, value=lambda e: (e + 1) % 72),
    "a move over no edge": lambda made: swap(made, "moves", 0, 2, value=10**9),
    "a move back": lambda made: swap(made, "moves", 0, 3, value=-1),
    "a move nowhere": lambda made: swap(made, "moves", 0, 3, value=0),
    "a move of no packet": lambda made: swap(made, "moves", 0, 1, value=-1),
    "a packet's path shortened": lambda made: made["instance"]["paths"][0].pop(),
    "a path changed": lambda made: swap(made, "instance", "paths", 0, value=lambda _: made["instance"]["paths"][1]),
    "a packet more": lambda made: made["instance"]["paths"].append([0]),
    "a source changed": lambda made: swap(made, "instance", "sources", 0, value=lambda v: (v + 1) % 36),
    "a destination changed": lambda made: swap(made, "instance", "destinations", 0, value=lambda v: (v + 1) % 36),
    "an edge changed": lambda made: swap(made, "instance", "edges", 0, value=lambda e: [e[0], 3 + (e[1] + 1) % 3]),
    "an edge against the levels": lambda made: swap(made, "instance", "edges", 0, value=lambda e: e[::-1]),
    "a level changed": lambda made: swap(made, "instance", "levels", 0, value=1),
    "another seed of the network": lambda made: rename(made, "random-leveled:L=12,W=3,d=2,seed=4"),
    "another network": lambda made: rename(made, "butterfly:3"),
    "another network above": lambda made: swap(made, "topology", value="butterfly:3"),
    "no network known": lambda made: rename(made, "nonsense:3"),
    "other rules": lambda made: swap(made, "rules", value="none"),
    "an unknown algorithm": lambda made: swap(made, "algorithm", value="magic"),
    "another algorithm": lambda made: swap(made, "algorithm", value=other_algorithm),
    "no plan": lambda made: made.pop("plan"),
    "no colours in the plan": lambda made: swap(made, "plan", "colour", value=None),
    "another colour in the plan": lambda made: swap(
        made, "plan", "colour", ridden(made), value=lambda k: 3 - min(k, 2)
    ),
    "another set in the plan": lambda made: swap(made, "plan", "set", 0, value=lambda i: i + 1),
    "another home in the plan": lambda made: swap(made, "plan", "home", 0, value=lambda h: h + 1),
    "longer phases in the plan": lambda made: swap(made, "plan", "tau", value=lambda tau: tau + 2),
    "no lower bound": lambda made: made.pop("lower_bound"),
    "a whole number of another kind": lambda made: swap(made, "makespan", value=lambda m: m + 0.5),
    "the makespan as text": lambda made: swap(made, "makespan", value="few"),
    "no makespan": lambda made: made.pop("makespan"),
    "no instance": lambda made: made.pop("instance"),
    "no moves": lambda made: made.pop("moves"),
    "moves of nothing": lambda made: swap(made, "moves", value=None),
    "moves of one number": lambda made: swap(made, "moves", 0, value=[1]),
    "a move of a list": lambda made: swap(made, "moves", 0, 3, value=[1]),
    "an endless to and fro": lambda made: swap(made, "moves", value=lambda m: [[*row[:4], 2**62] for row in m]),
    "less than no to and fro": lambda made: swap(made, "moves", value=lambda m: [[*row[:4], -1] for row in m]),
    "a time beyond 64 bits": lambda made: swap(made, "moves", 0, 0, value=10**30),
}
PLANNED = ("centralized", "distributed")
EVERY = tuple(algorithm for algorithm, _ in ONE_EACH)
UNTOLD = {  # what moves cannot tell
    "deflections changed": ("distributed",),
    "no network known": EVERY,  # the file holds the network
    "an unknown algorithm": EVERY[2:],  # the rules say all
    "another algorithm": QUEUES,  # whose rules are the same
}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forgeries_are_found_out(forgery: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for algorithm in PLANNED if "plan" in forgery else EVERY:
        claim = genuine(algorithm)
        FORGERIES[forgery](claim)
        path = file_of(claim, tmp_path)
        status, _, err = told(capsys, "verify", str(path))
        assert status in ((0,) if algorithm in UNTOLD.get(forgery, ()) else (1, 2)), algorithm
        assert status < 2 or (err.count("\n") == 1 and "fault of" not in err), (algorithm, err)


KNOWN: dict[str, dict[str, Any]] = {}


def genuine(algorithm: str) -> dict[str, Any]:
    if algorithm not in KNOWN:
        KNOWN[algorithm] = forgeable(algorithm, dict(FORGEABLE)[algorithm])
    return copy.deepcopy(KNOWN[algorithm])


def test_genuine_ones_are_proved(tmp_path: Path) -> None:
    for algorithm in EVERY:
        assert proved(genuine(algorithm), tmp_path)
        oracle.audit_all(genuine(algorithm))


@pytest.mark.parametrize(
    "forgery",
    [
        "makespan lowered",
        "congestion raised",
        "lower bound raised",
        "the first move left out",
        "a move twice",
        "two moves at once",
        "a move by another",
        "a move back",
        "a packet's path shortened",
        "an edge changed",
        "another colour in the plan",
        "another home in the plan",
    ],
)
def test_the_oracle_finds_forgeries_too(forgery: str) -> None:
    for algorithm in PLANNED if "plan" in forgery else EVERY:
        claim = genuine(algorithm)
        FORGERIES[forgery](claim)
        with pytest.raises((AssertionError, IndexError, KeyError)):
            oracle.audit_all(claim)


@pytest.mark.parametrize(("algorithm", "pretended"), [("fifo", "farthest-to-go"), ("hot-potato", "direct")])
def test_the_oracle_tells_algorithms_apart(algorithm: str, pretended: str) -> None:
    claim = genuine(algorithm)
    claim["algorithm"] = pretended
    claim["constants"]["order"] = "farthest"
    with pytest.raises(AssertionError):
        oracle.audit_all(claim)


def test_a_packet_that_waits_is_no_bufferless_one(tmp_path: Path) -> None:
    result = opened(schedule(instance("array:4", [[0, 1], [1], [1]]), "fifo"))
    assert proved(result, tmp_path)
    rests = [row for row in result["moves"] if row[1] == 0]
    assert rests[1][0] > rests[0][0] + 1 or sorted(row[0] for row in result["moves"]) == [1, 1, 2, 3]
    late = [row if row[:2] != rests[1][:2] else [9, *row[1:]] for row in result["moves"]]
    result |= {"moves": late, "makespan": 9}
    assert proved(result, tmp_path)
    result |= {"rules": "bufferless"}
    assert not proved(result, tmp_path)
    result |= {"algorithm": "hot-potato"}
    assert not proved(result, tmp_path)


JUNK: list[Any] = [None, True, -1, 0, 1, 2, 7, 2**31, 2**63, 10**40, 1.5, "x", "", [], [[]], {}, [0], [None]]
IDLE = {"notes", "provenance", "routing", "made", "verified", "constants", "labels", "kind", "topology"}
IDLE |= {"algorithm"}  # an unknown one may come with any rules


def damage(rounds: int, seed: int, folder: Path) -> None:
    """Files with one entry changed: nothing worse than a no; where the answer is yes the oracle agrees."""
    rng = random.Random(seed)
    accepted = 0
    for _ in range(rounds):
        made = genuine(rng.choice(EVERY))
        top = rng.choice([key for key in made if key not in IDLE])
        places = [(top, *place) for place in leaves(made[top])] or [(top,)]
        place = rng.choice([(top,), *places])
        inner: Any = made
        for key in place[:-1]:
            inner = inner[key]
        old = inner[place[-1]]
        near = [old - 1, old + 1] if type(old) is int else []
        new = rng.choice([*near, *JUNK])
        if rng.random() < 0.1 and isinstance(inner, list):
            del inner[place[-1]]
        else:
            inner[place[-1]] = new
        if proved(made, folder):
            accepted += 1
            try:
                oracle.audit(made)
            except Exception as error:
                if old == new or set(place) & IDLE:
                    continue
                raise AssertionError(f"{made['algorithm']} {place}: {str(old)[:80]} -> {new!r}: {error!r}") from error
    assert accepted < rounds / 2


@pytest.mark.nightly
def test_damaged_files(tmp_path: Path) -> None:
    damage(150, 1, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 8))
def test_more_damaged_files(seed: int, tmp_path: Path) -> None:
    damage(3000, seed, tmp_path)


HOSTILE = {
    "nothing": "",
    "no JSON": "{",
    "no object": "[]",
    "a number": "5",
    "no content": "{}",
    "deep": "[" * 200_000,
    "a kind alone": '{"kind": "bufferless"}',
    "empty parts": '{"kind": "bufferless", "instance": {}, "moves": []}',
    "infinite": '{"kind": "bufferless", "makespan": Infinity, "instance": {}, "moves": []}',
    "no classes": '{"kind": "bufferless", "classes": []}',
    "classes of nothing": '{"kind": "bufferless", "classes": [null, 5, {}]}',
    "classes of no list": '{"kind": "bufferless", "classes": 5}',
    "nested classes": '{"kind": "bufferless", "classes": [' * 500 + "]}" * 500,
    "packed badly": '{"kind":"bufferless","instance":{"levels":{"b64zlib":"!","dtype":"int64","shape":[3]}}}',
    "packed hugely": '{"kind":"bufferless","instance":{"levels":{"b64zlib":"","dtype":"int64","shape":[99999999999]}}}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "claim.json"
    path.write_text(HOSTILE[name])
    status, _, err = told(capsys, "verify", str(path))
    assert status in (1, 2)
    assert "fault of" not in err
    assert "Traceback" not in err
    assert err.count("\n") <= 1


def test_a_class_of_a_mesh_forged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    remaining = tmp_path / "kept.json"
    assert told(capsys, "bufferless", "mesh:4x4", "--algorithm", "direct", "--output", str(remaining))[0] == 0
    whole = json.loads(remaining.read_text())
    assert len(whole["classes"]) > 1

    def status(**changed: Any) -> int:
        path = file_of({**copy.deepcopy(whole), **changed}, tmp_path)
        return told(capsys, "verify", str(path))[0]

    assert status() == 0
    for key in ("makespan", "packets", "congestion", "dilation"):
        assert status(**{key: whole[key] + 1}) in (1, 2), key
    assert status(classes=whole["classes"][1:]) in (1, 2)
    assert status(classes=[*whole["classes"], whole["classes"][0]]) in (1, 2)
    forged = copy.deepcopy(whole["classes"])
    forged[0]["makespan"] -= 1
    assert status(classes=forged, makespan=whole["makespan"] - 1) in (1, 2)


@pytest.mark.parametrize("key", ["deflections", "lower_bound", "algorithm", "rules"])
def test_a_sum_over_classes_forged(key: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    remaining = tmp_path / "kept.json"
    told(capsys, "bufferless", "mesh:4x4", "--algorithm", "direct", "--output", str(remaining))
    content = json.loads(remaining.read_text())
    assert told(capsys, "verify", str(remaining))[0] == 0
    content[key] = content[key] + 1 if isinstance(content[key], int) else "none"
    assert told(capsys, "verify", str(file_of(content, tmp_path)))[0] in (1, 2)


def test_a_packet_without_a_path_is_refused(tmp_path: Path) -> None:
    """A packet that is at its destination already would count as delivered."""
    for algorithm in ("direct", "hot-potato"):
        claim = genuine(algorithm)
        claim["instance"]["paths"].append([])
        claim["instance"]["sources"].append(0)
        claim["instance"]["destinations"].append(0)
        claim["packets"] += 1
        report = obliv.verify(file_of(claim, tmp_path))
        assert not report.proved
        assert "is empty" in report.checks[0].detail
