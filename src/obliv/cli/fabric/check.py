"""``obliv fabric check``: errors in cables, forwarding tables and routes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.options import Guid2Lid, OptionalTables, TopologyFile
from obliv.cli.fabric.reading import Files
from obliv.cli.options import Format, FormatOption, Output
from obliv.cli.output import answer, progress, require_outputs
from obliv.errors import InputError

__all__ = ["check"]


def check(
    topology: TopologyFile,
    lft: OptionalTables = None,
    guid2lid: Guid2Lid = None,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="OpenSM's log, which names the routing engine used.")
    ] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="Routing engine requested from OpenSM.")] = None,
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Check a fabric and its forwarding tables.

    The report covers cables, tables, lost packets, credit loops and the engine that OpenSM used. The exit status is 1
    if there is an error.

    Example: obliv fabric check ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    if engine is not None and log is None:
        raise InputError("--engine is compared with OpenSM's log: add --log FILE")
    require_outputs(output, inputs=Files(topology, lft, guid2lid).named)
    with progress() as step:
        fabric, tables = obliv.fabric.read(topology, lft, guid2lid=guid2lid)
        result = obliv.fabric.check(fabric, tables, log, engine=engine, progress=step)
    answer(result, format, output)
    if not result.ok:
        raise typer.Exit(1)
