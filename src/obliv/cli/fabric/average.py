"""``obliv fabric average``: the average over random permutations."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.fabric.options import Guid2Lid, Offset, SkipMissing, TablesFile, TopologyFile
from obliv.cli.fabric.reading import Files, print_analysis
from obliv.cli.options import Format, FormatOption, Output, Seed

__all__ = ["average"]


def average(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Guid2Lid = None,
    offset: Offset = "0",
    skip: SkipMissing = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Random permutations to draw.")] = 1000,
    seed: Seed = 0,
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Estimate the average over random permutations.

    The estimate comes with its standard error.

    Example: obliv fabric average ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    print_analysis(
        format,
        lambda routing, step: obliv.fabric.average(routing, samples, rng=seed, progress=step),
        Files(topology, lft, guid2lid),
        offset,
        skip,
        output,
    )
