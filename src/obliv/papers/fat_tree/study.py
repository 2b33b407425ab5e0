"""The performance study: Tables II and III and Figures 11 to 15, over random placements.

The paper averages 32 of them, so what it prints has a standard error too; means of the tables are over 64 here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import fmean
from typing import Any

import obliv
from obliv.papers.fat_tree.printed import TABLE2, TABLE3
from obliv.papers.paper import Found

__all__ = ["DENSITIES", "SEED", "SIZES", "curves", "figures", "table2", "table3"]

SEED = 1
INSTANCES = 32
SIZES = (2, 4, 8, 16, 32, 64, 128)
DENSITIES = ("1/100", "1/50", "1/20", "1/10", "1/4", "1/2", "3/4", "1")

#: The definitions that reproduce the tables: "3D mesh" is a torus, rings and trees send both ways.
_PATTERNS = {"Ring": "ring", "2D Mesh": "mesh2d", "3D Mesh": "torus3d", "Hypercube": "hypercube", "Binary Tree": "tree"}
_ROUTINGS = {"MLID/WSR": "dmodk", "WSR": "dmodk", "MLID": "mlid", "OSRM2": "osrm2", "OSRM3": "osrm3"}


def table2(step: Callable[[float], None]) -> dict[str, Found]:
    """Mean ratios on FT(32,2)."""
    return _table({entry: (32, 2, *entry.split(", ")) for entry in TABLE2}, step)


def table3(step: Callable[[float], None]) -> dict[str, Found]:
    """Mean ratios on FT(8,3) and FT(16,3)."""
    found = {}
    for entry in TABLE3:
        tree, pattern, routing = entry.split(", ")
        found[entry] = (int(tree[3:-3]), 3, pattern, routing)
    return _table(found, step)


def _table(entries: dict[str, tuple[Any, ...]], step: Callable[[float], None]) -> dict[str, Found]:
    found = {}
    for at, (entry, (m, n, pattern, routing)) in enumerate(entries.items()):
        value = mean(m, n, routing, _PATTERNS[pattern], 2 * INSTANCES)
        found[entry] = Found(value, print_error=value.stderr * (value.samples / INSTANCES) ** 0.5)
        step((at + 1) / len(entries))
    return found


def mean(m: int, n: int, routing: str, traffic: str, instances: int = INSTANCES) -> Any:
    """The mean performance ratio of a routing on FT(m, n) over random placements."""
    way = obliv.routing(_ROUTINGS[routing], obliv.fattree(m, n))
    return obliv.traffic_ratio(way, traffic, instances=instances, rng=SEED).patterns[0]["ratio"]


def curves(m: int, n: int, routings: Sequence[str], traffics: Sequence[str], instances: int = INSTANCES) -> Any:
    """Mean ratios by routing, one a traffic."""
    return {name: [mean(m, n, name, traffic, instances) for traffic in traffics] for name in routings}


def figures(step: Callable[[float], None]) -> dict[str, Found]:
    """What the text says of the figures, whose points are not printed."""
    groups = [f"clustered:{size}" for size in SIZES]
    spots = [f"hotspot:4,{size}" for size in SIZES]
    found: dict[str, Found] = {}
    random = curves(16, 3, ("MLID", "WSR", "OSRM3"), [f"bernoulli:{p}" for p in DENSITIES[1:5]], 8)
    for name, values in random.items():
        text = ", ".join(f"{p}: {float(v):.3f}" for p, v in zip(DENSITIES[1:5], values, strict=True))
        found[f"Figure 11: random traffic on FT(16,3), every density, {name}"] = Found(
            max(values, key=float), f"The largest of: density {text}."
        )
    step(0.3)
    tree = obliv.fattree(16, 3)
    full = [
        obliv.traffic_ratio(obliv.routing(name, tree), "bernoulli:1").patterns[0]["ratio"]
        for name in ("mlid", "wsr", "osrm3")
    ]
    found["Figure 11: all pairs on FT(16,3), MLID, WSR and OSRM3"] = Found(max(full))
    step(0.4)
    clusters = curves(32, 2, ("WSR", "OSRM2"), groups)
    found["Figure 12: groups of 2 on FT(32,2), MLID/WSR"] = Found(clusters["WSR"][0])
    bound = obliv.ratio(obliv.routing("osrm2", obliv.fattree(32, 2))).ratio
    found["Figure 12: groups of 2 on FT(32,2), OSRM2"] = Found(
        bound, f"The exact ratio over all traffic; over placements {clusters['OSRM2'][0]}.", against=Fraction(4)
    )
    found["Figure 12: groups of 2 to 128 on FT(32,2), OSRM2 over MLID/WSR"] = _over(clusters["OSRM2"], clusters["WSR"])
    step(0.6)
    small = curves(8, 3, ("WSR", "OSRM3"), groups)
    found["Figure 13: groups of 2 to 128 on FT(8,3), OSRM3 over MLID/WSR"] = _over(small["OSRM3"], small["WSR"])
    step(0.65)
    two = curves(32, 2, ("WSR", "OSRM2"), spots)
    found["Figure 14: 4 hot spots of 2 to 128 on FT(32,2), OSRM2 over WSR"] = _over(two["OSRM2"], two["WSR"])
    step(0.8)
    three = curves(16, 3, ("WSR", "OSRM3"), spots)
    found["Figure 15: 4 hot spots of 2 to 128 on FT(16,3), OSRM3 over WSR"] = _over(three["OSRM3"], three["WSR"])
    return found


def _over(ours: list[Any], theirs: list[Any]) -> Found:
    """The mean of the quotients, with the error that those of the means leave."""
    quotients = [float(a) / float(b) for a, b in zip(ours, theirs, strict=True)]
    error = sum(
        (q * ((a.stderr / a.value) ** 2 + (b.stderr / b.value) ** 2) ** 0.5) ** 2
        for q, a, b in zip(quotients, ours, theirs, strict=True)
    ) ** 0.5 / len(quotients)
    text = ", ".join(f"{size}: {q:.3f}" for size, q in zip(SIZES, quotients, strict=True))
    return Found(obliv.Estimate(fmean(quotients), error, INSTANCES), f"By size {text}.")
