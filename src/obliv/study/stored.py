"""A cell as a store holds it: what can be read of its row, and whether that agrees with its result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from obliv._util.codec import unlike_keys
from obliv.errors import FileError
from obliv.results.loading import from_content
from obliv.results.numbers import Bounds, Estimate, from_number, number
from obliv.study.cells import Cell
from obliv.study.measures import MEASURES

if TYPE_CHECKING:
    from obliv.results import Result
    from obliv.study.store import Store

__all__ = ["STATUSES", "Stored", "decoded", "encoded", "intact", "stored_of"]

STATUSES = ("done", "failed", "pending")  #: Of a row; a cell that cannot be read is ``damaged``.


@dataclass(frozen=True)
class Stored:
    """A cell with what the store holds of it.

    The status is that of the row, or ``damaged``: the row cannot be read, and has no figures.
    """

    key: str
    cell: Cell
    status: str
    reason: str = ""
    headline: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def damaged(self, reason: str) -> Stored:
        """Return the cell without figures, and with what is wrong."""
        return replace(self, status="damaged", reason=reason, headline={}, rows=[])


def stored_of(key: str, row: Sequence[Any]) -> Stored:
    """Return the cell in a row: columns from which its key follows, then status, reason, headline and rows."""
    topology, routing, measure, options, seed, method, files, status, reason, headline, rows = row
    read = partial(json.loads, object_pairs_hook=unlike_keys)
    try:
        named = tuple((str(path), str(digest)) for path, digest in read(files))
        cell = Cell(topology, routing, measure, dict(read(options)), seed, named)
        stored = Stored(key, cell, status, reason or "", read(headline or "{}"), read(rows or "[]"))
        readable = status in STATUSES and measure in MEASURES and _readable(stored)
        readable &= method != cell.method.version or cell.key == key  # an earlier method had other keys
    except (ValueError, TypeError, AttributeError, KeyError):
        readable = False
    if readable:
        return stored
    measure = measure if measure in MEASURES else next(iter(MEASURES))
    routing = None if routing is None else str(routing)
    return Stored(key, Cell(str(topology), routing, measure), "damaged").damaged(f"its row {_AGAIN}")


def encoded(value: Any) -> Any:
    """Return a number or text of a row as JSON."""
    if isinstance(value, Fraction | Estimate | Bounds):
        return number(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return value.item() if hasattr(value, "item") else str(value)


def decoded(value: Any) -> Any:
    """Return a number or text of a stored row."""
    return from_number(value) if isinstance(value, dict) else value


def _readable(stored: Stored) -> bool:
    """Return whether headline and rows are what they should be; raise an error if numbers in them are not."""
    for row in (stored.headline, *stored.rows):
        for value in row.values():
            decoded(value)
    return True


def intact(db: Store, stored: Stored) -> tuple[Stored, Result | None]:
    """Return a cell with its result, if it is finished; as damaged if the result cannot be read or says otherwise."""
    if stored.status != "done":
        return stored, None
    try:
        result = from_content(db.result(stored.key) or {})
    except (FileError, ValueError):
        return stored.damaged(f"its result {_AGAIN}"), None
    if figure := _altered(stored, result):
        return stored.damaged(f"its row has another {figure} than its result; {_HOW}"), None
    return stored, result


_HOW = "a run with retry_failed computes it again"
_AGAIN = f"is damaged; {_HOW}"


def _altered(stored: Stored, result: Result) -> str:
    """Return the figure that a row has otherwise than the result; empty if they agree."""
    method = stored.cell.method
    try:
        mine = [method.headline(result, stored.cell.options), *method.rows(result)]
    except (ValueError, TypeError, AttributeError):
        return "kind"
    if len(mine) != 1 + len(stored.rows):
        return "number of rows"
    for own, row in zip(mine, (stored.headline, *stored.rows), strict=True):
        for name in row:
            if name in own and encoded(own[name]) != row[name]:  # another version may have other columns
                return name or stored.cell.measure
    return ""
