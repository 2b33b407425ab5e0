"""``obliv design``: the routing with the least worst case."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from obliv.cli.options import TopologySpec
from obliv.cli.output import ClaimAnswer, progress, require_outputs, say

__all__ = ["design"]


def design(
    topology: TopologySpec,
    *,
    then: Annotated[
        Literal["hops", "nothing"],
        typer.Option("--then", help="Minimized among the routings with the least worst case."),
    ] = "hops",
    max_hops: Annotated[
        str | None, typer.Option("--max-hops", metavar="H", help="Limit of the mean hops, for example 2.5 or 64/27.")
    ] = None,
    minimal: Annotated[bool, typer.Option("--minimal", help="Use shortest paths only.")] = False,
    gap: Annotated[
        float, typer.Option("--gap", help="Relative distance from the proved lower bound at which to stop.")
    ] = 1e-4,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--no-exact",
            help="Look for rational numbers that prove the optimum (default: where the linear program is small).",
        ),
    ] = None,
    answer: ClaimAnswer,
) -> None:
    """Design the routing with the least worst case, with a proof.

    The worst case of the routing is exact; lengths of channels prove that no routing does better, or by how little.

    The routing is saved with --output FILE and has the spec design:FILE.

    Example: obliv design mesh:5x5

    Example: obliv design torus:8x8 --output best.json.gz
    """
    import obliv
    from obliv.designs.optimize import design as designed

    require_outputs(answer.output)
    network = obliv.topology(topology)
    for note in network.notes:
        say(note)
    require_outputs(answer.output, inputs=network.sources)
    with progress() as step, answer.kept():
        result = designed(
            network,
            then="hops" if then == "hops" else None,
            max_hops=max_hops,
            minimal=minimal,
            gap=gap,
            exact=exact,
            progress=step,
        )
    if answer.certificate and answer.format != "json":
        say("use --format json or --output FILE to get the certificate")
    if answer.output is not None:
        say(f"use the routing as  design:{answer.output}")
    answer.show(result, hide=() if answer.certificate else ("certificate", "paths"))
