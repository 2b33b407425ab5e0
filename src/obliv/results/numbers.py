"""Numbers of results, exact or estimated: their form in JSON and in text, and tables of them (text, CSV)."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import printable, several

if TYPE_CHECKING:
    from rich.table import Table


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
    """Return a row with plain numbers; what else is known stands under ``name_exact``, ``name_stderr`` and so on."""
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


# Numbers as text: one formatter for results, tables and pictures


def shown(value: Number | Bounds | float, digits: int = 6, longest: int = 24) -> str:
    """Return a number as text: exact ones as a fraction with its decimals, estimates with their error.

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


# Tables of rows: for the terminal, and as CSV


Row = Mapping[str, Any]

_FORMULA = ("=", "+", "-", "@")  # first characters of formulas in spreadsheets
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?(/\d+)?", re.ASCII | re.IGNORECASE)


def table(rows: Iterable[Row], columns: Sequence[str] | Mapping[str, str] | None = None) -> Table:
    """Return rows as a table for the terminal.

    Parameters
    ----------
    rows : iterable of mappings
        One mapping from column to value for every row.
    columns : sequence of str, or mapping of str to str, optional
        Which columns, in which order; a mapping gives their headings. Default: all, in the order in which they come.

    Returns
    -------
    rich.table.Table
        Numbers stand to the right. Exact ones show their fraction and its decimals, estimates their standard error,
        what is missing a dash.

    Examples
    --------
    >>> from rich.console import Console
    >>> rows = [{"routing": "romm", "of capacity": Fraction(25, 144)}]
    >>> Console(width=50).print(table(rows))  # doctest: +SKIP
    routing     of capacity
    romm    25/144 = 0.1736
    """
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    names = list(_columns(rows)) if columns is None else list(several(columns))
    headings = columns if isinstance(columns, Mapping) else {name: name.replace("_", " ") for name in names}
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in names:
        values = [value for row in rows if (value := row.get(name)) is not None]
        right = bool(values) and all(map(_is_number, values))
        grid.add_column(Text(headings[name]), justify="right" if right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell_text(row.get(name))) for name in names))  # Text: brackets are not markup
    return grid


def to_csv(rows: Iterable[Row], columns: Sequence[str] = ()) -> str:
    """Return rows as CSV, with a header.

    Parameters
    ----------
    rows : iterable of mappings
        One mapping from column to value for every row.
    columns : sequence of str, optional
        The header where there are no rows.

    Returns
    -------
    str
        A column with exact numbers has its decimals under its name, and the fractions under ``name_exact``; one with
        estimates has the standard errors under ``name_stderr``; intervals of estimates and proved bounds stand under
        ``name_lower`` and ``name_upper``. What is missing is empty. Text that a spreadsheet would
        take for a formula has an apostrophe before it; characters that are not printable become question marks.

    Examples
    --------
    >>> print(to_csv([{"routing": "romm", "load": Fraction(32, 5)}]), end="")
    routing,load,load_exact
    romm,6.4,32/5
    """
    rows = list(rows)
    header: list[str] = [] if rows else list(several(columns))
    for name in _columns(rows):
        values = [row.get(name) for row in rows]
        header.append(name)
        header += [f"{name}_exact"] if any(isinstance(value, Fraction) for value in values) else []
        header += [f"{name}_stderr"] if any(isinstance(value, Estimate) for value in values) else []
        if any(isinstance(value, Bounds) or getattr(value, "interval", None) is not None for value in values):
            header += [f"{name}_lower", f"{name}_upper"]
    text = io.StringIO()
    writer = csv.DictWriter(text, header, restval="", lineterminator="\n")
    if header:
        writer.writerow({name: _as_text(name) for name in header})
    for row in rows:
        cells: dict[str, Any] = {}
        for name, value in row.items():
            cells |= _cells(name, value)
        writer.writerow(cells)
    return text.getvalue()


def _cells(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, np.generic):
        value = value.item()
    return spread({name: "" if value is None else _as_text(value)})


def _as_text(value: Any) -> Any:
    """Return text that spreadsheets do not evaluate and that stays on one line; other values unchanged."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def _columns(rows: Sequence[Row]) -> dict[str, None]:
    return {name: None for row in rows for name in row}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction | Estimate | Bounds | np.number) and not isinstance(value, bool)


def cell_text(value: Any) -> str:
    """Return a value as a table shows it."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, np.generic):
        value = value.item()
    return short(value) if value is None or _is_number(value) else str(value)
