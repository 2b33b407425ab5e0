"""``obliv fabric failures``: the exact worst case after every single failure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.reading import TablesFiles
from obliv.cli.output import Answer, Looks, progress, require_outputs, say

__all__ = ["failures"]


def failures(
    files: TablesFiles,
    *,
    of: Annotated[
        str, typer.Option("--of", help="What fails: each of the cables, of the lanes (parallel cables) or switches.")
    ] = "cables",
    fail: Annotated[
        list[str] | None,
        typer.Option("--fail", metavar="NAME/PORT", help="Fail this cable, or the switch NAME, instead; repeat."),
    ] = None,
    repair: Annotated[
        str,
        typer.Option(
            "--repair",
            help="Tables after a failure: keep, refill (switches that lost a port choose another), or an engine of "
            "obliv fabric route, such as updown.",
        ),
    ] = "keep",
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=0, help="Number of failures to list (default: 2 in the table, all in CSV)."
        ),
    ] = None,
    symmetry: Annotated[
        str,
        typer.Option(
            "--symmetry",
            help="Solve failures once that a verified symmetry makes alike (only with keep): auto (where that saves "
            "time), search or off.",
        ),
    ] = "auto",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the ranking (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
    answer: Answer,
) -> None:
    """Find the worst case after each failure, worst ones first.

    Failures are ranked by credit loops, then lost pairs, then the worst load. Cables are those between switches.
    --output saves a certificate of all figures too, for obliv verify; with --repair, if hosts have one LID each.

    Example: obliv fabric failures ibnetdiscover.txt --lft opensm-lfts.dump --repair refill

    Example: obliv fabric failures ibnetdiscover.txt --lft opensm-lfts.dump --fail leaf3/17
    """
    import obliv.fabric

    looks.require(plot)
    require_outputs(answer.output, plot, inputs=files.inputs)
    with answer.best_so_far(listed := partial(replace, top=top)):
        with progress() as step:
            result = obliv.fabric.failures(
                files.routing(True, step, notes=False),
                of=of,
                fail=fail or (),
                repair=repair,
                offset=files.offset,
                certificate=answer.output is not None,
                symmetry=symmetry,
                progress=step,
            )
        for note in result.notes if answer.format == "csv" else ():  # the other formats contain them
            say(note)
        answer.show(listed(result), hide=("certificate",))
        looks.save(result.plot, plot)
