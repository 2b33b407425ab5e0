"""``obliv reproduce``: the papers' tables and figures beside the published numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output
from obliv.cli.output import answer, kept, progress, require_outputs

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="[PAPER]", help="For example towles (default: list the papers).")
    ] = "",
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="One table or figure of the paper.")] = "",
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Compute a paper's tables beside the published numbers.

    Verdicts: match, rounding, erratum (the published value is wrong, with a proof), open (a definition is missing, or
    the result is only a bound), beyond (a number that the paper does not state), differs (exit status 1).

    Example: obliv reproduce towles
    """
    from obliv import papers
    from obliv.results.reproduction import PaperName, Papers

    require_outputs(output)
    if not paper:
        names = tuple(PaperName(name, about) for name, about in papers.known().items())
        answer(Papers(papers=names), format, output)
        return
    with kept(format, output):
        with progress() as step:
            result = papers.reproduce(paper, table, step)
        answer(result, format, output)
    if not result.ok:
        raise typer.Exit(1)
