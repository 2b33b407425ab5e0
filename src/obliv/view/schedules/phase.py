"""One phase of one wave in detail: boats, homes and targets."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.rationals import boolean
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.bufferless.schedule import Schedule
from obliv.view.axes import finish, room
from obliv.view.figures import require_matplotlib
from obliv.view.schedules.cells import boats
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
    note,
    sample,
    squares,
    tint,
)
from obliv.view.schedules.traces import choose, deflections, moved, traces
from obliv.view.schedules.waves import Rides, rides
from obliv.view.style import FAINT, INK, NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["one_phase"]


def one_phase(
    schedule: Schedule,
    phase: int | None = None,
    ax: Axes | None = None,
    *,
    session: int = 1,
    wave: int | None = None,
    legend: bool = True,
    caption: bool = True,
) -> Axes:
    """Draw one phase of the centralized algorithm, a color for each boat.

    Packets of boat k oscillate at their homes (circles) until the boat (dotted) comes. They ride it to its target in
    the next frame (triangle), where they oscillate again, or to their destination.

    Parameters
    ----------
    schedule : Schedule
        A schedule of the centralized algorithm.
    phase : int, optional
        Number of the phase, from 1; default the one with most packets of one wave.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    session : 1 or 2
        The session.
    wave : int, optional
        One of the waves in this phase; default the one with most packets.
    legend, caption : bool
        Whether to draw the legend above and the caption below.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the schedule has no waves, or no packet is in the network in this phase.

    Examples
    --------
    >>> import obliv
    >>> instance = obliv.bufferless.instance("random-leveled:L=40,W=4,d=2,seed=1", packets=30)
    >>> ax = one_phase(obliv.bufferless.schedule(instance, "centralized", constants="one-frame"))
    """
    legend, caption = boolean(legend, "legend"), boolean(caption, "caption")
    require_matplotlib()
    instance, _ = moved(schedule)
    waves = rides(schedule)
    selected = _chosen(waves, session, phase, wave)
    phase, wave, group, frame = (int(part[selected][0]) for part in (waves.phase, waves.wave, waves.group, waves.frame))
    begin, tau, lam, a = int(waves.begin[selected][0]), waves.tau, waves.lam, int(waves.a[selected][0])
    top = min(a + (2 if frame + 1 < waves.gamma else 1) * lam - 1, instance.network.depth)
    top = max(top, int(waves.goal[selected].max()))

    own = ax is None
    ax = room(ax, 9.0, 5.0)
    ax.set_xlim(-0.012 * tau, 1.012 * tau)
    ax.set_ylim(a - 1.7, top + 1.2)
    framed(ax, f"step of the phase, which begins at time {begin:,}")
    _frames(ax, a, lam, top, group + frame + 1)

    chosen = choose(schedule, np.unique(waves.packet[selected]), None)
    selected &= np.isin(waves.packet, chosen)
    boat = dict(zip(waves.packet[selected].tolist(), waves.boat[selected].tolist(), strict=True))
    drawn = traces(schedule, chosen, (begin, begin + tau), coarse=tau > 700)
    origin = np.array([begin, 0.0])
    colors = [color_of(boat[packet] - 1) for packet in drawn.packets.tolist()]
    shift = aside(drawn.packets, 0.3)
    pieces = [line - origin + d for line, d in zip(drawn.lines, shift, strict=True)]
    boats(ax, _shifted(waves, begin), selected, by_boat=True)
    lines(ax, "packets", pieces, colors, linewidths=1.4)
    inside, done = drawn.first[:, 0] >= begin, drawn.last[:, 0] <= begin + tau
    dots(ax, (drawn.first - origin + shift)[inside], list(compress(colors, inside)), 20.0)
    squares(ax, (drawn.last - origin + shift)[done], list(compress(colors, done)), 22.0)
    pushed = deflections(schedule, chosen)
    seen = (pushed[1] > begin) & (pushed[1] <= begin + tau)
    if seen.any():
        crosses(ax, (np.column_stack([pushed[1] - 1.0 - begin, pushed[2]]) + aside(pushed[0], 0.3))[seen], 36.0)
    _stops(ax, waves, selected, tau)
    _boat_names(ax, waves, selected)
    if legend:
        kinds = ["injection", "delivery", *(["deflection"] if seen.any() else []), "boat"]
        above(ax, [*_samples(waves, selected), *(sample(kind, **MARKS[kind]) for kind in kinds)], 8.0)
    if caption:
        frames = f"F{group + frame + 1} (stronger)" + (f" and F{group + frame + 2}" if top > a + lam - 1 else "")
        what = f"Phase {phase} of session {session}, wave {wave} in the frames {frames}; numbers and colors are boats."
        constants = [f"λ = {lam}", f"χ = {schedule.constants.get('chi', int(waves.boat.max()))}", f"τ = {tau:,}"]
        below(ax, [about(schedule, *constants), what])
    return finish(ax, own)


def _chosen(waves: Rides, session: int, phase: int | None, wave: int | None) -> Array:
    """Return a mask of the rides to draw: those of one wave in one group of frames."""
    selected = waves.session == session
    if not selected.any():
        raise InputError(f"session {session} has no packets: draw session {1 if session != 1 else 2}")
    if phase is not None:
        selected &= waves.phase == phase
        if not selected.any():
            known = np.unique(waves.phase[waves.session == session])
            raise InputError(
                f"no packet is in the network in phase {phase} of session {session}; packets are in {len(known)} "
                f"phases from {known[0]} to {known[-1]}, for example {known[np.argmin(abs(known - phase))]}"
            )
    if wave is not None:
        selected &= waves.wave == wave
        if not selected.any():
            raise InputError(f"wave {wave} has no packet in the network in phase {phase} of session {session}")
    key = np.stack([waves.phase, waves.wave, waves.group])[:, selected]
    _, which, many = np.unique(key, axis=1, return_inverse=True, return_counts=True)
    indices = np.flatnonzero(selected)[which.reshape(-1) == many.argmax()]
    selected = np.zeros(len(selected), bool)
    selected[indices] = True
    return selected


def _shifted(waves: Rides, begin: int) -> Rides:
    """Return the rides with times counted from `begin`."""
    return replace(waves, begin=waves.begin - begin)


def _frames(ax: Axes, a: int, lam: int, top: int, number: int) -> None:
    """Shade and name the frame from level `a`, which has this number, and the next one as far as level `top`."""
    middle = a + lam - 0.5
    rows = [(a - 0.5, middle, 0.24)]
    if top > a + lam - 1:
        rows.append((middle, top + 0.7, 0.08))
        ax.axhline(middle, color=FAINT, linewidth=0.9, zorder=1)
    for at, (low, high, share) in enumerate(rows, number):
        ax.axhspan(low, high, color=tint(FAINT, share), linewidth=0, zorder=0.5)
        note(ax, f"F{at}", (1.0, (low + high) / 2), ("axes fraction", "data"), (9, 0), va="center")


def _stops(ax: Axes, waves: Rides, selected: Array, tau: int) -> None:
    """Draw homes as rings at the start of the phase and targets as triangles at its end."""
    for name, which, x, marker, level in (
        ("homes", selected & (waves.number > 0), 0.0, "o", waves.home),
        ("targets", selected & waves.stops, float(tau), "<", waves.goal),
    ):
        place = np.unique(np.stack([level[which], waves.boat[which]]), axis=1)
        shades = [color_of(int(k) - 1) for k in place[1]]
        marks = ax.scatter(np.full(place.shape[1], x), place[0], s=44.0, marker=marker, zorder=5.5, clip_on=False)
        marks.set(facecolor=NODE, edgecolor=shades or "none", linewidth=1.4)
        marks.set_gid(name)


def _boat_names(ax: Axes, waves: Rides, selected: Array) -> None:
    """Write the number of each boat at its start, as far as numbers do not touch."""
    across = float(ax.transData.transform((4.0, 0.0))[0] - ax.transData.transform((0.0, 0.0))[0])
    used = np.unique(waves.boat[selected])
    nth = max(int(np.ceil(11.0 / max(across * 72.0 / ax.figure.dpi, 0.01))), 1)
    for boat in used[:: max(nth, 1)].tolist():
        at = (4.0 * boat - 4.0, float(waves.a[selected][0]))
        note(ax, str(boat), at, "data", (0, -9), ha="center", va="top", color=color_of(boat - 1), fontweight="bold")


def _samples(waves: Rides, selected: Array) -> list[Any]:
    """Return the samples of packets, homes and targets for the legend."""
    ring: dict[str, Any] = {"linestyle": "none", "markerfacecolor": NODE, "color": INK, "markersize": 6.5}
    samples = [sample("packet, in the color of its boat", color=color_of(0), linewidth=1.6)]
    samples += [sample("home", marker="o", **ring)] if (selected & (waves.number > 0)).any() else []
    return samples + ([sample("target", marker="<", **ring)] if (selected & waves.stops).any() else [])
