"""Numbers of a page: exact, estimated and bounded ones never look alike."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, Decimal, localcontext
from fractions import Fraction
from typing import Any

from obliv._util.text import printable
from obliv.results.format import short, shown
from obliv.results.numbers import Bounds, Estimate, as_float

__all__ = ["HOW", "ends_of", "how", "text_of", "value_of"]

#: How a number was obtained, by the letter that stands for it in the data of the page.
HOW = {"x": "exact", "e": "estimated", "b": "bounded"}


def how(value: Any) -> str:
    """Return the letter for how a value was obtained; empty for text and for what is missing."""
    if isinstance(value, Estimate):
        return "e"
    if isinstance(value, Bounds):
        return "b"
    return "x" if isinstance(value, Fraction | int) and not isinstance(value, bool) else ""


def value_of(value: Any) -> float | None:
    """Return the number by which rows are sorted and bars drawn: of bounds the lower one; None for all else."""
    if isinstance(value, Bounds):
        value = value.lower
    if isinstance(value, Fraction):
        value = as_float(value)
    if not isinstance(value, Estimate | int | float) or isinstance(value, bool):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def ends_of(value: Any) -> tuple[float, float] | None:
    """Return the ends of a bounded number, or one standard error below and above an estimate; None of exact ones."""
    if isinstance(value, Bounds):
        ends = as_float(value.lower), as_float(value.upper)
    elif isinstance(value, Estimate):
        ends = value.value - value.stderr, value.value + value.stderr
    else:
        return None
    return ends if all(map(math.isfinite, ends)) else None


def text_of(value: Any) -> str:
    """Return a value as the page writes it: bounds as an interval, exact numbers without a sign of approximation.

    Examples
    --------
    >>> text_of(Fraction(5, 12)), text_of(Estimate(0.41, 0.002, 100)), text_of(Bounds(Fraction(2, 5), Fraction(1, 2)))
    ('5/12 = 0.4167', '0.410 ± 0.002', '0.4 to 0.5')
    >>> text_of(Fraction(10**20 + 1, 10**21))
    '0.1000…'
    """
    if isinstance(value, Bounds):
        return shown(value, 4).removeprefix("between ").removeprefix("≈ ").replace(" and ", " to ")
    if isinstance(value, str):
        return printable(value)
    text = short(value)
    return f"{_first_digits(value)}…" if isinstance(value, Fraction) and text.startswith("≈") else text


def _first_digits(value: Fraction) -> str:
    """Return the first four digits of a number, cut off and not rounded."""
    with localcontext() as context:
        context.prec, context.rounding = 4, ROUND_DOWN
        return str(Decimal(value.numerator) / Decimal(value.denominator))
