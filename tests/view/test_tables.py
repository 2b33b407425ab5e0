from __future__ import annotations

import csv
import io
from fractions import Fraction

import numpy as np
import pytest

from obliv.results import Estimate
from obliv.results.numbers import short
from obliv.view import table, to_csv

ROWS = [
    {"routing": "romm", "fraction_of_capacity": Fraction(25, 144), "hops": 4, "ok": True},
    {"routing": "sampled [0,1]", "fraction_of_capacity": Estimate(0.41, 0.002, 100), "hops": None, "ok": False},
]


def printed(made: object) -> str:
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=100, color_system=None).print(made)
    return out.getvalue()


@pytest.mark.nightly
def test_numbers_are_shown_as_what_they_are() -> None:
    text = printed(table(ROWS))
    assert "25/144 = 0.1736" in text
    assert "0.410 ± 0.002" in text
    assert "sampled [0,1]" in text  # brackets are no markup
    assert "yes" in text
    assert "no" in text
    assert "fraction of capacity" in text.splitlines()[0]


def test_numbers_stand_to_the_right() -> None:
    result = table(ROWS)
    assert [column.justify for column in result.columns] == ["left", "right", "right", "left"]


def test_columns_can_be_chosen_and_named() -> None:
    assert [str(c.header) for c in table(ROWS, ["hops", "routing"]).columns] == ["hops", "routing"]
    assert [str(c.header) for c in table(ROWS, {"hops": "H"}).columns] == ["H"]
    assert "-" in printed(table(ROWS, ["nothing"]))
    assert table([], ["a"]).row_count == 0
    assert table(iter(ROWS)).row_count == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (Fraction(25, 144), "25/144 = 0.1736"),
        (Fraction(7), "7"),
        (Fraction(-1, 3), "-1/3 = -0.3333"),
        (Fraction(10**30, 3), "≈ 3.333e+29"),
        (Fraction(10**400), "≈ inf"),
        (Estimate(0.41, 0.002, 9), "0.410 ± 0.002"),
        (Estimate(0.571509, 0.0000312, 9), "0.57151 ± 0.00003"),
        (Estimate(0.5, 0.00006, 9), "0.50000 ± 0.00006"),
        (Estimate(2.12, 0.118, 9), "2.12 ± 0.12"),
        (Estimate(0.1234, 0.00996, 9), "0.123 ± 0.010"),
        (Estimate(0.5, 1e-17, 9), "0.500000 ± <1e-6"),
        (Estimate(12.5, 0.0, 9), "12.5 ± 0"),
        (Estimate(0.0, 0.0, 9), "0 ± 0"),
        (Estimate(1234567.0, 4321.0, 9), "1235000 ± 4000"),
        (Estimate(1e-12, 3e-13, 9), "1e-12 ± 3e-13"),
        (Estimate(1.0, float("nan"), 9), "1 ± nan"),
        (0.123456, "0.1235"),
        (12, "12"),
    ],
)
def test_short_numbers(value: object, text: str) -> None:
    assert short(value) == text  # type: ignore[arg-type]


def test_csv_has_exact_numbers_beside_their_decimals() -> None:
    read = list(csv.DictReader(io.StringIO(to_csv(ROWS))))
    assert list(read[0]) == [
        "routing", "fraction_of_capacity", "fraction_of_capacity_exact", "fraction_of_capacity_stderr", "hops", "ok",
    ]  # fmt: skip
    assert Fraction(read[0]["fraction_of_capacity_exact"]) == Fraction(25, 144)
    assert float(read[0]["fraction_of_capacity"]) == 25 / 144
    assert read[0]["fraction_of_capacity_stderr"] == ""
    assert (read[1]["fraction_of_capacity"], read[1]["fraction_of_capacity_exact"]) == ("0.41", "")
    assert read[1]["hops"] == ""
    assert read[1]["routing"] == "sampled [0,1]"


def test_csv_of_nothing_and_of_uneven_rows() -> None:
    assert to_csv([]).strip() == ""
    assert to_csv([{"a": np.int64(1)}, {"b": "x"}]) == "a,b\n1,\n,x\n"
    assert "\r" not in to_csv(ROWS)


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+cmd|calc", "-2+3", "@SUM(A1)", "-1/3=0", "-", '=a,"b"'])
def test_csv_has_no_formulas(text: str) -> None:
    read = list(csv.reader(io.StringIO(to_csv([{"name": text, text: "x"}]))))
    assert read == [["name", f"'{text}"], [f"'{text}", "x"]]


@pytest.mark.parametrize("text", ["\t=1", "\r=1", "\n=1", "a\rb", "a\nb", "\x1b[31ma", "\u202ea", "\udcffa"])
def test_csv_moves_no_cursor(text: str) -> None:
    result = to_csv([{"name": text, text: "x"}])
    assert all(letter.isprintable() for letter in result.replace("\n", ""))
    (_, second), (first, last) = csv.reader(io.StringIO(result))
    assert first == second
    assert first[0] not in "=\t\r\n"
    assert last == "x"


@pytest.mark.parametrize("value", [-1, -0.5, np.int64(-3), "-1", "+2", "-1/3", "-1.5e-7", "a=b", " =1", "'=1", ""])
def test_csv_keeps_numbers_and_other_text(value: object) -> None:
    assert next(csv.DictReader(io.StringIO(to_csv([{"a": value, "b": 1}]))))["a"] == str(value)


def test_csv_keeps_exact_and_estimated_numbers() -> None:
    assert to_csv([{"a": Fraction(-1, 4), "b": Estimate(-0.5, 0.25, 9)}]) == (
        "a,a_exact,b,b_stderr\n-0.25,-1/4,-0.5,0.25\n"
    )


def test_csv_without_rows_has_its_header() -> None:
    assert to_csv([], ["a", "b"]) == "a,b\n"
    assert to_csv([{"b": 1}], ["a", "b"]) == "b\n1\n"
    assert to_csv([]) == ""
