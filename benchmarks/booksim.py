"""Measure in BookSim2 at which share of the predicted saturation simulations are stable, and print a table.

    BOOKSIM=booksim2/src/booksim uv run python benchmarks/booksim.py > table.md            all combinations: some hours
    BOOKSIM=booksim2/src/booksim uv run python benchmarks/booksim.py "mesh:4x4 dor worst"   some of them

BookSim2 is built with the two headers of obliv (``obliv.io.extend_booksim``). Files are those of ``obliv export``,
unchanged; only rate, seed and length of a run are set on BookSim2's command line.

A rate is stable if no packet of a run was under way for longer than a fortieth of the measured cycles, with each of the
seeds, and BookSim2 does not warn of a deadlock. A queue that takes in a share e more than it gives away makes its last
packet wait for e times that time: an excess of 2.5 % is seen in any flow, however many others there are. Chance makes
packets wait, too: the queue of a channel with load 0.97 reaches some 200 cycles within a run, of the 375 allowed. The
mean of accepted packets says less: it hides the few flows that a permutation overloads.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stderr
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from pathlib import Path

from obliv.cli import main

#: Network, routing and traffic; with ``paths`` by listed paths, also where BookSim2 has the routing itself.
COMBINATIONS = (
    "mesh:4x4 dor uniform",
    "mesh:8x8 dor uniform",
    "mesh:4x4 dor worst",
    "mesh:8x8 dor worst",
    "mesh:4x4 o1turn worst",
    "mesh:4x4 romm:xy transpose",
    "mesh:4x4 valiant worst paths",
    "torus:8x8 dor transpose",
    "torus:8x8 dor worst",
    "torus:4x4 valiant worst paths",
    "torus:4x4 romm worst paths",
    "torus:5x5 u2turn worst paths",
    "ring:8 dor tornado",
    "hypercube:4 dor bit-reverse",
    "hypercube:6 dor worst",
    "hyperx:4x4 dor worst paths",
    "mesh:4x4 dor hot-nodes:5,10,share=1/2",
    "mesh:6x3 dor hot-nodes:3,share=1/3 paths",
    "graph:petersen shortest worst",
    "random-regular:n=16,d=3,seed=1 ecmp worst paths",
    "dragonfly:1,3,1 ecmp worst paths",
    "fattree:4,2 ecmp uniform paths",
    "fattree:4,2 dmodk worst paths",
    "dragonfly:2,4,2 ecmp uniform paths",
)
IDEAL = (0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)  # shares of the prediction, until one is stable
ABOVE = 1.05  # a share that must not be stable
HALVINGS = 4  # of the interval from 0 to 1 with a lean router
PERIODS = 3  # that are measured


@dataclass(frozen=True)
class Run:
    """One run of BookSim2."""

    latency: float
    longest: float
    least_accepted: float
    deadlock: bool
    seconds: float

    def stable(self, period: int) -> bool:
        return not self.deadlock and self.longest <= PERIODS * period / 40


def exported(words: str, folder: Path, router: str) -> tuple[Path, Fraction]:
    """Write the files of a combination, and return the configuration and the predicted saturation."""
    topology, routing, traffic, *paths = words.split()
    path = folder / f"{router}.cfg"
    to = "booksim-paths" if paths else "booksim"
    told = StringIO()
    with redirect_stderr(told):
        status = main(
            ["export", topology, routing, "--to", to, "--traffic", traffic, "--router", router, "--output", str(path)]
        )
    found = re.search(r"predicted saturation: at most (\S+)", told.getvalue())
    if status or found is None:
        raise SystemExit(f"{words}: {told.getvalue()}")
    return path, Fraction(found[1])


def run(booksim: str, path: Path, rate: float, seed: int, period: int, limit: float) -> Run:
    """Run a configuration; a run that takes too long counts as deadlocked, as its packets do not arrive."""
    options = [f"injection_rate={rate:.6f}", f"seed={seed}", f"sample_period={period}", f"max_samples={PERIODS + 1}"]
    command = [booksim, path.name, *options]
    began = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Run(float("nan"), float("inf"), 0.0, True, limit)
    overall = done.stdout.rpartition("Overall Traffic Statistics")[2]
    figure = r" = ([\d.e+-]+)"
    latency = re.search(rf"Packet latency average{figure}.*?maximum{figure}", overall, re.DOTALL)
    accepted = re.search(rf"Accepted packet rate average{figure}.*?minimum{figure}", overall, re.DOTALL)
    if latency is None or accepted is None:
        raise SystemExit(f"{' '.join(command)} in {path.parent}:\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return Run(
        float(latency[1]),
        float(latency[2]),
        float(accepted[2]),
        "Possible network deadlock" in done.stdout,
        time.perf_counter() - began,
    )


def measured(booksim: str, words: str, seeds: int, period: int, limit: float) -> str:
    """Return the row of a combination."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, predicted = exported(words, folder, "ideal")
        lean, _ = exported(words, folder, "lean")
        seconds: list[float] = []

        def runs(path: Path, share: float, count: int) -> list[Run]:
            """Runs with several seeds, until one is not stable."""
            found: list[Run] = []
            while len(found) < count and (not found or found[-1].stable(period)):
                found.append(run(booksim, path, float(predicted) * share, len(found) + 1, period, limit))
            seconds.extend(one.seconds for one in found)
            print(f"{words}: {path.stem} {share:g}: {found}", file=sys.stderr)
            return found

        def stable(path: Path, share: float, count: int) -> bool:
            return all(one.stable(period) for one in runs(path, share, count))

        below = next((share for share in IDEAL if stable(path, share, seeds)), 0.0)
        (half,) = runs(path, 0.5, 1)
        above = "" if float(predicted) * ABOVE > 1 else "stable" if stable(path, ABOVE, 1) else "unstable"
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if stable(lean, middle, 1) else (low, middle)
    network, routing, traffic, *paths = words.split()
    cells = [f"`{network}`", f"`{routing}`" + ", listed paths" * bool(paths), f"`{traffic}`", str(predicted)]
    cells += [f"{below:g}", above or "more than a packet", f"{low:g}", f"{half.latency:.1f}", f"{max(seconds):.0f} s"]
    return f"| {' | '.join(cells)} |"


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("combinations", nargs="*", metavar="COMBINATION", help='as "mesh:4x4 dor worst [paths]"')
    parser.add_argument("--seeds", type=int, default=3, help="runs of an ideal router at a rate (default 3)")
    parser.add_argument("--period", type=int, default=5000, help="cycles of a period, of which three are measured")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run (default 600)")
    options = parser.parse_args()
    booksim = os.environ.get("BOOKSIM")
    if booksim is None:
        raise SystemExit("set BOOKSIM to the program that BookSim2 builds, src/booksim")
    heads = ["network", "routing", "traffic", "predicted", "ideal: stable at", f"ideal at {ABOVE:g}"]
    heads += ["lean: stable at", "latency at half load", "longest run"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for words in options.combinations or COMBINATIONS:
        row = measured(str(Path(booksim).resolve()), words, options.seeds, options.period, options.limit)
        print(row, flush=True)


if __name__ == "__main__":
    _main()
