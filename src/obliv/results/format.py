"""Numbers as text: one formatter for results, tables and pictures."""

from __future__ import annotations

import math
from fractions import Fraction

from obliv.results.numbers import Bounds, Estimate, Number, as_float

__all__ = ["brief", "percent", "short", "shown", "times"]


def shown(value: Number | Bounds | float, digits: int = 6, longest: int = 24) -> str:
    """Return a number as text: exact ones as a fraction with its decimals, estimates with their error.

    Parameters
    ----------
    value : Fraction, Estimate, Bounds, float, int or None
    digits : int
        Digits of decimals; bounds have as many as it takes to tell them apart.
    longest : int
        Characters of the longest fraction that is written out.

    Examples
    --------
    >>> from fractions import Fraction
    >>> shown(Fraction(25, 144)), shown(Fraction(4)), shown(Estimate(0.41, 0.002, 100)), shown(None)
    ('25/144 = 0.173611', '4', '0.41 ± 0.002 (estimated)', '-')
    >>> shown(Bounds(Fraction(5, 2), Fraction(2.5000000000000004)))
    'between 2.5 and 2.5000000000000004'
    """
    if value is None:
        return "-"
    if isinstance(value, Bounds):
        lower, upper = as_float(value.lower), as_float(value.upper)
        if lower == upper:
            return f"≈ {lower:.{digits}g}"
        while f"{lower:.{digits}g}" == f"{upper:.{digits}g}":
            digits += 1
        return f"between {lower:.{digits}g} and {upper:.{digits}g}"
    if isinstance(value, Estimate):
        return str(value)
    if not isinstance(value, Fraction):
        return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
    decimal = f"{as_float(value):.{digits}g}"
    if max(abs(value.numerator), value.denominator) >= 10**longest or len(text := str(value)) > longest:
        return f"≈ {decimal}"
    return text if value.denominator == 1 else f"{text} = {decimal}"


def short(value: Number | Bounds | float, longest: int = 15) -> str:
    """Return a number in few characters, an estimate to the digits of its error.

    Examples
    --------
    >>> from fractions import Fraction
    >>> short(Fraction(25, 144)), short(Fraction(4)), short(Estimate(0.41, 0.002, 100)), short(None)
    ('25/144 = 0.1736', '4', '0.410 ± 0.002', '-')
    """
    return _estimated(value) if isinstance(value, Estimate) else shown(value, 4, longest)


def brief(value: Number | float) -> str:
    """Return a number for a small label: the fraction where it is short, else its first digits."""
    return short(value, 8).partition(" = ")[0] if isinstance(value, Fraction) else short(value)


def times(ratio: float) -> str:
    """Return a positive ratio in three digits, or as a whole number, without an exponent.

    Examples
    --------
    >>> times(8 / 9), times(99.96), times(12184.4)
    ('0.889', '100', '12,184')
    """
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def percent(share: Fraction | Estimate, digits: int = 2) -> str:
    """Return a share of at least 0 in percent, without an exponent; one that is positive is never written as 0.

    Examples
    --------
    >>> from fractions import Fraction
    >>> percent(Fraction(2)), percent(Fraction(38, 99)), percent(Fraction(3, 10**12)), percent(Fraction(0))
    ('200 %', '38 %', '0.000001 %', '0 %')
    """
    value = 100 * (share if isinstance(share, Fraction) else Fraction(share.value))
    if value <= 0:
        return "0 %"
    places = 0 if value >= 1000 else min(max(digits - 1 - math.floor(math.log10(value)), 0), 6)
    whole, rest = divmod(max(round(value * 10**places), 1), 10**places)
    decimals = f".{rest:0{places}}".rstrip("0").rstrip(".") if places else ""
    return f"{whole:,}{decimals} %"


def _estimated(value: Estimate) -> str:
    """Return value and error to the same digit: the first of the error, or its second where the first is a 1."""
    size, error = abs(value.value), value.stderr
    if not error:
        return f"{value.value:.6g} ± 0"
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
