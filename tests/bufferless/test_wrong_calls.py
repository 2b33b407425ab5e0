"""Mistakes in Python: paths, networks, options and constants that do not fit; instances with little to route."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import mistakes
from tests.bufferless.plain import ONE_EACH, plain, proved, without_time
from tests.oracles import schedules as oracle

import obliv
import obliv.kernels
from obliv.bufferless import instance, instances, schedule, schedules


def mistake(call: Callable[[], Any]) -> str:
    """Return the one line of an error that neither blames the program nor Python."""
    text = mistakes.mistake(call)
    assert "fault" not in text
    assert "not supported between" not in text, "an inner message"
    return text


BROKEN_PATHS = [
    [[0, 2]],
    [[1, 0]],
    [[0, 0]],
    [[2, 1, 0]],
    [[0], [0, 2]],
    [[7]],
    [[-1]],
    [[2**40]],
    [[10**30]],
    [[0.5]],
    [[0, 1.0]],
    [[True]],
    [["a"]],
    [[None]],
    [0, 1],
    5,
    None,
    [[[0]]],
    [[math.nan]],
]


@pytest.mark.parametrize("paths", BROKEN_PATHS)
def test_paths_that_are_none(paths: Any) -> None:
    mistake(lambda: instance("array:4", paths))


@pytest.mark.parametrize(
    ("spec", "kind", "word"),
    [
        ("butterfly:3", "rnadom", "random"),
        ("butterfly:3", "transpos", "transpose"),
        ("butterfly:3", "transpose", "even"),
        ("leveled-mesh:3x4", "bit-reverse", "power of two"),
        ("random-leveled:L=4,W=3", "bit-reverse", "power of two"),
        ("mesh:3x3", "random", "leveled-mesh:3x3"),
        ("line:3", "random", "array:3"),
        ("hypercube:3", "random", "leveled-hypercube:3"),
        ("torus:3x3", "random", "levels"),
        ("complete:4", "random", "levels"),
        ("butterfly:0", "random", "at least"),
        ("butterfly:40", "random", "too many"),
        ("leveled-mesh:1x1", "random", "two nodes"),
        ("array:1", "random", "two nodes"),
        ("deep:L=3,W=2,S=4", "random", "3"),
        ("random-leveled:L=0,W=2", "random", "L"),
        ("multibutterfly:3,d=0", "random", "d"),
        ("unrolled-fattree:1,3", "random", "arity"),
        ("buterfly:3", "random", "butterfly"),
    ],
)
def test_kinds_and_networks_that_do_not_fit(spec: str, kind: str, word: str) -> None:
    assert word in mistake(lambda: instance(spec, kind))


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("array:4", {"foo": 1}),
        ("array:4", {"rate": 2}),
        ("array:4", {"rate": math.nan}),
        ("array:4", {"maxlen": 0}),
        ("butterfly:3", {"rate": 0.5}),
        ("leveled-mesh:3x3", {"route": "zz"}),
        ("leveled-hypercube:3", {"probability": 2}),
        ("random-leveled:L=4,W=2", {"packets": 0}),
        ("random-leveled:L=4,W=2", {"packets": 10**20}),
        ("random-leveled:L=4,W=2", {"minlen": 5}),
        ("random-leveled:L=4,W=2", {"minlen": 3, "maxlen": 2}),
        ("array:4", {"seed": -1}),
        ("array:4", {"seed": "x"}),
        ("array:4", {"seed": 1.5}),
        ("array:4", {"maxlen": 1.5}),
        ("array:4", {"rate": "a"}),
    ],
)
def test_options_of_paths_that_do_not_fit(spec: str, options: dict[str, Any]) -> None:
    mistake(lambda: instance(spec, "random", **options))


def crowded() -> Any:
    """On 30 nodes in a row, every one sends to the last."""
    return instance("array:30", [list(range(i, 29)) for i in range(29)])


@pytest.mark.parametrize(
    ("algorithm", "options", "word"),
    [
        ("hotpotato", {}, "hot-potato"),
        ("centralised", {}, "centralized"),
        ("", {}, "direct"),
        ("hot-potato", {"priority": "oldest"}, "did you mean"),
        ("fifo", {"priority": "age"}, "priority"),
        ("direct", {"constants": "paper"}, "constants"),
        ("direct", {"order": "first"}, "farthest"),
        ("centralized", {"constants": "best"}, "tuned"),
        ("distributed", {"constants": "best"}, "tuned"),
        ("centralized", {"chi": 3}, "chi"),
        ("centralized", {"segments": "long"}, "tight"),
        ("distributed", {"timetable": "magic"}, "oracle"),
        ("distributed", {"tie": "magic"}, "survives"),
        ("centralized", {"lam": 7}, "even"),
        ("centralized", {"lam": 0}, "even"),
        ("centralized", {"lam": -4}, "even"),
        ("centralized", {"lam": 2.5}, "even"),
        ("centralized", {"lam": math.nan}, "even"),
        ("centralized", {"s": 0}, "at least 1"),
        ("centralized", {"s": -1}, "at least 1"),
        ("distributed", {"lam": 13, "chi": 1}, "even"),
        ("distributed", {"lam": 6, "chi": 2}, "12"),
        ("distributed", {"chi": 0}, "at least 1"),
        ("distributed", {"s": 0}, "at least 1"),
        ("centralized", {"lam": 4, "s": 1}, "raise lam"),
        ("distributed", {"lam": 6, "chi": 1, "s": 1}, "raise chi"),
        (None, {}, ""),
        ("centralized", {"lam": 10**12}, ""),
        ("centralized", {"lam": 10**30}, ""),
        ("centralized", {"s": 10**30}, ""),
        ("centralized", {"lam": "x"}, ""),
        ("centralized", {"s": "x"}, ""),
        ("centralized", {"s": 2.5}, ""),
        ("centralized", {"lam": 8.0}, ""),
        ("distributed", {"chi": "x"}, ""),
        ("distributed", {"chi": 10**30}, ""),
        ("distributed", {"s": 10**12}, ""),
        ("distributed", {"s": 10**30}, ""),
        ("distributed", {"lam": 10**30}, ""),
        ("direct", {"seed": -1}, ""),
        ("direct", {"seed": 1.5}, ""),
        ("direct", {"seed": "x"}, ""),
    ],
)
def test_algorithms_and_constants_that_do_not_fit(algorithm: Any, options: dict[str, Any], word: str) -> None:
    case = crowded()
    assert word in mistake(lambda: schedule(case, algorithm, **options))


def test_more_sets_than_make_sense() -> None:
    text = mistake(lambda: schedule(instance("array:4", [[0, 1], [1]]), "centralized", lam=4, s=2**33, rng=1))
    assert "at most" in text


def test_a_frame_too_large_for_memory_is_laid_to_lambda() -> None:
    text = mistake(lambda: schedule(instance("butterfly:3"), "distributed", lam=10**12))
    assert "lam" in text


def test_half_a_boat_is_laid_to_chi() -> None:
    assert "chi" in mistake(lambda: schedule(instance("butterfly:3"), "distributed", chi=1.5)).split(";")[0]


def test_what_is_no_instance() -> None:
    for wrong in (None, "array:4", 5, [instance("array:3")]):
        mistake(lambda wrong=wrong: schedule(wrong))
    for wrong in (None, "array:4", 5, []):
        mistake(lambda wrong=wrong: schedules(wrong))
    for spec in ("torus:3x3", "ring:5", None, 5):
        mistake(lambda spec=spec: instances(spec))


def test_one_packet_a_source_for_the_distributed_algorithm_only() -> None:
    case = instance("array:4", [[0, 1], [0], [1, 2]])
    text = mistake(lambda: schedule(case, "distributed", constants="tuned"))
    assert "packets 0 and 1" in text
    for algorithm, options in ONE_EACH:
        if algorithm != "distributed":
            result = schedule(case, algorithm, **options)
            assert result.verified
            oracle.audit_all(plain(result))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("paths", [[], [[0]], [[0]] * 7, [[0, 1]], [[0], [1], [2]], [[0, 1, 2]] * 3])
def test_hardly_anything_to_route(paths: list[list[int]], tmp_path: Path) -> None:
    case = instance("array:4", paths)
    for algorithm, options in (*ONE_EACH, ("centralized", {"constants": "paper"}), ("distributed", {})):
        if algorithm == "distributed" and not case.one_source:
            continue
        result = schedule(case, algorithm, **options)
        assert result.verified
        assert result.packets == len(paths)
        if paths and "lam" not in options:
            oracle.audit_all(plain(result))
        assert str(result)
        assert "nan" not in repr(result)
        result.to_dataframe()
        if not paths:
            continue
        assert proved(plain(result), tmp_path)
        remaining = tmp_path / "kept.json.gz"
        result.save(remaining)
        assert without_time(obliv.load(remaining)) == without_time(result) | {"verified": False}


def test_nothing_at_all_can_be_kept(tmp_path: Path) -> None:
    result = schedule(instance("array:4", []), "direct")
    remaining = tmp_path / "kept.json"
    result.save(remaining)
    assert without_time(obliv.load(remaining)) == without_time(result) | {"verified": False}
    assert obliv.verify(remaining).proved


def test_packets_that_are_there_already_are_told() -> None:
    case = instance("array:4", [[0], [], [1, 2]])
    assert case.packets == 2
    assert any(note.startswith("1 ") for note in case.notes)


def test_two_notes_in_one_message_are_two_sentences() -> None:
    text = mistake(lambda: instance("leveled-mesh:4x4", "transpose"))
    assert "left out 12" not in text
