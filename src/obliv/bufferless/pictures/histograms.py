"""Histograms of schedules (deflections by age, delivery times), and routing times over congestion and dilation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.rationals import boolean
from obliv.bufferless.pictures.space_time import about, below, color_of, note, title_case
from obliv.bufferless.pictures.traces import deflections, moved
from obliv.bufferless.results import Schedule, Schedules
from obliv.errors import InputError
from obliv.view.axes import FAINT, INK, MARKERS, NODE, SERIES, figure_of, finish, require_matplotlib, room
from obliv.view.charts.base import legend, light_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_BARS = 60  # most bars of a histogram


def deflection_ages(schedule: Schedule, ax: Axes | None = None, *, caption: bool = True) -> Axes:
    """Draw a histogram of deflections by age, the steps since the packet entered.

    Parameters
    ----------
    schedule : Schedule
        The schedule, with its moves.
    ax, caption
        As for :func:`space_time`.

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
    ax, caption
        As for :func:`space_time`.

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


# Routing times of schedules over congestion and dilation


_Any = Schedule | Schedules


def makespans(schedules: Iterable[_Any] | Mapping[str, Iterable[_Any]], ax: Axes | None = None) -> Axes:
    """Draw routing times against C + D, both logarithmic, a mark and a color for each algorithm.

    Marks at one C + D are shifted a little, so that they do not hide each other. The dashed line joins C log2(D N) + D
    of the instances, the bound of the algorithms with frames up to a constant.

    Parameters
    ----------
    schedules : list of Schedule, or dict of lists
        Schedules of any instances and algorithms; the keys of a dict replace the names of the algorithms.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If no schedule has a packet.

    Examples
    --------
    >>> import obliv
    >>> small = [obliv.bufferless.instance(f"butterfly:{k}") for k in (2, 3, 4)]
    >>> ax = makespans([obliv.bufferless.schedule(instance, "direct") for instance in small])
    """
    require_matplotlib()
    series = _series(schedules)
    flat = [schedule for group in series.values() for schedule in group]
    if not flat:
        raise InputError("no schedule has a packet: there is nothing to draw")
    own = ax is None
    ax = room(ax, 5.6, 4.2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    _marks(ax, series)
    xs, ys = _bounds(flat)
    mark = "_" if len(xs) == 1 else None
    dashed = ax.plot(
        xs, ys, color=INK, linewidth=1.1, linestyle=(0, (4, 3)), marker=mark, label="C log DN + D", zorder=2
    )
    dashed[0].set_gid("bound")
    left, right = _around(xs, 0.12)
    ax.plot([left, right], [left, right], color=FAINT, linewidth=1.1, label="C + D", zorder=1.9)[0].set_gid("sum")
    ax.set_xlim(left, right)
    ax.set_ylim(_around([*ys, *(float(schedule.makespan) for schedule in flat)], 0.08))
    ax.set_xlabel("C + D, congestion and dilation", fontsize=9.5)
    ax.set_ylabel("routing time in steps", fontsize=9.5)
    light_frame(ax, "both")
    for axis, ends in ((ax.xaxis, (left, right)), (ax.yaxis, ax.get_ylim())):
        _round_ticks(axis, *ends)
    legend(ax)
    return finish(ax, own)


def _marks(ax: Axes, series: Mapping[str, list[Schedule]]) -> None:
    """Draw a mark for every schedule; those of one name have a shape and a color, and are shifted aside together."""
    from matplotlib.transforms import ScaledTranslation

    wide = min(6.0, 26.0 / len(series))
    for number, (name, schedules) in enumerate(series.items()):
        aside = ScaledTranslation((number - (len(series) - 1) / 2) * wide / 72.0, 0.0, figure_of(ax).dpi_scale_trans)
        ax.plot(
            [schedule.congestion + schedule.dilation for schedule in schedules],
            [schedule.makespan for schedule in schedules],
            linestyle="none",
            marker=MARKERS[number % len(MARKERS)],
            color=SERIES[number % len(SERIES)],
            markersize=6.0,
            transform=ax.transData + aside,
            markeredgecolor=NODE,
            markeredgewidth=0.6,
            label=name,
            zorder=3 + number,
        )


def _series(schedules: Any) -> dict[str, list[Schedule]]:
    """Return the schedules by name, split into classes, without empty ones."""
    if isinstance(schedules, Mapping):
        given = [(str(name), result) for name, many in schedules.items() for result in many]
    else:
        given = [("", result) for result in ([schedules] if isinstance(schedules, _Any) else schedules)]
    series: dict[str, list[Schedule]] = {}
    for name, result in given:
        if not isinstance(result, _Any):
            raise InputError(f"a {type(result).__name__} is not a schedule; use the result of bufferless.schedule")
        for schedule in result.classes:
            if schedule.makespan:
                series.setdefault(name or _name(schedule), []).append(schedule)
    return series


def _name(schedule: Schedule) -> str:
    """Return the name of an algorithm with its priority rule."""
    priority = schedule.constants.get("priority")
    if priority and priority not in schedule.algorithm:
        return f"{schedule.algorithm}, {priority}"
    return schedule.algorithm


def _bounds(schedules: list[Schedule]) -> tuple[list[int], list[float]]:
    """Return C + D of the instances, sorted, and for each the geometric mean of C log2(D N) + D."""
    bounds: dict[int, list[float]] = {}
    for schedule in schedules:
        value = schedule.congestion * log2(max(2, schedule.dilation * schedule.packets)) + schedule.dilation
        bounds.setdefault(schedule.congestion + schedule.dilation, []).append(value)
    xs = sorted(bounds)
    return xs, [float(np.exp(np.mean(np.log(bounds[x])))) for x in xs]


def _around(values: list[Any], share: float) -> tuple[float, float]:
    """Return limits of a logarithmic axis with a free margin on both sides."""
    low, high = min(values), max(values)
    more = (high / low) ** share * 1.15
    return float(low / more), float(high * more)


def _round_ticks(axis: Any, low: float, high: float) -> None:
    """Put plain numbers on a logarithmic axis: powers of ten, multiples where there are few, or whole numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    subs = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0) if high < 6 * low else (1.0, 2.0, 5.0) if high < 300 * low else (1.0,)
    axis.set_minor_locator(NullLocator())
    narrow = MaxNLocator(6, integer=True, min_n_ticks=1)  # where hardly two multiples are within the ends
    axis.set_major_locator(narrow if high < 2 * low else LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x < 1e6 else f"{x:.0e}".replace("e+0", "e")))
