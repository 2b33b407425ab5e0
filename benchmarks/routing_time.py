"""Routing times of packet routing against C + D, as tables of medians over seeds.

    uv run python benchmarks/routing_time.py [butterflies] [meshes] [leveled] [deep] [bounds] [growth] [causes] [seeds]

Every seed draws the paths (and the network, where it is drawn) and what the algorithm draws. All schedules are checked
move by move, except those of the distributed algorithm, which is run boat by boat: its times are exact, and it writes
down no moves. Prints Markdown.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from obliv.bufferless.api import schedule
from obliv.bufferless.frames.constants import centralized_constants, distributed_constants, lg
from obliv.bufferless.frames.distributed import distributed
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance

Solver = Callable[[Instance, int], int]
Draw = Callable[[int], Instance]


def by(algorithm: str, **options: Any) -> Solver:
    def run(one: Instance, seed: int) -> int:
        made = schedule(one, algorithm, rng=seed, **options)
        assert made.verified
        return made.makespan

    return run


def boats(constants: str, timetable: str) -> Solver:
    def run(one: Instance, seed: int) -> int:
        made = distributed(one, np.random.default_rng(seed), constants, timetable=timetable, steps="boats")
        return int(made.delivery.max())

    return run


SIMPLE: dict[str, Solver] = {
    "direct": by("direct"),
    "hot potato, age": by("hot-potato", priority="age"),
    "closest": by("hot-potato", priority="closest"),
    "farthest": by("hot-potato", priority="farthest"),
    "fifo": by("fifo"),
    "random-rank": by("random-rank"),
    "farthest-to-go": by("farthest-to-go"),
    "random-delay": by("random-delay"),
}
FRAMES: dict[str, Solver] = {
    "centralized one-frame": by("centralized", constants="one-frame"),
    "centralized tuned": by("centralized", constants="tuned"),
    "centralized paper": by("centralized"),
    "distributed tuned, oracle": boats("tuned", "oracle"),
    "distributed tuned": boats("tuned", "fixed"),
    "distributed paper": boats("paper", "fixed"),
}


def of(spec: str, paths: str = "random", **options: Any) -> Draw:
    return lambda seed: instance(spec.replace("SEED", str(seed)), paths, seed, **options)


FAMILIES: dict[str, dict[str, Draw]] = {
    "butterflies": {
        **{f"butterfly:{k}": of(f"butterfly:{k}") for k in (4, 6, 8, 10, 12)},
        **{f"butterfly:{k} bit-reverse": of(f"butterfly:{k}", "bit-reverse") for k in (6, 8, 10, 12)},
        **{f"butterfly:{k} hotspot": of(f"butterfly:{k}", "hotspot") for k in (6, 8, 10, 12)},
    },
    "meshes": {
        **{f"leveled-mesh:{k}x{k}": of(f"leveled-mesh:{k}x{k}") for k in (8, 16, 32, 64)},
        **{f"leveled-mesh:{k}x{k} xy": of(f"leveled-mesh:{k}x{k}", route="xy") for k in (32, 64)},
        **{f"array:{k}": of(f"array:{k}") for k in (64, 256)},
        "array:512 half, up to 32": of("array:512", rate=0.5, maxlen=32),
    },
    "leveled": {
        "multibutterfly:8": of("multibutterfly:8,d=2,seed=SEED"),
        "unrolled-fattree:2,7": of("unrolled-fattree:2,7"),
        "leveled-hypercube:10": of("leveled-hypercube:10"),
        "unrolled-debruijn:8": of("unrolled-debruijn:8"),
        "unrolled-shuffle:7": of("unrolled-shuffle:7"),
        "random-leveled:L=200,W=32": of("random-leveled:L=200,W=32,d=2,seed=SEED", packets=1000),
        "random-leveled:L=500,W=16": of("random-leveled:L=500,W=16,d=2,seed=SEED", packets=500, minlen=200),
    },
    "deep": {
        f"deep:L={L},W={W},S={S}": of(f"deep:L={L},W={W},S={S},seed=SEED")
        for L, W, S in ((100, 32, 8), (200, 64, 32), (200, 128, 64), (800, 32, 16), (2000, 16, 8))
    },
}
BOUNDS = ("butterfly:4", "butterfly:8", "butterfly:12", "leveled-mesh:8x8", "leveled-mesh:16x16", "leveled-mesh:32x32")


def bound(one: Instance, alpha: int) -> int:
    """The theorems' times with the paper's constants: two sessions of m phases, at most lambda/alpha + 1 colours."""
    found = centralized_constants(one) if alpha == 3 else distributed_constants(one)
    phases = 2 * found.s + found.gamma - 1
    if alpha == 3:
        return 2 * phases * 2 * (found.lam + found.lam // alpha)
    return 2 * phases * 3 * found.xi * 2 * found.tau


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else large(value)


def large(value: float) -> str:
    if value < 100_000:
        return f"{value:,.0f}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{''.join('⁰¹²³⁴⁵⁶⁷⁸⁹'[int(digit)] for digit in str(int(power)))}"


def medians(values: Iterable[Iterable[float]]) -> list[float]:
    return [statistics.median(column) for column in zip(*values, strict=True)]


def table(family: str, solvers: dict[str, Solver], seeds: int) -> None:
    header = ["", "N", "C", "D", "at least", *solvers]
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header), flush=True)
    for name, draw in FAMILIES[family].items():
        rows = []
        for seed in range(seeds):
            one = draw(seed)
            both = one.congestion + one.dilation
            times = [solve(one, seed) / both for solve in solvers.values()]
            rows.append([one.packets, one.congestion, one.dilation, one.lower_bound / both, *times])
        found = medians(rows)
        sizes = [f"{value:,.0f}" for value in found[:3]]
        print(f"| {name} | " + " | ".join([*sizes, *map(ratio, found[3:])]) + " |", flush=True)


def bounds(seeds: int) -> None:
    header = ["", "C", "D", "lg DN", "centralized", "bound", "time / (C lg + D)"]
    header += ["distributed", "bound", "time / (C lg² + D lg)"]
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header), flush=True)
    for spec in BOUNDS:
        rows = []
        for seed in range(seeds):
            one = instance(spec, "random", seed)
            log = lg(one)
            row: list[float] = [one.congestion, one.dilation, log]
            for alpha, solve in ((3, FRAMES["centralized paper"]), (12, FRAMES["distributed paper"])):
                steps = solve(one, seed)
                term = one.congestion * log + one.dilation
                row += [steps, bound(one, alpha), steps / (term if alpha == 3 else term * log)]
            rows.append(row)
        print(f"| {spec} | " + " | ".join(map(large, medians(rows))) + " |", flush=True)


def growth(seeds: int) -> None:
    """Tuned schedules against the terms of the theorems, and direct ones against C + D."""
    header = ["", "C + D", "C lg DN + D", "direct", "centralized tuned", "distributed tuned, oracle"]
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header), flush=True)
    for name in (name for family in ("butterflies", "meshes", "deep") for name in FAMILIES[family]):
        draw = next(known[name] for known in FAMILIES.values() if name in known)
        rows = []
        for seed in range(seeds):
            one = draw(seed)
            log = lg(one)
            term = one.congestion * log + one.dilation
            chosen = SIMPLE["direct"], FRAMES["centralized tuned"], FRAMES["distributed tuned, oracle"]
            rows.append([one.congestion + one.dilation, term, *(solve(one, seed) for solve in chosen)])
        print(f"| {name} | " + " | ".join(map(large, medians(rows))) + " |", flush=True)


def causes(seeds: int) -> None:
    """Routing times from the paper's constants to direct routing, one change after another."""

    def kept(**options: Any) -> Solver:
        """Tuned, which leaves empty sets out, with some of the paper's constants."""

        def run(one: Instance, seed: int) -> int:
            paper = centralized_constants(one)
            told = {name: getattr(paper, name) if value is None else value for name, value in options.items()}
            return by("centralized", constants="tuned", **told)(one, seed)

        return run

    steps: dict[str, Solver] = {
        "distributed, paper": boats("paper", "fixed"),
        "... only the rounds and sub-phases that are needed": boats("paper", "oracle"),
        "... and small constants": boats("tuned", "oracle"),
        "centralized, paper": by("centralized"),
        "... without empty sets": kept(lam=None, s=None),
        "... and one set": kept(lam=None, s=1),
        "direct: boats one step apart": by("direct"),
        "at least": lambda one, seed: one.lower_bound,
    }
    draws = {
        name: draw
        for known in FAMILIES.values()
        for name, draw in known.items()
        if name in ("butterfly:8", "butterfly:10 bit-reverse", "leveled-mesh:16x16", "deep:L=200,W=64,S=32")
    }
    print("\n| | " + " | ".join(draws) + " |\n|" + "---|" * (len(draws) + 1), flush=True)
    for what, solve in steps.items():
        found = [statistics.median(solve(draw(seed), seed) for seed in range(seeds)) for draw in draws.values()]
        print(f"| {what} | " + " | ".join(map(large, found)) + " |", flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    seeds = next((int(word) for word in words if word.isdigit()), 7)
    chosen = [word for word in words if not word.isdigit()] or [*FAMILIES, "bounds"]
    began = time.perf_counter()
    for word in chosen:
        if word in FAMILIES:
            table(word, SIMPLE, seeds)
            table(word, FRAMES, seeds)
        else:
            {"bounds": bounds, "growth": growth, "causes": causes}[word](seeds)
    print(f"\n{seeds} seeds, {time.perf_counter() - began:.0f} s", file=sys.stderr)
