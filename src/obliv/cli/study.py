"""The verbs of `study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from obliv._util.files import write_whole
from obliv.cli.app import group
from obliv.cli.options import Clusters, FilesOption
from obliv.cli.output import Answer, progress, require_outputs, say, write
from obliv.errors import InputError

# Arguments that the verbs of studies share


StoreFile = Annotated[Path, typer.Argument(metavar="STORE", help="File that  obliv study run --store  wrote.")]
StudyName = Annotated[
    str, typer.Option("--study", metavar="NAME", help="One of several studies in the store (default: all).")
]


def diff(
    first: StoreFile,
    second: Annotated[Path, typer.Argument(metavar="OTHER", help="Another store.")],
    *,
    answer: Answer,
) -> None:
    """Compare two stores cell by cell, but for times and proofs.

    The exit status is 1 if they differ.

    Example: obliv study diff before.db after.db
    """
    import obliv.study

    require_outputs(answer.output, inputs=((str(first), ""), (str(second), "")))
    result = obliv.study.diff(first, second)
    answer.show(result)
    if not result.equal:
        raise typer.Exit(1)


# ``obliv study export``: all results of a store for other programs


Format = Literal["csv", "json", "parquet"]


def export(
    store: StoreFile,
    *,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format", case_sensitive=False, help="Output format (default: by the ending of FILE, else csv)."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write (default: standard output).")
    ] = None,
    study: StudyName = "",
) -> None:
    """Export all results of a store, certificates apart.

    Parquet needs an output file, and the extra "parquet".

    Example: obliv study export meshes.db --output meshes.csv
    """
    import obliv.study

    require_outputs(output, inputs=((str(store), ""),))
    form = format or _form_of(output)
    if form == "parquet":
        if output is None:
            raise InputError("Parquet is not text: add --output FILE.parquet")
        obliv.study.write_parquet(store, output, study)
    else:
        text = obliv.study.export(store, form, study)
        if output is None:
            write(text, end="")
            return
        write_whole(output, text.encode("utf-8"))
    say(f"saved in {output}")


def _form_of(output: Path | None) -> str:
    """Return the format that the ending of a file names."""
    if output is None:
        return "csv"
    form = output.suffix.lower().removeprefix(".")
    if form not in (known := get_args(Format)):
        raise InputError(f"{output}: name a file ending in {', '.join(f'.{name}' for name in known)}, or add --format")
    return form


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


def schema() -> None:
    """Print the JSON Schema of study files, for editors.

    Example: obliv study schema
    """
    import obliv.study
    from obliv.cli.output import json_text, write

    write(json_text(obliv.study.schema()))


def show(store: StoreFile, *, study: StudyName = "", answer: Answer) -> None:
    """Print the table of a store: routings by measures.

    A row for each routing on each topology, a column for each measure.

    Example: obliv study show meshes.db

    Example: obliv study show meshes.db --format markdown
    """
    import obliv.study

    require_outputs(answer.output, inputs=((str(store), ""),))
    answer.show(obliv.study.show(store, study))


def verify(
    store: StoreFile,
    *,
    study: StudyName = "",
    budget: Annotated[
        float, typer.Option("--budget", min=0, help="Time limit in seconds for each claim; see  obliv verify.")
    ] = 300.0,
    files: FilesOption = None,
    answer: Answer,
) -> None:
    """Check all claims in a store with independent code.

    The exit status is 1 if one is not proved.

    Example: obliv study verify meshes.db
    """
    import obliv.study

    require_outputs(answer.output, inputs=((str(store), ""),))
    with progress() as step:
        result = obliv.study.verify(store, study, budget=budget, files=files or (), progress=step)
    answer.show(result)
    if not result.proved:
        raise typer.Exit(1)


app = group(
    "Compute and keep many cells: topologies, routings, measures.",
    run,
    show,
    export,
    diff,
    verify,
    schema,
)
