"""Figure 7: improvements of the average on asymmetric meshes; the text does not name their sizes."""

from __future__ import annotations

from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import ROUTINGS, average, mean_gain
from obliv.papers.u2turn.printed import FIGURE7

__all__ = ["MESHES", "compute"]

MESHES = ("3x2", "4x3", "5x4", "6x5", "7x6")


def compute(step: Step) -> dict[str, Value]:
    """Compute the mean gains on the meshes with kx - ky = 1, and the averages."""
    averages: dict[str, list[str]] = {name: [] for name in ROUTINGS}
    for at, size in enumerate(MESHES):
        for name, routing in ROUTINGS.items():
            averages[name].append(f"{float(average(f'mesh:{size}', routing)):.4f}")
        step((at + 1) / len(MESHES))
    entries = {}
    for entry in FIGURE7:
        ours, theirs = entry.split(" over ")
        entries[entry] = Value(
            mean_gain([f"mesh:{size}" for size in MESHES], ours, theirs),
            f"On {', '.join(MESHES)}: "
            + "; ".join(f"{name} {', '.join(averages[name])}" for name in (ours, theirs))
            + ".",
        )
    return entries
