"""``obliv study run``: compute the cells of a study that its store does not have yet."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.output import Answer, progress, require_outputs, say
from obliv.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["run"]


def _executor(dask: str | None, mpi: bool, jobs: int | None) -> AbstractContextManager[Executor | None]:
    """Return the executor of another package that is asked for, or None."""
    from obliv.study import clusters

    if dask is not None:
        return clusters.dask(dask, jobs)
    return clusters.mpi() if mpi else nullcontext()


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Study file (TOML), see  obliv study schema.")],
    *,
    store: Annotated[Path, typer.Option("--store", metavar="STORE", help="File to keep the results in (SQLite).")],
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes.", show_default="by cores and free memory"),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Scheduler of Dask, such as tcp://host:8786, or local."),
    ] = None,
    mpi: Annotated[
        bool, typer.Option("--mpi", help="Use MPI: mpiexec -n 4 python -m mpi4py.futures -m obliv study run ...")
    ] = False,
    skip_impossible: Annotated[
        bool, typer.Option("--skip-impossible", help="Leave out cells that do not fit together.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Compute failed cells again.")] = False,
    answer: Answer,
) -> None:
    """Compute the cells of a study that its store does not have yet.

    Ctrl-C keeps what is finished; the same command goes on. Several runs may share a store.

    The exit status is 1 if cells failed.

    Example: obliv study run meshes.study.toml --store meshes.db
    """
    import obliv.study
    from obliv.study.running import ImpossibleError

    if dask is not None and mpi:
        raise InputError("--dask and --mpi cannot be combined: choose one")
    if mpi and jobs is not None:
        raise InputError("--jobs counts processes of obliv; with --mpi leave it out and use  mpiexec -n")
    require_outputs(answer.output, store, inputs=((str(file), ""),))
    with answer.best_so_far():
        try:
            with _executor(dask, mpi, jobs) as executor, progress() as step:
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
