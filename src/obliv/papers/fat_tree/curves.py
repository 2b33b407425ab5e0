"""The points of Figures 11 to 15, and what the text says of them.

No figure's numbers are printed. Group sizes are those that the text lists; densities of random traffic are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import obliv
from obliv.papers.fat_tree.placements import INSTANCES, mean, placed, quotient, ratios
from obliv.papers.fat_tree.said import FIGURES
from obliv.papers.paper import Step, Value
from obliv.results.numbers import known

__all__ = ["DENSITIES", "SIZES", "Curves", "compute", "curves", "grouped", "random_traffic"]

SIZES = (2, 4, 8, 16, 32, 64, 128)
_SMALL = (2, 4, 8, 16, 32)
_ABOVE = ("4/5", "9/10")
DENSITIES = ("1/100", "1/50", "1/20", "1/10", "1/4", "1/2", "3/4", "1")

#: By routing, and for every point of its curve, the ratios of all instances.
Curves = dict[str, list[list[float]]]


@cache
def curves(m: int, n: int, routings: tuple[str, ...], traffics: tuple[str, ...], instances: int = INSTANCES) -> Curves:
    """Return ratios by routing, a list of instances for each traffic pattern."""
    points = [
        # all pairs are the same traffic wherever they are placed
        ratios(m, n, routings, placed(traffic), 2 if traffic == "bernoulli:1" else instances)
        for traffic in traffics
    ]
    return {name: [point[name] for point in points] for name in routings}


def grouped(kind: str, sizes: Sequence[int] = SIZES) -> tuple[str, ...]:
    """Return the traffic specs of a figure over the size of groups, ``clustered`` or ``hotspot``."""
    return tuple(f"{kind}:{'4,' * (kind == 'hotspot')}{size}" for size in sizes)


def random_traffic(m: int, n: int, densities: Sequence[str] = DENSITIES) -> Curves:
    """Return the ratios of MLID, WSR and the paper's routing under random traffic of every density."""
    return curves(m, n, ("MLID", "WSR", f"OSRM{n}"), tuple(f"bernoulli:{p}" for p in densities))


def compute(step: Step) -> dict[str, Value]:
    """Compute the statements of the text about the figures."""
    values: list[Value] = []
    for share, (m, n) in ((0.4, (16, 3)), (0.45, (32, 2)), (0.5, (8, 3))):
        values += [
            Value(max(map(mean, points), key=float), f"Densities are ours; {_listed(DENSITIES, points)}.")
            for points in random_traffic(m, n).values()
        ]
        step(share)
    values += [_dense(), _full()]
    step(0.7)
    clusters = _groups("clustered", 32, 2)
    bound = obliv.ratio(obliv.routing("osrm2", obliv.fattree(32, 2))).ratio
    values += [
        Value(mean(clusters["MLID/WSR"][0])),
        Value(
            bound,
            f"The exact ratio over all traffic; over placements {mean(clusters['OSRM2'][0])}.",
            against=Fraction(4),
        ),
        _over(clusters),
        _over(_groups("clustered", 8, 3)),
        _over(_groups("clustered", 16, 3)),
    ]
    step(0.8)
    for m, n in ((32, 2), (16, 3)):
        spots = _groups("hotspot", m, n)
        largest = max((mean(point) for points in spots.values() for point in points), key=float)
        values += [_over(spots), Value(largest)]
    step(0.9)
    values += [_over(_groups("clustered", m, n, _SMALL), _SMALL) for m, n in ((18, 2), (12, 3))]
    step(1.0)
    return dict(zip(FIGURES, values, strict=True))


def _groups(kind: str, m: int, n: int, sizes: Sequence[int] = SIZES) -> Curves:
    return curves(m, n, ("MLID/WSR", f"OSRM{n}"), grouped(kind, sizes))


def _dense() -> Value:
    """Return the largest mean for probabilities above 0.75."""
    points = {
        f"FT({m},{n}), {name}, {density}": values
        for m, n in ((16, 3), (32, 2), (8, 3))
        for name, lists in random_traffic(m, n, _ABOVE).items()
        for density, values in zip(_ABOVE, lists, strict=True)
    }
    above = [values for values in points.values() if max(values) > 1]
    note = (
        f"{len(points) - len(above)} of the {len(points)} means are 1 exactly; the largest ratio of a single instance "
        f"is {max(map(max, points.values())):.4f}."
    )
    return Value(max(map(mean, points.values()), key=float), note)


def _full() -> Value:
    tree = obliv.fattree(16, 3)
    ratios_of = [
        known(obliv.traffic_ratio(obliv.routing(name, tree), "bernoulli:1").patterns[0].ratio)
        for name in ("mlid", "wsr", "osrm3")
    ]
    return Value(max(ratios_of))


def _over(points: Curves, sizes: Sequence[int] = SIZES) -> Value:
    """Return the ratio of the paper's routing to the known one, averaged over sizes."""
    known, new = points
    value = quotient(points[new], points[known])
    text = "; ".join(f"{name}: {_listed(sizes, points[name])}" for name in (known, new))
    return Value(value, f"Mean ratios by size, {text}.", print_error=value.stderr)


def _listed(at: Sequence[object], points: list[list[float]]) -> str:
    means = map(mean, points)
    return ", ".join(f"{x}: {value.value:.3f} ± {value.stderr:.3f}" for x, value in zip(at, means, strict=True))
