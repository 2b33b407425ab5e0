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
from obliv.papers.fat_tree.curves import DENSITIES, SIZES, curves, grouped
from obliv.papers.fat_tree.placements import INSTANCES, mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "draw"]


@dataclass(frozen=True)
class Plan:
    """What a figure shows: a tree, its routings, the traffics along the axis, and the range of the ratio."""

    title: str
    m: int
    n: int
    routings: tuple[str, ...]
    traffics: tuple[str, ...]
    at: Sequence[str]
    along: str
    limits: tuple[float, float]
    limit_of: str = ""  # a routing whose ratio over all traffic is within the range


# Figures that are compared have one range: clusters, and hot spots.
_RANDOM, _CLUSTERS, _SPOTS = (0.99, 1.07), (0.6, 5.0), (0.97, 1.3)
_PER = [str(size) for size in SIZES]
_GROUP, _SPOT = "hosts per group", "hosts per hot spot"

_PLANS = {
    "figure11": Plan(
        "random traffic on FT(16,3)",
        16,
        3,
        ("MLID", "WSR", "OSRM3"),
        tuple(f"bernoulli:{p}" for p in DENSITIES),
        DENSITIES,
        "probability that a host sends to another one",
        _RANDOM,
    ),
    "figure12": Plan(
        "clusters on FT(32,2)",
        32,
        2,
        ("MLID/WSR", "OSRM2"),
        grouped("clustered"),
        _PER,
        _GROUP,
        _CLUSTERS,
        "OSRM2",
    ),
    "figure13": Plan(
        "clusters on FT(8,3)", 8, 3, ("MLID/WSR", "OSRM3"), grouped("clustered"), _PER, _GROUP, _CLUSTERS, "OSRM3"
    ),
    "figure14": Plan(
        "four hot spots on FT(32,2)", 32, 2, ("MLID/WSR", "OSRM2"), grouped("hotspot"), _PER, _SPOT, _SPOTS
    ),
    "figure15": Plan(
        "four hot spots on FT(16,3)", 16, 3, ("MLID/WSR", "OSRM3"), grouped("hotspot"), _PER, _SPOT, _SPOTS
    ),
}


def draw(path: str | Path, *names: str, dpi: float = 160) -> None:
    """Draw figures side by side into a file.

    Parameters
    ----------
    path : str or Path
    *names : str
        ``figure11`` to ``figure15``.
    dpi : float
        Pixels per inch of a PNG.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(1.0 + 4.4 * len(names), 3.9), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    for number, (ax, name) in enumerate(zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True)):
        _panel(ax, name)
        if number == 0:
            ax.set_ylabel("performance ratio\n(largest link load / the least possible)", fontsize=9)
    figure.supxlabel(
        f"Points are means of {INSTANCES} random instances, each ratio exact; bars are ± one standard error.",
        fontsize=8,
        color="0.35",
    )
    view.save(figure, path, dpi=dpi)


def _panel(ax: Axes, name: str) -> None:
    plan = _PLANS[name]
    at = [float(Fraction(x)) for x in plan.at]
    colors = dict(zip(plan.routings, view.SERIES, strict=False))
    ax.set_xscale("log", base=2)
    ax.axhline(1.0, color=view.INK, linewidth=0.9)
    _remark(ax, 1.0, "optimal routing of each traffic", left=True)
    if plan.limit_of:
        most = obliv.ratio(obliv.routing(plan.limit_of.lower(), obliv.fattree(plan.m, plan.n))).ratio
        ax.axhline(float(most), color=colors[plan.limit_of], linewidth=1.2, linestyle=(0, (4, 3)))
        _remark(ax, float(most), f"{plan.limit_of} under any traffic: at most {most}")
    points = curves(plan.m, plan.n, plan.routings, plan.traffics)
    for number, (routing, mark) in enumerate(zip(plan.routings, view.MARKERS, strict=False)):
        means = [mean(values) for values in points[routing]]
        # beside each other where bars would hide bars; where curves are steep and bars small, that would mislead
        beside = 2.0 ** (0.14 * (number - (len(plan.routings) - 1) / 2)) if plan.limits is not _CLUSTERS else 1.0
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
    ax.set_xticks(at, plan.at)
    ax.minorticks_off()
    ax.set_ylim(*plan.limits)
    ax.set_xlabel(plan.along, fontsize=9)
    ax.set_title(f"Figure {name[-2:]}: {plan.title}", fontsize=11)
    view.light_frame(ax, "both")
    ax.legend(loc="upper left" if plan.limits is _SPOTS else "upper right", fontsize=9, frameon=False)


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
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
        zorder=1.9,
    )


FIGURES: dict[str, Callable[[str | Path], None]] = {
    name: partial(lambda path, which: draw(path, which), which=name) for name in _PLANS
}
