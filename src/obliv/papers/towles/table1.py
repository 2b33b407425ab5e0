"""Table 1: patterns, random permutations and the exact worst case of DOR and ROMM on the 9-ary 2-cube."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import quantiles
from typing import Any

import numpy as np

import obliv
from obliv.papers.batches import worst_of_batches
from obliv.papers.paper import Step, Value
from obliv.papers.towles.printed import TABLE1
from obliv.papers.verdicts import Bounds, exactly

__all__ = ["BATCHES", "PATTERNS", "SEED", "compute"]

BATCHES = 40
SEED = 1

#: The rows of Table 1 by the names of their patterns.
PATTERNS = {"uniform": "Uniform", "complement": "Bit-complement", "transpose": "Transpose", "tornado": "Tornado"}


def compute(step: Step) -> dict[str, Value]:
    """Compute every entry of Table 1, in the order of its rows."""
    topology = obliv.topology("torus:9x9")
    dor, romm = (obliv.routing(name, topology) for name in ("dor", "romm"))
    columns = {
        "DOR": _column(dor, _constant, lambda share: step(0.2 * share)),
        "ROMM": _column(romm, _spread, lambda share: step(0.2 + 0.8 * share)),
    }
    rows = next(iter(columns.values()))
    return {f"{row}, {name}": column[row] for row in rows for name, column in columns.items()}


def _column(routing: Any, batches_of: Callable[[list[Fraction]], Value], step: Step) -> dict[str, Value]:
    patterns = obliv.throughput(routing, *PATTERNS).patterns
    worst = obliv.worst_case(routing)
    loads = worst_of_batches(
        routing.pair_loads(), 10_000, BATCHES, np.random.default_rng(SEED), exactly(worst.channel_load), step
    )
    entries = {row: Value(exactly(p.fraction_of_capacity)) for row, p in zip(PATTERNS.values(), patterns, strict=True)}
    entries["Worst of 10^4 permutations"] = batches_of([1 / (exactly(worst.capacity) * load) for load in loads])
    entries["Worst-case"] = Value(exactly(worst.fraction_of_capacity))
    return entries


def _constant(values: list[Fraction]) -> Value:
    """Return the value on which all batches agree, or the least."""
    alike = sum(value == min(values) for value in values)
    return Value(min(values), f"{alike} of {len(values)} batches of 10^4 permutations give this.")


def _spread(values: list[Fraction]) -> Value:
    """Return bounds over the batches; the printed number is the result of one batch too."""
    sample = [float(value) for value in values]
    printed = float(TABLE1["Worst of 10^4 permutations, ROMM"].text)
    cuts = quantiles(sample, n=20, method="inclusive")
    below = sum(round(value, 3) <= printed for value in sample)
    note = (
        f"The least and the most of {len(values)} batches of 10^4 (seed {SEED}): median {cuts[9]:.3f}, 5-95 % "
        f"{cuts[0]:.3f} to {cuts[18]:.3f}; {below} of {len(values)} come down to the printed value."
    )
    return Value(Bounds(min(values), max(values)), note)
