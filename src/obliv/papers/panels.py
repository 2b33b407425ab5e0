"""Panels side by side in one picture: how the papers' figures are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import obliv
from obliv import view
from obliv.papers.paper import Print
from obliv.view.axes import NODE, recolor, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A function that draws a panel into axes.
Draw = Callable[["Axes"], object]


def figures_of(source: Print, **figures: Callable[[], Iterable[Draw]]) -> dict[str, Callable[[str | Path], None]]:
    """Return the functions that draw figures into files, by name; each is given what draws its panels, side by side."""
    return {name: partial(_draw_panels, panels, source.data["figures"][name]) for name, panels in figures.items()}


def _draw_panels(panels: Callable[[], Iterable[Draw]], look: Mapping[str, Any], path: str | Path) -> None:
    view.require_format(path)
    titles, (width, height) = look["panels"], look.get("size", (5.0, 4.4))
    figure, axes = blank((width * len(titles), height), len(titles), w_pad=0.12, h_pad=0.1, wspace=0.06)
    for ax, title, draw in zip(axes, titles, panels(), strict=True):
        draw(ax)
        ax.set_title(title, fontsize=11, pad=10)
    keep(figure, path, fill(look["caption"], int(15 * width * len(titles))))


def blank(size: tuple[float, float], panels: int = 1, **pads: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many inches with axes side by side; `pads` are those of matplotlib's constrained layout."""
    require_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(**({"w_pad": 0.1, "h_pad": 0.08} | pads)))
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def keep(figure: Figure, path: str | Path, caption: str) -> None:
    """Write a figure with its caption into a file, in colors for its background."""
    figure.supxlabel(caption, fontsize=8, alpha=0.65)
    for ax in figure.axes:
        recolor(ax)
    view.save(figure, path)


def pairs_of(topology: obliv.Topology, pairs: Sequence[tuple[int, int]]) -> obliv.Traffic:
    """Return traffic of one packet per cycle from each source to its destination; other nodes are silent."""
    rows = [[0] * topology.nodes for _ in range(topology.nodes)]
    for source, destination in pairs:
        rows[source][destination] = 1
    return obliv.matrix(rows)


def draw_pairs(
    ax: Axes, topology: obliv.Topology, routing: str, pairs: Sequence[tuple[int, int]], channel: int | None = None
) -> None:
    """Draw the channel loads of single pairs, with one channel highlighted."""
    loads = obliv.routing(routing, topology).pair_loads().under(pairs_of(topology, pairs))
    view.draw_loads(topology, loads, ax, worst=channel)


def name_nodes(ax: Axes, names: Mapping[tuple[float, float], str], size: float) -> None:
    """Write names at coordinates."""
    for (x, y), name in names.items():
        ax.text(x, y, name, fontsize=size, ha="center", va="center", zorder=9)


def mark_ends(ax: Axes, pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    """Mark sources by squares and destinations by circles at their coordinates; they may be the same nodes."""
    sources, destinations = zip(*pairs, strict=True)
    x, y = zip(*sources, strict=True)
    ax.scatter(x, y, s=34, marker="s", color=view.SERIES[3], zorder=9)
    x, y = zip(*destinations, strict=True)
    ax.scatter(x, y, s=90, marker="o", facecolors="none", edgecolors=view.SERIES[2], linewidths=2, zorder=9)


def draw_route(
    ax: Axes, corners: Sequence[tuple[float, float]], name: str, off: tuple[float, float] = (0.0, 0.0), **look: Any
) -> None:
    """Draw a route through the coordinates of its corners, moved a little so that routes stay apart."""
    x, y = ([value + by for value in values] for values, by in zip(zip(*corners, strict=True), off, strict=True))
    ax.plot(x, y, solid_capstyle="round", zorder=6, label=name, **look)
    for k in range(len(x) - 1):  # an arrow in the middle of every segment
        tip, tail = (((1 - t) * x[k] + t * x[k + 1], (1 - t) * y[k] + t * y[k + 1]) for t in (0.6, 0.5))
        arrow = {"arrowstyle": "-|>", "color": look.get("color", view.INK), "linewidth": 1.6, "mutation_scale": 14}
        ax.annotate("", tip, tail, arrowprops=arrow, zorder=7)


def without_loads(ax: Axes, key: str) -> None:
    """Remove the color bar of channels that are only highlighted, and say what the outlined one is."""
    for collection in ax.collections:
        if collection.colorbar is not None:
            collection.colorbar.remove()
    legend = ax.get_legend()
    if legend is not None:
        legend.get_texts()[0].set_text(key)


def draw_series(
    ax: Axes, at: Sequence[float], series: Mapping[str, Sequence[float]], labels: Sequence[str], along: str
) -> None:
    """Draw a line for every series over the same places, later ones on top of the earlier."""
    for number, (name, values) in enumerate(series.items()):
        ax.plot(
            at,
            values,
            color=view.SERIES[number],
            marker=view.MARKERS[number],
            markersize=max(4.5, 8.0 - number),
            linewidth=max(1.2, 2.6 - 0.4 * number),
            markeredgecolor=NODE,
            markeredgewidth=0.6,
            label=name,
            zorder=3 + number,
        )
    ax.set_xticks(at, labels)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(along, fontsize=9)
    ax.set_ylabel("normalized throughput", fontsize=9)
    view.light_frame(ax, "both")
