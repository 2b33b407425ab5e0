"""Networks: their channels as arrows, coloured by load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv.errors import InputError
from obliv.results.numbers import as_float
from obliv.topology.topology import Topology
from obliv.view.axes import bar, fit, points_per_unit
from obliv.view.canvas import Canvas, canvas
from obliv.view.frame import Labels, draw_nodes
from obliv.view.layout import Points, place
from obliv.view.ribbons import ribbons
from obliv.view.style import ACCENT, FAINT, LOADS, QUIET, colours
from obliv.view.text import brief

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

__all__ = ["as_amounts", "draw_loads", "draw_topology", "loads_on"]

Amounts = npt.NDArray[np.float64]

_THIN, _WIDE = 0.03, 0.11  # of an arrow, where neighbours are one apart


def draw_topology(topology: Topology, ax: Axes | None = None, labels: Labels = "auto") -> Axes:
    """Draw a network: nodes, and every channel as an arrow of its own.

    Parameters
    ----------
    topology : Topology
        The network. Wrap-around channels of a torus leave the grid on one side and come back on the other.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    labels : {"auto", True, False}
        Names of the nodes: where they fit, always, or never. Grids have their coordinates along the edges.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = draw_topology(obliv.torus(4, 3))
    """
    on = canvas(topology, place(topology), ax, labels)
    shapes = _collection(ribbons(on.lines, [0.025] * len(on.lines)), "channels", facecolors=FAINT)
    on.ax.add_collection(shapes, autolim=False)
    draw_nodes(on.ax, topology, on.points, labels)
    if on.own:
        fit(on.ax)
    return on.ax


def draw_loads(
    topology: Topology,
    loads: Sequence[Fraction | float],
    ax: Axes | None = None,
    label: str = "channel load",
    *,
    labels: Labels = "auto",
    worst: int | None = None,
) -> Axes:
    """Draw a network with a load on every channel, light and thin to dark and wide.

    Parameters
    ----------
    topology : Topology
        The network.
    loads : sequence of Fraction or float
        The load of every channel, in the order of the channels' numbers; channels without load are grey.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    label : str
        What the colours mean.
    labels : {"auto", True, False}
        As for :func:`draw_topology`.
    worst : int, optional
        The channel to point out; default the first of those with the largest load.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is not one finite load ≥ 0 for every channel, or no channel `worst`.

    Examples
    --------
    >>> import obliv
    >>> ring = obliv.ring(8)
    >>> loads = obliv.routing("dor", ring).pair_loads().under(obliv.traffic("tornado", ring))
    >>> ax = draw_loads(ring, loads)
    """
    amounts = as_amounts(topology, loads)
    if worst is not None and not 0 <= worst < topology.channels:
        raise InputError(f"{topology.spec} has no channel {worst}; channels are 0 to {topology.channels - 1}")
    on = canvas(topology, place(topology), ax, labels)
    loads_on(on, loads, amounts, label, worst)
    if on.own:
        fit(on.ax)
    return on.ax


def loads_on(on: Canvas, loads: Sequence[Fraction | float], amounts: Amounts, label: str, worst: int | None) -> None:
    """The body of :func:`draw_loads`, on a canvas; `amounts` are the loads as floats."""
    top = float(amounts.max(initial=0.0))
    widths = np.where(amounts > 0, _THIN + (_WIDE - _THIN) * amounts / (top or 1.0), 0.012)
    shapes = ribbons(on.lines, widths.tolist())
    idle = [shapes[c] for c in np.flatnonzero(amounts == 0)]
    on.ax.add_collection(_collection(idle, "idle channels", facecolors=QUIET), autolim=False)
    busy = np.flatnonzero(amounts)
    if len(busy):
        at = busy[np.argsort(amounts[busy], kind="stable")]  # the heaviest are drawn last, on top
        drawn = _collection([shapes[c] for c in at], "channels", cmap=colours("loads", LOADS), zorder=2)
        drawn.set_array(amounts[at])
        drawn.set_clim(0.0, top)
        on.ax.add_collection(drawn, autolim=False)
        bar(on.ax, drawn, label)
    draw_nodes(on.ax, on.topology, on.points, on.labels)
    if len(busy):
        chosen = int(amounts.argmax()) if worst is None else worst
        _point_out(on.ax, shapes[chosen], on.lines[chosen][-1], on.points, brief(loads[chosen]))


def as_amounts(topology: Topology, loads: Sequence[Fraction | float]) -> Amounts:
    """The loads as floats; InputError where there is not one finite load ≥ 0 for every channel."""
    if len(loads) != topology.channels:
        raise InputError(f"{len(loads)} loads are given, {topology.spec} has {topology.channels} channels")
    amounts = [as_float(each) if isinstance(each, Fraction) else float(each) for each in loads]
    for channel, amount in enumerate(amounts):
        if not math.isfinite(amount) or amount < 0:
            raise InputError(f"the load of channel {channel} is {amount}: it must be finite and not negative")
    return np.array(amounts, float)


def _collection(shapes: list[Path], name: str, **look: Any) -> Any:
    from matplotlib.collections import PathCollection

    made = PathCollection(shapes, linewidths=0, **look)
    made.set_gid(name)
    return made


def _point_out(ax: Axes, shape: Path, line: Points, points: Points, text: str) -> None:
    """Outline a channel and write its load beside it, outwards from the middle of the picture."""
    unit = points_per_unit(ax)
    ring = _collection([shape], "worst channel", facecolors="none", edgecolors=ACCENT, zorder=5.5)
    ring.set_linewidth(min(1.8, 0.06 * unit))
    ax.add_collection(ring, autolim=False)
    middle = line[len(line) // 2] if len(line) > 2 else line.mean(axis=0)
    away = middle - (points.min(axis=0) + points.max(axis=0)) / 2
    across = np.array([line[0][1] - line[-1][1], line[-1][0] - line[0][0]])
    outwards = unit > 28  # where the grid is fine, outwards stand its coordinates
    if (away @ across < 0) == outwards:
        across = -across
    across = across / max(float(np.hypot(*across)), 1e-9)
    reach = 16.0 + abs(across[0]) * 2.8 * len(text) + abs(across[1]) * 6.0
    ax.annotate(
        text,
        (float(middle[0]), float(middle[1])),
        xytext=(float(across[0]) * reach, float(across[1]) * reach),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=8.5,
        fontweight="bold",
        color=ACCENT,
        zorder=9,
        annotation_clip=False,
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": ACCENT, "linewidth": 0.8},
        arrowprops={"arrowstyle": "-", "color": ACCENT, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 1},
    ).set_gid("worst channel label")
