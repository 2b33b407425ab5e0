"""``obliv average``: the average case over random traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import Seed, refuse_idle_seed
from obliv.cli.output import Answer, Looks, progress
from obliv.cli.specs import Specs
from obliv.errors import InputError

__all__ = ["average"]


def average(
    specs: Specs,
    *,
    context: typer.Context,
    samples: Annotated[
        int | None, typer.Option("--samples", help="Random permutations to draw.", show_default="100000")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Use all permutations (up to 9 terminals).")] = False,
    ensemble: Annotated[
        str, typer.Option("--ensemble", help="permutations, birkhoff:K (mixtures of K permutations) or sinkhorn.")
    ] = "permutations",
    jobs: Annotated[
        int, typer.Option("--jobs", min=0, help="Threads (0 = one per core); the answer does not depend on it.")
    ] = 0,
    path_samples: Annotated[
        int, typer.Option("--path-samples", min=0, help="Random paths sampled per pair (0 = exact pair loads).")
    ] = 0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the loads (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Estimate the average throughput over random permutations.

    The estimate comes with its standard error; --exact uses all permutations.

    Example: obliv average mesh:8x8 o1turn --samples 1000000
    """
    from obliv.analysis.average.random_traffic import average_case

    looks.require(plot)
    routing = specs.read(answer.output, plot, capacity=True)
    if exact and samples is not None:
        raise InputError("--exact uses all permutations and cannot be combined with --samples")
    if exact and not path_samples:
        refuse_idle_seed(context, "--path-samples")
    with answer.best_so_far(), progress() as step:
        result = average_case(
            routing,
            100_000 if samples is None else samples,
            seed,
            exact=exact,
            ensemble=ensemble,
            path_samples=path_samples or None,
            jobs=jobs or None,
            progress=step,
        )
    answer.show(result)
    looks.save(result.plot, plot)
