"""Schedules in numbers: routing times against congestion and dilation, deflections by age, delivery times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.schedule import Schedule, Schedules
from obliv.view.axes import figure_of, finish, require_matplotlib, room
from obliv.view.charts.base import legend, quiet
from obliv.view.schedules.surroundings import about, below, called, colour_of, note
from obliv.view.schedules.traces import deflections, moved
from obliv.view.style import FAINT, INK, MARKERS, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["deflection_ages", "delivery_times", "makespans"]

_Any = Schedule | Schedules
_BARS = 60  # of a histogram; of more values several share a bar


def makespans(schedules: Iterable[_Any] | Mapping[str, Iterable[_Any]], ax: Axes | None = None) -> Axes:
    """Draw routing times against C + D, both logarithmic, a mark and a colour for each algorithm.

    Marks of one C + D stand a little aside of each other, so that none hides another.  The dashed line joins
    C log2(D N) + D of the instances, what frames need up to a constant.

    Parameters
    ----------
    schedules : list of Schedule, or dict of lists
        Of any instances and algorithms; a dict's keys stand for the names of algorithms.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no schedule with a packet among them.

    Examples
    --------
    >>> import obliv
    >>> small = [obliv.bufferless.instance(f"butterfly:{k}") for k in (2, 3, 4)]
    >>> ax = makespans([obliv.bufferless.schedule(each, "direct") for each in small])
    """
    require_matplotlib()
    from matplotlib.transforms import ScaledTranslation

    series = _series(schedules)
    names, flat = list(series), [each for mine in series.values() for each in mine]
    if not flat:
        raise InputError("there is no schedule with a packet: there is nothing to draw")
    own = ax is None
    ax = room(ax, 5.6, 4.2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    wide = min(6.0, 26.0 / len(names))
    for number, name in enumerate(names):
        aside = ScaledTranslation((number - (len(names) - 1) / 2) * wide / 72.0, 0.0, figure_of(ax).dpi_scale_trans)
        mine = series[name]
        ax.plot(
            [each.congestion + each.dilation for each in mine],
            [each.makespan for each in mine],
            linestyle="none",
            marker=MARKERS[number % len(MARKERS)],
            color=SERIES[number % len(SERIES)],
            markersize=6.0,
            transform=ax.transData + aside,
            markeredgecolor="white",
            markeredgewidth=0.6,
            label=name,
            zorder=3 + number,
        )
    bound: dict[int, list[float]] = {}
    for each in flat:
        value = each.congestion * log2(max(2, each.dilation * each.packets)) + each.dilation
        bound.setdefault(each.congestion + each.dilation, []).append(value)
    xs = sorted(bound)
    ys = [float(np.exp(np.mean(np.log(bound[x])))) for x in xs]
    mark = "_" if len(xs) == 1 else None
    dashed = ax.plot(
        xs, ys, color=INK, linewidth=1.1, linestyle=(0, (4, 3)), marker=mark, label="C log DN + D", zorder=2
    )
    dashed[0].set_gid("bound")
    (left, right), (low, high) = _around(xs, 0.12), _around([*ys, *(float(each.makespan) for each in flat)], 0.08)
    ax.plot([left, right], [left, right], color=FAINT, linewidth=1.1, label="C + D", zorder=1.9)[0].set_gid("sum")
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    ax.set_xlabel("C + D, congestion and dilation", fontsize=9.5)
    ax.set_ylabel("routing time in steps", fontsize=9.5)
    quiet(ax, "both")
    for axis, ends in ((ax.xaxis, (left, right)), (ax.yaxis, ax.get_ylim())):
        _round_ticks(axis, *ends)
    legend(ax)
    return finish(ax, own)


def _series(schedules: Any) -> dict[str, list[Schedule]]:
    """The schedules by name, those of classes apart, without those that take no time."""
    if isinstance(schedules, Mapping):
        given = [(str(name), each) for name, many in schedules.items() for each in many]
    else:
        given = [("", each) for each in ([schedules] if isinstance(schedules, _Any) else schedules)]
    series: dict[str, list[Schedule]] = {}
    for name, each in given:
        if not isinstance(each, _Any):
            raise InputError(f"a {type(each).__name__} is no schedule: give what bufferless.schedule returns")
        for one in each.classes if isinstance(each, Schedules) else (each,):
            if one.makespan:
                series.setdefault(name or _name(one), []).append(one)
    return series


def _around(values: list[Any], share: float) -> tuple[float, float]:
    """Limits of a logarithmic axis that leave a share free on both sides."""
    low, high = min(values), max(values)
    more = (high / low) ** share * 1.15
    return float(low / more), float(high * more)


def _round_ticks(axis: Any, low: float, high: float) -> None:
    """Plain numbers on a logarithmic axis: powers of ten, and 2 and 5 times them where there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    subs = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0) if high < 6 * low else (1.0, 2.0, 5.0) if high < 300 * low else (1.0,)
    axis.set_minor_locator(NullLocator())
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x < 1e6 else f"{x:.0e}".replace("e+0", "e")))


def deflection_ages(schedule: Schedule, ax: Axes | None = None, *, caption: bool = True) -> Axes:
    """Draw how many deflections there are at each age, the steps since the packet entered.

    Parameters
    ----------
    schedule : Schedule
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    caption : bool
        Whether to write below what is shown.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If no packet is ever deflected, or the moves were not kept.

    Examples
    --------
    >>> import obliv
    >>> ax = deflection_ages(obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:6"), "hot-potato"))
    """
    require_matplotlib()
    _, moves = moved(schedule)
    packet, time, _ = deflections(schedule)
    if not len(packet):
        why = "is deflected" if not schedule.deflections else "can be told to be deflected, from its moves alone"
        raise InputError(f"no packet of this {schedule.algorithm} schedule {why}: there is nothing to draw")
    age = time - moves.time[moves.start[packet]].astype(np.int64)
    own = ax is None
    ax = _bars(room(ax, 5.6, 3.0), age, "deflections", colour_of(3))
    ax.set_xlabel("age of the packet: steps since it entered", fontsize=9.5)
    ax.set_ylabel("deflections", fontsize=9.5)
    most = np.bincount(packet, minlength=schedule.packets)
    hit = int((most > 0).sum())
    if caption:
        what = f"{len(packet):,} deflections of {hit:,} packets, at most {int(most.max()):,} of one."
        below(ax, [about(schedule), f"{called(schedule.algorithm)}: {what}"])
    return finish(ax, own)


def delivery_times(schedule: Schedule, ax: Axes | None = None, *, caption: bool = True) -> Axes:
    """Draw how many packets arrive when, with the last of them and the bound below which no schedule is.

    Parameters
    ----------
    schedule : Schedule
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    caption : bool
        Whether to write below what is shown.

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
    require_matplotlib()
    if not isinstance(schedule, Schedule) or schedule.delivery is None or not len(schedule.delivery):
        raise InputError("there are no delivery times: give what bufferless.schedule returns")
    own = ax is None
    ax = _bars(room(ax, 5.6, 3.0), np.asarray(schedule.delivery), "deliveries", colour_of(0))
    for at, name, colour in ((schedule.lower_bound, "lower bound", FAINT), (schedule.makespan, "last", INK)):
        ax.axvline(at, color=colour, linewidth=1.1, linestyle=(0, (4, 3)), zorder=4).set_gid(name)
    left, right = ax.get_xlim()
    near = abs(schedule.makespan - schedule.lower_bound) < 0.22 * (right - left)
    names = [
        (schedule.makespan, "last = lower bound" if schedule.makespan == schedule.lower_bound else "last", "right")
    ]
    if schedule.makespan != schedule.lower_bound:
        names = [
            (schedule.makespan, "last", "left" if near else "center"),
            (schedule.lower_bound, "lower bound", "right"),
        ]
        names[1] = (schedule.lower_bound, "lower bound", "right" if near else "center")
    for at, name, side in names:
        note(ax, name, (at, 1.0), ("data", "axes fraction"), (0, 3), ha=side, va="bottom")
    ax.set_xlabel("delivery time", fontsize=9.5)
    ax.set_ylabel("packets", fontsize=9.5)
    if caption:
        mean = f"{schedule.makespan:,} steps, half of the packets within {int(np.median(schedule.delivery)):,}."
        below(ax, [about(schedule), f"{called(schedule.algorithm)}: {mean}"])
    return finish(ax, own)


def _bars(ax: Axes, values: Array, name: str, colour: str) -> Axes:
    """A histogram of whole numbers: bars of one width, one value each where there are few."""
    from matplotlib.ticker import MaxNLocator

    low, high = int(values.min()), int(values.max())
    wide = -(-(high - low + 1) // _BARS)
    counts = np.bincount((values - low) // wide)
    left = low + wide * np.arange(len(counts))
    made = ax.bar(left - 0.5, counts, wide, align="edge", color=colour, edgecolor="white", linewidth=0.5, zorder=3)
    for bar in made:
        bar.set_gid(name)
    quiet(ax, "both")
    ax.grid(axis="x", visible=False)
    ax.set_axisbelow(True)
    ax.set_xlim(low - 0.5 - 0.02 * (high - low + 1), left[-1] + wide - 0.5 + 0.02 * (high - low + 1))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    return ax


def _name(schedule: Schedule) -> str:
    """An algorithm with what it was told, as far as that makes another algorithm of it."""
    priority = schedule.constants.get("priority")
    if priority and priority not in schedule.algorithm:
        return f"{schedule.algorithm}, {priority}"
    return schedule.algorithm
