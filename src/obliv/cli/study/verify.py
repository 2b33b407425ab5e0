"""``obliv study verify``: check all claims in a store."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.options import FilesOption
from obliv.cli.output import Answer, progress, require_outputs
from obliv.cli.study.options import StoreFile, StudyName

__all__ = ["verify"]


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
