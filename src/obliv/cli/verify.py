"""``obliv verify``: check a saved claim from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.output import Answer, progress, require_outputs

__all__ = ["verify"]


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File written by --output.")],
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Check the named channel only, which proves nothing.")] = False,
    budget: Annotated[
        float,
        typer.Option("--budget", min=0, help="Time limit in seconds; channels not checked in time count as unproved."),
    ] = 300.0,
    answer: Answer,
) -> None:
    """Check a saved claim with independent code.

    The exit status is 1 if the claim is not proved; --quick can refute a claim, but does not prove it.

    Example: obliv verify claim.json
    """
    import obliv

    require_outputs(answer.output, inputs=((str(file), ""),))
    with progress() as step:
        result = obliv.verify(file, quick=quick, budget=budget, progress=step)
    answer.show(result)
    if not result.proved:
        raise typer.Exit(1)
