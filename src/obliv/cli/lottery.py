"""``obliv lottery``: the distribution of the largest load where flows draw their paths by a hash."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from obliv.cli.options import Seed, TopologySpec, TrafficOption
from obliv.cli.output import Answer, Looks, progress
from obliv.cli.specs import one_traffic, read_topology, read_traffic, seeded

__all__ = ["lottery"]


def lottery(
    topology: TopologySpec,
    words: Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example random-permutation:seed=1.")],
    *,
    context: typer.Context,
    traffic: TrafficOption = None,
    flows: Annotated[int, typer.Option("--flows", metavar="Q", min=1, help="Flows of each pair of terminals.")] = 1,
    hash_: Annotated[
        Literal["independent", "polarised"],
        typer.Option("--hash", help="Choices at different switches: independent, or by the same hash (polarised)."),
    ] = "independent",
    among: Annotated[
        Literal["all", "up", "down", "leaf-up"],
        typer.Option("--among", help="Channels that count: all, or up, down or leaf-up (fat trees)."),
    ] = "all",
    guarantee: Annotated[
        list[str] | None,
        typer.Option(
            "--guarantee",
            metavar="LOAD@PROB",
            help="Find the flows that keep the largest load at LOAD with this probability; may be repeated.",
        ),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=0, help="Samples beside the bounds (0 = none).")] = 0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the distribution (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Find how the largest load is distributed under hashed paths.

    Flows draw shortest paths at random and share the rate of their pair. The answer is exact where the network falls
    into independent parts; elsewhere it has certified bounds.

    Example: obliv lottery fattree:8,3 random-permutation --flows 4

    Example: obliv lottery fattree:8,2 shift:4 --guarantee 2@0.99 --samples 100000 --plot lottery.png
    """
    import obliv

    looks.require(plot)
    patterns = seeded([one_traffic(words, traffic)], context, seed, needed="" if samples else "--samples")
    network = read_topology(topology, answer.output, plot)
    (pattern,) = read_traffic(patterns, network, answer.output, plot)
    with progress() as step:
        result = obliv.lottery(
            network,
            pattern,
            flows=flows,
            hash=hash_,
            among=among,
            samples=samples,
            rng=seed,
            guarantee=guarantee or (),
            progress=step,
        )
    answer.show(result)
    looks.save(result.plot, plot)
