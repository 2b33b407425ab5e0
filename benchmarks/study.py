"""Gain of two processes in a study of large cells; `cases/study_small_cells.py` has the overhead on small ones.

uv run python benchmarks/study.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import obliv

PLAN = """
topologies = ["mesh:{k}x{k}"]
routings = ["romm", "odd-even", "west-first", "updown"]
measures = ["worst"]
[ranges]
k = "8..16"
"""


def seconds(plan: obliv.study.Plan, store: Path, jobs: int) -> float:
    """Real time of a study."""
    began = time.perf_counter()
    obliv.study.run(plan, store, jobs=jobs)
    return time.perf_counter() - began


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "own.study.toml"
        path.write_text(PLAN, encoding="utf-8")
        plan = obliv.study.read(path)
        one, two = (seconds(plan, Path(folder) / f"{jobs}.db", jobs) for jobs in (1, 2))
        print(f"{len(plan.cells)} large cells: one process {one:.1f} s, two {two:.1f} s: {one / two:.2f} times")
