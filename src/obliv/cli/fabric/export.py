"""``obliv fabric export``: fabrics in the formats of other programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.reading import ExtendedLids, Files, Guid2Lid, TopologyFile
from obliv.cli.output import require_outputs, say

__all__ = ["export"]


def export(
    topology: TopologyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write (.graphml, .anynet or .net).")],
    to: Annotated[str, typer.Option("--to", help="graphml, anynet or net (default: from the file name).")] = "",
    guid2lid: Guid2Lid = None,
    extended_lids: ExtendedLids = False,
) -> None:
    """Write a fabric for another program.

    Formats: GraphML, BookSim's anynet, ibsim's .net.

    Example: obliv fabric export ibnetdiscover.txt -o fabric.graphml
    """
    import obliv.fabric

    files = Files(topology=topology, guid2lid=guid2lid)
    require_outputs(output, inputs=files.inputs)
    fabric, _ = files.read()
    for note in obliv.fabric.export(replace(fabric, extended_lids=extended_lids), output, to):
        say(note)
    say(f"written to {output}")
