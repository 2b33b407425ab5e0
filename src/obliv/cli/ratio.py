"""``obliv ratio``: the oblivious performance ratio."""

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
from obliv.errors import InputError

__all__ = ["ratio"]


def ratio(
    topology: TopologySpec,
    routing: RoutingSpec,
    traffic: Annotated[
        list[str] | None,
        typer.Option("--traffic", metavar="T", help="The ratio under this traffic only; may be repeated."),
    ] = None,
    instances: Annotated[
        int, typer.Option("--instances", min=0, help="Average over so many random placements of a job (0: one).")
    ] = 0,
    set_: Annotated[
        list[Path] | None,
        typer.Option("--set", metavar="FILE", help="The largest ratio over the traffic matrices of these files."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Keep the result with its certificate (.json or .json.gz).")
    ] = None,
    certificate: Annotated[bool, typer.Option("--certificate", help="Print the certificate too (JSON).")] = False,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """How much more a routing loads a link than the best routing of the same traffic, at most over all traffic.

    Exact, on fat trees on which the best routing of every traffic is known; that is checked.

    Example: obliv ratio fattree:8,3 osrm3-d

    Example: obliv ratio fattree:16,3 dmodk --traffic torus3d --instances 32
    """
    from obliv.analysis.ratios.oblivious import ratio as analysed
    from obliv.analysis.ratios.under_traffic import traffic_ratio

    named = [*(traffic or ()), *(f"matrix:{path}" for path in set_ or ())]
    if named and (output or certificate):
        raise InputError("a certificate proves the ratio over all traffic: leave out --traffic and --set, or --output")
    if instances and not named:
        raise InputError("--instances places a job again and again: name it with --traffic, for example torus3d")
    require_outputs(output)
    network, way = made(topology, routing)
    require_outputs(output, inputs=(*network.sources, *way.sources))
    with progress() as step:
        if named:
            answer(traffic_ratio(way, *named, instances=instances, rng=seed, progress=step), format)
            return
        result = analysed(way, certificate=certificate or output is not None, progress=step)
    if output is not None:
        result.save(output)
        say(f"kept in {output}; check it with  obliv verify {output}")
    if certificate and format is not Format.json:
        say("the certificate is in --format json, or in the file of --output")
    answer(result, format, hide=() if certificate else ("certificate",))
