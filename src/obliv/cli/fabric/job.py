"""``obliv fabric job``: what jobs do to cables, phase by phase, and better orders of their ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.reading import SkipMissing, TablesFiles
from obliv.cli.options import Seed, is_seeded
from obliv.cli.output import Answer, Looks, progress, require_outputs, say
from obliv.errors import InputError

__all__ = ["job"]


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
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw phases and hottest cables (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
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
    looks.require(plot)
    require_outputs(answer.output, order, plot, inputs=inputs)
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
        looks.save(result.plot, plot)


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
