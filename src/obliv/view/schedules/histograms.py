"""Histograms of schedules: deflections by age, delivery times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from obliv._util.rationals import boolean
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.bufferless.schedule import Schedule
from obliv.view.axes import finish, room
from obliv.view.charts.base import light_frame
from obliv.view.figures import require_matplotlib
from obliv.view.schedules.surroundings import about, below, color_of, note, title_case
from obliv.view.schedules.traces import deflections, moved
from obliv.view.style import FAINT, INK, NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["deflection_ages", "delivery_times"]

_BARS = 60  # most bars of a histogram


def deflection_ages(schedule: Schedule, ax: Axes | None = None, *, caption: bool = True) -> Axes:
    """Draw a histogram of deflections by age, the steps since the packet entered.

    Parameters
    ----------
    schedule : Schedule
        The schedule, with its moves.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    caption : bool
        Whether to write the caption below.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If no packet is deflected, or the moves were not kept.

    Examples
    --------
    >>> import obliv
    >>> ax = deflection_ages(obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:6"), "hot-potato"))
    """
    caption = boolean(caption, "caption")
    require_matplotlib()
    _, moves = moved(schedule)
    packet, time, _ = deflections(schedule)
    if not len(packet):
        why = "is deflected" if not schedule.deflections else "has deflections that its moves alone can show"
        raise InputError(f"no packet of this {schedule.algorithm} schedule {why}: there is nothing to draw")
    age = time - moves.time[moves.start[packet]].astype(np.int64)
    own = ax is None
    x = "age of the packet: steps since it entered"
    ax = _bars(room(ax, 5.6, 3.0), age, "deflections", color_of(3), x, "deflections")
    most = np.bincount(packet, minlength=schedule.packets)
    hit = int((most > 0).sum())
    if caption:
        what = f"{len(packet):,} deflections of {hit:,} packets, at most {int(most.max()):,} of one."
        below(ax, [about(schedule), f"{title_case(schedule.algorithm)}: {what}"])
    return finish(ax, own)


def delivery_times(schedule: Schedule, ax: Axes | None = None, *, caption: bool = True) -> Axes:
    """Draw a histogram of delivery times, with the last delivery and the lower bound of any schedule.

    Parameters
    ----------
    schedule : Schedule
        The schedule, with its moves.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    caption : bool
        Whether to write the caption below.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the schedule has no packets.

    Examples
    --------
    >>> import obliv
    >>> ax = delivery_times(obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:6"), "fifo"))
    """
    caption = boolean(caption, "caption")
    require_matplotlib()
    if not isinstance(schedule, Schedule) or schedule.delivery is None or not len(schedule.delivery):
        raise InputError("there are no delivery times; use the result of bufferless.schedule")
    own = ax is None
    times = np.asarray(schedule.delivery)
    ax = _bars(room(ax, 5.6, 3.0), times, "deliveries", color_of(0), "delivery time", "packets")
    for at, name, color in ((schedule.lower_bound, "lower bound", FAINT), (schedule.makespan, "last", INK)):
        ax.axvline(at, color=color, linewidth=1.1, linestyle=(0, (4, 3)), zorder=4).set_gid(name)
    left, right = ax.get_xlim()
    near = abs(schedule.makespan - schedule.lower_bound) < 0.22 * (right - left)
    if schedule.makespan == schedule.lower_bound:
        names = [(schedule.makespan, "last = lower bound", "right")]
    else:
        names = [
            (schedule.makespan, "last", "left" if near else "center"),
            (schedule.lower_bound, "lower bound", "right" if near else "center"),
        ]
    for at, name, side in names:
        note(ax, name, (at, 1.0), ("data", "axes fraction"), (0, 3), ha=side, va="bottom")
    if caption:
        half = int(np.sort(times)[(len(times) - 1) // 2])
        words = f"{schedule.makespan:,} steps, half of the packets within {half:,}."
        below(ax, [about(schedule), f"{title_case(schedule.algorithm)}: {words}"])
    return finish(ax, own)


def _bars(ax: Axes, values: Array, name: str, color: str, x: str, y: str) -> Axes:
    """Draw a histogram of whole numbers with bars of one width, and label the axes."""
    from matplotlib.ticker import MaxNLocator

    low, high = int(values.min()), int(values.max())
    wide = -(-(high - low + 1) // _BARS)
    counts = np.bincount((values - low) // wide)
    left = low + wide * np.arange(len(counts))
    bars = ax.bar(left - 0.5, counts, wide, align="edge", color=color, edgecolor=NODE, linewidth=0.5, zorder=3)
    for bar in bars:
        bar.set_gid(name)
    light_frame(ax, "both")
    ax.grid(axis="x", visible=False)
    ax.set_axisbelow(True)
    ax.set_xlim(low - 0.5 - 0.02 * (high - low + 1), left[-1] + wide - 0.5 + 0.02 * (high - low + 1))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel(x, fontsize=9.5)
    ax.set_ylabel(y, fontsize=9.5)
    return ax
