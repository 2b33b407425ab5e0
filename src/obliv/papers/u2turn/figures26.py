"""Figures 2 and 6: worst cases on odd square meshes and on asymmetric meshes."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import ROUTINGS, worst
from obliv.papers.u2turn.printed import COLUMNS, FIGURE6_MESHES
from obliv.papers.verdicts import Bounds

__all__ = ["RADICES", "figure2", "figure6"]

RADICES = tuple(range(3, 14, 2))


def figure2(step: Step) -> dict[str, Value]:
    """Compute every point of the five curves; the optimum lies between U2TURN and the bound of a cut."""
    entries: dict[str, Value] = {}
    for at, k in enumerate(RADICES):
        values = {name: worst(f"mesh:{k}x{k}", ROUTINGS[name]) for name in COLUMNS}
        entries |= {f"k = {k}, {name}": Value(value) for name, value in values.items()}
        entries[f"k = {k}, Optimal Routing"] = Value(Bounds(values["U2TURN"], Fraction(k + 1, 2 * k)))
        step((at + 1) / len(RADICES))
    return entries


def figure6(step: Step) -> dict[str, Value]:
    """Compute every routing on every mesh up to 7x6 exactly."""
    entries: dict[str, Value] = {}
    for at, (kx, ky) in enumerate(FIGURE6_MESHES):
        entries |= {
            f"{kx}x{ky}, {name}": Value(worst(f"mesh:{kx}x{ky}", routing)) for name, routing in ROUTINGS.items()
        }
        step((at + 1) / len(FIGURE6_MESHES))
    return entries
