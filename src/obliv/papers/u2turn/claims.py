"""Claims 1 to 3, dimension by dimension."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value, agreeing
from obliv.papers.u2turn.meshes import largest_loads, worst, worst_load

__all__ = ["LARGEST", "compute", "entries"]

LARGEST = 13


def compute(step: Step) -> dict[str, Value]:
    """Check every claim for all radices up to 13."""
    return entries(LARGEST, step)


def entries(largest: int, step: Step) -> dict[str, Value]:
    """Compute the claims for radices 2 to `largest` (odd ones from 3)."""
    odd, even = range(3, largest + 1, 2), range(2, largest + 1, 2)
    for at, k in enumerate(range(2, largest + 1)):
        for routing in ("xyx", "yxy", "u2turn"):
            largest_loads(f"mesh:{k}x{k}", routing)
        step(0.9 * (at + 1) / (largest - 1))
    results = {}
    for word, radices in (("odd", odd), ("even", even)):

        def on(
            spec: str, routing: str, dim: int, load: Callable[[int], Fraction], ks: range = radices, note: str = ""
        ) -> Value:
            cases = ((f"k = {k}", largest_loads(spec.format(k=k), routing)[dim] == load(k)) for k in ks)
            return agreeing(cases, "radices", note)

        once, twice, both = _once, _twice, _both
        results[f"1, {word} k: line"] = on("line:{k}", "dor", 0, once)
        results[f"1, {word} k: tornado is a worst case"] = agreeing(
            ((f"k = {k}", _tornado(k) == {once(k)}) for k in radices),
            "radices",
            "Shifts by k/2 rounded down and rounded up both attain it.",
        )
        results[f"1, {word} k: line, throughput"] = agreeing(
            ((f"k = {k}", _fits_on_line(k)) for k in radices), "radices"
        )
        results[f"2, {word} k: XYX in X"] = on("mesh:{k}x{k}", "xyx", 0, twice)
        results[f"2, {word} k: XYX in Y"] = on("mesh:{k}x{k}", "xyx", 1, once)
        results[f"2, {word} k: XYX, of capacity"] = _throughputs("xyx", radices, lambda k: Fraction(1, 2))
        results[f"3, {word} k: YXY in X"] = on("mesh:{k}x{k}", "yxy", 0, once)
        results[f"3, {word} k: YXY in Y"] = on("mesh:{k}x{k}", "yxy", 1, twice)
        attained = "One permutation is a worst case of both halves: the sum of their worst cases is attained."
        results[f"3, {word} k: U2TURN in X"] = on("mesh:{k}x{k}", "u2turn", 0, both, note=attained)
        results[f"3, {word} k: U2TURN in Y"] = on("mesh:{k}x{k}", "u2turn", 1, both)
        results[f"3, {word} k: U2TURN, of capacity"] = _throughputs(
            "u2turn", radices, lambda k: Fraction(k + 1, 2 * k + 1) if k % 2 else Fraction(1, 2)
        )
    return results


def _fits_on_line(k: int) -> bool:
    """Return whether the throughput of a line is 2/(k-1), above half of capacity, or 2/k, exactly half, for even k."""
    half = worst(f"line:{k}", "dor") - Fraction(1, 2)
    return 1 / worst_load(f"line:{k}", "dor") == 1 / _once(k) and (half > 0 if k % 2 else half == 0)


def _once(k: int) -> Fraction:
    return Fraction(k // 2)


def _twice(k: int) -> Fraction:
    return Fraction(k * k - k % 2, 2 * k)


def _both(k: int) -> Fraction:
    return (_once(k) + _twice(k)) / 2


def _tornado(k: int) -> set[Fraction]:
    """Return the largest loads of both roundings of the shift by k/2."""
    loads: Any = obliv.routing("dor", obliv.topology(f"line:{k}")).pair_loads()
    shifts = {k // 2, (k + 1) // 2}
    return {max(loads.under(obliv.permutation([(x + by) % k for x in range(k)]))) for by in shifts}


def _throughputs(routing: str, radices: range, value: Callable[[int], Fraction]) -> Value:
    return agreeing(((f"k = {k}", worst(f"mesh:{k}x{k}", routing) == value(k)) for k in radices), "radices")
