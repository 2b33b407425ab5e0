"""What the text says of averages on asymmetric meshes, for random permutations on all meshes up to 8x7."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import ROUTINGS, average, gain
from obliv.papers.u2turn.printed import AVERAGE_MESHES, AVERAGES

__all__ = ["SAMPLES", "average_of", "compute"]

SAMPLES = 20_000  # permutations of a mesh; its number of nodes is the random seed


def compute(step: Step) -> dict[str, Value]:
    """Count the meshes for which the sentences hold, and compute the gains mesh by mesh."""
    averages: dict[str, dict[str, float]] = {}
    for at, (kx, ky) in enumerate(AVERAGE_MESHES):
        averages[f"{kx}x{ky}"] = {name: average_of(f"mesh:{kx}x{ky}", routing) for name, routing in ROUTINGS.items()}
        step((at + 1) / len(AVERAGE_MESHES))
    others = ("VAL", "DOR", "O1TURN")
    entries = {
        "meshes on which U2TURN-A is above U2TURN": _count(averages, "U2TURN-A", ("U2TURN",)),
        "meshes on which U2TURN is above VAL, DOR and O1TURN": _count(averages, "U2TURN", others),
        "meshes on which U2TURN-A is above VAL, DOR and O1TURN": _count(averages, "U2TURN-A", others),
    }
    for entry in list(AVERAGES)[len(entries) :]:
        size, _, pair = entry.partition(", ")
        ours, _, theirs = pair.partition(" over ")
        entries[entry] = Value(gain(f"mesh:{size}", ours, theirs, SAMPLES))
    return entries


def average_of(mesh: str, routing: str) -> float:
    """Return the average of a routing over random permutations, as a fraction of capacity."""
    return float(average(mesh, routing, SAMPLES))


def _count(averages: dict[str, dict[str, float]], name: str, others: tuple[str, ...]) -> Value:
    above = [size for size, values in averages.items() if values[name] > max(values[other] for other in others)]
    rest = [size for size in averages if size not in above]
    listed = f": {', '.join(above)}" if len(above) <= len(rest) else f", not {', '.join(rest)}" if rest else ""
    return Value(Fraction(len(above)), f"{len(above)} of {len(averages)} meshes kx > ky up to 8x7{listed}.")
