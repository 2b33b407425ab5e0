"""The papers' tables and figures: what is printed, as data, beside the calls that make it again.

A paper is a package here with a ``PAPER``; it uses what ``import obliv`` gives, like any user.

>>> from obliv import papers
>>> for row in papers.reproduce("towles", "figure9").entries:
...     print(row.entry, "|", row.computed, "|", row.verdict)
nodes that are a destination | 81 | match
load on the hottest channel | 32/5 | match
fraction of capacity | 25/144 | rounding
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from obliv._util.progress import Progress, silent
from obliv._util.text import did_you_mean
from obliv.errors import Interrupted, SpecError
from obliv.papers.paper import Paper, rows_of
from obliv.papers.verdict import verdict
from obliv.results import provenance
from obliv.results.reproduction import ReproducedEntry, Reproduction

__all__ = ["figures", "known", "reproduce", "verdict"]

_PAPERS = ("towles", "u2turn", "fat-tree", "bufferless")


def known() -> dict[str, str]:
    """Return the papers that can be reproduced, with a line about each."""
    return {name: _paper(name).about for name in _PAPERS}


def reproduce(paper: str, table: str = "", progress: Progress | None = None) -> Reproduction:
    """Compute a paper's tables and figures and set them beside what is printed.

    Parameters
    ----------
    paper : str
        A name that :func:`known` lists.
    table : str
        One table or figure; all of them by default.
    progress : callable, optional

    Returns
    -------
    Reproduction
        Its ``entries`` are printed entries beside computed numbers, with a verdict each.

    Raises
    ------
    SpecError
        If there is no such paper or table.
    """
    asked = _paper(_found(paper, _PAPERS, "paper"))
    tables = [_found(table, asked.tables, f"table of {paper}")] if table else list(asked.tables)
    progress = progress or silent
    began = time.perf_counter()
    rows: list[ReproducedEntry] = []

    def result() -> Reproduction:
        specs = {"paper": paper, "table": table} if table else {"paper": paper}
        return Reproduction(
            provenance=provenance(specs, time.perf_counter() - began, "as each row says"),
            entries=tuple(rows),
            titles={name: asked.tables[name].title for name in tables},
        )

    for at, name in enumerate(tables):

        def part(share: float, at: int = at, name: str = name) -> None:
            progress(f"{paper} {name}", (at + share) / len(tables))

        try:
            part(0.0)
            rows += rows_of(asked, name, part)
            part(1.0)
        except KeyboardInterrupt:
            left = " ".join(tables[at:])
            raise Interrupted(f"what is left: {left}; each can be asked for by name", result()) from None
    return result()


def figures(paper: str) -> dict[str, Callable[[str | Path], None]]:
    """Functions that draw a paper's figures into a file of that path (need matplotlib).

    Raises
    ------
    SpecError
        If there is no such paper.
    """
    return dict(_paper(_found(paper, _PAPERS, "paper")).figures)


def _paper(name: str) -> Paper:
    paper: Paper = importlib.import_module(f"obliv.papers.{name.replace('-', '_')}").PAPER
    return paper


def _found(name: str, names: Iterable[str], what: str) -> str:
    if name not in names:
        raise SpecError(f"unknown {what} {name!r}: {did_you_mean(name, names)}")
    return name
