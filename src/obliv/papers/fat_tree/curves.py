"""The points of Figures 11 to 15, and what the text says of them.

No figure's numbers are printed. Group sizes are those that the text lists; densities of random traffic are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import chain
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING

import obliv
from obliv import view
from obliv.papers.fat_tree import variants
from obliv.papers.fat_tree.statements import DENSITIES, PRINT, SIZES
from obliv.papers.fat_tree.variants import INSTANCES, mean, placed, quotient, ratios
from obliv.papers.panels import blank, keep
from obliv.papers.paper import ComputedEntry, Step, Value
from obliv.results.numbers import Estimate, known
from obliv.view.axes import NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def figure11(step: Step) -> Iterator[Value]:
    """Compute the points of random traffic on FT(16,3), and what the text says of it on three trees."""
    points = {}
    for at, tree in enumerate(((16, 3), (32, 2), (8, 3)), 1):
        points[tree] = random_traffic(*tree)
        step(0.2 * at)
    means = {tree: {name: list(map(mean, lists)) for name, lists in found.items()} for tree, found in points.items()}
    largest = {tree: max(chain(*found.values()), key=float) for tree, found in means.items()}
    first = largest[16, 3]
    yield ComputedEntry(first, "Densities are ours.")
    for tree in ((32, 2), (8, 3)):
        error = hypot(largest[tree].stderr, first.stderr) / first.value
        yield Estimate(largest[tree].value / first.value, error, first.samples)
    floats = [[value.value for value in at] for found in means.values() for at in zip(*found.values(), strict=True)]
    error = 2**0.5 * max(value.stderr for found in means.values() for value in chain(*found.values()))
    yield Estimate(max(max(at) / min(at) for at in floats), error, first.samples)
    yield _dense()
    yield _full()
    yield from _pointwise(points[16, 3])


def figure12(step: Step) -> Iterator[Value]:
    """Compute clusters on FT(32,2)."""
    clusters = groups("figure12", 32, 2, step)
    most = obliv.ratio(obliv.routing("osrm2", obliv.fattree(32, 2))).ratio
    yield mean(clusters["MLID/WSR"][0])
    yield ComputedEntry(mean(clusters["OSRM2"][0]), f"Under any traffic at most {most}, exactly.")
    yield _over(clusters)
    yield from _pointwise(clusters)


def figure13(step: Step) -> Iterator[Value]:
    """Compute clusters on FT(8,3), and on FT(16,3)."""
    clusters = groups("figure13", 8, 3, lambda share: step(0.3 * share))
    yield _over(clusters)
    yield _over(groups("figure13", 16, 3, lambda share: step(0.3 + 0.7 * share)))
    yield from _pointwise(clusters)


def spots(figure: str, m: int, n: int, step: Step) -> Iterator[Value]:
    """Compute hot spots on FT(32,2), figure14, and on FT(16,3), figure15."""
    found = groups(figure, m, n, step)
    yield replace(_over(found), undecided=PRINT.remarks["dlid"] if figure == "figure14" else "")
    yield max((mean(point) for points in found.values() for point in points), key=float)
    yield from _pointwise(found)


def other_traffic(step: Step) -> Iterator[Value]:
    """Compute the traffic and the trees that the text mentions without figures."""
    for m, n in ((18, 2), (12, 3)):
        clusters = grouped("clustered", _SMALL)
        yield _over(curves(m, n, ("MLID/WSR", f"OSRM{n}"), clusters, PLACEMENTS["figure13"]))
    yield from variants.compute(step)


def groups(figure: str, m: int, n: int, step: Step = lambda share: None) -> Curves:
    """Return the ratios of clusters, or of hot spots, of all sizes."""
    kind = "clustered" if figure in ("figure12", "figure13") else "hotspot"
    found: Curves = {"MLID/WSR": [], f"OSRM{n}": []}
    for at, traffic in enumerate(grouped(kind), 1):
        for name, points in curves(m, n, tuple(found), (traffic,), PLACEMENTS[figure]).items():
            found[name] += points
        step(at / len(SIZES))
    return found


def _pointwise(points: Curves) -> Iterator[Value]:
    """Return the points of all curves, one place on the axis after another."""
    return (mean(values) for place in zip(*points.values(), strict=True) for values in place)


def _dense() -> ComputedEntry:
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
    return ComputedEntry(max(map(mean, points.values()), key=float), note)


def _full() -> ComputedEntry:
    tree = obliv.fattree(16, 3)
    ratios_of = [
        known(obliv.traffic_ratio(obliv.routing(name, tree), "bernoulli:1").patterns[0].ratio)
        for name in ("mlid", "wsr", "osrm3")
    ]
    return ComputedEntry(max(ratios_of))


def _over(points: Curves) -> ComputedEntry:
    """Return the ratio of the paper's routing to the known one, averaged over sizes."""
    known, new = points
    value = quotient(points[new], points[known])
    count = len(points[new][0])
    # what the paper averages has an error of its own, that of 32 placements
    return ComputedEntry(
        value, f"{count} placements of each size.", print_error=value.stderr * (count / INSTANCES) ** 0.5
    )


# Figures 11 to 15: mean performance ratios against density and size, with their standard errors


@dataclass(frozen=True)
class Kind:
    """Traffic along an axis, what its points are compared with, and the range of the ratio that its figures share."""

    title: str
    traffics: tuple[str, ...]
    at: Sequence[str]
    along: str
    limits: tuple[float, float]
    known: tuple[str, ...] = ("MLID/WSR",)


_PER = [str(size) for size in SIZES]
_RANDOM = Kind(
    "random traffic",
    tuple(f"bernoulli:{p}" for p in DENSITIES),
    DENSITIES,
    "probability that a host sends to another one",
    (0.99, 1.07),
    ("MLID", "WSR"),
)
_CLUSTERS = Kind("clusters", grouped("clustered"), _PER, "hosts per group", (0.6, 5.0))
_SPOTS = Kind("four hot spots", grouped("hotspot"), _PER, "hosts per hot spot", (0.97, 1.3))

_PLANS = {
    "figure11": (_RANDOM, 16, 3),
    "figure12": (_CLUSTERS, 32, 2),
    "figure13": (_CLUSTERS, 8, 3),
    "figure14": (_SPOTS, 32, 2),
    "figure15": (_SPOTS, 16, 3),
}


def draw(path: str | Path, name: str) -> None:
    """Draw a figure, ``figure11`` to ``figure15``, into a file."""
    figure, (ax,) = blank((5.4, 3.9))
    _panel(ax, name)
    ax.set_ylabel("performance ratio\n(largest link load / the least possible)", fontsize=9)
    caption = (
        f"Points are means of {PLACEMENTS[name]} random instances, each ratio exact; bars are ± one standard error."
    )
    keep(figure, path, caption)


def _panel(ax: Axes, name: str) -> None:
    kind, m, n = _PLANS[name]
    new = f"OSRM{n}"
    routings = (*kind.known, new)
    at = [float(Fraction(x)) for x in kind.at]
    colors = dict(zip(routings, view.SERIES, strict=False))
    ax.set_xscale("log", base=2)
    ax.axhline(1.0, color=view.INK, linewidth=0.9)
    _remark(ax, 1.0, "optimal routing of each traffic", left=True)
    if kind is _CLUSTERS:  # where the ratio over all traffic is within the range
        most = obliv.ratio(obliv.routing(new.lower(), obliv.fattree(m, n))).upper
        ax.axhline(float(most), color=colors[new], linewidth=1.2, linestyle=(0, (4, 3)))
        _remark(ax, float(most), f"{new} under any traffic: at most {most}")
    points = curves(m, n, routings, kind.traffics, PLACEMENTS[name])
    for number, (routing, mark) in enumerate(zip(routings, view.MARKERS, strict=False)):
        means = [mean(values) for values in points[routing]]
        # beside each other where bars would hide bars; where curves are steep and bars small, that would mislead
        beside = 2.0 ** (0.14 * (number - (len(routings) - 1) / 2)) if kind is not _CLUSTERS else 1.0
        line = ax.errorbar(
            [x * beside for x in at],
            [value.value for value in means],
            [value.stderr for value in means],
            color=colors[routing],
            marker=mark,
            markersize=6.5 - number,
            linewidth=1.3,
            elinewidth=1.1,
            capsize=2.5,
            zorder=3 + number,
        )
        line.lines[0].set_label(routing)  # the legend shows no bars
    ax.set_xticks(at, kind.at)
    ax.minorticks_off()
    ax.set_ylim(*kind.limits)
    ax.set_xlabel(kind.along, fontsize=9)
    ax.set_title(f"Figure {name[-2:]}: {kind.title} on FT({m},{n})", fontsize=11)
    view.light_frame(ax, "both")
    ax.legend(loc="upper left" if kind is _SPOTS else "upper right", fontsize=9, frameon=False)


def _remark(ax: Axes, height: float, text: str, left: bool = False) -> None:
    """Write a remark above the right end of a line, or below its left end."""
    ax.annotate(
        text,
        (0.0 if left else 1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(3, -3) if left else (-3, 3),
        textcoords="offset points",
        ha="left" if left else "right",
        va="top" if left else "bottom",
        fontsize=8,
        color=view.INK,
        bbox={"facecolor": NODE, "edgecolor": "none", "pad": 0.4},
        zorder=1.9,
    )


PANELS: dict[str, Callable[[str | Path], None]] = {name: partial(draw, name=name) for name in _PLANS}
