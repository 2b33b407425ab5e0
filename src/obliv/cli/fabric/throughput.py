"""``obliv fabric throughput``: the ideal throughput of patterns and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from obliv._util.progress import Progress
from obliv.cli.fabric.reading import SkipMissing, TablesFiles
from obliv.cli.options import Seed, TrafficOption
from obliv.cli.output import Answer, say
from obliv.cli.specs import named_traffic, seeded

if TYPE_CHECKING:
    from obliv.fabric.routes.routing import FabricRouting
    from obliv.results.fabric.throughput import FabricThroughput

__all__ = ["throughput"]


def throughput(
    files: TablesFiles,
    words: Annotated[
        list[str],
        typer.Argument(metavar="TRAFFIC...", help="For example uniform ring:seed=1 shift:3 permutation:FILE."),
    ],
    *,
    context: typer.Context,
    traffic: TrafficOption = None,
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

    patterns = seeded(named_traffic(words, traffic), context, seed, needed="traffic that is drawn at random")

    def analysis(routing: FabricRouting, step: Progress) -> FabricThroughput:
        result = obliv.fabric.throughput(routing, *patterns, hottest=hottest, progress=step)
        for note in result.notes if answer.format == "csv" else ():  # the other formats contain them
            say(note)
        return result

    files.show(answer, analysis, skip, notes=False)
