"""``obliv study run``: compute the cells of a study that its store does not have yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import Clusters
from obliv.cli.output import Answer, progress, require_outputs, say

__all__ = ["run"]


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Study file (TOML), see  obliv study schema.")],
    *,
    store: Annotated[Path, typer.Option("--store", metavar="STORE", help="File to keep the results in (SQLite).")],
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes.", show_default="by cores and free memory"),
    ] = None,
    clusters: Clusters,
    skip_impossible: Annotated[
        bool, typer.Option("--skip-impossible", help="Leave out cells that do not fit together.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Compute failed and damaged cells again.")
    ] = False,
    answer: Answer,
) -> None:
    """Compute the cells of a study that its store does not have yet.

    Ctrl-C keeps what is finished; the same command goes on. Several runs may share a store.

    The exit status is 1 if cells failed.

    Example: obliv study run meshes.study.toml --store meshes.db
    """
    import obliv.study
    from obliv.study.running import ImpossibleError

    require_outputs(answer.output, store, inputs=((str(file), ""),))
    with answer.best_so_far():
        try:
            with clusters.used(jobs) as executor, progress() as step:
                result = obliv.study.run(
                    file,
                    store,
                    executor=executor,
                    jobs=jobs,
                    skip_impossible=skip_impossible,
                    retry_failed=retry_failed,
                    progress=step,
                )
        except ImpossibleError as error:
            for line in error.lines:
                say(line)
            raise
    answer.show(result)
    if result.failed:
        raise typer.Exit(1)
