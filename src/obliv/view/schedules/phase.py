"""One phase of one wave under the lens: boats, homes and targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.schedule import Schedule
from obliv.view.axes import finish, require_matplotlib, room
from obliv.view.schedules.cells import boats
from obliv.view.schedules.surroundings import (
    MARKS,
    about,
    above,
    aside,
    below,
    colour_of,
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
from obliv.view.style import FAINT, INK

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
    """Draw one phase of the centralized algorithm, a colour for each boat.

    Packets of boat k wait at their homes (circles), going to and fro, until the boat (dotted) comes, and ride it to the
    boat's target in the next frame (triangle), where they go to and fro again, or to their destination.

    Parameters
    ----------
    schedule : Schedule
        Of the centralized algorithm.
    phase : int, optional
        From 1; default the one in which a wave has most packets on the way.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    session : 1 or 2
    wave : int, optional
        Which of the waves that are under way in the phase; default the one with most packets.
    legend, caption : bool
        Whether to write above what the signs mean, and below what is shown.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the schedule has no waves, or no packet is under way in such a phase.

    Examples
    --------
    >>> import obliv
    >>> instance = obliv.bufferless.instance("random-leveled:L=40,W=4,d=2,seed=1", packets=30)
    >>> ax = one_phase(obliv.bufferless.schedule(instance, "centralized", constants="one-frame"))
    """
    require_matplotlib()
    instance, _ = moved(schedule)
    every = rides(schedule)
    mine = _chosen(every, session, phase, wave)
    phase, wave, group, frame = (int(part[mine][0]) for part in (every.phase, every.wave, every.group, every.frame))
    begin, tau, lam, a = int(every.begin[mine][0]), every.tau, every.lam, int(every.a[mine][0])
    top = min(a + (2 if frame + 1 < every.gamma else 1) * lam - 1, instance.network.depth)
    top = max(top, int(every.goal[mine].max()))

    own = ax is None
    ax = room(ax, 9.0, 5.0)
    ax.set_xlim(-0.012 * tau, 1.012 * tau)
    ax.set_ylim(a - 1.7, top + 1.2)
    framed(ax, f"step of the phase, which begins at time {begin:,}", "level")
    shade = colour_of(0)
    ax.axhspan(a - 0.5, a + lam - 0.5, color=tint(FAINT, 0.24), linewidth=0, zorder=0.5)
    rows = [(a - 0.5, a + lam - 0.5)]
    if top > a + lam - 1:
        rows.append((a + lam - 0.5, top + 0.7))
        ax.axhspan(a + lam - 0.5, top + 0.7, color=tint(FAINT, 0.08), linewidth=0, zorder=0.5)
        ax.axhline(a + lam - 0.5, color=FAINT, linewidth=0.9, zorder=1)
    for number, (low, high) in enumerate(rows, group + frame + 1):
        note(ax, f"F{number}", (1.0, (low + high) / 2), ("axes fraction", "data"), (9, 0), va="center")

    chosen = choose(schedule, np.unique(every.packet[mine]), None)
    mine &= np.isin(every.packet, chosen)
    boat = dict(zip(every.packet[mine].tolist(), every.colour[mine].tolist(), strict=True))
    drawn = traces(schedule, chosen, (begin, begin + tau), coarse=tau > 700)
    origin = np.array([begin, 0.0])
    colours = [colour_of(boat[packet] - 1) for packet in drawn.packets.tolist()]
    shift = aside(drawn.packets, 0.3)
    boats(ax, _shifted(every, begin), mine, by_boat=True)
    lines(
        ax, "packets", [line - origin + d for line, d in zip(drawn.lines, shift, strict=True)], colours, linewidths=1.4
    )
    inside = drawn.first[:, 0] >= begin
    dots(ax, (drawn.first - origin + shift)[inside], [c for c, here in zip(colours, inside, strict=True) if here], 20.0)
    done = drawn.last[:, 0] <= begin + tau
    squares(ax, (drawn.last - origin + shift)[done], [c for c, here in zip(colours, done, strict=True) if here], 22.0)
    pushed = deflections(schedule, chosen)
    seen = (pushed[1] > begin) & (pushed[1] <= begin + tau)
    if seen.any():
        crosses(ax, (np.column_stack([pushed[1] - 1.0 - begin, pushed[2]]) + aside(pushed[0], 0.3))[seen], 36.0)
    _stops(ax, every, mine, tau)
    _boat_names(ax, every, mine)
    if legend:
        kinds = ["injection", "delivery", *(["deflection"] if seen.any() else []), "boat"]
        above(ax, [*_samples(every, mine, shade), *(sample(kind, **MARKS[kind]) for kind in kinds)], 8.0)
    if caption:
        frames = f"F{group + frame + 1} (darker)" + (f" and F{group + frame + 2}" if top > a + lam - 1 else "")
        what = f"Phase {phase} of session {session}, wave {wave} in the frames {frames}; numbers and colours are boats."
        constants = [f"λ = {lam}", f"χ = {int(every.colour.max())}", f"τ = {tau:,}"]
        below(ax, [about(schedule, *constants), what])
    return finish(ax, own)


def _chosen(every: Rides, session: int, phase: int | None, wave: int | None) -> Array:
    """Which rides are drawn: those of one wave in one group of frames."""
    mine = every.session == session
    if not mine.any():
        raise InputError(f"session {session} has no packets: draw session {1 if session != 1 else 2}")
    if phase is not None:
        mine &= every.phase == phase
        if not mine.any():
            known = np.unique(every.phase[every.session == session])
            raise InputError(
                f"no packet is under way in phase {phase} of session {session}; some are in {len(known)} phases from "
                f"{known[0]} to {known[-1]}, as in {known[np.argmin(abs(known - phase))]}"
            )
    if wave is not None:
        mine &= every.wave == wave
        if not mine.any():
            raise InputError(f"wave {wave} has no packet under way in phase {phase} of session {session}")
    key = np.stack([every.phase, every.wave, every.group])[:, mine]
    _, which, many = np.unique(key, axis=1, return_inverse=True, return_counts=True)
    found = np.flatnonzero(mine)[which.reshape(-1) == many.argmax()]
    mine = np.zeros(len(mine), bool)
    mine[found] = True
    return mine


def _shifted(every: Rides, begin: int) -> Rides:
    from dataclasses import replace

    return replace(every, begin=every.begin - begin)


def _stops(ax: Axes, every: Rides, mine: Array, tau: int) -> None:
    """Homes as rings where the phase begins, targets as triangles where it ends."""
    for name, which, x, marker, level in (
        ("homes", mine & (every.number > 0), 0.0, "o", every.home),
        ("targets", mine & every.stops, float(tau), "<", every.goal),
    ):
        place = np.unique(np.stack([level[which], every.colour[which]]), axis=1)
        shades = [colour_of(int(k) - 1) for k in place[1]]
        made = ax.scatter(np.full(place.shape[1], x), place[0], s=44.0, marker=marker, zorder=5.5, clip_on=False)
        made.set(facecolor="white", edgecolor=shades or "none", linewidth=1.4)
        made.set_gid(name)


def _boat_names(ax: Axes, every: Rides, mine: Array) -> None:
    """The number of each boat where it begins, as far as they do not touch."""
    across = float(ax.transData.transform((4.0, 0.0))[0] - ax.transData.transform((0.0, 0.0))[0])
    used = np.unique(every.colour[mine])
    nth = max(int(np.ceil(11.0 / max(across * 72.0 / ax.figure.dpi, 0.01))), 1)
    for boat in used[:: max(nth, 1)].tolist():
        at = (4.0 * boat - 4.0, float(every.a[mine][0]))
        note(ax, str(boat), at, "data", (0, -9), ha="center", va="top", color=colour_of(boat - 1), fontweight="bold")


def _samples(every: Rides, mine: Array, shade: str) -> list[Any]:
    ring: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "color": INK, "markersize": 6.5}
    made = [sample("packet, in the colour of its boat", color=shade, linewidth=1.6)]
    made += [sample("home", marker="o", **ring)] if (mine & (every.number > 0)).any() else []
    return made + ([sample("target", marker="<", **ring)] if (mine & every.stops).any() else [])
