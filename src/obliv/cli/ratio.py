"""``obliv ratio``: the oblivious performance ratio."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.options import Seed
from obliv.cli.output import ClaimAnswer, Looks, progress
from obliv.cli.specs import Specs, named_traffic, read_traffic, seeded
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.results import Result

__all__ = ["ratio"]


def ratio(
    specs: Specs,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TRAFFIC]...", help="Ratio under this traffic only.", show_default=False),
    ] = None,
    *,
    context: typer.Context,
    traffic: Annotated[
        list[str] | None,
        typer.Option("--traffic", metavar="TRAFFIC", help="Another way to give TRAFFIC; may be repeated."),
    ] = None,
    instances: Annotated[
        int, typer.Option("--instances", min=0, help="Random placements of a job to average over (0 = one placement).")
    ] = 0,
    set_: Annotated[
        list[Path] | None,
        typer.Option("--set", metavar="FILE", help="Traffic matrix (same as --traffic matrix:FILE); may be repeated."),
    ] = None,
    adaptive: Annotated[
        bool,
        typer.Option("--adaptive", help="With --traffic: the best rates for each traffic over the routing's paths."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the worst traffic, or a bar for each --traffic (.png, .svg, .pdf)."
        ),
    ] = None,
    looks: Looks,
    seed: Seed = 0,
    answer: ClaimAnswer,
) -> None:
    """Compute the oblivious performance ratio, with a certificate.

    The ratio is the largest link load of the routing divided by that of the best routing, maximized over all traffic.

    On fat trees whose best routing is known for all traffic, a closed form gives it; this is checked. On all other
    networks linear programs do (extra "design"); both bounds are proved, and mostly meet.

    Example: obliv ratio fattree:8,3 osrm3-d

    Example: obliv ratio torus:4x4 dor

    Example: obliv ratio fattree:16,3 dmodk --traffic torus3d --instances 32

    Example: obliv ratio mesh:4x4 sampled:4,base=valiant --traffic transpose --adaptive
    """
    from obliv.analysis.ratios.optimum import has_base_load
    from obliv.designs.ratios import oblivious
    from obliv.designs.ratios.patterns import any_rows, traffic_ratio

    looks.require(plot)
    named = [any_rows(spec) for spec in (*named_traffic(words, traffic), *(f"matrix:{path}" for path in set_ or ()))]
    _require_fitting(named, instances, adaptive, answer)
    if not instances:
        named = seeded(named, context, seed, needed="--instances")
    routing = specs.read(answer.output, plot)
    if named and answer.certificate and has_base_load(routing.topology):
        raise InputError(
            f"a closed form gives the best routing of all traffic on {routing.topology.spec}: leave out --certificate, "
            "or --traffic for a certificate of the ratio over all traffic"
        )
    result: Result
    with progress() as step, answer.best_so_far():
        if named:
            patterns = named if instances else read_traffic(named, routing.topology, answer.output, plot)
            proof = not instances and (answer.certificate or answer.output is not None)
            result = traffic_ratio(
                routing,
                *patterns,
                instances=instances,
                adaptive=adaptive,
                rng=seed,
                certificate=proof,
                progress=step,
            )
        else:
            proof = answer.certificate or answer.output is not None
            result = oblivious.ratio(routing, certificate=proof, progress=step)
    answer.show_claim(result)
    looks.save(result.plot, plot)


def _require_fitting(named: list[str], instances: int, adaptive: bool, answer: ClaimAnswer) -> None:
    """Refuse options that need traffic or exact ratios."""
    if instances and answer.certificate:
        raise InputError("an estimate has no certificate: leave out --instances or --certificate")
    if instances and not named:
        raise InputError("--instances averages over placements of a job: name the job, for example --traffic torus3d")
    if adaptive and not named:
        raise InputError("--adaptive finds the best rates for one traffic: name it, for example --traffic uniform")
