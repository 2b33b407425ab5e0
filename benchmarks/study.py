"""Overhead of a study of a thousand small cells against a loop over the functions, and gain of two processes.

uv run python benchmarks/study.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import obliv

SMALL = """
topologies = ["mesh:{a}x{b}"]
routings = ["dor", "o1turn", "valiant", "romm", "u2turn"]
measures = ["worst", "hops", { measure = "throughput", traffic = ["uniform", "complement"] }]
[ranges]
a = "2..8"
b = "2..8"
"""

LARGE = """
topologies = ["mesh:{k}x{k}"]
routings = ["romm", "odd-even", "west-first", "updown"]
measures = ["worst"]
[ranges]
k = "8..16"
"""


def loop(plan: obliv.study.Plan) -> None:
    """Call the function of each cell; topologies and routings are made once, as a user would."""
    made: dict[tuple[str, str], obliv.Routing] = {}
    for cell in plan.cells:
        where = cell.topology, str(cell.routing)
        if where not in made:
            made[where] = obliv.routing(where[1], where[0])
        routing = made[where]
        if cell.measure == "worst":
            obliv.worst_case(routing, certificate=True)
        elif cell.measure == "hops":
            obliv.locality(routing)
        else:
            obliv.throughput(routing, cell.options["traffic"])


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Real time and processor time."""
    began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def plan_of(text: str, folder: str) -> obliv.study.Plan:
    path = Path(folder) / "own.study.toml"
    path.write_text(text, encoding="utf-8")
    return obliv.study.read(path)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        small, large = plan_of(SMALL, folder), plan_of(LARGE, folder)
        loop(small)  # compiles
        for k in range(3):
            plain = seconds(lambda: loop(small))
            study = seconds(lambda k=k: obliv.study.run(plan_of(SMALL, folder), f"{folder}/{k}.db", jobs=1))  # type: ignore[misc]
            shares = (f"{100 * (mine / other - 1):.0f} %" for mine, other in zip(study, plain, strict=True))
            print(f"{len(small.cells)} cells: loop {plain[0]:.2f} s, study {study[0]:.2f} s; overhead", *shares)
        one, two = (seconds(lambda j=j: obliv.study.run(large, f"{folder}/large{j}.db", jobs=j))[0] for j in (1, 2))  # type: ignore[misc]
        print(f"{len(large.cells)} large cells: one process {one:.1f} s, two {two:.1f} s: {one / two:.2f} times")
