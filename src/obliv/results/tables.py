"""Tables of rows: for the terminal, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import printable, several
from obliv.results.format import short
from obliv.results.numbers import Bounds, Estimate, spread

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["cell_text", "table", "to_csv"]

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
