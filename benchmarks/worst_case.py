"""Speed and memory of the exact worst case; ratios are taken in one run.

    uv run python benchmarks/worst_case.py [focus] [random] [verbs] [verify] [check] [start]

Prints one line a figure with its target.  Kernels are compiled before anything is timed.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import obliv
from obliv import kernels
from obliv.loads.search import search_channels
from obliv.matching.solve import maximum_weight


def best(call: Callable[[], object], runs: int = 5) -> float:
    """Seconds of the fastest of several runs."""
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def report(name: str, value: str, target: str) -> None:
    print(f"{name:<58} {value:>22}   {target}")


def focus() -> None:
    """One ROMM focus channel, solving only, against scipy's dense solver."""
    for k, target in ((33, 40), (65, 80)):
        loads = obliv.routing("romm", obliv.torus(k, k)).pair_loads()
        weights = loads.weights(0)
        maximum_weight(weights)
        ours = best(lambda w=weights: maximum_weight(w), 9)
        dense = np.zeros((k * k, k * k))
        row, col, weight = weights.spread()
        dense[row, col] = weight
        theirs = best(lambda d=dense: linear_sum_assignment(d, maximize=True), 3)
        report(
            f"ROMM focus channel, {k * k} nodes", f"{ours * 1e3:.2f} ms, {theirs / ours:.0f} x", f"at least {target} x"
        )


def random() -> None:
    """All channels of a random 8-regular graph of 1,000 nodes under ECMP."""
    topology = obliv.random_regular(1000, 8, seed=1)
    routing = obliv.ECMP(topology)
    loads = routing.pair_loads()
    every = np.arange(topology.channels)

    def solve() -> list[object]:
        return list(search_channels(loads, every).optima.items())

    solve()
    making, solving = best(routing.pair_loads, 3), best(solve, 3)
    sample = every[:: len(every) // 40]
    theirs = 0.0
    for channel in sample.tolist():
        part = slice(loads.start[channel], loads.start[channel + 1])
        dense = np.zeros((1000, 1000))
        dense[loads.source[part], loads.destination[part]] = loads.numerator[part]
        theirs += best(lambda d=dense: linear_sum_assignment(d, maximize=True), 1)
    ratio = theirs / len(sample) * len(every) / solving
    report("random 8-regular, 1,000 nodes: solving", f"{solving:.3f} s, {ratio:.0f} x", "at least 200 x")
    report("random 8-regular, 1,000 nodes: loads and solving", f"{making + solving:.3f} s", "at most 1.5 s")
    code = (
        "import obliv; from obliv import kernels; kernels.COMPILE_ABOVE = 0;"
        "small = obliv.ECMP(obliv.random_regular(50, 8, seed=1)).pair_loads();"
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) * 1024;"
        "before = peak(); routing = obliv.ECMP(obliv.random_regular(1000, 8, seed=1));"
        "loads = routing.pair_loads(); print((peak() - before) / len(loads.numerator))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    report("memory per non-zero pair load, at the peak", f"{float(done.stdout):.1f} bytes", "at most 40 bytes")


def check() -> None:
    """Checking duals: nanoseconds per non-zero."""
    from obliv.checker.kernels.sums import Entries, Prices, add_block

    topology = obliv.random_regular(1000, 8, seed=1)
    loads = obliv.ECMP(topology).pair_loads()
    n, channels = loads.terminals, topology.channels
    prices, duals = np.zeros((channels, n), np.int64), np.arange(channels)
    for channel, price in search_channels(loads, duals, prices=True).prices.items():
        prices[channel] = price
    order = np.lexsort((loads.source, np.repeat(duals, np.diff(loads.start))))
    entries = Entries(loads.start, loads.source[order], loads.destination[order], loads.numerator[order])
    total, send = np.zeros(channels, np.int64), np.ones(n, np.int64)
    run = add_block.compiled()
    run(entries, send, Prices(duals, prices), total)
    seconds = best(lambda: run(entries, send, Prices(duals, prices), total))
    report("checking the duals of 8,000 channels", f"{seconds / len(order) * 1e9:.2f} ns/non-zero", "at most 5 ns")


def timed(*words: str) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "obliv", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - began


def verbs() -> None:
    """Whole processes, kernels cached."""
    for k, target in ((33, 1.8), (65, 4.0)):
        timed("worst", f"torus:{k}x{k}", "romm")
        report(
            f"obliv worst torus:{k}x{k} romm",
            f"{min(timed('worst', f'torus:{k}x{k}', 'romm') for _ in range(3)):.2f} s",
            f"at most {target} s",
        )


def verify() -> None:
    """The checker, whole processes, kernels cached."""
    with tempfile.TemporaryDirectory() as folder:
        for topology, routing, target in (
            ("torus:9x9", "romm", 2),
            ("random-regular:n=1000,d=8,seed=1", "ecmp", 20),
            ("torus:33x33", "romm", 90),
        ):
            kept = Path(folder, "claim.json.gz")
            timed("worst", topology, routing, "-o", str(kept))
            timed("verify", str(kept), "--quick")
            seconds = min(timed("verify", str(kept)) for _ in range(2))
            report(
                f"obliv verify: {topology} {routing}",
                f"{seconds:.2f} s, {kept.stat().st_size / 1e6:.2f} MB",
                f"at most {target} s, 3 MB",
            )


def start() -> None:
    """Start-up."""
    plain = best(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    importing = best(lambda: subprocess.run([sys.executable, "-c", "import obliv"], check=True))
    report("import obliv", f"{importing - plain:.3f} s", "at most 0.2 s")
    report("obliv --help", f"{min(timed('--help') for _ in range(5)):.2f} s", "at most 0.4 s")
    report(
        "obliv worst torus:9x9 romm",
        f"{min(timed('worst', 'torus:9x9', 'romm') for _ in range(5)):.2f} s",
        "at most 1.5 s",
    )


if __name__ == "__main__":
    kernels.COMPILE_ABOVE = 0
    parts = {call.__name__: call for call in (start, focus, random, check, verbs, verify)}
    for name in sys.argv[1:] or parts:
        parts[name]()
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
