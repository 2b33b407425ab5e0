"""The points of Figures 11 to 15, and what the text says of them.

No figure's numbers are printed. Group sizes are those that the text lists; densities of random traffic are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import obliv
from obliv.papers.fat_tree.placements import INSTANCES, mean, placed, quotient, ratios
from obliv.papers.paper import Step, Value

__all__ = ["DENSITIES", "SIZES", "Curves", "compute", "curves", "grouped"]

SIZES = (2, 4, 8, 16, 32, 64, 128)
DENSITIES = ("1/100", "1/50", "1/20", "1/10", "1/4", "1/2", "3/4", "1")

#: By routing, and for every point of its curve, the ratios of all instances.
Curves = dict[str, list[list[float]]]


def curves(m: int, n: int, routings: Sequence[str], traffics: Sequence[str], instances: int = INSTANCES) -> Curves:
    """Return ratios by routing, a list of instances for each traffic pattern."""
    points = [
        # all pairs are the same traffic wherever they are placed
        ratios(m, n, routings, placed(traffic), 2 if traffic == "bernoulli:1" else instances)
        for traffic in traffics
    ]
    return {name: [point[name] for point in points] for name in routings}


def grouped(kind: str) -> list[str]:
    """Return the traffic specs of a figure over the size of groups, ``clustered`` or ``hotspot``."""
    return [f"{kind}:{'4,' * (kind == 'hotspot')}{size}" for size in SIZES]


def compute(step: Step) -> dict[str, Value]:
    """Compute the statements of the text about the figures."""
    entries: dict[str, Value] = {}
    few = DENSITIES[1:5]
    random = curves(16, 3, ("MLID", "WSR", "OSRM3"), [f"bernoulli:{p}" for p in few], INSTANCES // 4)
    for name, points in random.items():
        entries[f"Figure 11: random traffic on FT(16,3), every density, {name}"] = Value(
            max(map(mean, points), key=float), f"The largest of: density {_listed(few, points)}."
        )
    step(0.3)
    tree = obliv.fattree(16, 3)
    full = [
        obliv.traffic_ratio(obliv.routing(name, tree), "bernoulli:1").patterns[0].ratio
        for name in ("mlid", "wsr", "osrm3")
    ]
    entries["Figure 11: all pairs on FT(16,3), MLID, WSR and OSRM3"] = Value(max(full, key=float))
    step(0.4)
    clusters = curves(32, 2, ("MLID/WSR", "OSRM2"), grouped("clustered"))
    entries["Figure 12: groups of 2 on FT(32,2), MLID/WSR"] = Value(mean(clusters["MLID/WSR"][0]))
    bound = obliv.ratio(obliv.routing("osrm2", obliv.fattree(32, 2))).ratio
    entries["Figure 12: groups of 2 on FT(32,2), OSRM2"] = Value(
        bound, f"The exact ratio over all traffic; over placements {mean(clusters['OSRM2'][0])}.", against=Fraction(4)
    )
    entries["Figure 12: groups of 2 to 128 on FT(32,2), OSRM2 over MLID/WSR"] = _over(clusters)
    step(0.6)
    small = curves(8, 3, ("MLID/WSR", "OSRM3"), grouped("clustered"))
    entries["Figure 13: groups of 2 to 128 on FT(8,3), OSRM3 over MLID/WSR"] = _over(small)
    step(0.65)
    two = curves(32, 2, ("MLID/WSR", "OSRM2"), grouped("hotspot"))
    entries["Figure 14: 4 hot spots of 2 to 128 on FT(32,2), OSRM2 over WSR"] = _over(two)
    step(0.8)
    three = curves(16, 3, ("MLID/WSR", "OSRM3"), grouped("hotspot"))
    entries["Figure 15: 4 hot spots of 2 to 128 on FT(16,3), OSRM3 over WSR"] = _over(three)
    step(1.0)
    return entries


def _over(points: Curves) -> Value:
    """Return the ratio of the paper's routing to the known one, averaged over sizes."""
    known, new = points
    value = quotient(points[new], points[known])
    text = "; ".join(f"{name}: {_listed(SIZES, points[name])}" for name in (known, new))
    return Value(value, f"Mean ratios by size, {text}.", print_error=value.stderr)


def _listed(at: Sequence[object], points: list[list[float]]) -> str:
    means = map(mean, points)
    return ", ".join(f"{x}: {value.value:.3f} ± {value.stderr:.3f}" for x, value in zip(at, means, strict=True))
