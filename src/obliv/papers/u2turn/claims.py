"""Claims 1 to 3, dimension by dimension."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value, agreeing
from obliv.papers.u2turn.meshes import largest_loads, worst, worst_load
from obliv.papers.u2turn.printed import of_u2turn_a

__all__ = ["LARGEST", "compute", "entries"]

LARGEST = 13

_NOTES = {
    "1, {} k: tornado is a worst case": "Shifts by k/2 rounded down and rounded up both attain it.",
    "3, {} k: U2TURN in X": "One permutation is a worst case of both halves: the sum of their worst cases is attained.",
}


def compute(step: Step) -> dict[str, Value]:
    """Check every claim for all radices up to 13."""
    return entries(LARGEST, step)


def entries(largest: int, step: Step) -> dict[str, Value]:
    """Compute the claims for radices 2 to `largest` (odd ones from 3)."""
    holding = {}
    for k in range(2, largest + 1):
        holding[k] = _holding(k)
        step((k - 1) / (largest - 1))
    return {
        claim.format(word): agreeing(
            ((f"k = {k}", holds[claim]) for k, holds in holding.items() if k % 2 == odd),
            "radices",
            _NOTES.get(claim, ""),
        )
        for word, odd in (("odd", 1), ("even", 0))
        for claim in holding[2]
    }


def _holding(k: int) -> dict[str, bool]:
    """Return which claims hold for one radix."""
    line, mesh = f"line:{k}", f"mesh:{k}x{k}"
    once, twice, half = Fraction(k // 2), Fraction(k * k - k % 2, 2 * k), Fraction(1, 2)
    xyx, yxy, u2turn = (largest_loads(mesh, routing) for routing in ("xyx", "yxy", "u2turn"))
    of_line = worst(line, "dor")
    return {
        "1, {} k: line": worst_load(line, "dor") == once,
        "1, {} k: tornado is a worst case": _tornado(k) == {once},
        "1, {} k: line, throughput": of_line == twice / 2 / once and (of_line > half if k % 2 else of_line == half),
        "2, {} k: XYX in X": xyx[0] == twice,
        "2, {} k: XYX in Y": xyx[1] == once,
        "2, {} k: XYX, of capacity": worst(mesh, "xyx") == half,
        "3, {} k: YXY in X": yxy[0] == once,
        "3, {} k: YXY in Y": yxy[1] == twice,
        "3, {} k: U2TURN in X": u2turn[0] == (once + twice) / 2,
        "3, {} k: U2TURN in Y": u2turn[1] == (once + twice) / 2,
        "3, {} k: U2TURN, of capacity": worst(mesh, "u2turn") == of_u2turn_a(k),
    }


def _tornado(k: int) -> set[Fraction]:
    """Return the largest loads of both roundings of the shift by k/2."""
    loads: Any = obliv.routing("dor", obliv.topology(f"line:{k}")).pair_loads()
    return {max(loads.under(obliv.permutation([(x + by) % k for x in range(k)]))) for by in (k // 2, (k + 1) // 2)}
