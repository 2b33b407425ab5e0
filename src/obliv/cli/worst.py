"""``obliv worst``: the exact worst case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.options import Clusters, Jobs, PathSamples, Seed, is_seeded, refuse_idle_seed
from obliv.cli.output import ClaimAnswer, Looks, progress
from obliv.cli.specs import Specs
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.results import Result

__all__ = ["worst"]


def worst(
    specs: Specs,
    *,
    context: typer.Context,
    symmetry: Annotated[
        str,
        typer.Option("--symmetry", help="auto (symmetries of the topology), search, or off (solve every channel)."),
    ] = "auto",
    channels: Annotated[
        bool, typer.Option("--channels", help="Report the worst case of every channel, and which are alike.")
    ] = False,
    samples: PathSamples = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the worst traffic, or all channels (.png, .svg, .pdf)."),
    ] = None,
    looks: Looks,
    jobs: Jobs = None,
    clusters: Clusters,
    seed: Seed = 0,
    answer: ClaimAnswer,
) -> None:
    """Find the exact worst case, with a certificate.

    The worst case is the largest load that admissible traffic can put on a channel; --output saves its certificate.

    Example: obliv worst torus:9x9 romm

    Example: obliv worst file:network.graphml ecmp --output claim.json.gz
    """
    from obliv.analysis.worst_case.exact import worst_case

    looks.require(plot)
    if channels and (samples or is_seeded(context)):
        raise InputError("--channels is exact: leave out --samples and --seed")
    if not samples:
        refuse_idle_seed(context, "--samples")
    routing = specs.read(answer.output, plot, capacity=True)
    certificate = answer.certificate or (answer.output is not None and not samples)
    result: Result
    with clusters.workers(jobs) as executor, progress() as step:
        if channels:
            from obliv.analysis.worst_case.every_channel import worst_channels

            result = worst_channels(
                routing, symmetry=symmetry, certificate=certificate, executor=executor, progress=step
            )
        else:
            result = worst_case(
                routing,
                symmetry=symmetry,
                certificate=certificate,
                samples=samples or None,
                rng=seed if samples else None,
                executor=executor,
                progress=step,
            )
    answer.show_claim(result)
    looks.save(result.plot, plot)
