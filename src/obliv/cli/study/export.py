"""``obliv study export``: all results of a store for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from obliv._util.files import write_whole
from obliv.cli.output import require_outputs, say, write
from obliv.cli.study.options import StoreFile, StudyName
from obliv.errors import InputError

__all__ = ["export"]

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
