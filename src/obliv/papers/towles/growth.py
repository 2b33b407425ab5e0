"""Sections 3.3 and 4.2: how the time to solve grows with the network, and what the edge weights take, measured."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np

import obliv
from obliv.papers.paper import Step, Value

__all__ = ["CIRCULANTS", "COMPLETE", "RADICES", "TORI", "compute", "exponent"]

# below, what a call costs by itself hides the growth; above, the numbers need more than 64 bits
RADICES = tuple(range(57, 24, -4))
TORI = tuple(f"torus:{k}x{k}" for k in (11, 9, 7, 5))
COMPLETE = tuple(f"complete:{n}" for n in (24, 16, 12, 8))
#: 65 nodes each, with 2, 4 ... 32 channels from every node.
CIRCULANTS = tuple(f"circulant:65,{'x'.join(map(str, range(1, jumps + 1)))}" for jumps in (16, 8, 4, 2, 1))
_LISTED = (3, 4, 5)
_TIMES = 7


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
            _all_channels(TORI, "romm", by_channels=False), "N", "All 4N channels of k-ary 2-cubes under ROMM."
        ),
    }
    step(0.6)
    entries["fixed N: exponent of |C| in the time of all channels"] = _power(
        _all_channels(CIRCULANTS, "shortest", by_channels=True),
        "|C|",
        "Single shortest paths on circulants of 65 nodes. With more channels, fewer pairs use each of them.",
    )
    step(0.8)
    entries["fully connected: exponent of N in the time of all channels"] = _power(
        _all_channels(COMPLETE, "valiant", by_channels=False), "N", "All N(N-1) channels under Valiant routing."
    )
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


def _all_channels(specs: Iterable[str], routing: str, by_channels: bool) -> dict[int, float]:
    """Return the time of all matchings, without their edge weights, by the number of channels or of nodes."""
    seconds = {}
    for spec in specs:
        topology = obliv.topology(spec)
        loads = obliv.routing(routing, topology).pair_loads()
        seconds[topology.channels if by_channels else topology.nodes] = _matchings(loads, range(topology.channels))
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
