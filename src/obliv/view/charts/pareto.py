"""The curve of locality and throughput: what a routing can guarantee with so many hops."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from obliv.errors import InputError
from obliv.results import Pareto
from obliv.view.axes import Title, called, finish, room
from obliv.view.charts.base import light_frame
from obliv.view.style import NODE, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_pareto"]


def plot_pareto(result: Pareto, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the guaranteed throughput over the mean hops; no routing lies above the curve.

    Parameters
    ----------
    result : Pareto
        The result of :func:`obliv.pareto`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = plot_pareto(obliv.pareto("mesh:3x3", 3))
    """
    if not result.points:
        raise InputError("this curve has no points: there is nothing to draw")
    own = ax is None
    ax = room(ax, 5.2, 3.8)
    hops = [float(point.times_minimal) for point in result.points]
    heights = [float(point.guarantee) for point in result.points]
    # between two designs their mixes: loads and hops are linear in the mix, throughput is the reciprocal of the load
    share = np.linspace(0, 1, 21)
    xs = np.concatenate([a + share * (b - a) for a, b in pairwise(hops)] or [np.array(hops)])
    ys = np.concatenate([1 / ((1 - share) / a + share / b) for a, b in pairwise(heights)] or [np.array(heights)])
    ax.plot(xs, ys, color=SERIES[0], linewidth=1.4, zorder=3)
    ax.scatter(hops, heights, 36.0, color=SERIES[0], edgecolor=NODE, linewidth=0.7, zorder=4)
    ax.set_ylim(0.0, 1.15 * max(heights))
    ax.set_xlim(min(0.98, hops[0] - 0.02), max(hops) + 0.05)
    ax.set_xlabel("mean hops, as a multiple of the least")
    ax.set_ylabel("guaranteed throughput (packets per node and cycle)")
    light_frame(ax, "both")
    heading = ", ".join((f"Worst case and locality on {called(result.topology)}", *result.constraints))
    return finish(ax, own, [heading], title=title)
