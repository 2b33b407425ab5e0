"""``obliv fabric route``: new forwarding tables."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from obliv.cli.common import Format, FormatOption, csv_text, json_text, page, progress, require_outputs, say, tell
from obliv.cli.fabric.options import Guid2Lid, Offset, OptionalTables, TopologyFile
from obliv.cli.fabric.reading import Files

__all__ = ["route"]


def route(
    topology: TopologyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the tables, for  opensm -R file -U FILE.")],
    engine: Annotated[
        str, typer.Option("--engine", help="auto, osrm3-d, osrm3, osrm2, osrm2-c, dmodk or updown.")
    ] = "auto",
    lft: OptionalTables = None,
    guid2lid: Guid2Lid = None,
    offset: Offset = "0",
    lmc: Annotated[int, typer.Option("--lmc", min=0, max=7, help="Largest LMC allowed.")] = 7,
    force: Annotated[
        bool, typer.Option("--force", help="Write the new tables even if those of --lft are better.")
    ] = False,
    net: Annotated[
        Path | None,
        typer.Option("--net", metavar="FILE", help="File for the fabric with the LIDs of the new tables (.net)."),
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Compute new forwarding tables, never worse than --lft.

    The tables are checked before they are written. If those of --lft are better than all that were tried, nothing is
    written and the exit status is 1.

    Example: obliv fabric route ibnetdiscover.txt --lft opensm-lfts.dump -o better.lfts
    """
    import obliv.fabric

    files = Files(topology, lft, guid2lid)
    require_outputs(output, net, inputs=files.named)
    began = time.perf_counter()
    with progress() as step:
        fabric, tables = files.read()
        result = obliv.fabric.route(fabric, engine, tables, offset=offset, most_lmc=lmc, force=force, progress=step)
    if not result.kept:
        obliv.fabric.write_tables(result.tables, result.fabric, output)
        if net is not None:
            obliv.fabric.write_net(result.fabric, net)
    if format is Format.table:
        tell(page(result.page()))
    elif format is Format.csv:
        tell(csv_text(result.rows()), end="")
    else:
        from obliv.results import provenance

        specs = {"topology": files.spec, "routing": None if lft is None else f"lft:{lft}"}
        sources = (*fabric.sources, *(() if tables is None else tables.sources))
        about: dict[str, Any] = {"output": None if result.kept else str(output)}
        about["provenance"] = provenance(specs, time.perf_counter() - began, sources=sources).to_dict()
        tell(json_text({"kind": "fabric-route"} | specs | result.to_dict() | about))
    if result.kept:
        say("the tables in use are better than all that were tried: nothing was written (--force writes new ones)")
        raise typer.Exit(1)
    more = f" -l {result.lmc}" if result.lmc else ""
    if net is not None:
        say(f"the fabric with their LIDs written to {net}")
    say(f"written to {output}; load it with  opensm -R file -U {output}{more}")
