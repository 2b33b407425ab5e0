"""The summary table: a row for each routing on each topology, a column for each measure, and what stands behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obliv._util.text import printable
from obliv.checker.claims import is_certified
from obliv.results.base import Result
from obliv.results.study import column_names, options_of
from obliv.view.report.contents import Contents, Item
from obliv.view.report.numbers import how, text_of, value_of

__all__ = ["table_data"]

_SUMMARIZED = 5_000  # cells; beyond, the page has the figures of the table alone
_LINES = 30  # of a summary


def table_data(contents: Contents, most: int | None = None) -> dict[str, Any]:
    """Return columns and details of the table for the script of the page.

    A column of figures has values to sort by, texts, and a letter for how each was obtained. Only the `most` rows with
    the largest worst-case throughput are taken, if that is given.
    """
    names = column_names(tuple(item.row for item in contents.items))
    rows: dict[tuple[str, str], dict[str, tuple[Any, Item]]] = {}
    behind: dict[tuple[str, str], list[Item]] = {}
    columns: dict[str, None] = {}
    for item in contents.items:
        design = item.row.measure == "design"  # a row beside those of routings, with the same columns
        name = names[item.row.measure, options_of(item.row)]
        key = item.row.topology, name if design else item.row.routing or ""
        cells = rows.setdefault(key, {})
        behind.setdefault(key, []).append(item)
        for figure, value in (item.row.figures or {"": None}).items():
            column = figure or "worst" if design else f"{name} {figure}".strip()
            columns[column] = None
            cells[column] = value, item
    if most is not None:
        kept = sorted(rows, key=lambda key: -(_cell(rows[key].get("worst"))[0] or 0.0))[:most]
        rows = {key: rows[key] for key in rows if key in kept}
        behind = {key: behind[key] for key in rows}
    figures = [_column(column, [_cell(cells.get(column)) for cells in rows.values()]) for column in columns]
    brief = len(contents.items) > _SUMMARIZED
    return {
        "topology": [printable(topology) for topology, _ in rows],
        "routing": [printable(routing) for _, routing in rows],
        "columns": figures,
        "details": [_details(items, names, brief) for items in behind.values()],
        "inputs": [printable(source.name) for source in contents.inputs],
    }


def _cell(cell: tuple[Any, Item] | None) -> tuple[float | None, str, str]:
    """Return the value of a cell to sort by, its text, and how it was obtained."""
    if cell is None:
        return None, "", ""
    value, item = cell
    if item.row.status != "done":
        return None, item.row.status, "f" if item.row.status in ("failed", "damaged") else "p"
    return (None, "", "") if value is None else (value_of(value), text_of(value), how(value))


def _column(name: str, cells: Sequence[tuple[float | None, str, str]]) -> dict[str, Any]:
    numbers = any(kind in ("x", "e", "b") for _, _, kind in cells)
    return {
        "name": printable(name),
        "number": numbers,
        "value": [None if value is None else float(f"{value:.12g}") for value, _, _ in cells] if numbers else [],
        "text": [text for _, text, _ in cells],
        "how": "".join(kind or "-" for _, _, kind in cells),
    }


def _details(items: Sequence[Item], names: dict[tuple[str, str], str], brief: bool) -> list[list[Any]]:
    """Return, for each result behind a row, its name, its figures, how it was obtained and the number of its input."""
    details: list[list[Any]] = []
    known: set[int] = set()
    for item in items:
        row, result = item.row, item.result
        name = names[row.measure, options_of(row)]
        if result is not None and not brief:
            if id(result) in known:
                continue
            known.add(id(result))
            lines = [[printable(label), printable(text)] for label, text in result.summary()[:_LINES]]
        else:
            lines = [[printable(figure) or name, text_of(value)] for figure, value in row.figures.items()]
        if row.status != "done" or row.reason:
            lines.append([row.status, printable(row.reason)])
        details.append([printable(name), lines, _how(item), item.input])
    return details


def _how(item: Item) -> str:
    """Return in words how the figures of a cell were obtained."""
    result = item.result
    if item.row.status != "done":
        return ""
    if not isinstance(result, Result) or result.provenance is None:
        return "from a saved table"
    source = result.provenance
    words = [source.exactness]
    if is_certified(result):
        words.append("with a certificate for obliv verify")
    if source.seed is not None:
        words.append(f"random seed {source.seed}")
    return printable(", ".join([*words, f"obliv {source.version}"]))
