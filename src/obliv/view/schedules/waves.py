"""The waves of the centralized algorithm as a picture needs them: who rides which boat, when, from where and to where.

Wave i is in phase 2i - 1 + j at frame j of its group; boat k is at level a + t - 4 (k - 1) at time t of the phase,
where a is the frame's first level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.plans import CentralizedPlan
from obliv.results.schedule import Schedule

__all__ = ["Rides", "has_waves", "rides"]


@dataclass(frozen=True, eq=False)
class Rides:
    """One row for every phase of every packet, packet after packet.

    ``packet``, ``number`` of the phase among the packet's own, ``session``, ``wave``, ``group`` (its first frame),
    ``frame`` within it, ``phase`` from 1, ``begin`` of it (a time), ``a`` (the frame's first level), ``colour`` of the
    boat, ``home`` and ``goal`` (levels where the ride begins and ends) and whether it ``stops`` there at a target.
    """

    lam: int
    gamma: int
    tau: int
    clock: tuple[int, int]
    packet: Array
    number: Array
    session: Array
    wave: Array
    group: Array
    frame: Array
    phase: Array
    begin: Array
    a: Array
    colour: Array
    home: Array
    goal: Array
    stops: Array

    @property
    def board(self) -> Array:
        """The move of the phase at which the ride begins, counted from 1."""
        return np.asarray(self.home - self.a + 4 * self.colour - 3)


def has_waves(schedule: Schedule) -> bool:
    """Whether a schedule has a plan of waves, frames and boats."""
    return isinstance(schedule.plan, CentralizedPlan)


def rides(schedule: Schedule) -> Rides:
    """All rides of a schedule of the centralized algorithm; InputError for any other."""
    plan, instance = schedule.plan, schedule.instance
    if not isinstance(plan, CentralizedPlan) or instance is None:
        raise InputError(f"a {schedule.algorithm} schedule has no waves; the centralized algorithm makes them")
    lam, tau = int(plan.lam), int(plan.tau)
    start, colour, home = plan.phase_start, plan.color.astype(np.int64), plan.home.astype(np.int64)
    count = np.diff(start)
    packet = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(packet)) - start[packet]
    group = plan.group.astype(np.int64)
    frame = (instance.level // lam - group)[packet] + number
    wave = plan.sets.astype(np.int64)[packet]
    session = plan.session.astype(np.int64)[packet]
    clock = tuple(int(t) for t in plan.session_start)
    stops = number < count[packet] - 1
    goal = (instance.level + instance.length)[packet]
    goal[stops] = home[1:][stops[:-1]]
    phase = 2 * wave - 1 + frame
    return Rides(
        lam=lam,
        gamma=int(plan.gamma),
        tau=tau,
        clock=(clock[0], clock[1]),
        packet=packet,
        number=number,
        session=session,
        wave=wave,
        group=group[packet],
        frame=frame,
        phase=phase,
        begin=np.asarray(clock, np.int64)[session - 1] + (phase - 1) * tau,
        a=(group[packet] + frame) * lam,
        colour=colour,
        home=home,
        goal=goal,
        stops=stops,
    )
