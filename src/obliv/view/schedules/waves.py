"""The waves of the centralized algorithm: which packet rides which boat, when, and between which levels.

Wave i is in phase 2i - 1 + j at frame j of its group; boat k is at level a + t - 4 (k - 1) at time t of the phase,
where a is the frame's first level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.bufferless.plans import CentralizedPlan
from obliv.results.bufferless.schedule import Schedule

__all__ = ["Rides", "has_waves", "rides"]


@dataclass(frozen=True, eq=False)
class Rides:
    """One row for every phase of every packet, packet after packet.

    Parameters
    ----------
    lam, gamma, tau : int
        Levels of a frame, frames of a group, steps of a phase.
    clock : (int, int)
        Start of both sessions.
    packet, number, session, wave : int arrays
        Packet, number of the phase among the phases of the packet, session and wave.
    group, frame, phase, begin : int arrays
        First frame of the group, frame within it, phase from 1 and its start.
    a : int array
        First level of the frame.
    boat : int array
        Number of the boat, from 1.
    home, goal : int arrays
        Levels where the ride begins and ends.
    stops : bool array
        Whether the ride ends at a target.
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
    boat: Array
    home: Array
    goal: Array
    stops: Array

    @property
    def board(self) -> Array:
        """Move of the phase at which the ride begins, counted from 1."""
        return np.asarray(self.home - self.a + 4 * self.boat - 3)


def has_waves(schedule: Schedule) -> bool:
    """Return whether a schedule has a plan of waves, frames and boats."""
    return isinstance(schedule.plan, CentralizedPlan)


def rides(schedule: Schedule) -> Rides:
    """Return all rides of a schedule of the centralized algorithm.

    Raises
    ------
    InputError
        If the schedule has no waves.
    """
    plan, instance = schedule.plan, schedule.instance
    if not isinstance(plan, CentralizedPlan) or instance is None:
        raise InputError(f"a {schedule.algorithm} schedule has no waves; use a schedule of the centralized algorithm")
    lam, tau = int(plan.lam), int(plan.tau)
    start, boat, home = plan.phase_start, plan.color.astype(np.int64), plan.home.astype(np.int64)
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
        boat=boat,
        home=home,
        goal=goal,
        stops=stops,
    )
