"""Schedules as lines through time and levels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.rationals import boolean
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.bufferless.plans import DistributedPlan
from obliv.results.bufferless.schedule import Schedule
from obliv.view.axes import finish, room
from obliv.view.figures import require_matplotlib
from obliv.view.schedules.cells import busiest, draw_cells, draw_columns, draw_sub_phases, wave_samples
from obliv.view.schedules.surroundings import (
    MARKS,
    about,
    above,
    aside,
    below,
    color_of,
    crosses,
    dots,
    framed,
    lines,
    sample,
    squares,
    title_case,
)
from obliv.view.schedules.traces import choose, deflections, moved, traces
from obliv.view.schedules.waves import has_waves, rides
from obliv.view.style import FAINT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["space_time"]

FINE = 1500  # steps; beyond that single steps are invisible
MANY, SOME = 400, 150  # packets that can be distinguished, with and without waves


def space_time(
    schedule: Schedule,
    ax: Axes | None = None,
    *,
    session: int = 1,
    packets: int | Iterable[int] | None = None,
    steps: tuple[int, int] | None = None,
    legend: bool = True,
    caption: bool = True,
) -> Axes:
    """Draw every packet as a line through time (to the right) and levels (upwards).

    Dots are injections, squares deliveries, crosses deflections. For the centralized algorithm colors are waves,
    columns are phases and rows are frames: strong where the packets of a wave board, faint where they stop and
    oscillate until the next boat (dotted) comes.

    Parameters
    ----------
    schedule : Schedule
        The result of :func:`obliv.bufferless.schedule`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    session : 1 or 2
        Session of the centralized algorithm; packets that fit into no group of frames run in the second one.
    packets : int or list of int, optional
        How many packets to draw at most, or which; default a sample of as many as can be distinguished.
    steps : (int, int), optional
        First and last step; default all, or the phases with most packets where all would be too small.
    legend, caption : bool
        Whether to draw the legend above and the caption below.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the schedule has no moves, or no such session, packets or steps.

    Examples
    --------
    >>> import obliv
    >>> schedule = obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:4"), "hot-potato")
    >>> ax = space_time(schedule)
    """
    legend, caption = boolean(legend, "legend"), boolean(caption, "caption")
    require_matplotlib()
    instance, _ = moved(schedule)
    waves = has_waves(schedule)
    among = _of_session(schedule, session) if waves else np.arange(schedule.packets)
    window, part = _window(schedule, session, steps)
    own = ax is None
    depth = instance.network.depth
    ax = room(ax, 10.6, min(max(3.0 + 0.05 * depth, 4.2), 6.0))
    margin = 0.006 * (window[1] - window[0])
    ax.set_xlim(window[0] - margin, window[1] + margin)
    ax.set_ylim(-0.8, depth + 0.8)
    framed(ax, "time step")

    inside = among[_present(schedule, among, window)]
    chosen = choose(schedule, inside, packets, MANY if waves else SOME)
    drawn = traces(schedule, chosen, window, coarse=window[1] - window[0] > FINE)
    pushed = deflections(schedule, chosen)
    if waves:
        draw_columns(ax, schedule, session, window)
        draw_cells(ax, schedule, session, window, chosen)
    elif _distributed(schedule):
        draw_sub_phases(ax, schedule)
    if schedule.plan is not None:
        colors = [color_of(int(wave)) for wave in schedule.plan.sets[drawn.packets] - 1]
        handles = wave_samples(schedule, drawn.packets)
    else:
        colors, handles = _plain_colors(schedule, drawn.packets)
    high = 0.0 if waves else 0.5
    up = aside(drawn.packets, high)
    small = 1.0 if len(chosen) <= 150 else 0.7
    lines(ax, "packets", [line + d for line, d in zip(drawn.lines, up, strict=True)], colors, linewidths=1.1 * small)
    dots(ax, drawn.first + up, colors, 13.0 * small)
    squares(ax, drawn.last + up, colors, 15.0 * small)
    seen = (pushed[1] - 1 >= window[0]) & (pushed[1] - 1 <= window[1])
    if seen.any():
        crosses(ax, (np.column_stack([pushed[1] - 1.0, pushed[2]]) + aside(pushed[0], high))[seen], 26.0 * small)
    if legend:
        kinds = ["injection", "delivery", *(["deflection"] if seen.any() else []), *(["boat"] if waves else [])]
        above(ax, handles + [sample(kind, **MARKS[kind]) for kind in kinds], 20.0 if schedule.plan else 8.0)
    if caption:
        below(ax, _caption(schedule, session, waves, len(chosen), len(inside), part))
    return finish(ax, own)


def _distributed(schedule: Schedule) -> bool:
    return isinstance(schedule.plan, DistributedPlan)


def _of_session(schedule: Schedule, session: int) -> Array:
    if session not in (1, 2):
        raise InputError(f"session={session!r}: there are sessions 1 and 2")
    packets = np.flatnonzero(schedule.plan.session == session) if schedule.plan else np.zeros(0, np.int64)
    if not len(packets):
        raise InputError(f"session {session} has no packets: draw session {3 - session}")
    return packets


def _window(schedule: Schedule, session: int, steps: Any) -> tuple[tuple[int, int], str]:
    """Return the time window and a remark about it."""
    if steps is not None:
        try:
            low, high = (int(step) for step in steps)
        except (TypeError, ValueError):
            raise InputError("steps must be two numbers, (first, last)") from None
        if not 0 <= low < high:
            raise InputError(f"steps=({low}, {high}): the first must be at least 0 and less than the second")
        return (low, high), f"Steps {low:,} to {high:,}."
    if has_waves(schedule):
        return busiest(rides(schedule), session)
    if isinstance(schedule.plan, DistributedPlan):  # its timetable may begin with long empty phases
        return (int(np.min(schedule.plan.sub_begin)), int(schedule.makespan)), ""
    return (0, max(int(schedule.makespan), 1)), ""


def _present(schedule: Schedule, among: Array, window: tuple[int, int]) -> Array:
    _, moves = moved(schedule)
    return np.asarray((moves.time[moves.start[among]] - 1 <= window[1]) & (schedule.delivery[among] >= window[0]))


def _plain_colors(schedule: Schedule, packets: Array) -> tuple[list[str], list[Any]]:
    """Return colors of schedules without waves: by delayed packet, or by departure where no packet is delayed."""
    instance, moves = moved(schedule)
    entered = moves.time[moves.start[packets]].astype(np.int64) - 1
    slow = schedule.delivery[packets] - entered > instance.length[packets]
    if not slow.any():
        rank = np.unique(entered, return_inverse=True)[1].reshape(-1)
        meaning = " (colors distinguish times of departure)" if rank.any() else ""
        handle = sample(f"packet, never held up{meaning}", color=color_of(0), linewidth=1.6)
        return [color_of(int(k)) for k in rank], [handle]
    rank = np.cumsum(slow) - 1
    colors = [color_of(int(k)) if late else FAINT for k, late in zip(rank, slow, strict=True)]
    text = "packet that has to wait" if schedule.rules == "buffered" else "packet that is deflected"
    handles = [sample(f"{text} (colors distinguish packets)", color=color_of(0), linewidth=1.6)]
    if not slow.all():
        handles.append(sample("packet never held up", color=FAINT, linewidth=1.6))
    return colors, handles


def _caption(schedule: Schedule, session: int, waves: bool, drawn: int, total: int, part: str) -> list[str]:
    extra: list[str] = []
    plan = schedule.plan
    if plan is not None:
        extra = [
            f"s = {plan.s:,}",
            f"λ = {plan.lam}",
            f"χ = {schedule.constants.get('chi', plan.chi)}",
            f"τ = {plan.tau:,}",
        ]
    name = title_case(schedule.algorithm) + (" algorithm" if plan else "")
    priority = schedule.constants.get("priority")
    name += f" ({priority} first)" if priority and priority not in schedule.algorithm else ""
    second = [f"{name}: {schedule.makespan:,} steps, at least {schedule.lower_bound:,} needed"]
    if schedule.rules == "bufferless":
        second.append(f"{schedule.deflections:,} {'deflection' if schedule.deflections == 1 else 'deflections'}")
    sentences = ", ".join(second) + "."
    if waves:
        both = plan is not None and len(np.unique(plan.session)) > 1
        sentences += f" Session {session} of 2." if both else ""
        sentences += " Shaded: the frame that a wave points to (strong) and the next one (faint)."
        if plan and schedule.instance and schedule.instance.network.depth // plan.lam >= plan.gamma:
            sentences += " Thick lines separate groups of frames, which are used at the same time."
    if _distributed(schedule):
        sentences += " Columns: sub-phases A (packets in the network), B1 and B2 (packets that enter)."
    sentences += f" {part}" if part else ""
    if drawn < total:
        sentences += f" Drawn: a sample of {drawn:,} of {total:,} packets."
    return [about(schedule, *extra), sentences]
