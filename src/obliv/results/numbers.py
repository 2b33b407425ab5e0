"""Numbers of results: exact or estimated, and their form in JSON and in text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any

__all__ = [
    "Bounds",
    "Estimate",
    "Number",
    "as_float",
    "bounded",
    "bounds_of",
    "capped",
    "float_bounds",
    "from_number",
    "interval_beside",
    "inverse",
    "known",
    "number",
    "rational",
    "rounded_down",
    "rounded_up",
    "scaled",
    "spread",
    "with_interval",
]


@dataclass(frozen=True)
class Estimate:
    """An estimate: value, standard error and number of samples.

    The largest of many noisy loads has no standard error. Its estimate has an interval instead that holds the exact
    number in 95 of 100 cases; `stderr` is then the half width of that interval over 1.96, which is larger than the
    spread of repeated runs.

    Parameters
    ----------
    value, stderr : float
    samples : int
    interval : tuple of two floats, optional
        The ends of an interval that holds the exact number in 95 of 100 cases.
    reliable : bool
        False where fewer than 5 paths per pair are too few for an interval.

    Examples
    --------
    >>> value = Estimate(6.25, 0.125, 100)
    >>> print(value)
    6.25 ± 0.12 (estimated)
    >>> float(value)
    6.25
    >>> print(Estimate(6.25, 0.125, 100, (6.0, 6.5)))
    6.25 in [6, 6.5] (estimated)
    """

    value: float
    stderr: float
    samples: int
    interval: tuple[float, float] | None = None
    reliable: bool = True

    def __post_init__(self) -> None:  # NumPy's numbers are taken too
        for name, kind in (("value", float), ("stderr", float), ("samples", int)):
            object.__setattr__(self, name, kind(getattr(self, name)))
        if self.interval is not None:
            object.__setattr__(self, "interval", (float(self.interval[0]), float(self.interval[1])))

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        more = "" if self.interval is None else f", interval={self.interval}"
        more += "" if self.reliable else ", reliable=False"
        return f"Estimate(value={self.value}, stderr={self.stderr}, samples={self.samples}{more})"

    def __str__(self) -> str:
        if self.interval is None:
            doubt = "" if self.reliable else ", unreliable"
            return f"{self.value:.6g} ± {self.stderr:.2g} (estimated{doubt})"
        low, high = self.interval
        return f"{self.value:.6g} in [{low:.4g}, {high:.4g}] (estimated)"


@dataclass(frozen=True)
class Bounds:
    """A number known only between two bounds.

    Examples
    --------
    >>> Bounds(Fraction(1), Fraction(3, 2))
    Bounds(lower=Fraction(1, 1), upper=Fraction(3, 2))
    """

    lower: Fraction
    upper: Fraction


Number = Fraction | Estimate | None


def bounds_of(value: Fraction | Bounds) -> tuple[Fraction, Fraction]:
    """Return the lower and the upper bound of a number, which are equal where it is exact."""
    return (value.lower, value.upper) if isinstance(value, Bounds) else (value, value)


def number(value: Number | Bounds) -> Any:
    """Return a number as JSON: exact, estimated and bounded numbers never look alike."""
    if isinstance(value, Bounds):
        return {"lower": as_float(value.lower), "upper": as_float(value.upper)}
    if isinstance(value, Estimate):
        return {"value": value.value, "stderr": value.stderr, "samples": value.samples}
    if value is None:
        return None
    return {"exact": str(value), "value": as_float(value)}


def bounded(lower: Fraction, upper: Fraction) -> Fraction | Bounds:
    """Return a number between two bounds, exact where they meet."""
    return upper if lower == upper else Bounds(lower, upper)


def float_bounds(lower: Fraction, upper: Fraction) -> Fraction | Bounds:
    """Return a number between two bounds, exact where they meet; else with the bounds rounded to floats, outwards."""
    return upper if lower == upper else Bounds(rounded_down(lower), rounded_up(upper))


def rounded_down(value: Fraction) -> Fraction:
    """Return the largest float that is not above a number, as an exact number."""
    nearest = as_float(value)
    return Fraction(nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf))


def rounded_up(value: Fraction) -> Fraction:
    """Return the smallest float that is not below a number, as an exact number."""
    return -rounded_down(-value)


def as_float(value: Fraction) -> float:
    """Return the nearest float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def rational(text: Any) -> Fraction:
    """Return a saved rational, digits or digits/digits; raise ValueError for any other text."""
    if not isinstance(text, str) or len(text) > 10_000 or not re.fullmatch(r"\d+(/0*[1-9]\d*)?", text):
        raise ValueError("not a saved rational number")
    return Fraction(text)


def from_number(value: Any) -> Number | Bounds:
    """Return the number that :func:`number` wrote; bounds come back as the floats that they were written as."""
    if value is None:
        return None
    if "exact" in value:
        text = value["exact"]
        negative = isinstance(text, str) and text.startswith("-")
        return -rational(text[1:]) if negative else rational(text)
    if "lower" in value:
        return Bounds(Fraction(value["lower"]), Fraction(value["upper"]))
    return Estimate(float(value["value"]), float(value["stderr"]), int(value["samples"]))


def interval_beside(key: str, value: Any) -> dict[str, Any]:
    """Return the keys that stand in JSON beside an estimate: its interval, or why it has none."""
    if not isinstance(value, Estimate) or (value.interval is None and value.reliable):
        return {}
    if value.interval is None:
        return {f"{key}_interval": None, f"{key}_interval_reason": "fewer than 5 paths per pair are too few"}
    return {f"{key}_interval": [end if isfinite(end) else None for end in value.interval]}


def with_interval(value: Any, key: str, data: Mapping[str, Any]) -> Any:
    """Return an estimate with the interval that :func:`interval_beside` wrote; other values as they are."""
    if not isinstance(value, Estimate) or f"{key}_interval" not in data:
        return value
    ends = data[f"{key}_interval"]
    if ends is None:
        return replace(value, reliable=False)
    low, high = (inf if end is None else float(end) for end in ends)
    return replace(value, interval=(low, high))


def known(value: Fraction | Estimate | Bounds) -> Fraction:
    """Return an exact number as it is; TypeError for an estimate or for bounds."""
    if not isinstance(value, Fraction):
        raise TypeError(f"{value} is not exact where an exact number is needed")
    return value


def inverse(load: Fraction | Estimate) -> Fraction | Estimate | None:
    """Return 1 / load; None if no channel is loaded."""
    if isinstance(load, Estimate):
        if not load.value:
            return None
        ends = None
        if load.interval is not None:
            low, high = load.interval
            ends = (1 / high if high else inf, 1 / low if low > 0 else inf)
        return Estimate(1 / load.value, load.stderr / load.value**2, load.samples, ends, load.reliable)
    return 1 / load if load else None


def scaled(value: Fraction | Estimate, factor: Fraction) -> Fraction | Estimate:
    """Return a number times an exact one."""
    if isinstance(value, Estimate):
        by = float(factor)
        ends = None if value.interval is None else (value.interval[0] * by, value.interval[1] * by)
        return Estimate(value.value * by, value.stderr * by, value.samples, ends, value.reliable)
    return value * factor


def capped(value: Fraction | Estimate | None, most: Fraction) -> Fraction | Estimate:
    """Return the smaller of a number and an exact one; None stands for infinity.

    Examples
    --------
    >>> capped(Fraction(4, 3), Fraction(1))
    Fraction(1, 1)
    """
    if value is None:
        return most
    if not isinstance(value, Estimate):
        return min(value, most)
    limit = float(most)
    ends = None if value.interval is None else (min(value.interval[0], limit), min(value.interval[1], limit))
    return Estimate(min(value.value, limit), value.stderr, value.samples, ends, value.reliable)


def spread(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with plain numbers.

    Fractions stand also as text under ``name_exact``, errors under ``name_stderr``, intervals and proved bounds under
    ``name_lower`` and ``name_upper``; a number that is only bounded has nothing under its own name.
    """
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Estimate):
            columns |= {name: value.value, f"{name}_stderr": value.stderr}
            if value.interval is not None:
                columns |= {f"{name}_lower": value.interval[0], f"{name}_upper": value.interval[1]}
        elif isinstance(value, Bounds):
            columns |= {name: None, f"{name}_lower": as_float(value.lower), f"{name}_upper": as_float(value.upper)}
        elif isinstance(value, Fraction):
            columns |= {name: as_float(value), f"{name}_exact": str(value)}
        else:
            columns[name] = value
    return columns
