"""The check of what the distributed algorithm promises beyond the rules: every round but the last is undone.

Rounds but the last of a sub-phase have two halves of tau moves, and every packet in the network is, after move x of the
first and before the move of the second that mirrors it, at the same node.  So after the second half all packets are
back where the round began, and those that failed draw another boat.

Source: [BKM04] Busch, Kelkar, Magdon-Ismail: Efficient Bufferless Routing on Leveled Networks, 2004, section 4, without
targets in the last frame of a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.checker.report import Report
from obliv.checker.schedules.claim import ScheduleClaim
from obliv.checker.schedules.plan import column, node_at, number

__all__ = ["check_rounds"]


def check_rounds(report: Report, claim: ScheduleClaim) -> None:
    """Note whether the second half of every round but the last mirrors the first.

    Parameters
    ----------
    report : Report
    claim : Claimed
        With a plan of kind "distributed"; its moves obey the rules already.
    """
    for name, problem_of, statement in (
        ("rounds", _mirror_problem, "every round but the last of a sub-phase is undone step by step"),
        ("boats", _visit_problem, "in the last round every packet rides its boat from home to target or destination"),
    ):
        try:
            problem = problem_of(claim)
        except (KeyError, ValueError, TypeError, IndexError, OverflowError, RecursionError) as error:
            problem = f"the plan is incomplete: {type(error).__name__} {error}"
        if not report.note(name, not problem, problem or statement):
            return


def _mirror_problem(claim: ScheduleClaim) -> str:
    plan = claim.choices
    tau, xi = number(plan, "tau", 1), number(plan, "xi", 0)
    size = len(plan["sub_begin"]) if isinstance(plan["sub_begin"], (list, np.ndarray)) else None
    begin, rounds = column(plan, "sub_begin", size), column(plan, "sub_rounds", size)
    if plan["timetable"] not in ("fixed", "oracle"):
        return "the timetable is neither fixed nor oracle"
    if (rounds < 1).any():
        return "a sub-phase has no round"
    if (np.diff(begin) <= 0).any():
        order = np.argsort(begin, kind="stable")
        begin, rounds = begin[order], rounds[order]
    if plan["timetable"] == "fixed":
        rounds = np.maximum(rounds, xi)
    ends = begin + (2 * rounds - 1) * tau  # the last round is half a round
    if (begin < 0).any() or (ends[:-1] > begin[1:]).any():
        return "a sub-phase begins before the one before it is over"
    packet = np.repeat(np.arange(claim.packets), np.diff(claim.rows.start))
    times = [claim.rows.time.astype(np.int64)]
    if len(claim.rows.more):
        times.append(times[0] + claim.rows.more)  # where a packet stands when it stops going to and fro
    for time in times:
        sub = np.searchsorted(begin, time - 1, side="right") - 1
        inside = np.flatnonzero((sub >= 0) & (time <= ends[np.maximum(sub, 0)]))
        row, sub, now = packet[inside], sub[inside], time[inside]
        turn = (now - 1 - begin[sub]) // (2 * tau)
        undone = turn < rounds[sub] - 1
        base = begin[sub] + turn * 2 * tau
        mirror = 2 * base + 2 * tau - now
        here, there = node_at(claim, row, now), node_at(claim, row, mirror)
        bad = np.flatnonzero(undone & (there >= 0) & (here != there))
        if len(bad):
            at = int(bad[0])
            return f"packet {row[at]} is not at step {mirror[at]} where it was at step {now[at]}, which it mirrors"
    return ""


@dataclass(frozen=True, eq=False)
class _Plan:
    """What a plan says, and the levels at which packets begin and end."""

    lam: int
    chi: int
    s: int
    gamma: int
    tau: int
    which: Array  # the set of each packet
    session: Array
    group: Array
    enter: Array  # the first phase
    start: Array  # of each packet's phases among those of all
    color: Array  # for every phase of every packet
    home: Array
    begin: Array  # of each sub-phase
    rounds: Array
    phase: Array
    part: Array
    level: Array
    end: Array

    @property
    def first(self) -> Array:
        """The frame, within its group, where each packet begins."""
        return np.asarray(self.level // self.lam - self.group)


def _plan_of(claim: ScheduleClaim) -> _Plan:
    """Read a plan; raise an error where a part is missing or malformed."""
    plan, n = claim.choices, claim.packets
    lam, chi, s, gamma = (number(plan, key, 1) for key in ("lam", "chi", "s", "gamma"))
    tau, xi = number(plan, "tau", 1), number(plan, "xi", 0)
    which, session, group, enter = (column(plan, key, n) for key in ("set", "session", "group", "phase"))
    start = column(plan, "phase_start", n + 1)
    color, home = (column(plan, key, int(start[-1])) for key in ("colour", "home"))
    begin, rounds, phase, part = (column(plan, f"sub_{key}", None) for key in ("begin", "rounds", "phase", "part"))
    if plan["timetable"] == "fixed":
        rounds = np.maximum(rounds, xi)
    level, end = (claim.level[node].astype(np.int64) for node in (claim.paths.source, claim.paths.destination))
    packets = (which, session, group, enter, start)
    return _Plan(lam, chi, s, gamma, tau, *packets, color, home, begin, rounds, phase, part, level, end)


def _visit_problem(claim: ScheduleClaim) -> str:
    """Whether packets are where the plan's sets, boats and homes have them when their phases count."""
    plan = _plan_of(claim)
    problem = _entry_problem(plan)
    return problem if problem or not claim.packets else _ride_problem(claim, plan)


def _entry_problem(plan: _Plan) -> str:
    """Whether packets enter in the phases of their sets and frames, with constants and boats in range."""
    lam, s, session, which = plan.lam, plan.s, plan.session, plan.which
    if lam % 2 or lam < 6 * plan.chi or ((session != 1) & (session != 2)).any() or ((which < 1) | (which > s)).any():
        return "lambda, a session or a set is invalid"
    if not np.array_equal(plan.enter, 2 * which - 1 + plan.first + (session - 1) * (2 * s + plan.gamma - 1)):
        return "a packet enters in a phase that is not that of its set and frame"
    if plan.start[0] != 0 or (np.diff(plan.start) < 1).any() or ((plan.color < 1) | (plan.color > plan.chi)).any():
        return "a packet has no phase, or a boat number is out of range"
    return ""


def _ride_problem(claim: ScheduleClaim, plan: _Plan) -> str:
    """Whether packets ride their boats in sub-phases that exist, from home to target or destination."""
    lam, chi, gamma, tau = plan.lam, plan.chi, plan.gamma, plan.tau
    color, home, begin, rounds = plan.color, plan.home, plan.begin, plan.rounds
    packet = np.repeat(np.arange(claim.packets), np.diff(plan.start))
    nth = np.arange(len(packet)) - plan.start[packet]
    level, goal = plan.level[packet], plan.end[packet]
    frame = plan.first[packet] + nth
    a = (plan.group[packet] + frame) * lam
    fresh = nth == 0
    kind = np.where(fresh, 1 + (level - a) % 2, 0)  # packets from even inner levels enter last
    most = int(max(plan.phase.max(initial=0), (plan.enter[packet] + nth).max(initial=0))) + 1
    order = np.argsort(plan.phase * 3 + plan.part, kind="stable")
    known = (plan.phase * 3 + plan.part)[order]
    wanted = (plan.enter[packet] + nth) * 3 + kind
    at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    if len(known) == 0 or most >= 2**40 or (known[at] != wanted).any():
        return "a packet rides in a sub-phase that does not exist"
    sub = order[at]
    base = begin[sub] + (rounds[sub] - 1) * 2 * tau
    target = a + 2 * lam - 2 * color - 2 * chi * kind
    stops = (goal >= a + lam) & (frame < gamma - 1) & (goal > target + 1)
    last = nth == np.diff(plan.start)[packet] - 1
    if (stops == last).any() or (frame < 0).any() or (frame >= gamma).any():
        return "a packet stops in its last phase, goes on after it has arrived, or leaves its group"
    board = home - a + 4 * color - 3
    node = node_at(claim, packet, base + board - 1)
    there = np.where(node >= 0, claim.level[node], np.where(fresh, level, -1)) == home
    node = node_at(claim, packet, base + board - 1 + target - home)
    stopped = np.where(node >= 0, claim.level[node], -1) == target
    following = np.minimum(np.arange(len(home)) + 1, len(home) - 1)
    arrival = claim.ends[claim.rows.start[1:] - 1][packet]
    spent = arrival - begin[sub] - (4 * color - 4) - (goal - a)
    by_boat = (spent % (2 * tau) == 0) & (spent >= 0) & (spent < rounds[sub] * 2 * tau)
    at_once = fresh & (goal == level + 1) & (arrival == begin[sub] + kind)
    fine = np.where(stops, there & stopped & (home[following] == target), by_boat | at_once)
    fine &= ~fresh | (home == level)
    if not fine.all():
        row = int(np.argmin(fine))
        return f"packet {packet[row]} does not ride as the plan says, in phase {nth[row] + 1} of its own"
    return ""
