"""The average case as bars of channel loads: the mean of the largest loads, the largest drawn, the worst case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.results import Average
from obliv.results.numbers import as_float
from obliv.view.axes import Title, finish, room, subject_of
from obliv.view.charts.base import mark_line
from obliv.view.charts.numbers import Bar, draw_numbers, height_of
from obliv.view.style import ACCENT, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_average"]


def plot_average(result: Average, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the largest channel load of random traffic: its mean, the largest of those drawn, and the worst case.

    Parameters
    ----------
    result : Average
        The result of :func:`obliv.average_case`.
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
    >>> ax = plot_average(obliv.average_case(obliv.DOR(obliv.mesh(4, 4)), samples=50))
    """
    bars = [Bar(f"mean of {result.samples:,} {result.ensemble}", result.channel_load)]
    if result.largest_load is not None:
        bars.append(Bar("largest of them", result.largest_load, SERIES[4]))
    if result.worst_load is not None:
        bars.append(Bar("worst case", result.worst_load, ACCENT))
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    least = 0.0 if result.capacity is None else as_float(1 / result.capacity)
    if result.capacity is not None:
        side = "left" if least < 0.5 * max(bar.ends[1] for bar in bars) else "center"
        mark_line(ax, least, "uniform traffic, best routing", "capacity", side)
    draw_numbers(ax, bars, least)
    ax.set_xlabel("largest channel load")
    return finish(ax, own, [f"{subject_of(result)}"], title=title)
