"""Measure in BookSim2 at which share of the predicted saturation simulations are stable, and print a table.

    BOOKSIM=booksim2/src/booksim uv run python benchmarks/booksim.py > table.md            all combinations: some hours
    BOOKSIM=booksim2/src/booksim uv run python benchmarks/booksim.py "mesh:4x4 dor worst"   some of them

BookSim2 is built with the two headers of obliv (``obliv.io.extend_booksim``). Files are those of ``obliv export``,
unchanged; only rate, seed and length of a run are set on BookSim2's command line.

A rate is stable if no packet of a run was under way for longer than a fortieth of the measured cycles, with each of the
seeds; `obliv.io.simulators.booksim_runs` says why. `obliv simulate` finds the highest such rate of one combination.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import obliv
from obliv.errors import OblivError
from obliv.io.simulators.booksim import Router, saturation, write_without_deadlock
from obliv.io.simulators.booksim_runs import SimulatedRun, program_of, run_booksim
from obliv.questions.worst_case import worst_traffic

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
    "damaged:mesh:4x4,5-6 ecmp worst paths",
    "damaged:torus:4x4,0-1,5 shortest uniform paths",
    "cmesh:4x4,c=4 ecmp worst paths",
    "mesh:4x4 u2turn worst paths",
    "mesh:4x4 ecmp hot-nodes:5,10,share=1/2 paths",
    "ring:16 dor worst",
    "hypercube:4 valiant worst paths",
    "mesh:3x3x3 dor worst",
    "mesh:8x8 o1turn worst",
    "torus:4x4x4 dor worst",
    "hyperx:8x8 dor worst paths",
    "fattree:6,3 dmodk worst paths",
    "mesh:8x8 romm:xy transpose",
    "mesh:8x8 dor hot-nodes:27,36,share=1/4",
    "torus:8x8 dor tornado",
    "torus:5x5 romm worst paths",
)
IDEAL = (0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)  # shares of the prediction, until one is stable
ABOVE = 1.05  # a share that must not be stable
HALVINGS = 4  # of the interval from 0 to 1 with a lean router


def measured(booksim: str, words: str, seeds: int, limit: float) -> str:
    """Return the row of a combination; a run that takes too long counts as not stable."""
    network, spec, pattern, *paths = words.split()
    routing = obliv.routing(spec, network)
    traffic = worst_traffic(routing) if pattern == "worst" else obliv.traffic(pattern, routing.topology)
    predicted = saturation(routing, traffic)
    if predicted is None:
        raise SystemExit(f"{words}: there is no traffic")
    rate = float(predicted.rate)
    with tempfile.TemporaryDirectory() as folder:
        seconds: list[float] = []

        def written(router: Router) -> Path:
            path = Path(folder, f"{router}.cfg")
            write_without_deadlock(routing, path, traffic, paths=bool(paths), router=router)
            return path

        def runs(path: Path, share: float, count: int) -> list[SimulatedRun | None]:
            """Runs with several seeds, until one is not stable."""
            found: list[SimulatedRun | None] = []
            while len(found) < count and all(one is not None and one.stable for one in found):
                began = time.monotonic()
                found.append(run_booksim(booksim, path, traffic, rate * share, len(found) + 1, end=began + limit))
                seconds.append(time.monotonic() - began)
            print(f"{words}: {path.stem} {share:g}: {found}", file=sys.stderr)
            return found

        def stable(path: Path, share: float, count: int) -> bool:
            return all(one is not None and one.stable for one in runs(path, share, count))

        ideal, lean = written("ideal"), written("lean")
        below = next((share for share in IDEAL if stable(ideal, share, seeds)), 0.0)
        (half,) = runs(ideal, 0.5, 1)
        above = "" if rate * ABOVE > 1 else "stable" if stable(ideal, ABOVE, 1) else "unstable"
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if stable(lean, middle, 1) else (low, middle)
    latency = "-" if half is None or half.latency is None else f"{half.latency:.1f}"
    cells = [f"`{network}`", f"`{spec}`" + ", listed paths" * bool(paths), f"`{pattern}`", str(predicted.rate)]
    cells += [f"{below:g}", above or "more than a packet", f"{low:g}", latency, f"{max(seconds):.0f} s"]
    return f"| {' | '.join(cells)} |"


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("combinations", nargs="*", metavar="COMBINATION", help='as "mesh:4x4 dor worst [paths]"')
    parser.add_argument("--seeds", type=int, default=3, help="runs of an ideal router at a rate (default 3)")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run (default 600)")
    options = parser.parse_args()
    try:
        booksim = program_of(None)
    except OblivError as error:
        raise SystemExit(str(error)) from None
    heads = ["network", "routing", "traffic", "predicted", "ideal: stable at", f"ideal at {ABOVE:g}"]
    heads += ["lean: stable at", "latency at half load", "longest run"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for words in options.combinations or COMBINATIONS:
        print(measured(booksim, words, options.seeds, options.limit), flush=True)


if __name__ == "__main__":
    _main()
