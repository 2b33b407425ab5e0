"""The rule that compares a computed number with a printed one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from obliv import Bounds, Estimate, InputError

__all__ = ["AtLeast", "AtMost", "Bounds", "Computed", "Said", "exactly", "fitting", "verdict"]

_PRINTED = re.compile(r"([+-]?)(\d*)(?:\.(\d+))?\s*(%?)\Z")


@dataclass(frozen=True)
class AtMost:
    """An upper bound, printed as "no more than"."""

    bound: Fraction


@dataclass(frozen=True)
class AtLeast:
    """A lower bound, printed as "larger than"."""

    bound: Fraction


Computed = Fraction | Estimate | Bounds


def exactly(value: Fraction | Estimate | None) -> Fraction:
    """Return a number that has to be exact."""
    if not isinstance(value, Fraction):
        raise TypeError(f"{value} is not exact")
    return value


Said = str | Fraction | AtLeast | AtMost | Bounds


def verdict(published: Said, computed: Computed) -> str:
    """Compare a computed number with a published one.

    Parameters
    ----------
    published : str, Fraction, AtMost, AtLeast or Bounds
        A decimal as printed (``"0.278"``, ``"62.3 %"``), an exact number, a bound, or both bounds.
    computed : Fraction, Estimate or Bounds
        The computed number.

    Returns
    -------
    {"match", "rounding", "differs"}
        For an exact number: ``match`` if it equals an exact published number, or rounds (half up) to the printed
        digits; ``rounding`` if only truncation gives them. For an estimate: ``rounding`` if it is within three standard
        errors of a number that rounds to the printed digits. For bounds: ``rounding`` if the printed number lies
        between them. A published bound holds (``match``), holds within three standard errors (``rounding``), or not.

    Examples
    --------
    >>> verdict("0.278", Fraction(5, 18)), verdict("0.173", Fraction(25, 144)), verdict("62.3%", Fraction(5, 8))
    ('match', 'rounding', 'differs')
    """
    if isinstance(published, AtLeast):
        return _beyond(published.bound, computed)
    if isinstance(published, AtMost):
        return _within(published.bound, computed)
    if isinstance(published, Bounds):
        sides = {_beyond(Fraction(published.lower), computed), _within(Fraction(published.upper), computed)}
        return next(side for side in ("differs", "rounding", "match") if side in sides)
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
    # truncate and round half up by the absolute value
    size, sign = abs(computed / unit), -1 if computed < 0 else 1
    if sign * floor(size + Fraction(1, 2)) == printed:
        return "match"
    return "rounding" if sign * floor(size) == printed else "differs"


def fitting(published: Said, computed: Computed) -> str:
    """Return which numbers fit, in a few characters; a number of another kind than `computed` may fit differently.

    Examples
    --------
    >>> fitting("0.278", Fraction(5, 18)), fitting(AtMost(Fraction(3)), Estimate(2.9, 0.1, 60))
    ('in [0.2775, 0.279)', '≤ 3 ± 3 s.e.')
    """
    if isinstance(computed, Bounds) and isinstance(published, str | Fraction):
        return f"around {published}"
    off = " ± 3 s.e." if isinstance(computed, Estimate) else ""
    if isinstance(published, AtMost):
        return f"≤ {_brief(published.bound)}{off}"
    if isinstance(published, AtLeast):
        return f"≥ {_brief(published.bound)}{off}"
    if isinstance(published, Bounds):
        return f"in [{_brief(published.lower)}, {_brief(published.upper)}]{off}"
    if isinstance(published, Fraction):
        return f"{published}{off}"
    number, unit = _number(published), _unit(published)
    if isinstance(computed, Estimate):
        return f"in [{_brief(number - unit / 2)}, {_brief(number + unit / 2)}]{off}"
    rounded, cut = abs(number) - unit / 2, abs(number) + unit
    if number > 0:
        return f"in [{_brief(rounded)}, {_brief(cut)})"
    return f"in ({_brief(-cut)}, {_brief(-rounded)}]" if number else f"in ({_brief(-cut)}, {_brief(cut)})"


def _brief(value: Fraction | float) -> str:
    return f"{float(value):.8g}"


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
    """Return one unit in the last printed digit."""
    _, _, decimals, percent = _parts(published)
    return Fraction(1, 10 ** len(decimals) * (100 if percent else 1))


def _parts(published: str) -> tuple[str, str, str, str]:
    match = _PRINTED.match(published.strip())
    if not match or not (match[2] or match[3]):
        raise InputError(f"{published!r} is not a printed number such as 0.278 or 62.3 %")
    return match[1], match[2], match[3] or "", match[4]
