"""Figure 6: worst cases on asymmetric meshes."""

from __future__ import annotations

from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import ROUTINGS, worst
from obliv.papers.u2turn.printed import FIGURE6_MESHES

__all__ = ["compute"]


def compute(step: Step) -> dict[str, Value]:
    """Compute every routing on every mesh up to 7x6 exactly."""
    entries = {}
    for at, (kx, ky) in enumerate(FIGURE6_MESHES):
        for name, routing in ROUTINGS.items():
            entries[f"{kx}x{ky}, {name}"] = Value(worst(f"mesh:{kx}x{ky}", routing))
        step((at + 1) / len(FIGURE6_MESHES))
    return entries
