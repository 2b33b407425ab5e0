"""Speed of the average case: permutations drawn and weighed, one core, against a numpy loop; and over cores.

uv run python benchmarks/average.py
"""

from __future__ import annotations

import os
import time

import numpy as np

import obliv


def seconds(routing: obliv.Routing, samples: int, jobs: int) -> float:
    began = time.perf_counter()
    obliv.average_case(routing, samples, 1, jobs=jobs)
    return time.perf_counter() - began


def numpy_loop(routing: obliv.Routing, samples: int) -> float:
    """One fancy index into a table [pair][channel] of float64 a permutation."""
    loads = routing.pair_loads()
    n = loads.terminals
    table = np.zeros((n * n, loads.topology.channels))
    for channel in range(loads.topology.channels):
        row, col, weight = loads.weights(channel).spread()
        table[row * n + col, channel] = weight / loads.denominator
    rng = np.random.default_rng(1)
    base = np.arange(n) * n
    began = time.perf_counter()
    for _ in range(samples):
        table[base + rng.permutation(n)].sum(axis=0).max()
    return time.perf_counter() - began


if __name__ == "__main__":
    for network, target, loop in (("mesh:8x8", 0.7, 20_000), ("mesh:16x16", 7.0, 2_000)):
        for spec in ("o1turn", "u2turn"):
            routing = obliv.routing(spec, obliv.topology(network))
            obliv.average_case(routing, 20_000, 1)
            one = min(seconds(routing, 10**6, 1) for _ in range(3))
            many = min(seconds(routing, 10**6, os.cpu_count() or 1) for _ in range(3))
            slow = min(numpy_loop(routing, loop) for _ in range(3)) / loop * 10**6
            print(
                f"{network} {spec:<7} 10^6 permutations: {one:.2f} s on one core (at most {target} s), "
                f"{one / many:.2f} x faster on {os.cpu_count()}, {slow / one:.0f} x a numpy loop (at least 25 x)"
            )
