"""``obliv reproduce``: the papers' tables and figures beside the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.output import Answer, Looks, progress, require_outputs, say
from obliv.errors import InputError


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="[PAPER]", help="For example towles (default: list the papers).")
    ] = "",
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="One table or figure of the paper.")] = "",
    *,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Folder to draw the figures of the paper into (PNG).")
    ] = None,
    layout: Annotated[
        str,
        typer.Option("--layout", metavar="L", help="Text by rows (rows), or in the paper's own columns (paper)."),
    ] = "rows",
    looks: Looks,
    answer: Answer,
) -> None:
    """Compute a paper's tables beside the published numbers.

    Verdicts: match, rounding, reading (another reading of the paper fits), erratum (the published value is wrong, with
    a proof), open (no reading fits, or the result is only a bound), beyond (a number that the paper does not state),
    differs (exit status 1). The column "differs if" says which numbers would make a row differ.

    Example: obliv reproduce towles
    """
    from obliv import papers
    from obliv.papers.results import PaperName, Papers

    require_outputs(answer.output)
    if layout != "rows" and answer.format != "table":
        raise InputError(f"--layout arranges text: leave it out with --format {answer.format}")
    if plot is None and looks != Looks():
        raise InputError("--dark and --width are for pictures: add --plot DIR")
    if plot is not None and not paper:
        raise InputError("--plot draws the figures of one paper: name it, as in  obliv reproduce towles --plot DIR")
    if not paper:
        names = tuple(PaperName(name, about) for name, about in papers.known().items())
        answer.show(Papers(papers=names))
        return
    if plot is not None:
        with progress() as step, looks.drawn():
            files = papers.draw(paper, plot, table, step)
        say(f"drawn in {plot}: {', '.join(file.name for file in files)}")
        if table and table not in papers.tables(paper):
            return  # a figure without numbers to compare
    with answer.best_so_far():
        with progress() as step:
            result = papers.reproduce(paper, table, step, layout)
        answer.show(result)
    if not result.ok:
        raise typer.Exit(1)
