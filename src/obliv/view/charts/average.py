"""The average case as bars of channel loads: the mean of the largest loads, the largest drawn, the worst case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.results import Average, Estimate
from obliv.results.format import short
from obliv.results.numbers import as_float
from obliv.view.axes import finish, room
from obliv.view.charts.base import end_label, light_frame, make_room, mark_line, whiskers
from obliv.view.style import ACCENT, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_average"]


def plot_average(result: Average, ax: Axes | None = None, *, title: bool = True) -> Axes:
    """Draw the largest channel load of random traffic: its mean, the largest of those drawn, and the worst case.

    Parameters
    ----------
    result : Average
        The result of :func:`obliv.average_case`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool
        Whether to write a title.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = plot_average(obliv.average_case(obliv.DOR(obliv.mesh(4, 4)), samples=50))
    """
    rows = [(f"mean of {result.samples:,} {result.ensemble}", result.channel_load, SERIES[0])]
    if result.largest_load is not None:
        rows.append(("largest of them", result.largest_load, SERIES[4]))
    if result.worst_load is not None:
        rows.append(("worst case", result.worst_load, ACCENT))
    own = ax is None
    ax = room(ax, 5.6, 0.6 + 0.38 * len(rows))
    places = list(range(len(rows)))
    amounts = [value.value if isinstance(value, Estimate) else as_float(value) for _, value, _ in rows]
    errors = [value.stderr if isinstance(value, Estimate) else 0.0 for _, value, _ in rows]
    ax.barh(places, amounts, height=0.62, color=[color for *_, color in rows], zorder=2)
    whiskers(ax, amounts, places, errors, "x")
    ax.set_yticks(places, labels=[name for name, *_ in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    tips = zip(places, amounts, errors, rows, strict=True)
    ends = [(amount + error, end_label(ax, amount + error, at, short(row[1]), 9)) for at, amount, error, row in tips]
    least = 0.0
    if result.capacity is not None:
        least = as_float(1 / result.capacity)
        side = "left" if least < 0.5 * max(amounts) else "center"
        mark_line(ax, least, "uniform traffic, best routing", "capacity", side)
    make_room(ax, ends, 1.04 * max(*amounts, least) or 1.0)
    light_frame(ax, "x")
    ax.set_xlabel("largest channel load")
    return finish(ax, own, [f"{result.routing} on {result.topology}"] if title else [])
