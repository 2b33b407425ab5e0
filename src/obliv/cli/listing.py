"""``obliv list``: the registered topologies, routings and traffic patterns."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from obliv.cli.output import Answer, require_outputs

__all__ = ["list_"]


def list_(
    what: Annotated[
        Literal["topologies", "routings", "traffic", "patterns"],
        typer.Argument(metavar="topologies|routings|traffic", help="What to list; patterns is the same as traffic."),
    ],
    answer: Answer,
) -> None:
    """List the topologies, routings or traffic patterns.

    Example: obliv list routings
    """
    from obliv.results.listing import Listing, Name
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    require_outputs(answer.output)
    what = "traffic" if what == "patterns" else what
    registry = {"topologies": TOPOLOGIES, "routings": ROUTINGS, "traffic": PATTERNS}[what]
    names = tuple(Name(entry.name, entry.example, tuple(entry.aliases), entry.summary) for entry in registry)
    answer.show(Listing(what=what, names=names))
