"""Phases, frames, shading and boats behind the packets of schedules with frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.bufferless.plans import DistributedPlan
from obliv.results.bufferless.schedule import Schedule
from obliv.view.figures import figure_of
from obliv.view.schedules.surroundings import CYCLE, color_of, lines, note, sample, tint
from obliv.view.schedules.waves import Rides, rides
from obliv.view.style import FAINT, INK, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["boats", "busiest", "draw_cells", "draw_columns", "draw_sub_phases", "wave_samples"]


MANY = 30  # phases; longer schedules are drawn in part
PART = 14  # phases that are drawn then
_CELLS = 3000


def busiest(waves: Rides, session: int) -> tuple[tuple[int, int], str]:
    """Return the time window of all phases of a session, or of those with most packets, and a remark about it."""
    selected = waves.session == session
    begin = waves.clock[session - 1]
    last = int(waves.phase[selected].max())
    if last <= MANY:
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
    if (high - low) <= 4 * MANY:
        edges = np.arange(max(low, 0), high + 1) * tau + begin
        ax.vlines(edges, *ax.get_ylim(), colors=QUIET, linewidths=0.7, zorder=1.5).set_gid("phases")
    wide = _points(ax, 0) * tau
    text = "phase {}" if wide > 40 else "{}"
    every_nth = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if n * wide > 17)
    shown = []
    for phase in range(max(low, 0) + 1, min(high, low + 4 * MANY) + 1):
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
    if len(begin) <= 4 * MANY:
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


def boats(ax: Axes, waves: Rides, selected: Array, by_boat: bool = False) -> None:
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
