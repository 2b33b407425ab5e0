from __future__ import annotations

import time
from typing import Any

import pytest

from obliv import papers


class Reproduction:
    """All of Towles' tables, computed once."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float]] = []
        began = time.process_time()
        self.rows: list[dict[str, Any]] = papers.reproduce("towles", progress=lambda *step: self.steps.append(step))
        self.cpu_seconds = time.process_time() - began

    def __getitem__(self, entry: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["entry"] == entry)


@pytest.fixture(scope="session")
def towles() -> Reproduction:
    return Reproduction()
