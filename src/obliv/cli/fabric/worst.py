"""``obliv fabric worst``: the exact worst case of forwarding tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.fabric.reading import GroupFiles, SkipMissing
from obliv.cli.options import Clusters, Jobs
from obliv.cli.output import Answer, Looks, progress, require_outputs

if TYPE_CHECKING:
    from obliv._util.progress import Progress
    from obliv.fabric.routes.routing import FabricRouting
    from obliv.results import Design
    from obliv.results.fabric.worst import FabricWorst

__all__ = ["worst"]


def worst(
    files: GroupFiles,
    *,
    skip: SkipMissing = False,
    hottest: Annotated[int, typer.Option("--hottest", min=0, help="Number of cables to rank.")] = 10,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the worst traffic (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
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

    looks.require(plot)
    require_outputs(answer.output, plot, inputs=files.inputs)
    with clusters.workers(jobs) as executor, progress() as step:
        routing = files.routing(skip, step, notes=answer.format == "csv")
        result = obliv.fabric.worst(
            routing, hottest=hottest, certificate=answer.output is not None, executor=executor, progress=step
        )
        if files.adaptive == "best":
            if (best := _best(routing, result, step)) is not None:
                answer.show(best, hide=("certificate", "paths"))
                looks.save(best.plot, plot)
                return
            result = replace(result, notes=(*result.notes, "no split within the groups is better: see the worst cable"))
    answer.show(result, hide=("certificate",), table=(result.cable_rows(), result.cable_columns))
    looks.save(result.plot, plot)


def _best(routing: FabricRouting, even: FabricWorst, step: Progress) -> Design | None:
    """Return the best split within the groups; None where even splits are, as a host's own cable is the worst."""
    import obliv

    if even.channel is None or routing.topology.at_host[even.channel.id]:
        return None
    return obliv.design(routing.topology, within=routing, then=None, progress=step)
