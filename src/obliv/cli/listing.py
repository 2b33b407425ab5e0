"""``obliv list``: what is there."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from obliv._version import __version__
from obliv.cli.common import Format, FormatOption, csv_text, tell

__all__ = ["list_"]


class What(StrEnum):
    """What can be listed."""

    topologies = "topologies"
    routings = "routings"
    traffic = "traffic"


def list_(
    what: Annotated[What, typer.Argument(metavar="topologies|routings|traffic", help="What to list.")],
    format: FormatOption = Format.table,
) -> None:
    """The topologies, routings or traffic patterns that there are, a line each.

    Example: obliv list routings
    """
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    registry = {What.topologies: TOPOLOGIES, What.routings: ROUTINGS, What.traffic: PATTERNS}[what]
    rows: list[dict[str, Any]] = [
        {"name": e.name, "example": e.example, "aliases": list(e.aliases), "summary": e.summary} for e in registry
    ]
    if format is Format.json:
        tell(
            json.dumps(
                {"kind": "list", "what": what.value, "rows": rows, "provenance": {"version": __version__}},
                indent=2,
                ensure_ascii=False,
            )
        )
    elif format is Format.csv:
        tell(csv_text([row | {"aliases": " ".join(row["aliases"])} for row in rows]), end="")
    else:
        wide, wider = (max(len(row[column]) for row in rows) for column in ("name", "example"))
        for row in rows:
            tell(f"{row['name']:<{wide}}  {row['example']:<{wider}}  {row['summary']}")
