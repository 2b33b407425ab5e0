"""``obliv fabric bisection``: the effective bisection bandwidth."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.fabric.options import Guid2Lid, Offset, SkipMissing, TablesFile, TopologyFile
from obliv.cli.fabric.reading import Files, print_analysis
from obliv.cli.options import Format, FormatOption, Output, Seed

__all__ = ["bisection"]


def bisection(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Guid2Lid = None,
    offset: Offset = "0",
    skip: SkipMissing = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Random bisections to draw.")] = 1000,
    seed: Seed = 0,
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Estimate the effective bisection bandwidth.

    The hosts are split at random into halves that communicate in pairs (Hoefler et al.). The estimate comes with its
    standard error.

    Example: obliv fabric bisection ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    print_analysis(
        format,
        lambda routing, step: obliv.fabric.bisection(routing, samples, rng=seed, progress=step),
        Files(topology, lft, guid2lid),
        offset,
        skip,
        output,
    )
