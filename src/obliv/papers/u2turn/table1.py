"""Table I: the largest loads in X and Y of XYX and YXY, every channel of every mesh solved."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import Step, Value, agreeing
from obliv.papers.u2turn.meshes import largest_loads

__all__ = ["LARGEST", "compute", "entries", "formula"]

LARGEST = 8
_PARITY = ("even", "odd")


def formula(routing: str, dim: int, k: int) -> Fraction:
    """Return the printed load in dimension `dim` (0 is X) of a mesh with k nodes along it."""
    if k % 2 == 0:
        return Fraction(k, 2)
    twice = (routing == "XYX") == (dim == 0)  # this dimension has two segments
    return Fraction(k * k - 1, 2 * k) if twice else Fraction(k - 1, 2)


def compute(step: Step) -> dict[str, Value]:
    """Compute every entry of Table I on every mesh of its parities."""
    return entries(LARGEST, step)


def entries(largest: int, step: Step) -> dict[str, Value]:
    """Compute the entries for all meshes with 2 to `largest` nodes per side."""
    sides = range(2, largest + 1)
    loads = {}
    for at, (kx, ky) in enumerate((kx, ky) for kx in sides for ky in sides):
        for routing in ("XYX", "YXY"):
            loads[routing, kx, ky] = largest_loads(f"mesh:{kx}x{ky}", routing.lower())
        step((at + 1) / len(sides) ** 2)
    results = {}
    for odd_x, odd_y in ((0, 0), (0, 1), (1, 0), (1, 1)):
        for routing in ("XYX", "YXY"):
            for dim in (0, 1):
                cases = [
                    (f"{kx}x{ky}", loads[routing, kx, ky][dim] == formula(routing, dim, (kx, ky)[dim]))
                    for kx in sides
                    for ky in sides
                    if (kx % 2, ky % 2) == (odd_x, odd_y)
                ]
                name = f"{_PARITY[odd_x]} kx, {_PARITY[odd_y]} ky: L{'xy'[dim]} of {routing}"
                results[name] = agreeing(cases, "meshes")
    return results
