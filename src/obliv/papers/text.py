"""Rows of a reproduction as tables in plain text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, zip_longest
from math import floor, log10
from textwrap import wrap
from typing import Any

__all__ = ["as_text", "computed_text"]

_WIDEST = 34  # of a cell; longer ones run over several lines
_NOTE = 110


def as_text(rows: list[dict[str, Any]], titles: Mapping[tuple[str, str], str]) -> str:
    """One aligned table for each run of rows of the same table, its notes below."""
    parts = []
    for key, group in groupby(rows, lambda row: (row["paper"], row["table"])):
        parts.append("\n".join([f"{key[0]} {key[1]}: {titles[key]}", "", *_lines(list(group))]))
    return "\n\n\n".join(parts)


def computed_text(value: Mapping[str, Any]) -> str:
    """A number of a row in words: a fraction with its decimals, an estimate with its error, bounds."""
    if "exact" in value:
        return value["exact"] if "/" not in value["exact"] else f"{value['exact']} = {value['value']:.6g}"
    if "stderr" in value:
        return f"{value['value']:.{_digits(value)}g} ± {value['stderr']:.2g} (estimated)"
    return f"between {value['lower']:.6g} and {value['upper']:.6g}"


def _digits(value: Mapping[str, Any]) -> int:
    """Three significant digits, more where the error is smaller than that."""
    if not value["value"] or not value["stderr"]:
        return 3
    return max(3, floor(log10(abs(value["value"]))) - floor(log10(value["stderr"])) + 1)


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    head = ("entry", "published", "computed", "verdict")
    cells = [
        [wrap(cell, _WIDEST) or [""] for cell in (r["entry"], r["published"], computed, r["verdict"])]
        for r, computed in ((row, computed_text(row["computed"])) for row in rows)
    ]
    table = [[[name] for name in head], *cells]
    widths = [max(len(line) for row in table for line in row[at]) for at in range(len(head))]
    lines = []
    for row in table:
        for pieces in zip_longest(*row, fillvalue=""):
            lines.append("  ".join(f"{piece:<{width}}" for piece, width in zip(pieces, widths, strict=True)).rstrip())
        if row is table[0]:
            lines.append("  ".join("-" * width for width in widths))
    for row_ in rows:
        if "note" in row_:
            marked = f"{row_['entry']}: {row_['note']}"
            lines += ["", *wrap(marked, _NOTE, initial_indent="* ", subsequent_indent="  ")]
    return lines
