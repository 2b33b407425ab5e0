"""``obliv fabric average``: the average over random permutations."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.fabric.reading import SkipMissing, TablesFiles
from obliv.cli.options import Seed
from obliv.cli.output import Answer

__all__ = ["average"]


def average(
    files: TablesFiles,
    *,
    skip: SkipMissing = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Random permutations to draw.")] = 1000,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Estimate the average over random permutations.

    The estimate comes with its standard error.

    Example: obliv fabric average ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files.show(answer, lambda routing, step: obliv.fabric.average(routing, samples, rng=seed, progress=step), skip)
