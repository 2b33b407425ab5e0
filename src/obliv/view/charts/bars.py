"""Bars of a comparison: a group for every routing, with the numbers at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.results.analysis.compare import Entry
from obliv.results.format import short
from obliv.view.axes import called, room
from obliv.view.charts.base import end_label, legend, light_frame, make_room, mark_capacity, note, whiskers
from obliv.view.charts.quantities import ChartData, floats
from obliv.view.literal import LITERAL
from obliv.view.style import NODE, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_bars"]

_LONGEST = 11  # characters of a fraction that is written in full, as in the table


def draw_bars(figures: ChartData, shown: Sequence[str], ax: Axes | None) -> Axes:
    """Draw a group of bars for every row: the worst case, the average and patterns."""
    rows = len(figures.entries)
    thick = 0.84 / len(shown)
    ax = room(ax, 5.6, 0.5 + rows * max(0.34, 0.21 * len(shown)))
    ends, texts = [], []
    for k, what in enumerate(shown):
        values = figures.of(what)
        places = np.arange(rows) - 0.42 + thick * (k + 0.5)
        amounts, errors = floats(values)
        widths = np.nan_to_num(amounts)
        look: dict[str, Any] = {"color": SERIES[k % len(SERIES)], "hatch": "////" if k >= len(SERIES) else None}
        look |= {"edgecolor": NODE, "linewidth": 0, "zorder": 2}
        ax.barh(places, widths, height=0.86 * thick, label=figures.label(what), **look)
        whiskers(ax, widths, places, errors, "x")
        tips = widths + np.nan_to_num(errors)
        for at, tip, value, entry in zip(places.tolist(), tips.tolist(), values, figures.entries, strict=True):
            texts.append(_why_not(entry, what) if value is None else short(value, _LONGEST))
            ends.append((tip, end_label(ax, tip, at, texts[-1], 8)))
    several = len(figures.topologies) > 1
    names = [called(entry.routing) + (f"\non {called(entry.topology)}" if several else "") for entry in figures.entries]
    ax.set_yticks(range(rows), labels=names, **LITERAL)
    ax.set_ylim(rows - 0.4, -0.6)
    most = max(tip for tip, _ in ends)
    make_room(ax, ends, 1.04 * most or 1.0)
    if figures.quantity == "capacity" and most >= 1.0:
        mark_capacity(ax)
    light_frame(ax, "x")
    ax.set_xlabel(figures.unit)
    note(ax, [value for what in shown for value in figures.of(what)], texts)
    if len(shown) > 1:
        legend(ax)
    return ax


def _why_not(entry: Entry, what: str) -> str:
    """Return why there is no bar: the pattern or the routing does not fit the network, or loads no channel."""
    return "does not fit" if what in entry.reasons or "routing" in entry.reasons else "loads nothing"
