"""``obliv failures``: the exact worst case after each failure of a link or a node."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.output import Answer, Looks, progress
from obliv.cli.specs import Specs

__all__ = ["failures"]


def failures(
    specs: Specs,
    *,
    of: Annotated[str, typer.Option("--of", help="What fails: each of the links or of the nodes.")] = "links",
    fail: Annotated[
        list[str] | None,
        typer.Option("--fail", metavar="A-B", help="Fail this link, or this node, instead; repeat."),
    ] = None,
    repair: Annotated[
        str,
        typer.Option(
            "--repair",
            metavar="ROUTING",
            help="Route what is left by this: ecmp, shortest, updown, valiant (default: the routing itself).",
        ),
    ] = "",
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=0, help="Number of failures to list (default: 2 in the table, all in CSV)."
        ),
    ] = None,
    symmetry: Annotated[
        str,
        typer.Option(
            "--symmetry", help="Solve failures once that a symmetry makes alike: auto or off; only ecmp, not --output."
        ),
    ] = "auto",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the ranking (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
    answer: Answer,
) -> None:
    """Find the worst case after each single failure, worst ones first.

    A link is a channel with its opposite. The routing routes what is left anew: ecmp, shortest, updown; for others say
    how with --repair. Failures are ranked by deadlocks, then lost pairs, then the worst load. --output saves a
    certificate of all figures too.

    Example: obliv failures torus:5x5 ecmp

    Example: obliv failures mesh:7x6 o1turn --repair ecmp

    Example: obliv failures file:network.graphml updown --of nodes
    """
    from obliv.analysis.failures import failures as after_failures

    looks.require(plot)
    routing = specs.read(answer.output, plot)
    with answer.best_so_far(listed := partial(replace, top=top)):
        with progress() as step:
            result = after_failures(
                routing,
                of=of,
                fail=fail or (),
                repair=repair,
                certificate=answer.output is not None,
                symmetry=symmetry,
                progress=step,
            )
        answer.show(listed(result), hide=("certificate",))
        looks.save(result.plot, plot)
