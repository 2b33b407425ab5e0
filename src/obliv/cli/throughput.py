"""``obliv throughput``: ideal throughput under single patterns."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.options import PathSamples, Seed
from obliv.cli.output import Answer, progress
from obliv.cli.specs import Specs, read_traffic, seeded

__all__ = ["throughput"]


def throughput(
    specs: Specs,
    traffic: Annotated[list[str], typer.Argument(metavar="TRAFFIC...", help="For example uniform tornado shift:3.")],
    *,
    context: typer.Context,
    samples: PathSamples = 0,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Compute the exact ideal throughput of traffic patterns.

    Example: obliv throughput torus:9x9 dor uniform transpose tornado
    """
    import obliv

    traffic = seeded(traffic, context, seed, needed="" if samples else "--samples")
    routing = specs.read(answer.output, capacity=True)
    patterns = read_traffic(traffic, routing.topology, answer.output)
    with progress() as step:
        result = obliv.throughput(routing, *patterns, samples=samples or None, rng=seed, progress=step)
    answer.show(result)
