"""Verbs that ask the tables of a fabric: ratio, throughput, average, bisection, shifts, failures, whatif, job."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv._util.progress import Progress
from obliv.cli.options import Clusters, Jobs, Seed, is_seeded
from obliv.cli.output import Answer, Picture, progress, require_outputs, say
from obliv.cli.specs import seeded
from obliv.errors import InputError
from obliv.fabric.cli.reading import GroupFiles, SkipMissing, TablesFiles

if TYPE_CHECKING:
    from obliv._util.progress import Progress
    from obliv.designs.design import Design
    from obliv.fabric.results.worst import FabricThroughput, FabricWorst
    from obliv.fabric.routes.routing import FabricRouting
    from obliv.questions.ratio import Ratio


def worst(
    files: GroupFiles,
    *,
    skip: SkipMissing = False,
    hottest: Annotated[int, typer.Option("--hottest", min=0, help="Number of cables to rank.")] = 10,
    picture: Picture,
    jobs: Jobs = None,
    clusters: Clusters,
    answer: Answer,
) -> None:
    """Find the exact worst permutation of the hosts.

    The answer names the worst cable, the worst traffic over it, and the most loaded cables.

    --adaptive best designs the split within the groups that guarantees most, which takes linear programs (extra
    "design"), unless even splits are the best.

    Example: obliv fabric worst ibnetdiscover.txt --lft opensm-lfts.dump

    Example: obliv fabric worst ibnetdiscover.txt --far ibdiagnet2.far --adaptive worst
    """
    import obliv.fabric

    picture.require()
    require_outputs(answer.output, picture.plot, inputs=files.inputs)
    with clusters.workers(jobs) as executor, progress() as step:
        routing = files.routing(skip, step, notes=answer.format == "csv")
        result = obliv.fabric.worst(
            routing, hottest=hottest, certificate=answer.output is not None, executor=executor, progress=step
        )
        if files.adaptive == "best":
            if (best := _best(routing, result, step)) is not None:
                answer.show(best, hide=("certificate", "paths"))
                picture.save(best.plot)
                return
            result = replace(result, notes=(*result.notes, "no split within the groups is better: see the worst cable"))
    answer.show(result, hide=("certificate",), table=(result.cable_rows(), result.cable_columns))
    picture.save(result.plot)


def _best(routing: FabricRouting, even: FabricWorst, step: Progress) -> Design | None:
    """Return the best split within the groups; None where even splits are, as a host's own cable is the worst."""
    import obliv

    if even.channel is None or routing.topology.at_host[even.channel.id]:
        return None
    return obliv.design(routing.topology, within=routing, then=None, progress=step)


# ``obliv fabric ratio``: the oblivious performance ratio of forwarding tables


def ratio(
    files: TablesFiles,
    answer: Answer,
) -> None:
    """Find the oblivious performance ratio.

    The ratio is the largest cable load of the tables divided by that of the best routing, maximized over all traffic.

    On complete fat trees a closed form gives it; on tapered, damaged and other fabrics linear programs do (extra
    "design").

    Example: obliv fabric ratio ibnetdiscover.txt --lft opensm-lfts.dump
    """
    files.show(answer, _ratio, None)


def _ratio(routing: FabricRouting, step: Progress) -> Ratio:
    import obliv.fabric
    from obliv.fabric.analyses.worst import has_closed_form

    solve = obliv.fabric.ratio if has_closed_form(routing.topology) else obliv.ratio
    return solve(routing, progress=step)


# ``obliv fabric throughput``: the ideal throughput of patterns and jobs


def throughput(
    files: TablesFiles,
    words: Annotated[
        list[str],
        typer.Argument(metavar="TRAFFIC...", help="For example uniform ring:seed=1 shift:3 permutation:FILE."),
    ],
    *,
    context: typer.Context,
    skip: SkipMissing = False,
    hottest: Annotated[int, typer.Option("--hottest", min=0, help="Number of cables to name for each pattern.")] = 3,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Find the ideal throughput of patterns and jobs.

    The throughput is exact and comes with the most loaded cables of each pattern. Hosts are in the order of the file.

    Example: obliv fabric throughput ibnetdiscover.txt uniform torus3d:seed=1 --lft opensm-lfts.dump
    """
    import obliv.fabric

    patterns = seeded(words, context, seed, needed="traffic that is drawn at random")

    def analysis(routing: FabricRouting, step: Progress) -> FabricThroughput:
        result = obliv.fabric.throughput(routing, *patterns, hottest=hottest, progress=step)
        for note in result.notes if answer.format == "csv" else ():  # the other formats contain them
            say(note)
        return result

    files.show(answer, analysis, skip, notes=False)


# ``obliv fabric average``: the average over random permutations


def average(
    files: TablesFiles,
    *,
    skip: SkipMissing = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Random permutations to draw.")] = 1000,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Estimate the average over random permutations.

    The estimate comes with its standard error.

    Example: obliv fabric average ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files.show(answer, lambda routing, step: obliv.fabric.average(routing, samples, rng=seed, progress=step), skip)


# ``obliv fabric bisection``: the effective bisection bandwidth


def bisection(
    files: TablesFiles,
    *,
    skip: SkipMissing = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Random bisections to draw.")] = 1000,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Estimate the effective bisection bandwidth.

    The hosts are split at random into halves that communicate in pairs (Hoefler et al.). The estimate comes with its
    standard error.

    Example: obliv fabric bisection ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files.show(answer, lambda routing, step: obliv.fabric.bisection(routing, samples, rng=seed, progress=step), skip)


# ``obliv fabric shifts``: the loads of all shifts of the hosts


def shifts(
    files: TablesFiles,
    *,
    skip: SkipMissing = False,
    answer: Answer,
) -> None:
    """Find the exact worst and mean load of all shifts.

    Under a shift by k, host i sends to host i + k, in the order of the file.

    Example: obliv fabric shifts ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    files.show(answer, lambda routing, step: obliv.fabric.shifts(routing, progress=step), skip)


# ``obliv fabric failures``: the exact worst case after every single failure


def failures(
    files: TablesFiles,
    *,
    of: Annotated[
        str, typer.Option("--of", help="What fails: each of the cables, of the lanes (parallel cables) or switches.")
    ] = "cables",
    fail: Annotated[
        list[str] | None,
        typer.Option("--fail", metavar="NAME/PORT", help="Fail this cable, or the switch NAME, instead; repeat."),
    ] = None,
    repair: Annotated[
        str,
        typer.Option(
            "--repair",
            help="Tables after a failure: keep, refill (switches that lost a port choose another), or an engine of "
            "obliv fabric route, such as updown.",
        ),
    ] = "keep",
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=0, help="Number of failures to list (default: 2 in the table, all in CSV)."
        ),
    ] = None,
    picture: Picture,
    answer: Answer,
) -> None:
    """Find the worst case after each failure, worst ones first.

    Failures are ranked by credit loops, then lost pairs, then the worst load. Cables are those between switches.
    --output saves a certificate of all figures too, for obliv verify; with --repair, if hosts have one LID each.

    Example: obliv fabric failures ibnetdiscover.txt --lft opensm-lfts.dump --repair refill

    Example: obliv fabric failures ibnetdiscover.txt --lft opensm-lfts.dump --fail leaf3/17
    """
    import obliv.fabric

    picture.require()
    require_outputs(answer.output, picture.plot, inputs=files.inputs)
    with answer.best_so_far(listed := partial(replace, top=top)):
        with progress() as step:
            result = obliv.fabric.failures(
                files.routing(True, step, notes=False),
                of=of,
                fail=fail or (),
                repair=repair,
                offset=files.offset,
                certificate=answer.output is not None,
                progress=step,
            )
        for note in result.notes if answer.format == "csv" else ():  # the other formats contain them
            say(note)
        answer.show(listed(result), hide=("certificate",))
        picture.save(result.plot)


# ``obliv fabric whatif``: what a change of a few cables or table entries does


def whatif(
    files: TablesFiles,
    *,
    fail: Annotated[
        list[str] | None,
        typer.Option("--fail", metavar="NAME/PORT", help="Fail this cable, or the switch NAME; repeat."),
    ] = None,
    entries: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SWITCH/LID=PORT", help="New port of this table entry, none for no port; repeat."
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", metavar="NAME/PORT,NAME/PORT", help="New cable between free ports of switches; repeat."),
    ] = None,
    net: Annotated[
        Path | None,
        typer.Option("--net", metavar="FILE", help="Write the changed fabric, .net, for new tables by fabric route."),
    ] = None,
    picture: Picture,
    answer: Answer,
) -> None:
    """Find the worst case after a change of cables or table entries.

    Example: obliv fabric whatif ibnetdiscover.txt --lft opensm-lfts.dump --fail leaf3/17

    Example: obliv fabric whatif ibnetdiscover.txt --lft opensm-lfts.dump --set leaf3/12=20

    Example: obliv fabric whatif ibnetdiscover.txt --lft opensm-lfts.dump --add leaf3/20,spine1/7
    """
    import obliv.fabric
    from obliv._util.files import together

    picture.require()
    require_outputs(answer.output, picture.plot, net, inputs=files.inputs)
    with progress() as step:
        routing = files.routing(True, step, notes=False)
        step("worst load of every channel", 0.0)
        base = obliv.fabric.base_of(routing)
        result = obliv.fabric.what_if(base, fail=fail or (), entries=entries or (), add=add or ())
    with answer.anyway(result), together():
        if net is not None:
            fabric = routing.topology.fabric
            dropped = obliv.fabric.write_net(obliv.fabric.changed(fabric, fail=fail or (), add=add or ()), net)
            say(f"the changed fabric is in {net}: new tables by  obliv fabric route {net} -o NEW.lfts")
            for what in dropped:
                say(f"{net}: left out: {what}")
        answer.save(result)
    answer.print(result)
    picture.save(result.plot)


# ``obliv fabric job``: what jobs do to cables, phase by phase, and better orders of their ranks


def job(
    context: typer.Context,
    files: TablesFiles,
    *,
    hosts: Annotated[
        list[Path] | None,
        typer.Option(
            "--hosts",
            metavar="FILE",
            help="Hosts of a job: as of Slurm, PBS, LSF or MPI, one a line, or a rank file; repeat.",
        ),
    ] = None,
    pattern: Annotated[
        list[str],
        typer.Option(
            "--pattern",
            metavar="P",
            help="ring, recursive-doubling, recursive-halving, rabenseifner, alltoall, bruck, binomial, hierarchical, "
            "stencil2d, stencil3d or file:PATH; one for all jobs or one for each.",
        ),
    ],
    worst_hosts: Annotated[
        int | None,
        typer.Option("--worst-hosts", metavar="N", help="Instead of --hosts: find the worst N hosts for the pattern."),
    ] = None,
    per_host: Annotated[
        str, typer.Option("--per-host", metavar="N", help="Ranks of hosts without a number of slots: 4, or 4(x3),2.")
    ] = "1",
    rails: Annotated[
        str, typer.Option("--rails", help="Adapters used on hosts with several: one by rank, all, or the first.")
    ] = "rank",
    skip: SkipMissing = False,
    hottest: Annotated[int, typer.Option("--hottest", min=0, help="Number of cables to name.")] = 10,
    order: Annotated[
        Path | None, typer.Option("--order", metavar="FILE", help="File for a better order of the ranks: a rank file.")
    ] = None,
    effort: Annotated[
        float | None,
        typer.Option(
            "--effort", metavar="X", help="With --order: try X times as many exchanges of ranks.", show_default="1"
        ),
    ] = None,
    seed: Seed = 0,
    picture: Picture,
    answer: Answer,
) -> None:
    """Find the loads that jobs put on cables, phase by phase.

    Loads are exact, and so are those of a better order, with a bound that no order is below. Several jobs (--hosts
    repeated) run at the same time. With --worst-hosts N in place of --hosts: the N hosts that are worst for the
    pattern, and a bound for all others.

    Example: obliv fabric job ibnetdiscover.txt --lft opensm-lfts.dump --hosts hosts.txt --pattern ring
    """
    import obliv.fabric
    from obliv._util.files import together

    inputs = [*files.inputs, *((str(path), "") for path in hosts or ())]
    picture.require()
    require_outputs(answer.output, order, picture.plot, inputs=inputs)
    _require_hosts(hosts, worst_hosts, pattern, order)
    if order is None and (is_seeded(context) or effort is not None):
        raise InputError(f"--{'seed' if effort is None else 'effort'} is for exchanges of ranks: add --order FILE")
    with answer.best_so_far():
        with progress() as step:
            routing = files.routing(skip, step, notes=False, whole=worst_hosts is not None)
            if worst_hosts is not None:
                result = obliv.fabric.worst_placement(routing, worst_hosts, *pattern, hottest=hottest, progress=step)
            else:
                result = obliv.fabric.job(
                    routing,
                    tuple(hosts or ()),
                    tuple(pattern),
                    per_host=per_host,
                    rails=rails,
                    hottest=hottest,
                    order=order is not None,
                    effort=1.0 if effort is None else effort,
                    rng=seed,
                    progress=step,
                )
        with answer.anyway(result), together():
            if order is not None:
                result = result.write_order(order)
                change = result.order
                better = change is None or change.after < change.before
                kind = "better order" if better else "no better order was found: the given one is"
                say(f"{kind} written to {order}; use it with  mpirun --rankfile {order}")
            answer.save(result)
        for note in result.notes if answer.format == "csv" else ():  # the other formats contain them
            say(note)
        answer.print(result)
        picture.save(result.plot)


def _require_hosts(hosts: list[Path] | None, worst_hosts: int | None, pattern: list[str], order: Path | None) -> None:
    """Raise InputError unless either hosts are given or one job's worst hosts are asked for."""
    if hosts and worst_hosts is not None:
        raise InputError("--worst-hosts looks for hosts in place of --hosts: give one of the two")
    if not hosts and worst_hosts is None:
        raise InputError("hosts are missing: give --hosts FILE, or --worst-hosts N for the N worst ones")
    if worst_hosts is not None and order is not None:
        raise InputError("--order improves the order on given hosts: give --hosts FILE in place of --worst-hosts")
    if worst_hosts is not None and len(pattern) != 1:
        raise InputError("--worst-hosts takes one --pattern")
