"""What the text states beside its tables: the headline percentages, and which dimension decides."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean

import obliv
from obliv.papers.paper import Step, Value, agreeing, require
from obliv.papers.u2turn.meshes import ASYMMETRIC, largest_loads, mean_gain
from obliv.papers.u2turn.printed import COLUMNS, EVEN, ODD
from obliv.papers.verdicts import Bounds

__all__ = ["compute"]

_SQUARES = ODD | EVEN
_DEADLOCK_MESHES = ("3x3", "4x4", "5x5", "5x3", "3x5", "7x4")


def compute(step: Step) -> dict[str, Value]:
    """Compute the headline from printed and computed averages, and compare Lx and Ly on every mesh kx > ky."""
    entries = {}
    meshes = [f"mesh:{size}" for size in _SQUARES]
    for at, over in enumerate(COLUMNS[:3]):
        entries[f"U2TURN over {over}, from the printed averages"] = _from_print(over)
        entries[f"U2TURN over {over}, from computed averages"] = Value(mean_gain(meshes, "U2TURN", over))
        step(0.7 * (at + 1) / 3)
    for routing in ("XYX", "YXY"):
        cases = []
        for kx, ky in ASYMMETRIC:
            x, y = largest_loads(f"mesh:{kx}x{ky}", routing.lower())
            require(x >= y, f"Lx >= Ly on {kx}x{ky}")
            cases.append((f"{kx}x{ky}", x > y))
        entries[f"{routing}: meshes kx > ky with Lx > Ly"] = agreeing(cases, "meshes up to 8x7")
    step(0.9)
    for routing in ("U2TURN", "U2TURN-A"):
        entries[f"{routing}: free of deadlock"] = _deadlock(routing)
    return entries


def _deadlock(name: str) -> Value:
    """Count the meshes without deadlock if a packet takes the next virtual channel at each turn from Y to X."""
    cases, without = [], 0
    for size in _DEADLOCK_MESHES:
        routing = obliv.routing(name.lower(), obliv.topology(f"mesh:{size}"))
        cases.append((size, obliv.deadlock(routing, "turn").acyclic))
        without += obliv.deadlock(routing).acyclic
    return agreeing(cases, "meshes", f"With one virtual channel {without} of them.")


def _from_print(over: str) -> Value:
    """Return bounds on the mean of ratios, since every printed average is rounded."""
    column = COLUMNS.index(over)
    pairs = [(rows["Average-case"][3], rows["Average-case"][column]) for rows in _SQUARES.values()]
    low = sum(_edge(a, -1) / _edge(b, 1) for a, b in pairs) / len(pairs) - 1
    high = sum(_edge(a, 1) / _edge(b, -1) for a, b in pairs) / len(pairs) - 1
    plain = fmean(float(a) / float(b) for a, b in pairs) - 1
    return Value(Bounds(Fraction(low), Fraction(high)), f"The mean of the printed averages' ratios: {plain:.4f}.")


def _edge(text: str, side: int) -> Fraction:
    if text == "0.5":
        return Fraction(1, 2)  # VAL, exact
    return Fraction(text) + side * Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
