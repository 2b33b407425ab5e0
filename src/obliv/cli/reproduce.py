"""``obliv reproduce``: the papers' tables and figures beside the published numbers."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from obliv.cli.common import Format, FormatOption, Stopped, csv_text, progress, tell
from obliv.errors import Interrupted

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="[PAPER]", help="For example towles; without it, what there is.")
    ] = "",
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="One table or figure of the paper.")] = "",
    format: FormatOption = Format.table,
) -> None:
    """A paper's tables and figures, computed and set beside the published numbers.

    Verdicts: match, rounding, erratum (the print is wrong, with the proof), open, differs (exit status 1).

    Example: obliv reproduce towles
    """
    from obliv import papers
    from obliv.results import provenance

    if not paper:
        listed = [{"paper": name, "about": about} for name, about in papers.known().items()]
        if format is Format.json:
            tell(json.dumps({"kind": "reproduce", "papers": listed}, indent=2, ensure_ascii=False))
        elif format is Format.csv:
            tell(csv_text(listed), end="")
        else:
            for row in listed:
                tell(f"{row['paper']:<10}  {row['about']}")
        return
    began = time.perf_counter()
    stopped: Interrupted | None = None
    try:
        with progress() as step:
            rows = papers.reproduce(paper, table, step)
    except Interrupted as stop:
        rows, stopped = stop.so_far, stop
    if format is Format.json:
        specs = {"paper": paper, "table": table} if table else {"paper": paper}
        made = provenance(specs, time.perf_counter() - began, "as each row says").to_dict()
        tell(json.dumps({"kind": "reproduce", "rows": rows, "provenance": made}, indent=2, ensure_ascii=False))
    elif format is Format.csv:
        tell(csv_text([_flat(row) for row in rows]), end="")
    else:
        tell(papers.as_text(rows))
    if stopped is not None:
        raise Stopped(str(stopped))
    if any(row["verdict"] == "differs" for row in rows):
        raise typer.Exit(1)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose computed number is spread over columns of its own."""
    computed = row["computed"]
    parts = computed if isinstance(computed, dict) else {"value": computed}
    columns = {
        f"computed_{name}": parts.get(name) for name in ("exact", "value", "stderr", "samples", "lower", "upper")
    }
    return {name: value for name, value in row.items() if name != "computed"} | columns
