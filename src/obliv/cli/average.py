"""``obliv average``: the average case over random traffic."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.common import Format, FormatOption, RoutingSpec, Seed, TopologySpec, answer, kept, made, progress
from obliv.errors import InputError

__all__ = ["average"]


def average(
    topology: TopologySpec,
    routing: RoutingSpec,
    samples: Annotated[
        int | None, typer.Option("--samples", help="How many random permutations.", show_default="100000")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="All permutations instead (up to 9 terminals).")] = False,
    ensemble: Annotated[
        str, typer.Option("--ensemble", help="permutations, birkhoff:K (mixtures of K of them) or sinkhorn.")
    ] = "permutations",
    jobs: Annotated[
        int, typer.Option("--jobs", min=0, help="Threads (0: one a core); the digits do not depend on it.")
    ] = 0,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """The average case: throughput over random permutations, with its standard error.

    Example: obliv average mesh:8x8 o1turn --samples 1000000
    """
    from obliv.analysis.average.random_traffic import average_case

    _, way = made(topology, routing)
    if exact and samples is not None:
        raise InputError("--exact takes all permutations: leave out --samples, or --exact")
    draws = 100_000 if samples is None else samples
    with kept(format), progress() as step:
        result = average_case(way, draws, seed, exact=exact, ensemble=ensemble, jobs=jobs or None, progress=step)
    answer(result, format)
