"""``obliv export``: a network, a routing and traffic for a simulator, or the paths of a routing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from obliv.cli.output import progress, say
from obliv.cli.specs import Specs
from obliv.errors import InputError

__all__ = ["export"]


def export(
    specs: Specs,
    *,
    to: Annotated[
        Literal["booksim", "booksim-paths", "table", "csv"],
        typer.Option(
            "--to",
            help="booksim (BookSim2), booksim-paths (BookSim2 with a routing function that follows listed paths), "
            "table (paths for table:FILE) or csv (paths).",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Configuration or table to write.")],
    traffic: Annotated[
        str | None, typer.Option("--traffic", help="With booksim: traffic pattern (default uniform).")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="With booksim: packets per node and cycle (default 0.1).")
    ] = None,
) -> None:
    """Write files for a simulator, or the paths of a routing as a table.

    A network that the simulator lacks is written beside the configuration. What it cannot simulate exactly is refused.
    Tables are read as  table:FILE  by all verbs; CSV has a row for every path.

    Example: obliv export torus:8x8 dor --to booksim --traffic transpose -o torus.cfg

    Example: obliv export mesh:7x6 xy --to booksim-paths -o mesh.cfg

    Example: obliv export mesh:5x5 design:best.json.gz --to table -o routes.txt
    """
    if to in ("booksim", "booksim-paths"):
        from obliv.io.booksim import write_booksim

        routing = specs.read(output, output.with_suffix(".anynet"))
        listed = to == "booksim-paths"
        files = write_booksim(routing, output, traffic or "uniform", rate=0.1 if rate is None else rate, paths=listed)
        say(f"written to {' and '.join(map(str, files))}; run it in that folder with  booksim {output.name}")
        if listed:
            say(f"BookSim2 needs the routing function in {files[-1].name}; its first lines say how to add it")
        return
    from obliv.io.routes import write_csv_paths, write_path_table

    if traffic is not None or rate is not None:
        raise InputError(f"--traffic and --rate belong to --to booksim; --to {to} writes paths only")
    routing = specs.read(output)
    write = write_path_table if to == "table" else write_csv_paths
    with progress() as step:
        write(routing, output, progress=step)
    say(f"written to {output}" + (f"; use the routing as  table:{output}" if to == "table" else ""))
