"""``obliv study diff``: how two stores differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.output import Answer, require_outputs
from obliv.cli.study.options import StoreFile

__all__ = ["diff"]


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
