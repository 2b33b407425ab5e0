"""Verbs about all routings of a network: design and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from obliv.cli.options import Seed, TopologySpec, refuse_idle_seed
from obliv.cli.output import ClaimAnswer, Picture, progress, say
from obliv.cli.specs import read_topology
from obliv.errors import InputError


@dataclass(frozen=True)
class DesignRules:
    """The paths that a design may use."""

    max_hops: Annotated[
        str | None, typer.Option("--max-hops", metavar="H", help="Limit of the mean hops, for example 2.5 or 64/27.")
    ] = None
    minimal: Annotated[bool, typer.Option("--minimal", help="Use shortest paths only.")] = False
    max_turns: Annotated[
        int | None,
        typer.Option("--max-turns", metavar="K", help="Limit of the turns of a path on a mesh, torus or hypercube."),
    ] = None
    vc: Annotated[
        int | None,
        typer.Option("--vc", metavar="N", help="Use paths that are free of deadlock with N virtual channels only."),
    ] = None
    paths: Annotated[
        int | None, typer.Option("--paths", min=1, metavar="K", help="Limit of the paths of a pair, for example 4.")
    ] = None
    quantize: Annotated[
        int | None,
        typer.Option("--quantize", min=1, metavar="Q", help="Use weights in multiples of 1/Q, for example 64."),
    ] = None
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="ROUTING", help="Use the next hops of a routing only, for example ecmp."),
    ] = None


def design(
    topology: TopologySpec,
    *,
    context: typer.Context,
    objective: Annotated[
        Literal["worst", "ratio", "average"],
        typer.Option(
            "--objective",
            help="Minimize the worst-case load, the oblivious performance ratio, or the average load.",
        ),
    ] = "worst",
    then: Annotated[
        Literal["hops", "nothing"] | None,
        typer.Option("--then", help="Minimized among the best routings.", show_default="hops with worst"),
    ] = None,
    rules: DesignRules,
    gap: Annotated[
        float | None,
        typer.Option(
            "--gap",
            help="Relative distance from the proved lower bound at which to stop.",
            show_default="0.0001; ratio 0.001",
        ),
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--no-exact",
            help="Look for rational numbers that prove the optimum (default: where the linear program is small).",
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples",
            min=1,
            metavar="S",
            help="Random permutations that --objective average is minimized for.",
            show_default="50",
        ),
    ] = None,
    seed: Seed = 0,
    pareto: Annotated[
        int,
        typer.Option(
            "--pareto", min=0, metavar="N", help="Design N points from the fewest hops to the least worst case."
        ),
    ] = 0,
    picture: Picture,
    answer: ClaimAnswer,
) -> None:
    """Design the routing with the least worst case, with a proof.

    The worst case of the routing is exact; lengths of channels prove that no routing does better, or by how little.

    --objective ratio minimizes the oblivious performance ratio instead: the largest load divided by that of the best
    routing of the same traffic, over all traffic.

    --objective average minimizes the mean of the largest load over random permutations, among the routings with the
    least worst case. The worst case is proved, the average is estimated on other permutations.

    The routing is saved with --output FILE and has the spec design:FILE.

    Example: obliv design mesh:5x5

    Example: obliv design torus:8x8 --output best.json.gz

    Example: obliv design mesh:5x5 --pareto 9 --plot curve.svg

    Example: obliv design torus:8x8 --max-turns 2

    Example: obliv design mesh:5x5 --paths 4 --quantize 64

    Example: obliv design mesh:5x5 --within ecmp

    Example: obliv design complete:5 --objective ratio

    Example: obliv design torus:4x4 --objective average --samples 50
    """
    import obliv
    from obliv.designs import optimize

    if objective != "average":
        refuse_idle_seed(context, "--objective average")
        if samples is not None:
            raise InputError("--samples draws permutations for --objective average: leave it out")
    if pareto:
        _require_fitting(objective, then, rules, exact, answer)
    picture.require()
    network = read_topology(topology, answer.output, picture.plot)
    if pareto:
        accuracy = 1e-4 if gap is None else gap
        with progress() as step:
            curve = obliv.pareto(
                network,
                pareto,
                max_turns=rules.max_turns,
                vc=rules.vc,
                gap=accuracy,
                certificate=answer.output is not None,
                progress=step,
            )
        answer.show(curve, hide=("certificate",))
        picture.save(curve.plot)
        return
    with progress() as step, answer.best_so_far():
        result = optimize.design(
            network,
            objective=objective,
            then=None if then == "nothing" else then or "default",
            **vars(rules),
            gap=gap,
            exact=exact,
            samples=samples,
            rng=seed if objective == "average" else None,
            progress=step,
        )
    if answer.output is not None and not answer.closed:
        say(f"use the routing as  design:{answer.output}")
    answer.show_claim(result, hide=("paths",))
    picture.save(result.plot)


def _require_fitting(
    objective: str, then: str | None, rules: DesignRules, exact: bool | None, answer: ClaimAnswer
) -> None:
    """Refuse the options that a curve does not take."""
    if objective != "worst":
        raise InputError("--pareto draws the worst case over the hops: it cannot be combined with --objective")
    others = (rules.max_hops, rules.minimal, rules.paths, rules.quantize, rules.within, then, answer.certificate)
    if any(others) or exact is not None:
        raise InputError(
            "--pareto cannot be combined with --max-hops, --minimal, --paths, --quantize, --within, --then, --exact "
            "or --certificate"
        )
