"""Numbers of results: exact or estimated, and their form in JSON and in text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = [
    "Bounds",
    "Estimate",
    "Number",
    "as_float",
    "bounded",
    "capped",
    "from_number",
    "inverse",
    "known",
    "number",
    "rational",
    "scaled",
    "spread",
]


@dataclass(frozen=True)
class Estimate:
    """An estimate: value, standard error and number of samples.

    Examples
    --------
    >>> value = Estimate(6.25, 0.125, 100)
    >>> print(value)
    6.25 ± 0.12 (estimated)
    >>> float(value)
    6.25
    """

    value: float
    stderr: float
    samples: int

    def __post_init__(self) -> None:  # NumPy's numbers are taken too
        for name, kind in (("value", float), ("stderr", float), ("samples", int)):
            object.__setattr__(self, name, kind(getattr(self, name)))

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.stderr:.2g} (estimated)"


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


def known(value: Fraction | Estimate) -> Fraction:
    """Return an exact number as it is; TypeError for an estimate."""
    if isinstance(value, Estimate):
        raise TypeError(f"{value} is an estimate where an exact number is needed")
    return value


def inverse(load: Fraction | Estimate) -> Fraction | Estimate | None:
    """Return 1 / load; None if no channel is loaded."""
    if isinstance(load, Estimate):
        return Estimate(1 / load.value, load.stderr / load.value**2, load.samples) if load.value else None
    return 1 / load if load else None


def scaled(value: Fraction | Estimate, factor: Fraction) -> Fraction | Estimate:
    """Return a number times an exact one."""
    if isinstance(value, Estimate):
        return Estimate(value.value * float(factor), value.stderr * float(factor), value.samples)
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
    return value if value.value <= limit else Estimate(limit, value.stderr, value.samples)


def spread(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with plain numbers: fractions also as text under ``name_exact``, errors under ``name_stderr``."""
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Estimate):
            columns |= {name: value.value, f"{name}_stderr": value.stderr}
        elif isinstance(value, Fraction):
            columns |= {name: as_float(value), f"{name}_exact": str(value)}
        else:
            columns[name] = value
    return columns
