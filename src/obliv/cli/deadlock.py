"""``obliv deadlock``: the channel dependency graph under a virtual-channel scheme."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output, RoutingSpec, TopologySpec
from obliv.cli.output import answer, progress, read_specs, require_outputs

__all__ = ["deadlock"]


def deadlock(
    topology: TopologySpec,
    routing: RoutingSpec,
    vc: Annotated[
        str,
        typer.Option(
            "--vc",
            metavar="SCHEME",
            help="Virtual channels: none, phase, turn, turn+uturn, family, phase-order, double-y; "
            "on rings also dateline, or any of the others with +dateline.",
        ),
    ] = "none",
    fewest: Annotated[
        bool, typer.Option("--fewest", help="Find the deadlock-free scheme with the fewest virtual channels.")
    ] = False,
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Find deadlocks: cycles of channel dependencies.

    The exit status is 1 if there is one.

    Example: obliv deadlock mesh:8x8 u2turn --vc turn

    Example: obliv deadlock torus:5x5 romm --fewest
    """
    from obliv.analysis.deadlocks import search as analysis
    from obliv.errors import InputError

    if fewest and vc != "none":
        raise InputError("--fewest tries every scheme and cannot be combined with --vc")
    require_outputs(output)
    network, algorithm = read_specs(topology, routing)
    require_outputs(output, inputs=(*network.sources, *algorithm.sources))
    with progress() as step:
        if fewest:
            best = analysis.fewest_virtual_channels(algorithm, progress=step)
            sound = best.fewest is not None
        else:
            result = analysis.deadlock(algorithm, vc, progress=step)
            sound = result.acyclic
    answer(best if fewest else result, format, output)
    if not sound:
        raise typer.Exit(1)
