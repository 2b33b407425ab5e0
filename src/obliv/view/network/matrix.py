"""Worst traffic as a matrix: a dot for every pair, with sources downwards and destinations to the right."""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import plural
from obliv.topologies.base import Topology
from obliv.view.axes import bar, key, most_inches, points_per_unit, room
from obliv.view.literal import LITERAL
from obliv.view.network.names import Labels
from obliv.view.network.witness import Witness
from obliv.view.style import FAINT, QUIET, SHARES, colormap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_matrix"]


def draw_matrix(shown: Witness, ax: Axes | None, labels: Labels) -> Axes:
    """Draw a dot for every pair; size and color show its load on the worst channel."""
    n = shown.loads.terminals
    inches = min(5.2, most_inches())
    ax = room(ax, inches, inches)
    ax.set_aspect("equal")
    edge = 0.5 + 0.012 * n
    ax.set_xlim(-edge, n - 1 + edge)
    ax.set_ylim(n - 1 + edge, -edge)
    for side in ax.spines.values():
        side.set_color(QUIET)
    _ticks(ax, shown.topology, labels)
    unit = points_per_unit(ax)
    small = min(max(0.42 * unit, 1.8), 4.0)
    weak = _dots(ax, shown.weak, small**2, "other pairs", color=FAINT, linewidths=0)
    fixed = _dots(
        ax, shown.fixed, small**2, "fixed points", facecolors="none", edgecolors=FAINT, linewidths=min(0.6, small / 4)
    )
    shares = np.array([share for _, _, share in shown.strong])
    most = float(shares.max(initial=0.0))
    across = min(max(0.95 * unit, 4.0), 20.0) * np.sqrt(0.3 + 0.7 * shares / (most or 1.0))
    strong = _dots(
        ax, shown.strong, across**2, "pairs on the worst channel", c=shares, cmap=colormap("shares", SHARES), vmin=0.0,
        vmax=most or 1.0, linewidths=0,
    )  # fmt: skip
    if shown.strong:
        bar(ax, strong, "load of the pair on the worst channel" + (" (estimated)" if shown.estimated else ""))
    signs = [(strong, shown.strong, "pair on the worst channel", "pairs on the worst channel")]
    signs += [(weak, shown.weak, "other pair", "other pairs"), (fixed, shown.fixed, "fixed point", "fixed points")]
    key(ax, [_sign(dots, plural(len(flows), *names)) for dots, flows, *names in signs if flows])
    return ax


def _dots(ax: Axes, flows: Any, size: Any, name: str, **look: Any) -> Any:
    return ax.scatter([d for _, d, _ in flows], [s for s, _, _ in flows], s=size, zorder=2, gid=name, **look)


def _sign(dots: Any, text: str) -> Any:
    from matplotlib.lines import Line2D

    hollow = len(dots.get_facecolor()) == 0
    strong = dots.get_array() is not None
    color = SHARES[-1] if strong else FAINT  # the color of the strongest pair, often of all
    return Line2D(
        [], [], linestyle="none", marker="o", markersize=7 if strong else 4, color=color, label=text,
        markerfacecolor="none" if hollow else color,
    )  # fmt: skip


def _ticks(ax: Axes, topology: Topology, labels: Labels) -> None:
    n = len(topology.terminals)
    unit = points_per_unit(ax)
    steps = [1, *accumulate(topology.radices if topology.all_terminals else (), mul)]
    lines = next((step for step in steps[1:-1] if step * unit > 8), None)
    if lines is not None:
        for at in range(lines, n, lines):
            ax.axhline(at - 0.5, color=QUIET, linewidth=0.4, zorder=1)
            ax.axvline(at - 0.5, color=QUIET, linewidth=0.4, zorder=1)
    ax.set_xlabel("destination", fontsize=10)
    ax.set_ylabel("source", fontsize=10)
    names = [topology.name_of(int(node)) for node in topology.terminals]
    if labels is False:
        ax.set_xticks([])
        ax.set_yticks([])
        return
    if max(map(len, names)) > 9:
        names = [str(number) for number in range(n)]
    wide = 5.0 * max(map(len, names)) + 5.0
    blocks = [1, *(step * more for step in steps[1:-1] for more in (1, 2, 4, 5, 8))] if len(steps) > 2 else []
    step = next((step for step in [*blocks, 1, 2, 5, 10, 20, 50, 100, 200, 500] if step * unit > wide), n)
    ax.set_xticks(range(0, n, step), labels=names[::step], fontsize=8, **LITERAL)
    ax.set_yticks(range(0, n, step), labels=names[::step], fontsize=8, **LITERAL)
    ax.tick_params(length=2, color=QUIET)
