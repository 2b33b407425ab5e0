"""The check of the paper's promises beyond the rules: waves in their frames, boats on time, targets hit; saved plans.

The plan says which set a packet is in and which boat it takes in each phase; where it then has to be at which step
follows from the algorithm, and the moves must have it there.  Relative time x counts the moves of a phase from 1, `a`
is the first level of the frame that the packet's wave points to, and boat k is at level a + x - (4k - 3) before move x.

Source: [BKM04] Busch, Kelkar, Magdon-Ismail: Efficient Bufferless Routing on Leveled Networks, 2004, section 3, without
targets in the last frame of a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import unpack_array
from obliv.bufferless.checker._kernels import EdgeEnds, Paths, Rows
from obliv.checker.report import Report

# A schedule of packets as the checks take it


@dataclass(frozen=True)
class ScheduleFigures:
    """The figures that a schedule claims; `deflections` is None where they were not counted."""

    packets: int
    congestion: int
    dilation: int
    makespan: int
    lower_bound: int
    deflections: int | None


@dataclass(frozen=True, eq=False)
class ScheduleClaim:
    """A schedule: the leveled network, the paths, the moves packet after packet, and the claimed figures."""

    topology: str
    algorithm: str
    rules: str
    level: Array
    links: EdgeEnds
    paths: Paths
    rows: Rows
    figures: ScheduleFigures
    plan: dict[str, Any] | None = None
    digest_holds: bool | None = None  #: None without one: results in memory and files of earlier versions.
    trusted_network: bool = False  #: Whether the network comes from the topology itself, not from a file.

    @property
    def packets(self) -> int:
        """How many packets there are."""
        return len(self.paths.start) - 1

    @property
    def choices(self) -> dict[str, Any]:
        """The plan, empty if the schedule has none."""
        return self.plan or {}

    @property
    def ends(self) -> Array:
        """When every move ends: later than it begins where the packet oscillates."""
        return np.asarray(self.rows.time + self.rows.more if len(self.rows.more) else self.rows.time)


# Columns of a saved plan of packet routing, and the position of packets at a time


def number_of(plan: dict[str, Any], key: str, least: int) -> int:
    """Return an integer of a plan; raise ValueError if it is not an integer or too small."""
    value = plan[key]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**40:
        raise ValueError(f"{key} is {value!r}")
    return value


def column(plan: dict[str, Any], key: str, size: int | None) -> Array:
    """Return a list of integers of a plan; raise ValueError if it is not, or not of the given size."""
    value = plan[key]
    array = np.asarray(value if isinstance(value, np.ndarray) else unpack_array(value), np.int64)
    if array.ndim != 1 or (size is not None and len(array) != size):
        raise ValueError(f"{key} has not {size} entries")
    if len(array) and not -(2**40) < int(array.min()) <= int(array.max()) < 2**40:
        raise ValueError(f"{key} has a number out of range")
    return array


def node_at(claim: ScheduleClaim, packet: Array, time: Array) -> Array:
    """Return the node of packets after a step; -1 before their first move and after their last."""
    span = np.int64(int(claim.rows.time.max(initial=0)) + int(claim.rows.more.max(initial=0)) + 2)
    rows = np.repeat(np.arange(claim.packets), np.diff(claim.rows.start)) * span + claim.rows.time
    row = np.searchsorted(rows, packet * span + np.clip(time, 0, span - 1), side="right") - 1
    there = row >= claim.rows.start[packet]
    row = np.maximum(row, 0)
    past = time - claim.rows.time[row]
    there &= past <= (claim.rows.more[row] if len(claim.rows.more) else 0)
    ahead = claim.rows.up[row] == (past % 2 == 0)
    e = claim.rows.edge[row]
    return np.where(there, np.where(ahead, claim.links.high[e], claim.links.low[e]), -1)


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
    """Note whether waves keep to their frames, packets to their boats, and stops to their targets."""
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


# The check of what the distributed algorithm promises beyond the rules: every round but the last is undone.
#
# Rounds but the last of a sub-phase have two halves of tau moves, and every packet in the network is, after move x of
# the first and before the move of the second that mirrors it, at the same node. So after the second half all packets
# are back where the round began, and those that failed draw another boat.
#
# Source: [BKM04] Busch, Kelkar, Magdon-Ismail: Efficient Bufferless Routing on Leveled Networks, 2004, section 4,
# without targets in the last frame of a group.


def check_rounds(report: Report, claim: ScheduleClaim) -> None:
    """Note whether the second half of every round but the last mirrors the first."""
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
    tau, xi = number_of(plan, "tau", 1), number_of(plan, "xi", 0)
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
    lam, chi, s, gamma = (number_of(plan, key, 1) for key in ("lam", "chi", "s", "gamma"))
    tau, xi = number_of(plan, "tau", 1), number_of(plan, "xi", 0)
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
    return problem if problem or not claim.packets else _round_ride_problem(claim, plan)


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


def _round_ride_problem(claim: ScheduleClaim, plan: _Plan) -> str:
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
