"""Figures 2 and 6: worst cases on odd square meshes and on asymmetric meshes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from obliv import MissingExtraError, design
from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.blocks import blocks
from obliv.papers.u2turn.meshes import ROUTINGS, capacity_load, worst
from obliv.papers.u2turn.printed import COLUMNS, FIGURE6_MESHES
from obliv.papers.verdicts import Bounds
from obliv.results.numbers import bounds_of

__all__ = ["RADICES", "figure2", "figure6", "optimum"]

RADICES = tuple(range(3, 14, 2))

_BOUND_ONLY = (
    "Bound only: U2TURN attains the lower end, and the cut beside the middle column lets no routing pass the upper "
    "one. To decide it, install highspy."
)
_CERTIFIED = "No routing of the mesh is better than the best one of its 3 x 3 blocks, by a certified linear program: "
_TWO_TURNS = "U2TURN takes at most two turns, so it bounds 2TURN from below, and the best of all routings from above."


def figure2(step: Step) -> dict[str, Value]:
    """Compute every point of the five curves, and 2TURN, which the text counts among the optimal routings."""
    entries: dict[str, Value] = {}
    for at, k in enumerate(RADICES):
        values = {name: worst(f"mesh:{k}x{k}", ROUTINGS[name]) for name in COLUMNS}
        entries |= {f"k = {k}, {name}": Value(value) for name, value in values.items()}
        best = optimum(k, values["U2TURN"])
        entries[f"k = {k}, Optimal Routing"] = best
        entries[f"k = {k}, 2TURN"] = replace(best, note=f"{_TWO_TURNS} {best.note}".strip())
        step((at + 1) / len(RADICES))
    return entries


def optimum(k: int, attained: Fraction) -> Value:
    """Return the proved throughput of the best routing; without a solver the bound of a cut."""
    try:
        least = bounds_of(design(blocks(k), then=None).channel_load)[0]
    except MissingExtraError:
        return Value(Bounds(attained, Fraction(k + 1, 2 * k)), undecided=_BOUND_ONLY)
    most = capacity_load(k) / least
    if most == attained:
        return Value(most, f"{_CERTIFIED}exactly this is optimal, and U2TURN attains it.")
    return Value(Bounds(attained, most), f"{_CERTIFIED}U2TURN attains the lower end, no routing passes the upper one.")


def figure6(step: Step) -> dict[str, Value]:
    """Compute every routing on every mesh up to 7x6 exactly."""
    entries: dict[str, Value] = {}
    for at, (kx, ky) in enumerate(FIGURE6_MESHES):
        entries |= {
            f"{kx}x{ky}, {name}": Value(worst(f"mesh:{kx}x{ky}", routing)) for name, routing in ROUTINGS.items()
        }
        step((at + 1) / len(FIGURE6_MESHES))
    return entries
