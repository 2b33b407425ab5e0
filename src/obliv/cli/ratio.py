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
        typer.Option("--set", metavar="FILE", help="Traffic matrix (same as --traffic matrix:FILE); may be repeated."),
    ] = None,
    output: Output = None,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Include the certificate in the output (JSON).")
    ] = False,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """Compute the oblivious performance ratio, with a certificate.

    The ratio is the largest link load of the routing divided by that of the best routing, maximized over all traffic.

    It is exact, and available on fat trees for which the best routing of all traffic is known; this is checked.

    Example: obliv ratio fattree:8,3 osrm3-d

    Example: obliv ratio fattree:16,3 dmodk --traffic torus3d --instances 32
    """
    from obliv.analysis.ratios.oblivious import ratio as analysed
    from obliv.analysis.ratios.under_traffic import traffic_ratio

    named = [*(traffic or ()), *(f"matrix:{path}" for path in set_ or ())]
    if named and certificate:
        raise InputError(
            "a certificate proves the ratio over all traffic: --certificate cannot be combined with --traffic or --set"
        )
    if instances and not named:
        raise InputError("--instances averages over placements of a job: name the job, for example --traffic torus3d")
    require_outputs(output)
    network, algorithm = read_specs(topology, routing)
    require_outputs(output, inputs=(*network.sources, *algorithm.sources))
    with progress() as step:
        if named:
            answer(traffic_ratio(algorithm, *named, instances=instances, rng=seed, progress=step), format, output)
            return
        result = analysed(algorithm, certificate=certificate or output is not None, progress=step)
    if certificate and format is not Format.json:
        say("use --format json or --output FILE to get the certificate")
    answer(result, format, output, hide=() if certificate else ("certificate",))
