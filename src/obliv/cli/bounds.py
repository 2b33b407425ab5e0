"""``obliv bounds``: what no routing can beat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import TopologySpec
from obliv.cli.output import ClaimAnswer, Looks, progress
from obliv.cli.specs import read_topology

__all__ = ["bounds"]


def bounds(
    topology: TopologySpec,
    *,
    gap: Annotated[
        float,
        typer.Option("--gap", help="Relative distance of the bounds of the oblivious worst case at which to stop."),
    ] = 1e-3,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="SECONDS", help="Bound instead what no design answers in this time."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the bounds side by side (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
    answer: ClaimAnswer,
) -> None:
    """Bound what any routing can achieve on a network, with proofs.

    Least channel loads: under uniform traffic, in the worst case of oblivious and of adaptive routing, and across the
    narrowest bisection. Each is exact, or a lower bound beside a load that is attained.

    Example: obliv bounds mesh:7x6 --plot bounds.png

    Example: obliv bounds dragonfly:p=2,a=8,h=1 --time-limit 60

    Example: obliv bounds file:network.graphml --output bounds.json.gz
    """
    import obliv

    looks.require(plot)
    network = read_topology(topology, answer.output, plot)
    with progress() as step, answer.best_so_far():
        result = obliv.bounds(network, gap=gap, time_limit=time_limit, progress=step)
    answer.show_claim(result)
    looks.save(result.plot, plot)
