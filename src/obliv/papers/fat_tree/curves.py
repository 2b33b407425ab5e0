"""The points of Figures 11 to 15, and what the text says of them.

No figure's numbers are printed. Group sizes are those that the text lists; densities of random traffic are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import hypot

import obliv
from obliv.papers.fat_tree.placements import INSTANCES, mean, placed, quotient, ratios
from obliv.papers.fat_tree.said import DENSITIES, DLID, FIGURES, OTHER_TREES, SIZES
from obliv.papers.paper import Step, Value
from obliv.results import Estimate
from obliv.results.numbers import known

__all__ = [
    "PLACEMENTS",
    "Curves",
    "curves",
    "figure11",
    "figure12",
    "figure13",
    "figure14",
    "figure15",
    "grouped",
    "groups",
    "other_trees",
    "random_traffic",
]

_SMALL = (2, 4, 8, 16, 32)
_ABOVE = ("4/5", "9/10")

#: Placements of a point. Verdicts are some standard errors from where they would change; the paper has 32.
PLACEMENTS = {"figure11": 32, "figure12": 96, "figure13": 96, "figure14": 512, "figure15": 96}

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


def figure11(step: Step) -> dict[str, Value]:
    """Compute the points of random traffic on FT(16,3), and what the text says of it on three trees."""
    points = {}
    for at, tree in enumerate(((16, 3), (32, 2), (8, 3)), 1):
        points[tree] = random_traffic(*tree)
        step(0.2 * at)
    means = {
        tree: {name: [mean(p).value for p in lists] for name, lists in found.items()} for tree, found in points.items()
    }
    largest = {
        tree: max((mean(p) for lists in found.values() for p in lists), key=float) for tree, found in points.items()
    }
    first = largest[16, 3]
    values = [Value(first, "Densities are ours.")]
    for tree in ((32, 2), (8, 3)):
        error = hypot(largest[tree].stderr, first.stderr) / first.value
        values.append(Value(Estimate(largest[tree].value / first.value, error, first.samples)))
    apart = [max(at) / min(at) for found in means.values() for at in zip(*found.values(), strict=True)]
    error = 2**0.5 * max(mean(p).stderr for found in points.values() for lists in found.values() for p in lists)
    values.append(Value(Estimate(max(apart), error, first.samples)))
    values += [_dense(), _full()]
    step(1.0)
    return dict(zip(FIGURES["figure11"], values + _pointwise(points[16, 3], DENSITIES), strict=True))


def figure12(step: Step) -> dict[str, Value]:
    """Compute clusters on FT(32,2)."""
    clusters = groups("figure12", 32, 2, step)
    small = [mean(clusters[name][0]) for name in ("MLID/WSR", "OSRM2")]
    most = obliv.ratio(obliv.routing("osrm2", obliv.fattree(32, 2))).ratio
    note = f"Under any traffic at most {most}, exactly."
    values = [Value(small[0]), Value(small[1], note), _over(clusters)]
    return dict(zip(FIGURES["figure12"], values + _pointwise(clusters, SIZES), strict=True))


def figure13(step: Step) -> dict[str, Value]:
    """Compute clusters on FT(8,3), and on FT(16,3)."""
    clusters = groups("figure13", 8, 3, lambda share: step(0.3 * share))
    values = [_over(clusters), _over(groups("figure13", 16, 3, lambda share: step(0.3 + 0.7 * share)))]
    return dict(zip(FIGURES["figure13"], values + _pointwise(clusters, SIZES), strict=True))


def figure14(step: Step) -> dict[str, Value]:
    """Compute hot spots on FT(32,2)."""
    return _spots("figure14", 32, 2, step)


def figure15(step: Step) -> dict[str, Value]:
    """Compute hot spots on FT(16,3)."""
    return _spots("figure15", 16, 3, step)


def other_trees(step: Step) -> dict[str, Value]:
    """Compute clusters on two other trees."""
    values = [
        _over(curves(m, n, ("MLID/WSR", f"OSRM{n}"), grouped("clustered", _SMALL), PLACEMENTS["figure13"]))
        for m, n in ((18, 2), (12, 3))
    ]
    step(1.0)
    return dict(zip(OTHER_TREES, values, strict=True))


def groups(figure: str, m: int, n: int, step: Step = lambda share: None) -> Curves:
    """Return the ratios of clusters, or of hot spots, of all sizes."""
    kind = "clustered" if figure in ("figure12", "figure13") else "hotspot"
    found: Curves = {"MLID/WSR": [], f"OSRM{n}": []}
    for at, traffic in enumerate(grouped(kind), 1):
        for name, points in curves(m, n, tuple(found), (traffic,), PLACEMENTS[figure]).items():
            found[name] += points
        step(at / len(SIZES))
    return found


def _spots(figure: str, m: int, n: int, step: Step) -> dict[str, Value]:
    spots = groups(figure, m, n, step)
    largest = max((mean(point) for points in spots.values() for point in points), key=float)
    over = replace(_over(spots), undecided=DLID if figure == "figure14" else "")
    return dict(zip(FIGURES[figure], [over, Value(largest), *_pointwise(spots, SIZES)], strict=True))


def _pointwise(points: Curves, at: Sequence[object]) -> list[Value]:
    """Return the points of all curves, one place on the axis after another."""
    return [Value(mean(lists[number])) for number in range(len(at)) for lists in points.values()]


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


def _over(points: Curves) -> Value:
    """Return the ratio of the paper's routing to the known one, averaged over sizes."""
    known, new = points
    value = quotient(points[new], points[known])
    count = len(points[new][0])
    # what the paper averages has an error of its own, that of 32 placements
    return Value(value, f"{count} placements of each size.", print_error=value.stderr * (count / INSTANCES) ** 0.5)
