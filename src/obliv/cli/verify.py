"""``obliv verify``: check a saved claim from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import FilesOption
from obliv.cli.output import Answer, progress, require_outputs
from obliv.errors import InputError

__all__ = ["verify"]


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File written by --output.")],
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Check the named channel only, which proves nothing.")] = False,
    budget: Annotated[
        float,
        typer.Option(
            "--budget",
            min=0,
            help="Time limit in seconds, exceeded by a second at most after the start of a process; "
            "what is not checked in time is not proved.",
        ),
    ] = 300.0,
    files: FilesOption = None,
    channel: Annotated[
        str | None,
        typer.Option(
            "--channel", metavar="N", help='Show the proof of this channel, 3 or "(0,0) -> (1,0)", as a table instead.'
        ),
    ] = None,
    answer: Answer,
) -> None:
    """Check a saved claim with independent code.

    The exit status is 1 if the claim is not proved; --quick can refute a claim, but does not prove it.
    With --channel it is 1 if the bound of this channel exceeds the claim.

    Example: obliv verify claim.json

    Example: obliv verify claim.json --channel "(0,0) -> (1,0)"
    """
    import obliv

    require_outputs(answer.output, inputs=((str(file), ""),))
    if channel is not None:
        if quick:
            raise InputError("--channel shows the proof of one channel; leave out --quick")
        with progress() as step:
            proof = obliv.explain(file, channel, budget=budget, files=files or (), progress=step)
        answer.show(proof)
        if not proof.holds:
            raise typer.Exit(1)
        return
    with progress() as step:
        result = obliv.verify(file, quick=quick, budget=budget, files=files or (), progress=step)
    answer.show(result)
    if not result.proved:
        raise typer.Exit(1)
