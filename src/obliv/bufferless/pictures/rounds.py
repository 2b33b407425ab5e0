"""One round of the distributed algorithm (packets choose boats, ride, return), and one phase of a wave in detail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.rationals import boolean
from obliv.bufferless.pictures.space_time import (
    MARKS,
    about,
    above,
    aside,
    below,
    boats,
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
from obliv.bufferless.pictures.traces import PacketTraces, RideRows, choose, deflections, moved, rides, traces
from obliv.bufferless.results import DistributedPlan, Schedule
from obliv.errors import InputError
from obliv.view.axes import FAINT, INK, NODE, QUIET, finish, require_matplotlib, room

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_PARTS = ("A", "B1", "B2")

OTHER, FAILS, SUCCEEDS = range(3)  # fates of packets in a round
_INK = {OTHER: QUIET, FAILS: "#6b727a"}  # packets that succeed have the color of their boat


@dataclass(frozen=True, eq=False)
class _Members:
    """The packets that ride in a sub-phase, in one wave and group."""

    packet: Array
    boat: Array  # the final one of each packet
    a: int  # first level of the frame
    home: Array  # levels where the rides begin
    goal: Array  # and end
    stops: Array  # bool: whether they end at a target
    wave: int


def one_round(
    schedule: Schedule,
    round: int = 1,
    ax: Axes | None = None,
    *,
    phase: int | None = None,
    part: str | None = None,
    legend: bool = True,
    caption: bool = True,
) -> Axes:
    """Draw one round of the distributed algorithm, forward and back.

    Packets that succeed are colored by the boat that they keep from then on; packets that fail, and wander until the
    middle of the round, are dark gray, all others light gray. To the right of the dashed line all packets reverse their
    moves, except in the last round.

    Parameters
    ----------
    schedule : Schedule
        A schedule of the distributed algorithm, with its moves.
    round : int
        Number of the round, from 1.
    ax, legend, caption
        As for :func:`space_time`.
    phase : int, optional
        The phase; default the one with most rounds.
    part : {"A", "B1", "B2"}, optional
        The sub-phase: of the packets already in the network, or of those that enter at odd or even inner levels;
        default the one with most rounds.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the schedule is not of the distributed algorithm, or has no moves or no such round.
    """
    legend, caption = boolean(legend, "legend"), boolean(caption, "caption")
    require_matplotlib()
    plan = schedule.plan if isinstance(schedule, Schedule) else None
    if not isinstance(plan, DistributedPlan):
        raise InputError("only schedules of the distributed algorithm have rounds; for others see space_time")
    instance, moves = moved(schedule)
    if not len(moves):
        raise InputError("the moves of this distributed schedule were not kept: run it with steps='all'")
    sub = _sub_phase(plan, phase, part)
    rounds = int(plan.sub_rounds[sub])
    if not 1 <= round <= rounds:
        raise InputError(f"round={round}: this sub-phase has the rounds 1 to {rounds}")
    tau, lam = int(plan.tau), int(plan.lam)
    begin = int(plan.sub_begin[sub]) + (round - 1) * 2 * tau
    members = _members(schedule, int(plan.sub_phase[sub]), int(plan.sub_part[sub]))
    a, end = members.a, begin + 2 * tau

    entered = moves.time[moves.start[:-1]] - 1
    present = np.flatnonzero((entered <= end) & (schedule.delivery >= begin))
    chosen = np.union1d(members.packet, choose(schedule, present, None, 150))
    drawn = traces(schedule, chosen, (begin, end), coarse=tau > 700)
    fates = _fates(drawn, members, begin)
    own = ax is None
    ax = room(ax, 10.0, 5.0)
    ax.set_xlim(-0.01 * 2 * tau, 1.01 * 2 * tau)
    riding = [fate != OTHER for fate in fates]
    reached = max((line[:, 1].max() for line in compress(drawn.lines, riding)), default=a)
    top = min(max(int(reached) + 2, a + lam + 2), instance.network.depth)
    ax.set_ylim(max(a - 3, -1) - 0.5, top + 1.0)
    framed(ax, f"step of the round, which begins at time {begin:,}")
    _frames(ax, a, lam, top)
    _mirror(ax, tau, round == rounds)
    _packets(ax, drawn, members, fates, (begin, end))
    if legend:
        above(ax, _samples(OTHER in fates), 20.0)
    if caption:
        constants = [f"λ = {lam}", f"χ = {plan.chi}", f"τ = {tau:,}"]
        what = (
            f"Phase {int(plan.sub_phase[sub])}, sub-phase {_PARTS[int(plan.sub_part[sub])]}, round {round} of "
            f"{rounds}, wave {members.wave}: {fates.count(SUCCEEDS)} of {len(members.packet)} packets succeed."
        )
        below(ax, [about(schedule, *constants), what])
    return finish(ax, own)


def _packets(ax: Axes, drawn: PacketTraces, members: _Members, fates: list[int], window: tuple[int, int]) -> None:
    """Draw packets by their fates, with dots and squares where they enter and arrive in the round."""
    begin, end = window
    boat = dict(zip(members.packet.tolist(), members.boat.tolist(), strict=True))
    ink = [_INK.get(fate) or color_of(boat[p] - 1) for fate, p in zip(fates, drawn.packets.tolist(), strict=True)]
    origin, shift = np.array([begin, 0.0]), aside(drawn.packets, 0.3)
    pieces = [line - origin + d for line, d in zip(drawn.lines, shift, strict=True)]
    for fate, name, width, order in (
        (OTHER, "others", 0.8, 2.0),
        (FAILS, "wanderers", 1.1, 3.0),
        (SUCCEEDS, "packets", 1.4, 4.0),
    ):
        these = [known == fate for known in fates]
        lines(ax, name, list(compress(pieces, these)), list(compress(ink, these)), linewidths=width, zorder=order)
    entered, arrived = (drawn.first[:, 0] >= begin) & (drawn.first[:, 0] < end), drawn.last[:, 0] <= end
    dots(ax, (drawn.first - origin + shift)[entered], list(compress(ink, entered)))
    squares(ax, (drawn.last - origin + shift)[arrived], list(compress(ink, arrived)))


def _frames(ax: Axes, a: int, lam: int, top: int) -> None:
    """Shade the frame from level `a`, and name it and the next one, as far as level `top`."""
    ax.axhspan(a - 0.5, a + lam - 0.5, color=tint(FAINT, 0.14), linewidth=0, zorder=0.5).set_gid("frame")
    ax.axhline(a + lam - 0.5, color=FAINT, linewidth=0.9, zorder=1)
    for number, low in enumerate((a, a + lam), a // lam + 1):
        at = (1.0, low - 0.5 + min(lam, max(top + 1 - low, 1)) / 2)
        note(ax, f"F{number}", at, ("axes fraction", "data"), (6, 0), va="center")


def _mirror(ax: Axes, tau: int, last: bool) -> None:
    """Draw the middle of the round, and name both halves."""
    ax.axvline(tau, color=INK, linewidth=1.2, linestyle=(0, (4, 3)), zorder=6).set_gid("mirror")
    note(ax, "forward", (tau, 1.0), ("data", "axes fraction"), (-8, 4), ha="right", va="bottom")
    back = "no packet goes back" if last else "and back"
    note(ax, back, (tau, 1.0), ("data", "axes fraction"), (8, 4), ha="left", va="bottom")


def _samples(others: bool) -> list[Any]:
    """Return the samples for the legend."""
    return [
        sample("packet that succeeds, in the color of its boat", color=color_of(0), linewidth=1.6),
        sample("packet that fails", color=_INK[FAILS], linewidth=1.4),
        *([sample("other packet", color=QUIET, linewidth=1.2)] if others else []),
        *(sample(kind, **MARKS[kind]) for kind in ("injection", "delivery")),
    ]


def _sub_phase(plan: DistributedPlan, phase: int | None, part: str | None) -> int:
    if part is not None and part not in _PARTS:
        raise InputError(f"part={part!r}: the sub-phases of a phase are A, B1 and B2")
    fits = np.ones(len(plan.sub_phase), bool)
    if phase is not None:
        fits &= plan.sub_phase == phase
    if part is not None:
        fits &= plan.sub_part == _PARTS.index(part)
    if not fits.any():
        wanted = " ".join([f"{part}" if part else "", f"of phase {phase}" if phase is not None else ""]).strip()
        raise InputError(f"no packet rides in a sub-phase {wanted}; some do in phase {int(plan.sub_phase[0])}")
    return int(np.argmax(np.where(fits, plan.sub_rounds, -1)))


def _members(schedule: Schedule, phase: int, part: int) -> _Members:
    """Return the packets that ride in a sub-phase, of the wave and group with most packets."""
    instance, _ = moved(schedule)
    plan = schedule.plan
    if not isinstance(plan, DistributedPlan):
        raise InputError("only schedules of the distributed algorithm have rounds")
    lam, start = int(plan.lam), plan.phase_start
    number = phase - plan.phase
    count = np.diff(start)
    frame = instance.level // lam + number
    fresh = (instance.level - frame * lam) % 2
    rides = (number >= 0) & (number < count)
    rides &= (number > 0) if part == 0 else (number == 0) & (fresh == part - 1)
    packet = np.flatnonzero(rides)
    row = start[packet] + number[packet]
    key = frame[packet]
    best = np.bincount(key).argmax()
    packet, row = packet[key == best], row[key == best]
    stops = number[packet] < count[packet] - 1
    goal = (instance.level + instance.length)[packet]
    goal[stops] = plan.home[row[stops] + 1]
    wave = int(plan.sets[packet[0]])
    return _Members(packet, plan.color[row], int(best) * lam, plan.home[row], goal, stops, wave)


def _fates(drawn: PacketTraces, members: _Members, begin: int) -> list[int]:
    """Return the fates of packets; those succeed that ride their boat from home to goal and over the next edge."""
    member = {packet: k for k, packet in enumerate(members.packet.tolist())}
    fates = []
    for packet, points in zip(drawn.packets.tolist(), drawn.lines, strict=True):
        if packet not in member:
            fates.append(OTHER)
            continue
        k = member[packet]
        home = int(members.home[k])
        leaves = begin + home - members.a + 4 * int(members.boat[k]) - 4
        far = int(members.goal[k]) + int(members.stops[k])
        at = np.searchsorted(points[:, 0], [leaves, leaves + far - home])
        rode = at[1] < len(points) and points[at[0], 1] == home and points[at[1], 1] == far
        fates.append(SUCCEEDS if rode else FAILS)
    return fates


# One phase of one wave in detail: boats, homes and targets


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
    ax, legend, caption
        As for :func:`space_time`.
    session : 1 or 2
        The session.
    wave : int, optional
        One of the waves in this phase; default the one with most packets.

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
    _phase_frames(ax, a, lam, top, group + frame + 1)

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
        above(ax, [*_phase_samples(waves, selected), *(sample(kind, **MARKS[kind]) for kind in kinds)], 8.0)
    if caption:
        frames = f"F{group + frame + 1} (stronger)" + (f" and F{group + frame + 2}" if top > a + lam - 1 else "")
        what = f"Phase {phase} of session {session}, wave {wave} in the frames {frames}; numbers and colors are boats."
        constants = [f"λ = {lam}", f"χ = {schedule.constants.get('chi', int(waves.boat.max()))}", f"τ = {tau:,}"]
        below(ax, [about(schedule, *constants), what])
    return finish(ax, own)


def _chosen(waves: RideRows, session: int, phase: int | None, wave: int | None) -> Array:
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


def _shifted(waves: RideRows, begin: int) -> RideRows:
    """Return the rides with times counted from `begin`."""
    return replace(waves, begin=waves.begin - begin)


def _phase_frames(ax: Axes, a: int, lam: int, top: int, number: int) -> None:
    """Shade and name the frame from level `a`, which has this number, and the next one as far as level `top`."""
    middle = a + lam - 0.5
    rows = [(a - 0.5, middle, 0.24)]
    if top > a + lam - 1:
        rows.append((middle, top + 0.7, 0.08))
        ax.axhline(middle, color=FAINT, linewidth=0.9, zorder=1)
    for at, (low, high, share) in enumerate(rows, number):
        ax.axhspan(low, high, color=tint(FAINT, share), linewidth=0, zorder=0.5)
        note(ax, f"F{at}", (1.0, (low + high) / 2), ("axes fraction", "data"), (9, 0), va="center")


def _stops(ax: Axes, waves: RideRows, selected: Array, tau: int) -> None:
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


def _boat_names(ax: Axes, waves: RideRows, selected: Array) -> None:
    """Write the number of each boat at its start, as far as numbers do not touch."""
    across = float(ax.transData.transform((4.0, 0.0))[0] - ax.transData.transform((0.0, 0.0))[0])
    used = np.unique(waves.boat[selected])
    nth = max(int(np.ceil(11.0 / max(across * 72.0 / ax.figure.dpi, 0.01))), 1)
    for boat in used[:: max(nth, 1)].tolist():
        at = (4.0 * boat - 4.0, float(waves.a[selected][0]))
        note(ax, str(boat), at, "data", (0, -9), ha="center", va="top", color=color_of(boat - 1), fontweight="bold")


def _phase_samples(waves: RideRows, selected: Array) -> list[Any]:
    """Return the samples of packets, homes and targets for the legend."""
    ring: dict[str, Any] = {"linestyle": "none", "markerfacecolor": NODE, "color": INK, "markersize": 6.5}
    samples = [sample("packet, in the color of its boat", color=color_of(0), linewidth=1.6)]
    samples += [sample("home", marker="o", **ring)] if (selected & (waves.number > 0)).any() else []
    return samples + ([sample("target", marker="<", **ring)] if (selected & waves.stops).any() else [])
