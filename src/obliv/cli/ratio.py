"""``obliv ratio``: the oblivious performance ratio."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output, RoutingSpec, Seed, TopologySpec
from obliv.cli.output import answer, progress, read_specs, require_outputs, say
from obliv.errors import InputError

__all__ = ["ratio"]


def ratio(
    topology: TopologySpec,
    routing: RoutingSpec,
    traffic: Annotated[
        list[str] | None,
        typer.Option("--traffic", metavar="T", help="Ratio under this traffic only; may be repeated."),
    ] = None,
    instances: Annotated[
        int, typer.Option("--instances", min=0, help="Random placements of a job to average over (0 = one placement).")
    ] = 0,
    set_: Annotated[
        list[Path] | None,
        typer.Option("--set", metavar="FILE", help="File of a traffic matrix for the ratio; may be repeated."),
    ] = None,
    output: Output = None,
    certificate: Annotated[bool, typer.Option("--certificate", help="Print the certificate too (JSON).")] = False,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """Compute the oblivious performance ratio, with a certificate.

    The ratio is how much more the routing loads a link than the best routing of the same traffic, at most.

    Exact, on fat trees on which the best routing of every traffic is known; that is checked.

    Example: obliv ratio fattree:8,3 osrm3-d

    Example: obliv ratio fattree:16,3 dmodk --traffic torus3d --instances 32
    """
    from obliv.analysis.ratios.oblivious import ratio as analysed
    from obliv.analysis.ratios.under_traffic import traffic_ratio

    named = [*(traffic or ()), *(f"matrix:{path}" for path in set_ or ())]
    if named and certificate:
        raise InputError(
            "a certificate proves the ratio over all traffic: leave out --traffic and --set, or --certificate"
        )
    if instances and not named:
        raise InputError("--instances places a job again and again: name it with --traffic, for example torus3d")
    require_outputs(output)
    network, way = read_specs(topology, routing)
    require_outputs(output, inputs=(*network.sources, *way.sources))
    with progress() as step:
        if named:
            answer(traffic_ratio(way, *named, instances=instances, rng=seed, progress=step), format, output)
            return
        result = analysed(way, certificate=certificate or output is not None, progress=step)
    if certificate and format is not Format.json:
        say("the certificate is in --format json, or in the file of --output")
    answer(result, format, output, hide=() if certificate else ("certificate",))
