"""Lines of a comparison: throughput over the topologies, a line for each routing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from obliv.view.axes import called, room
from obliv.view.charts.base import legend, light_frame, whiskers
from obliv.view.charts.quantities import ChartData, floats
from obliv.view.literal import LITERAL
from obliv.view.style import MARKERS, NODE, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_lines"]


def draw_lines(figures: ChartData, what: str, ax: Axes | None) -> Axes:
    """Draw a line for every routing over the topologies, in their order."""
    topologies = figures.topologies
    ax = room(ax, max(4.2, min(9.0, 1.2 + 0.62 * len(topologies))), 3.4)
    keys = [(entry.routing, entry.topology) for entry in figures.entries]
    values = dict(zip(keys, figures.of(what), strict=True))
    most = 0.0
    for number, routing in enumerate(figures.routings):
        heights, errors = floats([values.get((routing, topology)) for topology in topologies])
        most = max(most, float(np.nanmax(heights + np.nan_to_num(errors))))
        # Routings often agree: later lines and markers are smaller, so that those below stay visible.
        ax.plot(
            range(len(topologies)),
            heights,
            color=SERIES[number % len(SERIES)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=max(4.5, 8.5 - 1.1 * number),
            linewidth=max(1.2, 2.8 - 0.4 * number),
            markeredgecolor=NODE,
            markeredgewidth=0.6,
            label=called(routing),
            zorder=3 + number,
        )
        whiskers(ax, np.arange(len(topologies)), heights, errors, "y")
    marks = [called(topology) for topology in topologies]
    families = {topology.partition(":")[0] for topology in topologies}
    short = len(families) == 1 and marks == topologies
    names = [topology.partition(":")[2] for topology in topologies] if short else marks
    ax.set_xticks(range(len(topologies)), labels=names, **LITERAL)
    if sum(len(t) for t in (topologies if short else marks)) > 11 * len(topologies) or len(topologies) > 12:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlim(-0.4, len(topologies) - 0.6)
    ax.set_ylim(0.0, 1.12 * most)
    ax.set_xlabel(families.pop() if short else "topology", **LITERAL)
    ax.set_ylabel(figures.unit)
    light_frame(ax, "both")
    legend(ax)
    return ax
