"""Nonsense in place of every number, word, truth and null of every kind of claim: one line, never an internal error."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.checker.leaves import CLAIMS, Trail, at, changed, content_of, leaves, nodes

import obliv
from obliv._util.files import unpack_array, write_json
from obliv.view import write_report


def _exact(text: Any) -> dict[str, Any]:
    return {"exact": text, "value": 0.0}


#: Zeros, negative and huge numbers, what is no number, and other types.
NONSENSE: tuple[Any, ...] = (
    _exact("0"), 0, _exact("-1"), -1, 10**400, _exact("9" * 400), 2**63, -(2**63) - 1, 1e308, 0.5,
    float("nan"), float("inf"), "x", "", "0", "-1", "1/0", None, True, [], {}, [[0]], _exact("1/0"), _exact("x"),
    _exact(3), {"exact": "1", "value": "x"}, {"lower": 0, "upper": 0}, {"lower": float("nan"), "upper": float("inf")},
    {"value": float("nan"), "stderr": -1, "samples": 0},
)  # fmt: skip


def _packed(data: Any, shape: Any) -> dict[str, Any]:
    return {"b64zlib": data, "dtype": "int64", "shape": shape}


#: Arrays of other forms, damaged and too large.
ARRAYS: tuple[Any, ...] = (
    [0], [[]], [[1, 2]], [[0, 0, 0, 0]], [[[0, 0, 1]]], [[0, 0], [0]], [[2**62] * 3], [2**63 - 1], [-1], "7",
    _packed("AAAA", [1]), _packed("!", [1]), _packed("", None), _packed(3, [0]), _packed("", [2**31 - 1]),
    *(_packed("eJwDAAAAAAE=", shape) for shape in ([], [0], [0, 7])),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def work_here(work: Any, claim: Any, options: Any, **how: Any) -> Any:
        return work(claim, options, how["progress"])

    monkeypatch.setattr(importlib.import_module("obliv.checker.verify"), "bounded", work_here)
    monkeypatch.chdir(tmp_path)


def _load() -> None:
    result = obliv.load("forged.json")
    assert repr(result)
    assert result.to_dict()["kind"] == result.kind
    list(result.rows())


READERS: dict[str, Callable[[], Any]] = {
    "verify": lambda: repr(obliv.verify("forged.json")),
    "load": _load,
    "explain": lambda: repr(obliv.explain("forged.json", 0)),
    "report": lambda: write_report("forged.json", "report.html", networks=0),
}


def _places(content: Any) -> Iterator[Trail]:
    """Yield the first place of each name."""
    seen = set()
    for trail in leaves(content):
        name = tuple("*" if isinstance(key, int) else key for key in trail)
        if name not in seen:
            seen.add(name)
            yield trail


def _read(content: Any, trail: Trail, value: Any, readers: tuple[str, ...]) -> None:
    write_json(changed(content, trail, value), Path("forged.json"))
    for reader in readers:
        try:
            READERS[reader]()
        except obliv.OblivError as error:
            line = str(error)
            assert "\n" not in line, (trail, value)
            assert "internal" not in line, (trail, value)
            assert len(line) < 400, (trail, value)


@pytest.mark.parametrize("kind", CLAIMS)
def test_some_nonsense_in_some_places(kind: str) -> None:
    """Every third place gets one of the values, in turn."""
    content, few = content_of(CLAIMS[kind]()), ("explain",) if "worst" in kind else ()
    for number, trail in enumerate(_places(content)):
        if number % 3 == len(kind) % 3:
            _read(content, trail, NONSENSE[(number // 3 + len(kind)) % len(NONSENSE)], ("load", "verify", *few))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", CLAIMS)
def test_all_nonsense_in_all_places(kind: str) -> None:
    content = content_of(CLAIMS[kind]())
    for trail in _places(content):
        for value in NONSENSE:
            _read(content, trail, value, tuple(READERS))


def _check_arrays(kind: str, few: int) -> None:
    """Put so many arrays of other forms in turn into the first place of each list of a certificate."""
    content, seen = content_of(CLAIMS[kind]()), set()
    for trail in nodes(content):
        name, value = tuple("*" if isinstance(key, int) else key for key in trail), at(content, trail)
        is_array = isinstance(value, list) or (isinstance(value, dict) and "b64zlib" in value)
        if is_array and "certificate" in name and name not in seen:
            for other in range(few):
                _read(content, trail, ARRAYS[(len(seen) + other) % len(ARRAYS)], ("load", "verify"))
            seen.add(name)


def test_some_other_arrays() -> None:
    _check_arrays("design ratio", 3)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", CLAIMS)
def test_all_other_arrays(kind: str) -> None:
    _check_arrays(kind, len(ARRAYS))


def test_a_damaged_array_is_no_other_error() -> None:
    """Readers of claims expect these three."""
    for array in ARRAYS[9:]:
        with suppress(ValueError, KeyError, TypeError):
            unpack_array(array)
    with pytest.raises(ValueError, match="a compressed array is damaged"):
        unpack_array(_packed("AAAA", [1]))


def test_a_capacity_of_0_is_refused() -> None:
    """No summary divides by it, but the figures of a file do."""
    content = content_of(CLAIMS["channels"]())
    for value in (_exact("0"), None):
        _read(content, ("capacity",), value, tuple(READERS))


def test_a_mean_whose_square_is_no_float_is_refused() -> None:
    _read(content_of(CLAIMS["design average"]()), ("average_load", "value"), 1e308, tuple(READERS))
