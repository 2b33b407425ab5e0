"""The one rule by which a computed number is held against a printed one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from obliv.errors import InputError
from obliv.results import Bounds, Estimate

__all__ = ["AtLeast", "AtMost", "Bounds", "Computed", "Said", "exactly", "verdict"]

_PRINTED = re.compile(r"([+-]?)(\d*)(?:\.(\d+))?\s*(%?)\Z")


@dataclass(frozen=True)
class AtMost:
    """What a paper says with "no more than": an upper bound."""

    bound: Fraction


@dataclass(frozen=True)
class AtLeast:
    """What a paper says with "larger than": a lower bound."""

    bound: Fraction


Computed = Fraction | Estimate | Bounds


def exactly(value: Fraction | Estimate | None) -> Fraction:
    """Return a number that has to be exact."""
    if not isinstance(value, Fraction):
        raise TypeError(f"{value} is not exact")
    return value


Said = str | Fraction | AtLeast | AtMost


def verdict(published: Said, computed: Computed) -> str:
    """How a computed number stands to a published one.

    Parameters
    ----------
    published : str, Fraction, AtMost or AtLeast
        A decimal as printed (``"0.278"``, ``"62.3 %"``), a number that is meant exactly, or a bound.
    computed : Fraction, Estimate or Bounds

    Returns
    -------
    {"match", "rounding", "differs"}
        For an exact number: ``match`` if it is equal to one that is meant exactly, or rounds (half up) to exactly the
        printed digits; ``rounding`` if only cutting it off gives them. For an estimate: ``rounding`` if it is within
        three standard errors of a number that rounds to the print. For bounds: ``rounding`` if the print lies between
        them. A bound is kept (``match``), kept as far as an estimate can tell (``rounding``) or not. No
        tolerance is ever chosen.

    Examples
    --------
    >>> verdict("0.278", Fraction(5, 18)), verdict("0.173", Fraction(25, 144)), verdict("62.3%", Fraction(5, 8))
    ('match', 'rounding', 'differs')
    """
    if isinstance(published, AtLeast):
        return _beyond(published.bound, computed)
    if isinstance(published, AtMost):
        return _within(published.bound, computed)
    if isinstance(computed, Estimate):
        half = _unit(published) / 2 if isinstance(published, str) else Fraction(0)
        near = abs(computed.value - float(_number(published))) <= float(half) + 3 * computed.stderr
        return "rounding" if near else "differs"
    if isinstance(computed, Bounds):
        return "rounding" if computed.lower <= _number(published) <= computed.upper else "differs"
    if isinstance(published, Fraction):
        return "match" if computed == published else "differs"
    unit = _unit(published)
    printed = _number(published) / unit
    # cutting off and rounding half up go by the size of the number, whatever its sign
    size, sign = abs(computed / unit), -1 if computed < 0 else 1
    if sign * floor(size + Fraction(1, 2)) == printed:
        return "match"
    return "rounding" if sign * floor(size) == printed else "differs"


def _within(bound: Fraction, computed: Computed) -> str:
    if isinstance(computed, Estimate):
        return "rounding" if computed.value - 3 * computed.stderr <= float(bound) else "differs"
    if isinstance(computed, Bounds):
        return "match" if computed.upper <= bound else "rounding" if computed.lower <= bound else "differs"
    return "match" if computed <= bound else "differs"


def _beyond(bound: Fraction, computed: Computed) -> str:
    if isinstance(computed, Estimate):
        return "rounding" if computed.value + 3 * computed.stderr >= float(bound) else "differs"
    if isinstance(computed, Bounds):
        return "match" if computed.lower >= bound else "rounding" if computed.upper >= bound else "differs"
    return "match" if computed >= bound else "differs"


def _number(published: str | Fraction) -> Fraction:
    if isinstance(published, Fraction):
        return published
    sign, whole, decimals, percent = _parts(published)
    size = Fraction(int(whole + decimals or "0"), 10 ** len(decimals) * (100 if percent else 1))
    return -size if sign == "-" else size


def _unit(published: str) -> Fraction:
    """One in the last printed digit."""
    _, _, decimals, percent = _parts(published)
    return Fraction(1, 10 ** len(decimals) * (100 if percent else 1))


def _parts(published: str) -> tuple[str, str, str, str]:
    found = _PRINTED.match(published.strip())
    if not found or not (found[2] or found[3]):
        raise InputError(f"{published!r} is no printed number, such as 0.278 or 62.3 %")
    return found[1], found[2], found[3] or "", found[4]
