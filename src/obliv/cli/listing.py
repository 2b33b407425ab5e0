"""``obliv list``: the registered topologies, routings and traffic patterns."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output
from obliv.cli.output import answer, require_outputs

__all__ = ["list_"]


class What(StrEnum):
    """What can be listed."""

    topologies = "topologies"
    routings = "routings"
    traffic = "traffic"


def list_(
    what: Annotated[What, typer.Argument(metavar="topologies|routings|traffic", help="What to list.")],
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """List the topologies, routings or traffic patterns.

    Example: obliv list routings
    """
    from obliv.results.listing import Listing, Name
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    require_outputs(output)
    registry = {What.topologies: TOPOLOGIES, What.routings: ROUTINGS, What.traffic: PATTERNS}[what]
    names = tuple(Name(entry.name, entry.example, tuple(entry.aliases), entry.summary) for entry in registry)
    answer(Listing(what=what.value, names=names), format, output)
