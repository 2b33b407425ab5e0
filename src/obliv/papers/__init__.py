"""The tables and figures of papers: printed entries, as data, beside the calls that reproduce them.

A paper is a package with a ``PAPER``.

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

from obliv._util.progress import Progress, rising
from obliv._util.text import did_you_mean
from obliv.errors import FileError, Interrupted, SpecError
from obliv.papers.paper import Paper, rows_of, verdict
from obliv.results.base import provenance
from obliv.results.reproduction import ReproducedEntry, Reproduction
from obliv.view.axes import require_matplotlib

__all__ = ["draw", "figures", "known", "reproduce", "tables", "verdict"]


def __dir__() -> list[str]:
    return __all__


_PAPERS = ("towles", "u2turn", "fat-tree", "bufferless")


def known() -> dict[str, str]:
    """Return the papers that can be reproduced, with a line about each."""
    return {name: _paper(name).about for name in _PAPERS}


def reproduce(paper: str, table: str = "", progress: Progress | None = None, layout: str = "rows") -> Reproduction:
    """Compute tables and figures of a paper and compare them with the published numbers."""
    source = _paper(_find(paper, _PAPERS, "paper"))
    _find(layout, ("rows", "paper"), "layout")
    if table in source.figures and table not in source.tables:
        raise SpecError.naming("{0} of {1} is a picture without a table: {draw} draws it", table, paper)
    tables = [_find(table, source.tables, f"table of {paper}")] if table else list(source.tables)
    layouts = [name for name in source.tables if source.tables[name].layout]
    if layout == "paper" and not set(layouts) & set(tables):
        has = (
            f"those of {paper} with the paper's layout are {', '.join(layouts)}" if layouts else f"{paper} has no other"
        )
        raise SpecError(f"{table or paper} is shown in rows; {has}")
    progress = rising(progress)
    began = time.perf_counter()
    rows: list[ReproducedEntry] = []

    def result() -> Reproduction:
        specs = {"paper": paper, "table": table} if table else {"paper": paper}
        pages = {}
        for name in layouts:
            listed = [row for row in rows if row.table == name]
            if listed and (layout == "paper" or source.tables[name].always):
                pages[name] = source.tables[name].layout(listed)  # type: ignore[misc]
        return Reproduction(
            provenance=provenance(specs, time.perf_counter() - began, "as each row says"),
            entries=tuple(rows),
            titles={name: source.tables[name].title for name in tables},
            pages=pages,
            below=tuple(name for name in pages if source.tables[name].always),
        )

    for done, name in enumerate(tables):

        def step(share: float, done: int = done, name: str = name) -> None:
            progress(f"{paper} {name}", (done + share) / len(tables))

        try:
            step(0.0)
            rows += rows_of(source, name, step)
            step(1.0)
        except KeyboardInterrupt:
            remaining = " ".join(tables[done:])
            raise Interrupted(f"not computed: {remaining}; ask for each of them by name", result()) from None
    return result()


def tables(paper: str) -> dict[str, str]:
    """Return the tables and figures of a paper that :func:`reproduce` computes, with their titles."""
    return {name: table.title for name, table in _paper(_find(paper, _PAPERS, "paper")).tables.items()}


def figures(paper: str) -> dict[str, Callable[[str | Path], None]]:
    """Return the functions that draw the figures of a paper into a file (need matplotlib)."""
    return dict(_paper(_find(paper, _PAPERS, "paper")).figures)


def draw(paper: str, folder: str | Path, figure: str = "", progress: Progress | None = None) -> list[Path]:
    """Draw the figures of a paper into a folder, each as ``PAPER-FIGURE.png`` (needs matplotlib)."""
    source = _paper(_find(paper, _PAPERS, "paper"))
    if figure in source.tables and figure not in source.figures:
        drawn = ", ".join(source.figures)
        raise SpecError(f"{figure} of {paper} is a table without a picture; the figures are {drawn}")
    names = [_find(figure, source.figures, f"figure of {paper}")] if figure else list(source.figures)
    require_matplotlib()
    progress = rising(progress)
    folder = Path(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be used as a folder: {error.strerror}", folder) from None
    files = []
    for done, name in enumerate(names):
        progress(f"{paper} {name}", done / len(names))
        files.append(folder / f"{paper}-{name}.png")
        source.figures[name](files[-1])
    return files


def _paper(name: str) -> Paper:
    paper: Paper = importlib.import_module(f"obliv.papers.{name.replace('-', '_')}").PAPER
    return paper


def _find(name: str, names: Iterable[str], what: str) -> str:
    if name not in names:
        raise SpecError(f"unknown {what} {name!r}: {did_you_mean(name, names)}")
    return name
