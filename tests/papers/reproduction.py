"""Reproductions of papers, computed once, and the pages that print them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from obliv import papers

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Reproduction:
    """Tables of a paper, by default all, computed once."""

    def __init__(self, paper: str, tables: Iterable[str] = ("",)) -> None:
        self.steps: list[tuple[str, float]] = []
        self.rows: list[dict[str, Any]] = []
        for table in tables:
            self.result = papers.reproduce(paper, table, lambda *step: self.steps.append(step))
            self.rows += self.result.to_dict()["rows"]

    def __getitem__(self, entry: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["entry"] == entry)


def page_of(paper: str) -> list[str]:
    """The lines of the page on a paper."""
    return (DOCS / "explanation/papers" / f"{paper}.md").read_text(encoding="utf-8").splitlines()


def said(row: dict[str, Any]) -> str:
    """Return the verdict of a row as the text shows it."""
    return "reading" if row.get("by_reading") else str(row["verdict"])
