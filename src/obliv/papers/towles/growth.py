"""Section 3.3: how the time to solve a channel grows with the network, measured."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import obliv
from obliv.papers.paper import Step, Value

__all__ = ["RADICES", "compute", "exponent"]

# below, what a call costs by itself hides the growth; above, the numbers need more than 64 bits
RADICES = tuple(range(57, 24, -4))
_TIMES = 7


def compute(step: Step) -> dict[str, Value]:
    """Fit a power law to the times of one ROMM focus channel on k-ary 2-cubes."""
    seconds = {}
    for at, k in enumerate(RADICES):  # the largest first: it loads the compiled kernel for all
        weights = obliv.routing("romm", obliv.topology(f"torus:{k}x{k}")).pair_loads().weights(0)
        obliv.maximum_weight(weights)
        # other work on the machine only ever adds time: the least is the best measurement
        seconds[k * k] = min(_timed(weights) for _ in range(_TIMES))
        step((at + 1) / len(RADICES))
    slope, error = exponent(list(seconds), list(seconds.values()))
    times = ", ".join(f"{n}: {1000 * took:.3g}" for n, took in sorted(seconds.items()))
    return {
        "exponent of N in the time of a matching": Value(
            obliv.Estimate(slope, error, len(seconds)),
            f"Measured, differs from run to run. One channel under ROMM, N and milliseconds: {times}. Without symmetry "
            "a torus has 4N channels, which adds one to the exponent and to the paper's bound, O(|C|N^3).",
        )
    }


def exponent(sizes: list[int], seconds: list[float]) -> tuple[float, float]:
    """Return the least-squares slope of log time over log size, with its standard error."""
    x, y = np.log(sizes), np.log(seconds)
    x = x - x.mean()
    spread = float(x @ x)
    slope = float(x @ y) / spread
    rest = y - y.mean() - slope * x
    return slope, float(np.sqrt(rest @ rest / (len(x) - 2) / spread))


def _timed(weights: Any) -> float:
    began = time.perf_counter()
    obliv.maximum_weight(weights)
    return time.perf_counter() - began
