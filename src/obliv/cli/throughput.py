"""``obliv throughput``: ideal throughput under single patterns."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output, RoutingSpec, Seed, TopologySpec
from obliv.cli.output import answer, progress, read_specs, require_outputs

__all__ = ["throughput"]


def throughput(
    topology: TopologySpec,
    routing: RoutingSpec,
    traffic: Annotated[list[str], typer.Argument(metavar="TRAFFIC...", help="For example uniform tornado shift:3.")],
    samples: Annotated[int, typer.Option("--samples", min=0, help="Random paths sampled per pair (0 = exact).")] = 0,
    output: Output = None,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """Compute the exact ideal throughput of traffic patterns.

    Example: obliv throughput torus:9x9 dor uniform transpose tornado
    """
    from obliv.analysis import throughput as analysis

    require_outputs(output)
    network, algorithm = read_specs(topology, routing)
    require_outputs(output, inputs=(*network.sources, *algorithm.sources))
    with progress() as step:
        result = analysis.throughput(algorithm, *traffic, samples=samples or None, rng=seed, progress=step)
    answer(result, format, output)
