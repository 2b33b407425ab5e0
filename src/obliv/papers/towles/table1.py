"""Table 1: patterns, random permutations and the exact worst case of DOR and ROMM on the 9-ary 2-cube."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import fmean, stdev
from typing import Any

import numpy as np

import obliv
from obliv import Estimate
from obliv.papers.batches import worst_of_batches
from obliv.papers.paper import Step, Value
from obliv.papers.towles.printed import TABLE1
from obliv.papers.verdicts import exactly

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
    """Return the mean over the batches; the printed number is a single one, whose error is that of one batch."""
    sample = [float(value) for value in values]
    printed = float(TABLE1["Worst of 10^4 permutations, ROMM"].text)
    below = sum(round(value, 3) <= printed for value in sample)
    # of as many batches and the printed one, in which place the printed one is
    chance = (below + 1) / (len(sample) + 1)
    error = stdev(sample)
    note = (
        f"The mean of {len(values)} batches of 10^4 (seed {SEED}), from {min(sample):.3f} to {max(sample):.3f}. The "
        f"print is one batch, {(fmean(sample) - printed) / error:.1f} standard deviations of {error:.4f} below. {below}"
        f" of {len(values)} batches come down to it: p = {chance:.2f} on this side."
    )
    return Value(Estimate(fmean(sample), error / len(sample) ** 0.5, len(sample)), note, print_error=error)
