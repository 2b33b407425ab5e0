from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from obliv import papers
from obliv.papers.u2turn import meshes


class Reproduction:
    """All tables of a paper, computed once."""

    def __init__(self, paper: str) -> None:
        self.steps: list[tuple[str, float]] = []
        self.result = papers.reproduce(paper, progress=lambda *step: self.steps.append(step))
        self.rows: list[dict[str, Any]] = self.result.to_dict()["rows"]

    def __getitem__(self, entry: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["entry"] == entry)


@pytest.fixture(scope="session")
def towles() -> Reproduction:
    return Reproduction("towles")


@pytest.fixture(scope="session")
def u2turn() -> Iterator[Reproduction]:
    """With averages over fewer permutations than the command takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meshes, "SAMPLES", 20_000)
        yield Reproduction("u2turn")
