"""``obliv fabric check``: errors in cables, forwarding tables and routes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.reading import Files
from obliv.cli.output import Answer, progress, require_outputs
from obliv.errors import InputError

__all__ = ["check"]


def check(
    files: Files,
    *,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="OpenSM's log, which names the routing engine used.")
    ] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="Routing engine requested from OpenSM.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 also for warnings.")] = False,
    answer: Answer,
) -> None:
    """Check a fabric and its forwarding tables.

    The report covers cables, tables, lost packets, credit loops and the engine that OpenSM used. The exit status is 1
    if there is an error, with --strict also if there is a warning.

    Example: obliv fabric check ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    if engine is not None and log is None:
        raise InputError("--engine is compared with OpenSM's log: add --log FILE")
    require_outputs(answer.output, inputs=files.inputs)
    with progress() as step:
        fabric, tables = obliv.fabric.read(files.topology, files.lft, guid2lid=files.guid2lid)
        result = obliv.fabric.check(fabric, tables, log, engine=engine, progress=step)
    answer.show(result)
    if not (result.clean if strict else result.ok):
        raise typer.Exit(1)
