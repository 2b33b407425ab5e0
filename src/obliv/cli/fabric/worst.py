"""``obliv fabric worst``: the exact worst case of forwarding tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.reading import GroupFiles, SkipMissing
from obliv.cli.options import Clusters, Jobs
from obliv.cli.output import Answer, Looks, progress, require_outputs

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

    Example: obliv fabric worst ibnetdiscover.txt --lft opensm-lfts.dump
    """
    import obliv.fabric

    looks.require(plot)
    require_outputs(answer.output, plot, inputs=files.inputs)
    with clusters.workers(jobs) as executor, progress() as step:
        routing = files.routing(skip, notes=answer.format == "csv")
        result = obliv.fabric.worst(
            routing, hottest=hottest, certificate=answer.output is not None, executor=executor, progress=step
        )
    looks.save(result.plot, plot)
    answer.show(result, hide=("certificate",), table=(result.cable_rows(), result.cable_columns))
