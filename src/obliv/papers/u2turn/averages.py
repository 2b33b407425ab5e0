"""What the text says of averages: on asymmetric meshes, and over how many matrices those of Table III are means."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.stats import chi2

import obliv
from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import DRAWN, ROUTINGS, SPREADING, average, covariances
from obliv.papers.u2turn.printed import AVERAGE_MESHES, COLUMNS, MILLION, ODD
from obliv.papers.u2turn.tables34 import FEW
from obliv.papers.verdicts import Bounds

__all__ = ["SAMPLES", "average_of", "compute", "p_value"]

SAMPLES = 20_000  # permutations of a mesh; its number of nodes is the random seed

_NINE = "odd k: chance that nine averages of Table III are as far off, were they means over a million"


def compute(step: Step) -> dict[str, Value]:
    """Count the meshes for which the sentences hold, and test the size of the ensemble."""
    averages: dict[str, dict[str, float]] = {}
    for at, (kx, ky) in enumerate(AVERAGE_MESHES):
        averages[f"{kx}x{ky}"] = {name: average_of(f"mesh:{kx}x{ky}", routing) for name, routing in ROUTINGS.items()}
        step((at + 1) / len(AVERAGE_MESHES))
    others = ("VAL", "DOR", "O1TURN")
    return {
        "meshes on which U2TURN-A is above U2TURN": _count(averages, "U2TURN-A", ("U2TURN",)),
        "meshes on which U2TURN is above VAL, DOR and O1TURN": _count(averages, "U2TURN", others),
        "meshes on which U2TURN-A is above VAL, DOR and O1TURN": _count(averages, "U2TURN-A", others),
        _NINE: Value(
            p_value(1_000_000),
            "By the chi-squared statistic of the nine entries of DOR, O1TURN and U2TURN, with the covariances that "
            "averages over the same permutations have, and the error of rounding.",
            readings={
                f"over {count:,}".replace(",", " "): Value(p_value(count), undecided=MILLION)
                for count in (*FEW, 10_000)
            },
        ),
    }


def average_of(mesh: str, routing: str) -> float:
    """Return the average of a routing over random permutations, as a fraction of capacity."""
    return float(average(mesh, routing, SAMPLES))


def p_value(count: int) -> Bounds:
    """Return the chance that means over `count` permutations are as far from the expected ones as Table III is.

    The bounds allow for two standard errors of the covariances, which come from permutations that were drawn.
    """
    statistics, entries = [0.0, 0.0], 0
    for size, rows in ODD.items():
        mesh = f"mesh:{size}"
        printed = [rows["Average-case"][COLUMNS.index(name)] for name in COLUMNS[1:]]
        means = [average(mesh, routing) for routing in SPREADING]
        units = np.array([10.0 ** -len(text.partition(".")[2]) for text in printed])
        errors = np.array([mean.stderr if isinstance(mean, obliv.Estimate) else 0.0 for mean in means])
        off = np.array([float(text) - float(mean) for text, mean in zip(printed, means, strict=True)])
        entries += len(printed)
        for side, scale in enumerate((1 - 2 * (2 / DRAWN) ** 0.5, 1 + 2 * (2 / DRAWN) ** 0.5)):
            spread = scale * covariances(mesh) / count + np.diag(units**2 / 12 + errors**2)
            statistics[side] += float(off @ np.linalg.solve(spread, off))
    low, high = (float(chi2.sf(statistic, entries)) for statistic in statistics)
    return Bounds(Fraction(low), Fraction(high))


def _count(averages: dict[str, dict[str, float]], name: str, others: tuple[str, ...]) -> Value:
    above = [size for size, values in averages.items() if values[name] > max(values[other] for other in others)]
    rest = [size for size in averages if size not in above]
    listed = f": {', '.join(above)}" if len(above) <= len(rest) else f", not {', '.join(rest)}" if rest else ""
    counted = f"{len(averages)} meshes kx > ky up to 8x7"
    return Value(Fraction(len(above)), f"{len(above)} of {counted}{listed}.", counted=counted)
