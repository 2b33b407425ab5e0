"""Schedules as lines through time and levels, with phases and frames behind them; legends and captions for all."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.rationals import boolean
from obliv.bufferless.pictures.traces import RideRows, choose, deflections, has_waves, moved, rides, traces
from obliv.bufferless.results import DistributedPlan, Schedule
from obliv.errors import InputError
from obliv.view.axes import (
    FAINT,
    INK,
    LITERAL,
    NODE,
    QUIET,
    SERIES,
    called,
    figure_of,
    finish,
    points_across,
    require_matplotlib,
    room,
    set_literal,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Legends, captions, marks and frames that all pictures of schedules share


CYCLE = SERIES[:6]  # the last two colors are for idle parts and for marks
_POINTS = 4.7  # width of a letter of legend and caption


def color_of(number: int) -> str:
    """Return the color of wave, boat or packet `number`, counted from 0; colors repeat."""
    return CYCLE[number % len(CYCLE)]


def tint(color: str, share: float) -> tuple[float, float, float]:
    """Return a mix of a color, in this share, with the background of new pictures."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    ground = to_rgb(rcParams["figure.facecolor"])
    red, green, blue = (under + share * (part - under) for part, under in zip(to_rgb(color), ground, strict=True))
    return red, green, blue


def aside(packets: Array, most: float) -> Array:
    """Return a fixed vertical offset for every packet, so that lines on one level do not hide each other."""
    return np.column_stack([np.zeros(len(packets)), ((packets * 0.61803398875 + 0.5) % 1.0 - 0.5) * most])


def lines(ax: Axes, name: str, pieces: Sequence[Array], colors: Sequence[Any], **look: Any) -> None:
    """Draw many lines as one collection with this name."""
    from matplotlib.collections import LineCollection

    look = {"linewidths": 1.1, "capstyle": "round", "joinstyle": "round", "zorder": 3, **look}
    collection = LineCollection(list(pieces), colors=list(colors) or None, **look)
    collection.set_gid(name)
    ax.add_collection(collection, autolim=False)


def dots(ax: Axes, at: Array, colors: Any, size: float = 13.0) -> None:
    """Mark where packets enter."""
    ax.scatter(at[:, 0], at[:, 1], s=size, c=colors, linewidths=0, zorder=4.5).set_gid("injections")


def squares(ax: Axes, at: Array, colors: Any, size: float = 15.0) -> None:
    """Mark where packets arrive."""
    marks = ax.scatter(at[:, 0], at[:, 1], s=size, marker="s", facecolors=NODE, edgecolors=colors, zorder=4.6)
    marks.set_linewidth(1.0)
    marks.set_gid("deliveries")


def crosses(ax: Axes, at: Array, size: float = 26.0) -> None:
    """Mark where packets are deflected, with a white rim around each mark."""
    for color, width, name, order in ((NODE, 3.2, "rims", 5.0), (INK, 1.7, "deflections", 5.1)):
        marks = ax.scatter(at[:, 0], at[:, 1], s=size, marker="x", c=color, linewidths=width, zorder=order)
        marks.set_gid(name)


MARKS: dict[str, dict[str, Any]] = {
    "injection": {"marker": "o", "color": INK, "markersize": 4.2, "linestyle": "none", "markeredgewidth": 0},
    "delivery": {"marker": "s", "color": INK, "markersize": 4.4, "linestyle": "none", "markerfacecolor": NODE},
    "deflection": {"marker": "x", "color": INK, "markersize": 5.6, "linestyle": "none", "markeredgewidth": 1.7},
    "boat": {"color": FAINT, "linestyle": (0, (1, 2)), "linewidth": 1.3},
}


def sample(label: str, **look: Any) -> Any:
    """Return a line or mark for the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def above(ax: Axes, handles: Sequence[Any], lift: float) -> None:
    """Draw the legend in rows, `lift` points above the axes."""
    from matplotlib.transforms import ScaledTranslation

    wide = sum(_POINTS * len(handle.get_label()) + 38.0 for handle in handles)
    rows = int(wide // (points_across(ax) + 30.0)) + 1
    legend = ax.legend(
        handles=list(handles),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0.0, lift / 72.0, figure_of(ax).dpi_scale_trans),
        ncols=-(-len(handles) // rows),
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        columnspacing=1.5,
        handlelength=1.6,
        handletextpad=0.6,
    )
    legend.set_gid("above")
    set_literal(legend.get_texts())


def below(ax: Axes, sentences: Iterable[str], drop: float = 34.0) -> None:
    """Write the caption below the axes, wrapped to their width."""
    letters = max(int((points_across(ax) + 24.0) / _POINTS), 30)
    text = "\n".join(line for sentence in sentences if sentence for line in textwrap.wrap(sentence, letters))
    look = {"fontsize": 9, "va": "top", "ha": "left", "linespacing": 1.35}
    note(ax, text, (0.0, 0.0), "axes fraction", (-24.0, -drop), **look).set_gid("caption")


def note(ax: Axes, text: str, at: tuple[float, float], of: Any, shift: tuple[float, float], **look: Any) -> Any:
    """Write a small text `shift` points beside a place, which has the coordinates `of`; return the annotation."""
    annotation = ax.annotate(text, at, xycoords=of, xytext=shift, textcoords="offset points", fontsize=8.5)
    annotation.set(**{"color": INK, **LITERAL, **look})
    return annotation


def title_case(algorithm: str) -> str:
    """Return the name of an algorithm for the beginning of a sentence."""
    text = algorithm.replace("-", " ")
    return "FIFO" if text == "fifo" else text[:1].upper() + text[1:]


def about(schedule: Schedule, *more: str) -> str:
    """Return the first sentence of the caption: the instance and its numbers."""
    numbers = [
        f"N = {schedule.packets:,} {'packet' if schedule.packets == 1 else 'packets'}",
        f"C = {schedule.congestion:,}",
        f"D = {schedule.dilation:,}",
        *more,
    ]
    paths = schedule.routing if schedule.routing.endswith(("paths", "walks")) else f"{schedule.routing} paths"
    return f"{called(schedule.topology)}, {paths}: {', '.join(numbers)}."


def framed(ax: Axes, time: str) -> None:
    """Label the axes, time and level, with whole numbers along them and a light frame."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel(time, fontsize=9.5)
    ax.set_ylabel("level", fontsize=9.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.tick_params(labelsize=8.5, length=3, color=FAINT)
    for side in ax.spines.values():
        side.set_color(QUIET)


# Phases, frames, shading and boats behind the packets of schedules with frames


MANY_CELLS = 30  # phases; longer schedules are drawn in part
PART = 14  # phases that are drawn then
_CELLS = 3000


def busiest(waves: RideRows, session: int) -> tuple[tuple[int, int], str]:
    """Return the time window of all phases of a session, or of those with most packets, and a remark about it."""
    selected = waves.session == session
    begin = waves.clock[session - 1]
    last = int(waves.phase[selected].max())
    if last <= MANY_CELLS:
        return (begin, begin + last * waves.tau), ""
    packets = np.bincount(waves.phase[selected], minlength=last + 1)
    sums = np.convolve(packets, np.ones(PART, np.int64), "valid")
    first = max(int(sums.argmax()), 1)
    window = begin + (first - 1) * waves.tau, begin + (first - 1 + PART) * waves.tau
    return window, f"Drawn: phases {first:,} to {first + PART - 1:,} of {last:,}, those with most packets."


def draw_columns(ax: Axes, schedule: Schedule, session: int, window: tuple[int, int]) -> None:
    """Draw lines between phases and frames, with the names of phases above and of frames to the right."""
    waves = rides(schedule)
    begin, tau = waves.clock[session - 1], waves.tau
    low, high = (window[0] - begin) // tau, -(-(window[1] - begin) // tau)
    if (high - low) <= 4 * MANY_CELLS:
        edges = np.arange(max(low, 0), high + 1) * tau + begin
        ax.vlines(edges, *ax.get_ylim(), colors=QUIET, linewidths=0.7, zorder=1.5).set_gid("phases")
    wide = _points(ax, 0) * tau
    text = "phase {}" if wide > 40 else "{}"
    every_nth = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if n * wide > 17)
    shown = []
    for phase in range(max(low, 0) + 1, min(high, low + 4 * MANY_CELLS) + 1):
        left, right = max(begin + (phase - 1) * tau, window[0]), min(begin + phase * tau, window[1])
        if phase % every_nth == 0 and (right - left) * _points(ax, 0) > min(17.0, wide):
            shown.append(((left + right) / 2, text.format(phase)))
    for x, name in shown:
        note(ax, name, (x, 1.0), ("data", "axes fraction"), (0, 5), ha="center", va="bottom")
    if "phase" not in text and shown:
        note(ax, "phase", (0.0, 1.0), "axes fraction", (-8, 5), ha="right", va="bottom")
    shift = waves.gamma // 2 if session == 2 else 0
    _frame_names(ax, waves.lam, schedule.instance.network.depth if schedule.instance else 0, waves.gamma, shift)


def draw_sub_phases(ax: Axes, schedule: Schedule) -> None:
    """Draw lines where sub-phases of the distributed algorithm begin, their names where they fit, and the frames."""
    plan = schedule.plan
    if not isinstance(plan, DistributedPlan):
        raise InputError("only schedules of the distributed algorithm have sub-phases")
    begin = np.asarray(plan.sub_begin)
    if len(begin) <= 4 * MANY_CELLS:
        ax.vlines(begin, *ax.get_ylim(), colors=QUIET, linewidths=0.7, zorder=1.5).set_gid("phases")
    note(ax, "phase", (0.0, 1.0), "axes fraction", (-2, 5), ha="right", va="bottom")
    right = -1e9
    low, high = ax.get_xlim()
    for at, phase, part in zip(begin.tolist(), plan.sub_phase.tolist(), plan.sub_part.tolist(), strict=True):
        x = (at - low) * _points(ax, 0)
        if low <= at <= high and x > right:
            text = f"{phase} {('A', 'B1', 'B2')[part]}"
            note(ax, text, (at, 1.0), ("data", "axes fraction"), (1, 5), ha="left", va="bottom")
            right = x + 6.0 * len(text) + 4.0
    depth = schedule.instance.network.depth if schedule.instance else 0
    _frame_names(ax, int(plan.lam), depth, int(plan.gamma), 0)


def _frame_names(ax: Axes, lam: int, depth: int, gamma: int, shift: int) -> None:
    """Draw lines between frames, heavier between groups, and the names of the frames on the right."""
    frames = depth // lam + 1
    if frames > 400:
        return
    between = np.arange(1, frames)
    heavy = (between % gamma == shift % gamma) & (between >= shift)
    for kind, color, width in ((~heavy, FAINT, 0.8), (heavy, INK, 1.4)):
        if kind.any():
            lines = ax.hlines(between[kind] * lam - 0.5, *ax.get_xlim(), colors=color, linewidths=width, zorder=1.6)
            lines.set_gid("groups" if color == INK else "frames")
    tall = _points(ax, 1) * lam
    nth = next(n for n in (1, 2, 5, 10, 20, 50, 100, 1000) if n * tall > 11)
    low, high = ax.get_ylim()
    for frame in range(0, frames, nth):
        bottom, top = max(frame * lam - 0.5, low), min((frame + 1) * lam - 0.5, high)
        if top - bottom > 0 and (top - bottom) * _points(ax, 1) > 8:
            note(ax, f"F{frame + 1}", (1.0, (bottom + top) / 2), ("axes fraction", "data"), (6, 0), va="center")


def draw_cells(ax: Axes, schedule: Schedule, session: int, window: tuple[int, int], chosen: Array) -> None:
    """Draw the frames of waves (strong), the next frames (faint), and the boats that carry packets of `chosen`."""
    from matplotlib.collections import PolyCollection

    waves = rides(schedule)
    depth = schedule.instance.network.depth if schedule.instance else 0
    begin, tau, lam = waves.clock[session - 1], waves.tau, waves.lam
    shift = waves.gamma // 2 if session == 2 else 0
    selected = waves.session == session
    used = np.unique(np.stack([waves.wave[selected], waves.group[selected]]), axis=1).T.tolist()
    known = {(wave, group) for wave, group in used}
    low, high = max((window[0] - begin) // tau, 0) + 1, -(-(window[1] - begin) // tau)
    shapes, colors = [], []
    frames = depth // lam + 1
    if (high - low + 1) * frames <= _CELLS:
        for phase in range(low, high + 1):
            for absolute in range(shift, frames):
                frame = (absolute - shift) % waves.gamma
                group = absolute - frame
                for ahead, share in ((0, 0.24), (1, 0.09)):
                    wave, odd = divmod(phase + 1 - frame + ahead, 2)
                    if odd or frame < ahead or (wave, group) not in known:
                        continue
                    left, right = begin + (phase - 1) * tau, begin + phase * tau
                    bottom = absolute * lam - (0.5 if absolute else 0.8)
                    top = min((absolute + 1) * lam - 0.5, depth + 0.8)
                    shapes.append([(left, bottom), (right, bottom), (right, top), (left, top)])
                    colors.append(tint(color_of(wave - 1), share))
    cells = PolyCollection(shapes, facecolors=colors or "none", linewidths=0, zorder=1)
    cells.set_gid("cells")
    ax.add_collection(cells, autolim=False)
    end = waves.begin + tau
    boats(ax, waves, selected & (end >= window[0]) & (waves.begin <= window[1]) & np.isin(waves.packet, chosen))


def boats(ax: Axes, waves: RideRows, selected: Array, by_boat: bool = False) -> None:
    """Draw the boats of some rides as dotted lines, from the first level of their frame to their last goal."""
    if not selected.any():
        return
    key = np.stack([waves.wave, waves.group, waves.frame, waves.boat])[:, selected]
    goal, begin, a, boat, wave = (part[selected] for part in (waves.goal, waves.begin, waves.a, waves.boat, waves.wave))
    _, first, same = np.unique(key, axis=1, return_index=True, return_inverse=True)
    far = np.zeros(len(first), np.int64)
    np.maximum.at(far, same.reshape(-1), goal)
    leaves = begin[first] + 4 * boat[first] - 4
    pieces = np.stack([np.stack([leaves, a[first]], 1), np.stack([leaves + far - a[first], far], 1)], axis=1)
    shades = [color_of(int(k) - 1) for k in (boat if by_boat else wave)[first]]
    lines(ax, "boats", list(pieces), shades, linewidths=1.0, linestyles=(0, (1, 2)), zorder=2, capstyle="butt")


def wave_samples(schedule: Schedule, packets: Array) -> list[Any]:
    """Return the legend entries of the waves; waves of one color share an entry."""
    waves = np.unique(schedule.plan.sets[packets]).tolist() if schedule.plan else []
    if len(waves) <= len(CYCLE):
        return [sample(f"wave {wave}", color=color_of(wave - 1), linewidth=1.6) for wave in waves]
    handles = []
    for number in range(len(CYCLE)):
        same = [wave for wave in waves if (wave - 1) % len(CYCLE) == number]
        if same:
            named = ", ".join(map(str, same[:2])) + (", …" if len(same) > 2 else "")
            word = "waves" if len(same) > 1 else "wave"
            handles.append(sample(f"{word} {named}", color=color_of(number), linewidth=1.6))
    return handles


def _points(ax: Axes, axis: int) -> float:
    """Return the length of a data unit along an axis, in points."""
    box = ax.get_window_extent()
    size, (low, high) = ((box.width, ax.get_xlim()), (box.height, ax.get_ylim()))[axis]
    return float(size * 72.0 / figure_of(ax).dpi / (high - low))


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
