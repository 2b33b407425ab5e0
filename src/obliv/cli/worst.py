"""``obliv worst``: the exact worst case."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.common import (
    Format,
    FormatOption,
    RoutingSpec,
    Seed,
    TopologySpec,
    answer,
    made,
    progress,
    require_outputs,
    say,
)

__all__ = ["worst"]


def worst(
    topology: TopologySpec,
    routing: RoutingSpec,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Keep the result with its certificate (.json or .json.gz).")
    ] = None,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Print the certificate too (with --format json).")
    ] = False,
    symmetry: Annotated[
        str,
        typer.Option(
            "--symmetry", help="auto: the topology's symmetries; search: find them; off: solve every channel."
        ),
    ] = "auto",
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="Estimate from so many random paths a pair (0: exact).")
    ] = 0,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the worst traffic (.png, .svg, .pdf).")] = None,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """The exact worst case: the largest load that any admissible traffic can put on a channel.

    Example: obliv worst torus:9x9 romm

    Example: obliv worst file:network.graphml ecmp --output claim.json.gz
    """
    from obliv.analysis.worst_case.exact import worst_case

    if plot is not None:
        from obliv import view

        view.require_format(plot)
    require_outputs(output, plot)
    network, way = made(topology, routing)
    require_outputs(output, plot, inputs=(*network.sources, *way.sources))
    with progress() as step:
        result = worst_case(
            way,
            symmetry=symmetry,
            certificate=certificate or (output is not None and not samples),
            samples=samples or None,
            rng=seed,
            progress=step,
        )
    if output is not None:
        result.save(output)
        say(f"kept in {output}" + ("" if samples else f"; check it with  obliv verify {output}"))
    if plot is not None:
        view.save(result, plot)
        say(f"drawn in {plot}")
    if certificate and format is not Format.json:
        say("the certificate is in --format json, or in the file of --output")
    answer(result, format, hide=() if certificate else ("certificate",))
