"""Declared records: fields give JSON and rows, kinds find their class, damaged files are refused."""

from __future__ import annotations

import dataclasses
import json
import pickle
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

import obliv
from obliv.results.base import Channel, Provenance, Result
from obliv.results.codec import Record, codec_of, derived, entry
from obliv.results.numbers import Bounds, Estimate, to_csv


@dataclass(frozen=True)
class Row(Record):
    name: str = entry(column="name")
    load: Fraction | Bounds = entry(column="load")


@dataclass(frozen=True, repr=False)
class Own(Result):
    """A result of a user."""

    kind: ClassVar[str] = "own"
    table: ClassVar[str] = "lines"

    number: Fraction | Estimate | None = entry(None, key="figure", label="figure", reason="not computed")
    lines: tuple[Row, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    more: dict[str, int] = entry(default_factory=dict, omit=lambda own: not own.more)

    @property
    @derived(label="lines")
    def count(self) -> int:
        """How many lines there are."""
        return len(self.lines)


RESULT = Own(
    topology="ring:4",
    routing="dor",
    number=Fraction(-1, 3),
    lines=(Row("a", Fraction(2)), Row("b", Bounds(Fraction(1), Fraction(3, 2)))),
    pairs=((1, 2), (3, 4)),
)


def test_the_fields_give_the_json() -> None:
    assert RESULT.to_dict() | {"provenance": {}} == {
        "kind": "own",
        "topology": "ring:4",
        "routing": "dor",
        "figure": {"exact": "-1/3", "value": -1 / 3},
        "lines": [
            {"name": "a", "load": {"exact": "2", "value": 2.0}},
            {"name": "b", "load": {"lower": 1.0, "upper": 1.5}},
        ],
        "pairs": [[1, 2], [3, 4]],
        "count": 2,
        "provenance": {},
    }
    assert Own().to_dict()["figure_reason"] == "not computed"
    assert next(iter(RESULT.rows())) == {"topology": "ring:4", "routing": "dor", "name": "a", "load": Fraction(2)}
    assert repr(RESULT).splitlines() == ["own: dor on ring:4", "  figure  -1/3 = -0.333333", "  lines   2"]


@dataclass(frozen=True, repr=False)
class Summed(Own):
    """A result with a column that takes a look at all rows."""

    kind: ClassVar[str] = "summed"
    looks: ClassVar[list[int]] = []

    @property
    @derived(column="all")
    def total(self) -> int:
        """The number of letters in all names."""
        self.looks.append(1)
        return sum(len(row.name) for row in self.lines)


def test_figures_of_the_whole_are_not_computed_for_every_row() -> None:
    result = Summed(lines=tuple(Row(f"{k}", Fraction(k)) for k in range(100)))
    assert [row["all"] for row in result.rows()] == [190] * 100
    assert len(Summed.looks) == 1


def test_a_kind_of_a_user_is_found(tmp_path: Path) -> None:
    RESULT.save(tmp_path / "own.json")
    assert obliv.load(tmp_path / "own.json") == RESULT


def test_time_is_not_compared_and_the_subject_stays_at_home() -> None:
    slow = dataclasses.replace(RESULT, provenance=Provenance(wall_seconds=9.0), subject=object())
    assert slow == RESULT
    assert hash(slow) == hash(RESULT)
    assert slow != dataclasses.replace(RESULT, topology="ring:5")
    again = pickle.loads(pickle.dumps(slow))
    assert again == slow
    assert again.subject is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("channel_load", None),
        ("channel_load", 2),
        ("channel_load", {"exact": "1/0", "value": 0}),
        ("channel", {"id": "0", "tail": 0, "head": 1}),
        ("channel", [0, 0, 1]),
        ("permutation", [0.5]),
        ("focus_channels", True),
        ("provenance", []),
        ("capacity", {"lower": 0, "upper": 1}),
    ],
)
def test_damaged_files_are_refused_by_key(key: str, value: Any, tmp_path: Path) -> None:
    data = obliv.worst_case(obliv.routing("dor", obliv.ring(5))).to_dict()
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(data | {key: value}))
    with pytest.raises(obliv.FileError, match=key):
        obliv.load(path)
    del data[key]
    path.write_text(json.dumps(data))
    if key not in ("permutation",):  # left out where there are only estimates
        with pytest.raises(obliv.FileError, match=f"{key}' is missing.*another version of obliv"):
            obliv.load(path)


def test_codecs_follow_types() -> None:
    codec = codec_of(tuple[Channel | None, ...])
    assert codec.decode(codec.encode((Channel(1, 2, 3), None))) == (Channel(1, 2, 3), None)
    with pytest.raises(TypeError, match="no codec"):
        codec_of(set[int])


def test_bounds_are_two_columns_of_csv() -> None:
    text = to_csv(RESULT.rows())
    assert text.splitlines() == [
        "topology,routing,name,load,load_exact,load_lower,load_upper",
        "ring:4,dor,a,2.0,2,,",
        "ring:4,dor,b,,,1.0,1.5",
    ]
