"""``obliv reproduce``: the papers' tables and figures beside the published numbers."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from obliv.cli.common import Format, FormatOption, csv_text, progress

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

    if not paper:
        listed = [{"paper": name, "about": about} for name, about in papers.known().items()]
        if format is Format.json:
            print(json.dumps({"kind": "reproduce", "papers": listed}, indent=2, ensure_ascii=False))
        elif format is Format.csv:
            print(csv_text(listed), end="")
        else:
            for row in listed:
                print(f"{row['paper']:<10}  {row['about']}")
        return
    with progress() as step:
        rows = papers.reproduce(paper, table, step)
    if format is Format.json:
        print(json.dumps({"kind": "reproduce", "rows": rows}, indent=2, ensure_ascii=False))
    elif format is Format.csv:
        print(csv_text([_flat(row) for row in rows]), end="")
    else:
        print(papers.as_text(rows))
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
