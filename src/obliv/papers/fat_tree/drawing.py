"""Figures 11 to 15: mean performance ratios against density and size, with their standard errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import obliv
from obliv import view
from obliv.papers.fat_tree.curves import PLACEMENTS, curves, grouped
from obliv.papers.fat_tree.placements import mean
from obliv.papers.fat_tree.said import DENSITIES, SIZES
from obliv.papers.panels import keep
from obliv.view.figures import require_matplotlib
from obliv.view.style import NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "draw"]


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
    require_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(5.4, 3.9), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    ax = figure.subplots()
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


FIGURES: dict[str, Callable[[str | Path], None]] = {name: partial(draw, name=name) for name in _PLANS}
