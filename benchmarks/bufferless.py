"""Speed and memory of packet routing; every size in a process of its own, kernels cached, the median of runs.

    uv run python benchmarks/bufferless.py [small] [large] [runs]

A packet-step is a step of a packet before it arrives, waiting ones and those outside the network included.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance
from obliv.bufferless.schedulers import direct, hot_potato, queues

Made = Callable[[Instance, np.random.Generator], Any]

ALGORITHMS: dict[str, Made] = {
    "direct": lambda one, rng: direct(one),
    "fifo": lambda one, rng: queues(one, rng, "fifo"),
    "random-rank": lambda one, rng: queues(one, rng, "random-rank"),
    "hot-potato": lambda one, rng: hot_potato(one, rng, "closest"),
}
FLOORS = {"direct": 10, "fifo": 5, "random-rank": 5, "hot-potato": 1.5}
SMALL = ("butterfly:16", "leveled-mesh:128x128", "leveled-mesh:256x256")
LARGE = ("butterfly:18", "butterfly:20", "leveled-mesh:512x512")


def drawn(spec: str) -> Instance:
    return instance(spec, **({"route": "xy"} if "mesh" in spec else {}))


def one(spec: str, algorithm: str, runs: int) -> None:
    """The median of some runs, after one on a mesh large enough to load the kernels."""
    call = ALGORITHMS[algorithm]
    call(drawn("leveled-mesh:100x100"), np.random.default_rng(0))
    began = time.perf_counter()
    given = drawn(spec)
    if algorithm == "hot-potato":
        _ = given.network.edge_ends
    making = time.perf_counter() - began
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        made = call(given, np.random.default_rng(0))
        seconds.append(time.perf_counter() - began)
    median = statistics.median(seconds)
    count = len(given.edge) if algorithm == "direct" else int(made.delivery.sum())
    unit = "path edges" if algorithm == "direct" else "packet-steps"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{algorithm:<12} {spec:<21} {median:6.2f} s, {made.delivery.max():5} steps, {peak:.2f} GB, instance "
        f"{making:.2f} s, {count / median / 1e6:5.1f} M {unit}/s   at least {FLOORS[algorithm]:g}",
        flush=True,
    )


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["one"]:
        one(words[1], words[2], int(words[3]))
        sys.exit()
    runs = next((word for word in words if word.isdigit()), "3")
    chosen = SMALL if "large" not in words else LARGE if "small" not in words else SMALL + LARGE
    for spec in chosen:
        for algorithm in ALGORITHMS:
            subprocess.run([sys.executable, __file__, "one", spec, algorithm, runs], check=True)
