"""The plane of a comparison: throughput over mean hops, a point for each routing."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from obliv.errors import InputError
from obliv.view.axes import called, room
from obliv.view.charts.base import light_frame, whiskers
from obliv.view.charts.quantities import ChartData, floats
from obliv.view.labels import label_points
from obliv.view.literal import LITERAL
from obliv.view.style import MARKERS, NODE, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_plane"]

Point = tuple[float, float]

_WIDE = 26  # characters of a line of names


def draw_plane(figures: ChartData, what: str, ax: Axes | None) -> Axes:
    """Draw a point for every routing, or a trail over several topologies; equal routings share a point."""
    ax = room(ax, 5.2, 3.8)
    trails, errors = _trails(figures, what)
    together: dict[tuple[Point, ...], list[str]] = {}
    for routing, trail in trails.items():
        together.setdefault(tuple((round(x, 9), round(y, 9)) for x, y in trail), []).append(routing)
    longest = max(map(len, together))
    for number, (places, names) in enumerate(together.items()):
        style = number if longest > 1 else 0
        color = SERIES[style % len(SERIES)]
        xs, ys = np.array(places).T
        sizes = np.linspace(5.0, 10.0, len(xs)) ** 2 if len(xs) > 1 else [56.0]
        ax.plot(xs, ys, color=color, linewidth=1.0, zorder=3)
        marks = ax.scatter(xs, ys, sizes, color=color, marker=MARKERS[style % len(MARKERS)], zorder=4)
        marks.set(edgecolor=NODE, linewidth=0.7)
        whiskers(ax, xs, ys, np.array(errors[names[0]]), "y")
    spots = [spot for places in together for spot in places]
    for places in together:  # names keep clear of the trails too
        for start, end in pairwise(places):
            steps = [(t * (end[0] - start[0]), t * (end[1] - start[1])) for t in (0.2, 0.4, 0.6, 0.8)]
            spots += [(start[0] + right, start[1] + up) for right, up in steps]
    right, top = max(x for x, _ in spots), max(y for _, y in spots)
    ax.set_xlim(0.9, 1.0 + 1.25 * max(right - 1.0, 0.5))
    ax.set_ylim(0.0, 1.18 * top)
    ax.set_xlabel("mean hops, as a multiple of the least")
    unit = f" ({figures.unit})" if figures.quantity == "throughput" else ""  # the others name it themselves
    ax.set_ylabel(figures.title(what) + unit, **LITERAL)
    light_frame(ax, "both")
    label_points(ax, [(places[-1], _wrapped(names)) for places, names in together.items()], spots)
    return ax


def _trails(figures: ChartData, what: str) -> tuple[dict[str, list[Point]], dict[str, list[float]]]:
    """Return the points of every routing on the topologies that it fits, and the standard errors of the heights."""
    trails: dict[str, list[Point]] = {}
    errors: dict[str, list[float]] = {}
    heights, widths = floats(figures.of(what))
    for entry, height, width in zip(figures.entries, heights.tolist(), widths.tolist(), strict=True):
        if not np.isnan(height) and entry.hops_over_minimal is not None:
            trails.setdefault(entry.routing, []).append((float(entry.hops_over_minimal), height))
            errors.setdefault(entry.routing, []).append(width)
    if not trails:
        raise InputError("no routing of this comparison has both throughput and hops: there is nothing to draw")
    return trails, errors


def _wrapped(names: list[str]) -> str:
    return textwrap.fill(", ".join(map(called, names)), _WIDE, break_long_words=False, break_on_hyphens=False)
