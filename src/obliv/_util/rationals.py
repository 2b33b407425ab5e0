"""Rationals: exact numbers from text and floats."""

from __future__ import annotations

import re
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

from obliv.errors import InputError, SpecError

__all__ = ["exact", "fraction", "integer", "rational", "real", "share"]

# Digits and exponents are limited because a short text such as 1e999999999 stands for a number that fills the memory.
_NUMBER = re.compile(r"[+-]?(\d+(/\d+|\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)
_DIGITS = 1000


def rational(text: str) -> Fraction | None:
    """Return the rational that a text stands for, such as ``1/3``, ``2``, ``0.25`` or ``1e-3``; None if invalid."""
    word = text.strip()
    if len(word) > _DIGITS or not _NUMBER.fullmatch(word):
        return None
    try:
        return Fraction(word)
    except (ValueError, ZeroDivisionError):
        return None


def fraction(text: str) -> Fraction:
    """Return the rational that a text stands for, as :func:`rational` does; SpecError if it is invalid."""
    number = rational(text)
    if number is None:
        raise SpecError(f"{text.strip()[:40]!r} is not a number: write 1/3, 2 or 0.25")
    return number


def exact(value: Any) -> Fraction | None:
    """Return a number as an exact one; None if it is not a finite number.

    A float stands for the simplest rational that rounds to it, so that 0.1 + 0.9 and 1/3 + 2/3 are one.

    Examples
    --------
    >>> exact(0.1), exact("2/6"), exact(float("inf"))
    (Fraction(1, 10), Fraction(1, 3), None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, Integral):  # NumPy's integers would overflow inside a Fraction
        return Fraction(int(value))
    plain = float(value) if isinstance(value, Real) and not isinstance(value, Rational) else value
    try:
        number = rational(plain) if isinstance(plain, str) else Fraction(plain)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        return None
    if number is not None and isinstance(plain, float):
        simple = number.limit_denominator(10**7 if getattr(value, "itemsize", 8) >= 8 else 10**3)
        number = simple if type(value)(float(simple)) == value else number
    return number


def integer(value: Any, what: str) -> int:
    """Return a whole number of any type as Python's; raise InputError for anything else."""
    if not isinstance(value, Integral):
        raise InputError(f"{what} {value!r:.60} is not a whole number")
    return int(value)


def real(value: Any, what: str) -> float:
    """Return a real number of any type as Python's float; raise InputError for anything else, also for NaN."""
    if not isinstance(value, Real) or value != value:
        raise InputError(f"{what} {value!r:.60} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{what} is beyond the range of floats") from None


def share(value: Any) -> Fraction | None:
    """Return a probability as an exact number; None if it is not one. For floats see :func:`exact`."""
    number = exact(value)
    return number if number is not None and 0 <= number <= 1 else None
