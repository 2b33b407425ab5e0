"""``obliv report``: studies and saved results as one web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import FilesOption
from obliv.cli.output import progress, require_outputs, say
from obliv.cli.study.options import StudyName

__all__ = ["report"]


def report(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="STORE|RESULT...", help="Stores of studies, and results saved as JSON.")
    ],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Page to write (.html).")],
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Heading of the page.", show_default="what it is about")
    ] = "",
    study: StudyName = "",
    budget: Annotated[
        float,
        typer.Option("--budget", min=0, help="Time limit in seconds for building and drawing networks."),
    ] = 120.0,
    files: FilesOption = None,
    networks: Annotated[
        int, typer.Option("--networks", metavar="N", min=0, help="Most networks to draw and prove in the page.")
    ] = 6,
) -> None:
    """Write studies and saved results as one web page.

    Example: obliv report meshes.db -o meshes.html

    Example: obliv report worst.json average.json -o report.html
    """
    from obliv import view
    from obliv.view.report.page import require_report

    require_outputs(output, inputs=[(str(path), "") for path in inputs])
    require_report(output)
    with progress() as step:
        view.write_report(
            inputs, output, title=title, study=study, networks=networks, budget=budget, files=files or (), progress=step
        )
    say(f"report saved in {output}")
