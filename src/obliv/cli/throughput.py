"""``obliv throughput``: ideal throughput under single patterns."""

from __future__ import annotations

import typer

from obliv.cli.options import PathSamples, Seed, TrafficOption, TrafficWords
from obliv.cli.output import Answer, progress
from obliv.cli.specs import Specs, named_traffic, read_traffic, seeded

__all__ = ["throughput"]


def throughput(
    specs: Specs,
    words: TrafficWords,
    *,
    context: typer.Context,
    traffic: TrafficOption = None,
    samples: PathSamples = 0,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Compute the exact ideal throughput of traffic patterns.

    Example: obliv throughput torus:9x9 dor uniform transpose tornado
    """
    import obliv

    given = seeded(named_traffic(words, traffic), context, seed, needed="" if samples else "--samples")
    routing = specs.read(answer.output, capacity=True)
    patterns = read_traffic(given, routing.topology, answer.output)
    with progress() as step:
        result = obliv.throughput(routing, *patterns, samples=samples or None, rng=seed, progress=step)
    answer.show(result)
