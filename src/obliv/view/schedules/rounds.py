"""One round of the distributed algorithm: packets choose boats and ride, then return on the same way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.rationals import boolean
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.bufferless.plans import DistributedPlan
from obliv.results.bufferless.schedule import Schedule
from obliv.view.axes import finish, room
from obliv.view.figures import require_matplotlib
from obliv.view.schedules.surroundings import (
    MARKS,
    about,
    above,
    aside,
    below,
    color_of,
    dots,
    framed,
    lines,
    note,
    sample,
    squares,
    tint,
)
from obliv.view.schedules.traces import Traces, choose, moved, traces
from obliv.view.style import FAINT, INK, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["one_round"]

_PARTS = ("A", "B1", "B2")

OTHER, FAILS, SUCCEEDS = range(3)  # fates of packets in a round
_INK = {OTHER: QUIET, FAILS: "#6b727a"}  # packets that succeed have the color of their boat


@dataclass(frozen=True, eq=False)
class _Members:
    """The packets that ride in a sub-phase, in one wave and group.

    Parameters
    ----------
    packet, boat : int arrays
        Packets and their final boats.
    a : int
        First level of the frame.
    home, goal : int arrays
        Levels where the rides begin and end.
    stops : bool array
        Whether the rides end at a target.
    wave : int
        The wave.
    """

    packet: Array
    boat: Array
    a: int
    home: Array
    goal: Array
    stops: Array
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
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    phase : int, optional
        The phase; default the one with most rounds.
    part : {"A", "B1", "B2"}, optional
        The sub-phase: of the packets already in the network, or of those that enter at odd or even inner levels;
        default the one with most rounds.
    legend, caption : bool
        Whether to draw the legend above and the caption below.

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


def _packets(ax: Axes, drawn: Traces, members: _Members, fates: list[int], window: tuple[int, int]) -> None:
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


def _fates(drawn: Traces, members: _Members, begin: int) -> list[int]:
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
