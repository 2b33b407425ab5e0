"""Numbers as short text for pictures and tables."""

from __future__ import annotations

import math
from fractions import Fraction

from obliv.results.numbers import Estimate, Number, as_float

__all__ = ["brief", "count", "short"]


def short(value: Number | float | int, longest: int = 15) -> str:
    """A number in few characters; an exact one stays exact unless its fraction is longer than `longest`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> short(Fraction(25, 144)), short(Fraction(4)), short(Estimate(0.41, 0.002, 100)), short(None)
    ('25/144 = 0.1736', '4', '0.410 ± 0.002', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, Estimate):
        return _estimated(value)
    if not isinstance(value, Fraction):
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    if value.denominator == 1 and abs(value.numerator) < 10**longest:
        return str(value)
    decimal = f"{as_float(value):.4g}"
    if max(abs(value.numerator), value.denominator) >= 10**longest or len(str(value)) > longest:
        return f"≈ {decimal}"
    return f"{value} = {decimal}"


def count(number: int, one: str, many: str) -> str:
    """How many there are, in words: ``1 pair``, ``2 pairs``."""
    return f"{number} {one if number == 1 else many}"


def brief(value: Number | float) -> str:
    """A number for a small label: the fraction where it is short, else its first digits."""
    if isinstance(value, Fraction):
        text = str(value)
        return text if len(text) <= 8 else f"≈ {as_float(value):.4g}"
    return short(value)


def _estimated(value: Estimate) -> str:
    """Value and error to the same digit: the first of the error, or its second where the first is a 1."""
    size, error = abs(value.value), value.stderr
    if not math.isfinite(size + error):
        return f"{value.value:.4g} ± {error:.1g}"
    if error <= 1e-6 * size:
        digits = 5 - math.floor(math.log10(size)) if size else 6
        most = f"1e-{digits}" if digits > 0 else str(10**-digits)
        return f"{_to(value.value, digits)} ± <{most}"
    digits = -math.floor(math.log10(error))
    if error * 10.0**digits < 2:
        digits += 1
    if not -6 <= digits <= 9:
        return f"{value.value:.4g} ± {error:.1g}"
    return f"{_to(value.value, digits)} ± {_to(error, digits)}"


def _to(value: float, digits: int) -> str:
    return f"{round(value, digits):.{max(digits, 0)}f}"
