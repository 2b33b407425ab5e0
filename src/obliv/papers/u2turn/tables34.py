"""Tables III and IV: worst case, average case and patterns on square meshes."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import obliv
from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import ROUTINGS, average, worst
from obliv.papers.u2turn.printed import COLUMNS, EVEN, ODD
from obliv.papers.verdicts import exactly

__all__ = ["PATTERNS", "compute_even", "compute_odd", "under_patterns"]

#: The rows of patterns, in their order; DOR-WC sends (x, y) to (k-1-y, k-1-x).
PATTERNS = {
    "Transpose": "transpose",
    "Random": "uniform",
    "DOR-WC": "anti-transpose",
    "Complement": "complement",
    "Nearest-Neighbor": "nearest-neighbor",
}


def compute_odd(step: Step) -> dict[str, Value]:
    """Compute Table III."""
    return _tables(list(ODD), step)


def compute_even(step: Step) -> dict[str, Value]:
    """Compute Table IV."""
    return _tables(list(EVEN), step)


def _tables(sizes: list[str], step: Step) -> dict[str, Value]:
    entries: dict[str, Value] = {}
    for at, size in enumerate(sizes):
        columns = {}
        for column, name in enumerate(COLUMNS):
            columns[name] = _column(size, name)
            step((at + (column + 1) / len(COLUMNS)) / len(sizes))
        for row in columns["VAL"]:
            entries |= {f"{size}, {row}, {name}": columns[name][row] for name in COLUMNS}
    return entries


@cache
def under_patterns(size: str, name: str) -> dict[str, Fraction]:
    """Return the exact throughput of a routing under every pattern, as a fraction of capacity."""
    routing: Any = obliv.routing(ROUTINGS[name], obliv.topology(f"mesh:{size}"))
    patterns = obliv.throughput(routing, *PATTERNS.values()).patterns
    return {row: exactly(pattern.fraction_of_capacity) for row, pattern in zip(PATTERNS, patterns, strict=True)}


def _column(size: str, name: str) -> dict[str, Value]:
    mesh = f"mesh:{size}"
    mean = average(mesh, ROUTINGS[name])
    which = "all 9! permutations" if size == "3x3" else "random permutations"
    note = "" if name == "VAL" else f"The reciprocal of the mean largest load of {which}."
    return {
        "Worst-case": Value(worst(mesh, ROUTINGS[name])),
        "Average-case": Value(mean, note),
    } | {row: Value(value) for row, value in under_patterns(size, name).items()}
