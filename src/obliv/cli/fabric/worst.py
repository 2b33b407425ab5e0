"""``obliv fabric worst``: the exact worst case of forwarding tables."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.fabric.options import Guid2Lid, Offset, SkipMissing, TablesFile, TopologyFile
from obliv.cli.fabric.reading import Files
from obliv.cli.options import Format, FormatOption, Output
from obliv.cli.output import answer, csv_text, progress, require_outputs, save, tell

__all__ = ["worst"]


def worst(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Guid2Lid = None,
    offset: Offset = "0",
    skip: SkipMissing = False,
    hottest: Annotated[int, typer.Option("--hottest", min=0, help="Number of cables to rank.")] = 10,
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Find the exact worst permutation of the hosts.

    The answer names the worst cable, the worst traffic over it, and the most loaded cables.

    Example: obliv fabric worst ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files = Files(topology, lft, guid2lid)
    require_outputs(output, inputs=files.named)
    with progress() as step:
        routing = files.routing(offset, skip, notes=format is Format.csv)
        result = obliv.fabric.worst(routing, hottest=hottest, certificate=output is not None, progress=step)
    if format is Format.csv:
        save(result, output)
        tell(csv_text(list(result.cable_rows()), result.cable_columns), end="")
    else:
        answer(result, format, output, hide=("certificate",))
