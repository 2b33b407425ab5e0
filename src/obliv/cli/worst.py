"""``obliv worst``: the exact worst case."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output, RoutingSpec, Seed, TopologySpec
from obliv.cli.output import answer, progress, read_specs, require_outputs, say
from obliv.errors import InputError

__all__ = ["worst"]


def worst(
    topology: TopologySpec,
    routing: RoutingSpec,
    output: Output = None,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Include the certificate in the output (JSON).")
    ] = False,
    symmetry: Annotated[
        str,
        typer.Option("--symmetry", help="auto (symmetries of the topology), search, or off (solve every channel)."),
    ] = "auto",
    channels: Annotated[
        bool, typer.Option("--channels", help="Report the worst case of every channel, and which are alike.")
    ] = False,
    samples: Annotated[int, typer.Option("--samples", min=0, help="Random paths sampled per pair (0 = exact).")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the worst traffic, or all channels (.png, .svg, .pdf)."),
    ] = None,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """Find the exact worst case, with a certificate.

    The worst case is the largest load that admissible traffic can put on a channel; --output saves its certificate.

    Example: obliv worst torus:9x9 romm

    Example: obliv worst file:network.graphml ecmp --output claim.json.gz
    """
    from obliv.analysis.worst_case.exact import worst_case

    if plot is not None:
        from obliv import view

        view.require_format(plot)
    require_outputs(output, plot)
    network, algorithm = read_specs(topology, routing)
    require_outputs(output, plot, inputs=(*network.sources, *algorithm.sources))
    if channels:
        from obliv.analysis.worst_case.every_channel import worst_channels

        if certificate or samples:
            raise InputError("--channels cannot be combined with --certificate or --samples")
        with progress() as step:
            every = worst_channels(algorithm, symmetry=symmetry, progress=step)
        if plot is not None:
            view.save(every, plot)
            say(f"picture saved in {plot}")
        answer(every, format, output)
        return
    with progress() as step:
        result = worst_case(
            algorithm,
            symmetry=symmetry,
            certificate=certificate or (output is not None and not samples),
            samples=samples or None,
            rng=seed,
            progress=step,
        )
    if plot is not None:
        view.save(result, plot)
        say(f"picture saved in {plot}")
    if certificate and format is not Format.json:
        say("use --format json or --output FILE to get the certificate")
    answer(result, format, output, hide=() if certificate else ("certificate",))
