"""The performance ratio under each of several traffic patterns, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.errors import InputError
from obliv.results import Estimate, TrafficRatio
from obliv.results.format import short
from obliv.view.axes import Title, finish, room, subject_of
from obliv.view.charts.base import mark_line
from obliv.view.charts.numbers import Bar, draw_numbers, height_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_traffic_ratio"]


def plot_traffic_ratio(result: TrafficRatio, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw a bar for each pattern: how many times the largest load of the best routing for it.

    Parameters
    ----------
    result : TrafficRatio
        The result of :func:`obliv.traffic_ratio`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the result has no patterns.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_traffic_ratio(obliv.traffic_ratio(obliv.DModK(obliv.fattree(8, 2)), "shift:1", "shift:5"))
    """
    if not result.patterns:
        raise InputError("this result has no patterns: there is nothing to draw")
    bars = [Bar(row.traffic, row.ratio) for row in result.patterns]
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    mark_line(ax, 1.0, "best routing of each pattern", "best", "right")
    draw_numbers(ax, bars, 1.0)
    ax.set_xlabel("performance ratio")
    estimated = " (estimated)" if isinstance(result.ratio, Estimate) else ""
    lines = [f"{subject_of(result)}", f"largest ratio {short(result.ratio)}{estimated}"]
    rates = ["with the best rates over its paths"] if result.adaptive else []
    return finish(ax, own, lines, rates, title=title)
