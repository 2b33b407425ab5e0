"""``obliv fabric bisection``: the effective bisection bandwidth."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.fabric.reading import SkipMissing, TablesFiles
from obliv.cli.options import Seed
from obliv.cli.output import Answer

__all__ = ["bisection"]


def bisection(
    files: TablesFiles,
    *,
    skip: SkipMissing = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Random bisections to draw.")] = 1000,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Estimate the effective bisection bandwidth.

    The hosts are split at random into halves that communicate in pairs (Hoefler et al.). The estimate comes with its
    standard error.

    Example: obliv fabric bisection ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files.show(answer, lambda routing, step: obliv.fabric.bisection(routing, samples, rng=seed, progress=step), skip)
