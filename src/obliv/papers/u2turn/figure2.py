"""Figure 2: worst cases on odd square meshes."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import worst
from obliv.papers.verdicts import Bounds

__all__ = ["RADICES", "compute"]

RADICES = tuple(range(3, 14, 2))


def compute(step: Step) -> dict[str, Value]:
    """Compute every point of the five curves; the optimum lies between U2TURN and the bound of a cut."""
    entries = {}
    for at, k in enumerate(RADICES):
        mesh = f"mesh:{k}x{k}"
        for name in ("VAL", "DOR", "O1TURN", "U2TURN"):
            routing = "valiant" if name == "VAL" else name.lower()
            entries[f"k = {k}, {name}"] = Value(worst(mesh, routing))
        entries[f"k = {k}, Optimal Routing"] = Value(Bounds(worst(mesh, "u2turn"), Fraction(k + 1, 2 * k)))
        step((at + 1) / len(RADICES))
    return entries
