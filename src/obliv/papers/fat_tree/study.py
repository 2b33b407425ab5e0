"""Tables II and III of the performance study, regular traffic placed at random, and what the text says of them.

The paper averages 32 placements, so its printed means have a standard error too; means are over 64 here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import groupby
from math import hypot, isqrt
from typing import Any

import numpy as np

import obliv
from obliv.papers.fat_tree import placements
from obliv.papers.fat_tree.placements import INSTANCES, SEED, placed, quotient, ratios
from obliv.papers.fat_tree.printed import TABLE2, TABLE3
from obliv.papers.fat_tree.said import REGULAR
from obliv.papers.paper import Step, Value
from obliv.patterns import jobs

__all__ = ["PATTERNS", "largest_mesh", "mean", "regular", "table2", "table3"]

#: The definitions that reproduce the tables: "3D mesh" with wrap-around, rings and trees in both directions.
PATTERNS = {"Ring": "ring", "2D Mesh": "mesh2d", "3D Mesh": "torus3d", "Hypercube": "hypercube", "Binary Tree": "tree"}
_MESH = (
    "The paper does not define the mesh; here the largest one of 2^j x 2^j ranks, on hosts drawn at random. "
    '("on all the nodes in the system", section VI: with all of them, every mesh gives more on FT(32,2) and FT(8,3).)'
)
_SYMMETRIC = (*PATTERNS.values(), "clustered:8")


def table2(step: Step) -> dict[str, Value]:
    """Compute mean ratios on FT(32,2)."""
    return _table({entry: ("FT(32,2)", *entry.split(", ")) for entry in TABLE2}, step)


def table3(step: Step) -> dict[str, Value]:
    """Compute mean ratios on FT(8,3) and FT(16,3)."""
    return _table({entry: tuple(entry.split(", ")) for entry in TABLE3}, step)


def mean(m: int, n: int, routing: str, pattern: str, instances: int = INSTANCES) -> obliv.Estimate:
    """Return the mean performance ratio of one routing on FT(m, n) over random placements of a regular pattern."""
    return placements.mean(ratios(m, n, [routing], _placement(pattern), instances)[routing])


def largest_mesh(tree: Any, seed: int) -> Any:
    """Return the traffic of the largest 2D mesh of 2^j x 2^j ranks that fits, on hosts that are drawn at random."""
    side = 1 << (isqrt(len(tree.terminals)).bit_length() - 1)
    return jobs.placed(f"mesh2d:{side}x{side}", tree, jobs.flows_of("mesh2d", side * side, side, side), seed)


def _placement(pattern: str) -> Callable[[Any, int], Any]:
    return largest_mesh if pattern == "2D Mesh" else placed(PATTERNS[pattern])


@cache
def _instances(m: int, n: int, pattern: str) -> dict[str, list[float]]:
    """Return the ratios of the known routing and of the paper's, for every instance."""
    return ratios(m, n, ("MLID/WSR", f"OSRM{n}"), _placement(pattern), 2 * INSTANCES)


def _table(entries: dict[str, tuple[str, ...]], step: Step) -> dict[str, Value]:
    computed = {}
    # the routings of one tree and pattern stand next to each other
    for (tree, pattern), group in groupby(entries.items(), lambda item: item[1][:2]):
        names = {routing: entry for entry, (_, _, routing) in group}
        m, n = (int(number) for number in tree[3:-1].split(","))
        for routing, values in _instances(m, n, pattern).items():
            value = placements.mean(values)
            note = _MESH if pattern == "2D Mesh" else ""
            computed[names[routing]] = Value(value, note, print_error=_print_error(value))
        step(len(computed) / len(entries))
    return computed


def _print_error(value: obliv.Estimate) -> float:
    """Return the standard error of a mean over as many instances as the paper averages."""
    return float(value.stderr * (value.samples / INSTANCES) ** 0.5)


def regular(step: Step) -> dict[str, Value]:
    """Compute what the text says of both tables."""
    printed: dict[str, list[Fraction]] = {row.split(", ")[0]: [] for row in TABLE2}
    for row, entry in TABLE2.items():
        printed[row.split(", ")[0]].append(Fraction(entry.text))
    gains = {pattern: known / new - 1 for pattern, (known, new) in printed.items()}
    listed = ", ".join(f"{pattern} {float(100 * gain):.1f} %" for pattern, gain in gains.items())
    within = [gain for gain in gains.values() if gains["Hypercube"] <= gain <= gains["Ring"]]
    values = [
        Value(gains["Hypercube"]),
        Value(gains["Ring"]),
        Value(Fraction(len(within)), f"{listed}."),
        *(_gain(pattern) for pattern in ("Hypercube", "Ring")),
        _insignificant(),
        _reversed(),
    ]
    step(0.5)
    values += [_symmetric(), _asymmetric()]
    return dict(zip(REGULAR, values, strict=True))


def _gain(pattern: str) -> Value:
    """Return how much better OSRM2 is on FT(32,2) for the same placements."""
    values = _instances(32, 2, pattern)
    value = quotient([values["MLID/WSR"]], [values["OSRM2"]])
    gain = obliv.Estimate(value.value - 1, value.stderr, value.samples)
    return Value(gain, "The same placements for both routings.", print_error=_print_error(gain))


def _insignificant() -> Value:
    """Count the patterns on which the two means differ by no more than three standard errors of 32 placements."""
    fits, differing = 0, []
    for m in (8, 16):
        for pattern in PATTERNS:
            known, new = (placements.mean(values) for values in _instances(m, 3, pattern).values())
            apart = abs(known.value - new.value) / hypot(_print_error(known), _print_error(new))
            fits += apart <= 3
            differing.append(f"FT({m},3) {pattern} {apart:.1f}")
    note = "Difference of the means in standard errors of two means over 32 placements: "
    return Value(Fraction(fits), f"{note}{', '.join(differing)}.")


def _reversed() -> Value:
    """Count the pairs whose path under MLID is the reverse of that of the reverse pair under WSR."""
    tree = obliv.fattree(8, 3)
    hosts = np.arange(tree.below[-1])
    mlid, wsr = (kind(tree).ways(hosts[:, None], hosts)[..., 0] for kind in (obliv.SModK, obliv.WSR))
    same = int(((mlid == wsr.T) & (hosts[:, None] != hosts)).sum())
    return Value(
        Fraction(same),
        "The path from s to d under MLID has the number of the path from d to s under WSR, so that its links are the "
        "same in the other direction; under symmetric traffic the loads of both directions change places.",
    )


def _symmetric() -> Value:
    tree = obliv.fattree(8, 3)
    routings = [obliv.routing(name, tree).pair_loads() for name in ("mlid", "wsr")]
    count = 0
    for pattern in _SYMMETRIC:
        for seed in range(16):
            flows = placed(pattern)(tree, seed)
            count += len({obliv.traffic_ratio(loads, flows).patterns[0].ratio for loads in routings}) == 1
    return Value(Fraction(count), f"{', '.join(_SYMMETRIC)} on FT(8,3), 16 placements each.")


def _asymmetric() -> Value:
    values = ratios(8, 3, ("MLID", "WSR"), placed("bernoulli:1/4"), INSTANCES)
    return Value(
        Fraction(sum(a != b for a, b in zip(*values.values(), strict=True))),
        f"Random traffic of probability 1/4 on FT(8,3), seeds from {SEED * INSTANCES}; all exact.",
    )
