"""``obliv verify``: check a saved claim from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.common import Format, FormatOption, answer, progress

__all__ = ["verify"]


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What --output wrote.")],
    quick: Annotated[bool, typer.Option("--quick", help="Check the named channel only.")] = False,
    budget: Annotated[
        float, typer.Option("--budget", min=0, help="Seconds; what they do not suffice for is not proved.")
    ] = 300.0,
    format: FormatOption = Format.table,
) -> None:
    """Check a saved claim with code that shares nothing with what made it; exit status 1 where it is not proved.

    Example: obliv verify claim.json
    """
    import obliv

    with progress() as step:
        result = obliv.verify(file, quick=quick, budget=budget, progress=step)
    answer(result, format)
    if not result.proved:
        raise typer.Exit(1)
