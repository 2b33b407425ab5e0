"""The rule that judges every row, with a counterexample on either side of each edge."""

from __future__ import annotations

import importlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.papers.reproduction import DOCS

from obliv import Bounds, Estimate, InputError, papers
from obliv.papers.paper import AtMost, verdict
from obliv.results.numbers import number


@pytest.mark.parametrize(
    ("printed", "computed", "expected"),
    [
        ("0.278", Fraction(5, 18), "match"),
        ("0.277", Fraction(5, 18), "rounding"),  # cut off
        ("0.276", Fraction(5, 18), "differs"),
        ("0.279", Fraction(5, 18), "differs"),
        ("0.173", Fraction(25, 144), "rounding"),
        ("0.174", Fraction(25, 144), "match"),
        (".286", Fraction(2, 7), "match"),
        ("1", Fraction(1), "match"),
        ("1", Fraction(2), "differs"),
        ("1", Fraction(3, 2), "rounding"),
        ("2", Fraction(3, 2), "match"),  # half up
        ("0.12", Fraction(1, 8), "rounding"),
        ("0.13", Fraction(1, 8), "match"),
        ("0.14", Fraction(1, 8), "differs"),
        ("0.120", Fraction(1, 8), "differs"),  # a printed zero is a digit
        ("0.125", Fraction(1, 8), "match"),
        ("-0.3", Fraction(-1, 3), "match"),
        ("-0.3", Fraction(1, 3), "differs"),
        ("-0.6", Fraction(-2, 3), "rounding"),
        ("62.3%", Fraction(5, 8), "differs"),
        ("62.5 %", Fraction(5, 8), "match"),
        ("62%", Fraction(5, 8), "rounding"),
        ("62", Fraction(5, 8), "differs"),
        ("12", Fraction(12), "match"),
        (Fraction(1), Fraction(1001, 1000), "differs"),  # meant exactly
        (Fraction(1), Fraction(1), "match"),
    ],
)
def test_exact_numbers(printed: str | Fraction, computed: Fraction, expected: str) -> None:
    assert verdict(printed, computed) == expected


@pytest.mark.parametrize(
    ("printed", "stderr", "expected"),
    [
        ("0.255", 0.01, "rounding"),
        ("0.255", 0.006, "differs"),
        ("0.285", 0.01, "rounding"),
        ("27%", 0.0001, "rounding"),  # as printed
        ("28%", 0.0001, "differs"),  # estimates are not cut off either
        ("28%", 0.0004, "rounding"),
        ("0.275", 0.0001, "differs"),
    ],
)
def test_an_estimate_is_held_to_three_standard_errors_and_never_matches(
    printed: str, stderr: float, expected: str
) -> None:
    assert verdict(printed, Estimate(0.274, stderr, 60)) == expected


def test_an_estimate_without_error_does_not_pass_for_near() -> None:
    assert verdict("0.274", Estimate(0.2741, 0.0, 1)) == "rounding"
    assert verdict("0.2740", Estimate(0.2741, 0.0, 1)) == "differs"
    assert verdict(Fraction(274, 1000), Estimate(0.2741, 0.0, 1)) == "differs"
    assert verdict(Fraction(1, 2), Estimate(0.5, 0.0, 1)) == "rounding"


def test_bounds() -> None:
    assert verdict("0.14", Bounds(Fraction(0), Fraction(1, 8))) == "differs"
    assert verdict("0.12", Bounds(Fraction(0), Fraction(1, 8))) == "rounding"
    assert verdict("0.12", Bounds(Fraction(121, 1000), Fraction(1, 8))) == "differs"


@pytest.mark.parametrize(
    ("computed", "expected"),
    [
        (Fraction(3), "match"),
        (Fraction(301, 100), "differs"),
        (Estimate(2.6, 0.1, 9), "rounding"),
        (Estimate(3.2, 0.1, 9), "rounding"),
        (Estimate(3.4, 0.1, 9), "differs"),
        (Bounds(Fraction(2), Fraction(3)), "match"),
        (Bounds(Fraction(2), Fraction(4)), "rounding"),
        (Bounds(Fraction(7, 2), Fraction(4)), "differs"),
    ],
)
def test_upper_bounds(computed: Fraction | Estimate | Bounds, expected: str) -> None:
    assert verdict(AtMost(Fraction(3)), computed) == expected


@pytest.mark.parametrize("printed", ["", ".", "about half", "1e3", "1/2", "0.25.5", "%", "nan"])
def test_words_are_no_numbers(printed: str) -> None:
    with pytest.raises(InputError, match="not a printed number"):
        verdict(printed, Fraction(1, 2))


@given(st.fractions(min_value=0, max_value=1000, max_denominator=10**6), st.integers(1, 6))
def test_rounded_matches_cut_off_agrees_and_the_next_digit_does_not(value: Fraction, digits: int) -> None:
    def as_printed(number: int) -> str:
        return f"{number // 10**digits}.{number % 10**digits:0{digits}d}"

    scaled = value * 10**digits
    down = scaled.numerator // scaled.denominator
    nearest = down + (scaled - down >= Fraction(1, 2))
    assert verdict(as_printed(nearest), value) == "match"
    assert verdict(as_printed(down), value) == ("match" if down == nearest else "rounding")
    assert verdict(as_printed(nearest + 1), value) == "differs"
    if down:
        assert verdict(as_printed(down - 1), value) == "differs"


def test_numbers_never_look_alike() -> None:
    assert number(Fraction(25, 144)) == {"exact": "25/144", "value": 25 / 144}
    assert number(Estimate(0.27, 0.01, 60)) == {"value": 0.27, "stderr": 0.01, "samples": 60}
    assert number(Bounds(Fraction(0), Fraction(1, 8))) == {"lower": 0.0, "upper": 0.125}


def test_the_verb_lists_every_paper_and_table() -> None:
    page = (DOCS / "reference/verbs/reproduce.md").read_text(encoding="utf-8").splitlines()
    for name in papers.known():
        listed = next(line for line in page if line.startswith(f"| [`{name}`]"))
        tables = importlib.import_module(f"obliv.papers.{name.replace('-', '_')}").PAPER.tables
        assert listed.endswith("| " + " ".join(f"`{table}`" for table in tables) + " |")
        assert f"explanation/papers/{name}.md" in listed
        assert (DOCS / "explanation/papers" / f"{name}.md").exists()
