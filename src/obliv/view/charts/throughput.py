"""Throughput under several patterns, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.errors import InputError
from obliv.results import Throughput
from obliv.results.analysis.throughput import PatternThroughput
from obliv.view.axes import Title, finish, room, subject_of
from obliv.view.charts.base import mark_capacity
from obliv.view.charts.numbers import Bar, draw_numbers, height_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_throughput"]


def plot_throughput(result: Throughput, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw a bar for every pattern: the fraction of capacity where all are known, else the throughput.

    Parameters
    ----------
    result : Throughput
        The result of :func:`obliv.throughput`.
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
    >>> result = obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform")
    >>> ax = plot_throughput(result)
    """
    if not result.patterns:
        raise InputError("this throughput result has no patterns: there is nothing to draw")
    relative = result.capacity is not None and not any(row.by_terminal for row in result.patterns)
    values = [row.fraction_of_capacity if relative else row.throughput for row in result.patterns]
    rows = zip(result.patterns, values, strict=True)
    bars = [Bar(_name(row), value, text="loads nothing" if value is None else "") for row, value in rows]
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    draw_numbers(ax, bars, 1.0 if relative else 0.0)
    if relative:
        mark_capacity(ax)
    ax.set_xlabel("fraction of capacity" if relative else "throughput (times the traffic)")
    return finish(ax, own, [f"{subject_of(result)}"], title=title)


def _name(row: PatternThroughput) -> str:
    return row.traffic if row.admissible else f"{row.traffic}\n({row.verdict},\nlimited by {row.limited_by})"
