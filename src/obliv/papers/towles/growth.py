"""Sections 3.3 and 4.2: how the time to solve grows with the network, and what the edge weights take, measured."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np

import obliv
from obliv.papers.paper import Step, Value

__all__ = ["RADICES", "TORI", "compute", "exponent"]

# From 7x7 and 25x25 on a matching takes at least four times and ten times as long as a call that has nothing to match.
# On fully connected networks and circulants of some hundred nodes it takes no longer than the call, as each channel is
# used by few pairs there: the growth with |C| and O(N^5) are not measured.
RADICES = tuple(range(57, 24, -4))  # above, the numbers need more than 64 bits
TORI = tuple(f"torus:{k}x{k}" for k in (13, 11, 9, 7))
_LISTED = (3, 4, 5)
_TIMES = 3


class Listed(obliv.Routing):
    """A routing known by its paths only, so that its edge weights come from listing all of them."""

    def __init__(self, routing: obliv.Routing) -> None:
        super().__init__(routing.topology)
        self.paths = routing.paths  # type: ignore[method-assign]


def compute(step: Step) -> dict[str, Value]:
    """Fit power laws to the times of one channel and of all channels, and compare edge weights with matchings."""
    seconds = {}
    for at, k in enumerate(RADICES):  # the largest first: it loads the compiled kernel for all
        loads = obliv.routing("romm", obliv.topology(f"torus:{k}x{k}")).pair_loads()
        seconds[k * k] = _matchings(loads, [0])
        step(0.3 * (at + 1) / len(RADICES))
    entries = {
        "exponent of N in the time of a matching": _power(
            seconds,
            "N",
            "One channel under ROMM on k-ary 2-cubes. Without symmetry a torus has 4N channels, which adds one to the "
            "exponent and to the paper's bound, O(|C|N^3).",
        ),
        "fixed degree: exponent of N in the time of all channels": _power(
            _all_channels(TORI, "romm"), "N", "All 4N channels of k-ary 2-cubes under ROMM."
        ),
    }
    step(0.9)
    return entries | {"share of the edge weights in the run time": _share_of_weights()}


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Return the least-squares slope of log time over log size, with its standard error."""
    x, y = np.log(sizes), np.log(seconds)
    x = x - x.mean()
    spread = float(x @ x)
    slope = float(x @ y) / spread
    rest = y - y.mean() - slope * x
    return slope, float(np.sqrt(rest @ rest / (len(x) - 2) / spread))


def _power(seconds: dict[int, float], size: str, note: str) -> Value:
    """Return the exponent of measured times."""
    slope, error = exponent(list(seconds), list(seconds.values()))
    times = ", ".join(f"{n}: {1000 * took:.3g}" for n, took in sorted(seconds.items()))
    return Value(
        obliv.Estimate(slope, error, len(seconds)),
        f"Measured, differs from run to run. {note} {size} and milliseconds: {times}.",
    )


def _all_channels(specs: Iterable[str], routing: str) -> dict[int, float]:
    """Return the time of all matchings, without their edge weights, by the number of nodes."""
    seconds = {}
    for spec in specs:
        topology = obliv.topology(spec)
        seconds[topology.nodes] = _matchings(obliv.routing(routing, topology).pair_loads(), range(topology.channels))
    return seconds


def _matchings(loads: Any, channels: Iterable[int]) -> float:
    """Return the time to solve channels; other work on the machine only adds time, so that the least is taken."""
    weights = [loads.weights(channel) for channel in channels]
    return min(_timed(weights) for _ in range(_TIMES + 1))


def _timed(weights: list[Any]) -> float:
    began = time.perf_counter()
    for table in weights:
        obliv.maximum_weight(table)
    return time.perf_counter() - began


def _share_of_weights() -> Value:
    """Time listing all paths of all pairs, and solving all channels."""
    shares, times = [], []
    for k in _LISTED:
        routing = Listed(obliv.routing("romm", obliv.topology(f"torus:{k}x{k}")))
        began = time.perf_counter()
        loads = routing.pair_loads()
        weighing = time.perf_counter() - began
        solving = _matchings(loads, range(loads.topology.channels))
        shares.append(weighing / (weighing + solving))
        times.append(f"{k}: {1000 * weighing:.3g} and {1000 * solving:.3g}")
    return Value(
        obliv.Estimate(fmean(shares), stdev(shares) / len(shares) ** 0.5, len(shares)),
        "Measured, differs from run to run. All paths of ROMM on k-ary 2-cubes are listed, N² pairs, and all channels "
        f"solved; k and milliseconds of both: {', '.join(times)}.",
    )
