"""The check of what the paper's algorithms promise beyond the rules: waves in their frames, boats on time, targets hit.

The plan says which set a packet is in and which boat it takes in each phase; where it then has to be at which step
follows from the algorithm, and the moves must have it there.  Relative time x counts the moves of a phase from 1, `a`
is the first level of the frame that the packet's wave points to, and boat k is at level a + x - (4k - 3) before move x.

Source: [BKM04] Busch, Kelkar, Magdon-Ismail: Efficient Bufferless Routing on Leveled Networks, 2004, section 3, without
targets in the last frame of a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.checker.report import Report
from obliv.checker.schedules.claim import ScheduleClaim
from obliv.checker.schedules.plan import column, node_at
from obliv.checker.schedules.plan import number as number_of

__all__ = ["check_waves"]


@dataclass(frozen=True, eq=False)
class _Visits:
    """One row for every phase of every packet: whose, when it begins, the frame, boat and home."""

    packet: Array
    number: Array  # of the phase among the packet's own, from 0
    last: Array  # whether it is the packet's last
    begin: Array  # the step before its first
    frame: Array  # within the group
    a: Array
    color: Array
    home: Array
    goal: Array  # where the ride ends: the target, or the destination

    @property
    def board(self) -> Array:
        """The move at which the boat is at the packet's home."""
        return np.asarray(self.home - self.a + 4 * self.color - 3)


def check_waves(report: Report, claim: ScheduleClaim) -> None:
    """Note whether waves keep to their frames, packets to their boats, and stops to their targets.

    Parameters
    ----------
    report : Report
    claim : Claimed
        With a plan of kind "centralized"; its moves obey the rules already.
    """
    try:
        problem, visits = _visits(claim)
        problem = problem or _window_problem(claim, visits)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError, RecursionError) as error:
        problem = f"the plan is incomplete: {type(error).__name__} {error}"
    if not report.note("plan", not problem, problem or "sets, groups and boats are numbered as the algorithm has them"):
        return
    for name, problem, statement in (
        (
            "frames",
            _frame_problem(claim, visits),
            "every wave keeps to its frame and the next; those between are empty",
        ),
        ("boats", _ride_problem(claim, visits), "every packet rides its boat from home to target or destination"),
        ("homes", _row_problem(claim, visits), "waiting packets go to and fro at home, or are pushed back by one edge"),
    ):
        report.note(name, not problem, problem or statement)


def _visits(claim: ScheduleClaim) -> tuple[str, _Visits]:
    plan, n = claim.choices, claim.packets
    lam, s, gamma = (number_of(plan, key, 1) for key in ("lam", "s", "gamma"))
    tau = number_of(plan, "tau", 1)
    sessions = column(plan, "session_start", 2)
    which, session, group = (column(plan, key, n) for key in ("set", "session", "group_start"))
    start = column(plan, "phase_start", n + 1)
    if start[0] != 0 or (np.diff(start) < 1).any():
        raise ValueError("phase_start does not give every packet a phase")
    color, home = (column(plan, key, int(start[-1])) for key in ("colour", "home"))
    packet = np.repeat(np.arange(n), np.diff(start))
    number = np.arange(len(packet)) - start[packet]
    level = claim.level[claim.paths.source].astype(np.int64)
    end = claim.level[claim.paths.destination].astype(np.int64)
    frame = (level // lam - group)[packet] + number
    a = (group[packet] + frame) * lam
    begin = np.where(session == 1, sessions[0], sessions[1])[packet] + (2 * which[packet] - 2 + frame) * tau
    target = a + 2 * lam - 2 * color
    onward = (end[packet] >= a + lam) & (frame < gamma - 1)
    stops = onward & (end[packet] > target + 1)  # the step that would begin to go to and fro may be the last
    goal = np.where(stops, target, end[packet])
    last = number == np.diff(start)[packet] - 1
    half = np.where(session == 2, gamma // 2, 0)
    for wrong, problem in (
        (lam % 2 or tau % 2 or gamma % 2, "lambda, tau and gamma' must be even"),
        (((session != 1) & (session != 2)).any(), "a session is neither 1 nor 2"),
        (((which < 1) | (which > s)).any(), "a set has a number beyond s"),
        (((group - half) % gamma != 0).any() or (group < half).any(), "a group begins where none does"),
        ((color < 1).any() or (target < a + lam)[onward].any(), "a boat has no number, or its target is in its frame"),
        ((frame < 0).any() or (frame >= gamma).any(), "a packet has phases beyond the frames of its group"),
        ((stops == last).any(), "a packet stops in its last phase, or goes on after it has arrived"),
    ):
        if wrong:
            return problem, _Visits(*(np.zeros(0, np.int64) for _ in range(9)))
    return "", _Visits(packet, number, last, begin, frame, a, color, home, goal)


def _window_problem(claim: ScheduleClaim, visits: _Visits) -> str:
    """Whether a session begins before the one before it is over, or a ride takes longer than its phase."""
    tau = claim.choices["tau"]
    late = np.flatnonzero(visits.board - 1 + visits.goal - visits.home > tau)
    if len(late):
        return f"packet {visits.packet[late[0]]} rides on after the end of its phase"
    session = column(claim.choices, "session", claim.packets)
    before = visits.begin[session[visits.packet] == 1]
    second = int(column(claim.choices, "session_start", 2)[1])
    if (session == 2).any() and len(before) and int(before.max()) + tau > second:
        return "session 2 begins before session 1 is over"
    return ""


def _level_at(claim: ScheduleClaim, packet: Array, time: Array) -> Array:
    """Return the level of packets after a step; -1 before their first move and after their last."""
    node = node_at(claim, packet, time)
    return np.where(node >= 0, claim.level[node], -1)


def _frame_problem(claim: ScheduleClaim, visits: _Visits) -> str:
    lam = claim.choices["lam"]
    fresh = visits.number == 0
    source = claim.level[claim.paths.source][visits.packet]
    inside = (visits.home >= visits.a) & (visits.home < visits.a + lam)
    even = fresh | ((visits.home - visits.a) % 2 == 0)
    there = np.where(fresh, source, _level_at(claim, visits.packet, visits.begin)) == visits.home
    bad = np.flatnonzero(~(inside & even & there))
    if len(bad):
        row = int(bad[0])
        phase = f"phase {visits.number[row] + 1} of its own"
        return f"packet {visits.packet[row]} is not at home in the frame of its wave when {phase} begins"
    return ""


def _ride_problem(claim: ScheduleClaim, visits: _Visits) -> str:
    first = claim.rows.time[claim.rows.start[:-1]]
    on = visits.begin + visits.board
    fresh = visits.number == 0
    here = np.where(fresh, first[visits.packet] == on, _level_at(claim, visits.packet, on - 1) == visits.home)
    # so many steps for so many levels: every one of them was forward
    done = _level_at(claim, visits.packet, on - 1 + visits.goal - visits.home) == visits.goal
    after = np.flatnonzero(~visits.last)
    goes_on = np.ones(len(on), bool)
    goes_on[after] = visits.home[after + 1] == visits.goal[after]
    bad = np.flatnonzero(~(here & done & goes_on))
    if len(bad):
        row = int(bad[0])
        why = (
            "is not at home when its boat comes"
            if not here[row]
            else "does not reach its target or destination in time"
        )
        return f"packet {visits.packet[row]} {why}, in phase {visits.number[row] + 1} of its own"
    return ""


def _row_problem(claim: ScheduleClaim, visits: _Visits) -> str:
    """Every move that is no ride is over an edge at the home, before the boat comes, or at the target after it."""
    tau = claim.choices["tau"]
    start = np.searchsorted(visits.packet, np.arange(claim.packets))
    packet = np.repeat(np.arange(claim.packets), np.diff(claim.rows.start))
    number = (claim.rows.time - 1 - visits.begin[start[packet]]) // tau
    count = np.bincount(visits.packet, minlength=claim.packets)
    outside = (number < 0) | (number >= count[packet])
    if outside.any():
        return f"packet {packet[int(np.argmax(outside))]} moves in a phase that is not its own"
    visit = start[packet] + number
    x = claim.rows.time - visits.begin[visit]
    more = claim.rows.more if len(claim.rows.more) else np.zeros(len(x), np.int64)
    low = claim.level[claim.links.low[claim.rows.edge]]
    board, home, goal = visits.board[visit], visits.home[visit], visits.goal[visit]
    waits, rides = x < board, (x >= board) & (x < board + goal - home)
    following = np.minimum(visit + 1, len(visits.board) - 1)
    fine = np.where(
        waits,
        ((low == home) | (low == home - 1)) & (x + more < board),
        np.where(
            rides,
            (low == home + x - board) & claim.rows.up & (more == 0),
            (low == goal) & ~visits.last[visit] & (x + more < tau + visits.board[following]),
        ),
    )
    if not fine.all():
        row = int(np.argmin(fine))
        return f"packet {packet[row]} goes astray at step {claim.rows.time[row]}"
    return ""
