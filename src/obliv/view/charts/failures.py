"""Failures as bars: the worst load after each, with the pairs that it cuts off, the most harmful first."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from obliv.errors import InputError
from obliv.results import Failures
from obliv.results.fabric.failures import row_text
from obliv.results.format import short
from obliv.results.numbers import as_float
from obliv.view.axes import Title, finish, room, subject_of
from obliv.view.charts.base import end_label, light_frame, make_room, mark_line
from obliv.view.literal import LITERAL
from obliv.view.style import ACCENT, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_failures"]


def plot_failures(result: Failures, ax: Axes | None = None, *, count: int = 12, title: Title = True) -> Axes:
    """Draw a bar for each outcome of failures, as long as the worst load, the most harmful first.

    Failures with the same credit loops, lost pairs and worst load share a bar, which names the first and how many more.

    Parameters
    ----------
    result : Failures
        The result of :func:`obliv.failures` or :func:`obliv.fabric.failures`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    count : int
        Largest number of bars.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `count` is less than 1.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_failures(obliv.failures("mesh:3x3", "ecmp"))
    """
    if count < 1:
        raise InputError(f"count is {count}; it must be at least 1")
    outcomes = [list(group) for _, group in groupby(result.failures, key=lambda row: row.rank)]
    shown = outcomes[:count]
    own = ax is None
    ax = room(ax, 5.6, 0.7 + 0.34 * max(1, len(shown)))
    places = list(range(len(shown)))
    loads = [as_float(group[0].channel_load) for group in shown]
    colors = [ACCENT if group[0].deadlock else SERIES[0] for group in shown]
    ax.barh(places, loads, height=0.66, color=colors, zorder=2)
    names = []
    for group in shown:
        more = sum(row.alike for row in group) - 1
        names.append(group[0].failed + (f"  + {more:,} more" if more else ""))
    ax.set_yticks(places, labels=names, **LITERAL)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ends = [
        (load, end_label(ax, load, at, row_text(group[0]), 8))
        for at, load, group in zip(places, loads, shown, strict=True)
    ]
    before = as_float(result.before.channel_load)
    mark_line(ax, before, f"before: {short(result.before.channel_load)}", "before")
    make_room(ax, ends, 1.04 * max([before, *loads]) or 1.0)
    light_frame(ax, "x")
    left = len(outcomes) - len(shown)
    ax.set_xlabel("worst load after the failure" + (f"; {left:,} more outcomes are not shown" if left else ""))
    return finish(ax, own, [f"{subject_of(result)}", f"routes: {result.repair}"], title=title)
