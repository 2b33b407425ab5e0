"""Rationals: exact numbers from text and floats."""

from __future__ import annotations

import re
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

from obliv.errors import InputError, SpecError

__all__ = [
    "boolean",
    "exact",
    "fraction",
    "integer",
    "positive",
    "rational",
    "real",
    "share",
    "speed",
    "speed_hint",
    "unit",
]

# Digits and exponents are limited because a short text such as 1e999999999 stands for a number that fills the memory.
_NUMBER = re.compile(r"[+-]?(\d+(/\d+|\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)
_DIGITS = 1000
_PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_UNIT = re.compile(r"(?P<prefix>[kmgtp]?)(?P<word>[a-z/]*)", re.IGNORECASE | re.ASCII)
_RATE = re.compile(r"(?P<number>.*[\d.])[ \t]*(?P<unit>[a-z/]*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_BITS = frozenset(("", "b", "bit", "bits", "bps", "b/s", "bit/s", "bits/s"))
_ETHERNET = frozenset(("e", "be", "ige"))  # 10GE, 10GbE, 10GigE
_BYTES = re.compile(r"(?:B(?:ps|PS|/[sS])?|(?i:bytes?)(?:/[sS])?)")


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


def positive(text: str) -> Fraction | None:
    """Return the positive rational that a text stands for; None if it is anything else."""
    number = rational(text)
    return number if number is not None and number > 0 else None


def unit(text: str) -> int | None:
    """Return the bit/s of a unit such as ``G``, ``Mbps``, ``Gbit/s`` or ``GbE``; None if it is unknown, or of bytes.

    Examples
    --------
    >>> unit("G"), unit("Mb/s"), unit("GbE"), unit("GB/s"), unit("furlong")
    (1000000000, 1000000, 1000000000, None, None)
    """
    match = _UNIT.fullmatch(text.strip())
    if match is None:
        return None
    word = match["word"].replace("/sec", "/s")
    known = word.lower() in _BITS or (match["prefix"] and word.lower() in _ETHERNET)
    return _PREFIXES[match["prefix"].lower()] if known and not _BYTES.fullmatch(word) else None


def speed(text: str) -> Fraction | None:
    """Return the positive rational that a rate stands for, in bit/s if it has a unit; None if it is invalid.

    Examples
    --------
    >>> speed("10"), speed("2.5 Gb/s"), speed("100 Mbit"), speed("-1G"), speed("10 GB/s")
    (Fraction(10, 1), Fraction(2500000000, 1), Fraction(100000000, 1), None, None)
    """
    match = _RATE.fullmatch(text.strip()) if len(text) <= _DIGITS else None
    number = match and positive(match["number"])
    bits = match and unit(match["unit"])
    return number * bits if number and bits else None


def speed_hint(text: str) -> str:
    """Return what to say of a text that :func:`speed` does not take.

    Examples
    --------
    >>> speed_hint("10 GB/s")
    'it is in bytes: write bits, such as 10 Gb/s, 8 for each byte'
    """
    match = _RATE.fullmatch(text.strip()) if len(text) <= _DIGITS else None
    if match and _BYTES.fullmatch(match["unit"].replace("/sec", "/s").lstrip("kKmMgGtTpP")):
        return "it is in bytes: write bits, such as 10 Gb/s, 8 for each byte"
    return "it must be a positive, finite number such as 10, 2.5 or 1/3, or a rate such as 10G or 2.5 Gb/s"


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
    """Return a whole number of any type as Python's; raise InputError for anything else, also for True and False."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputError(f"{what} {value!r:.60} is not a whole number")
    return int(value)


def boolean(value: Any, what: str) -> bool:
    """Return a truth value as Python's; raise InputError for anything else, such as "no", which would count as true."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
        raise InputError(f"{what} {value!r:.60} is neither True nor False")
    return bool(value)


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
