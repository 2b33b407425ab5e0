"""Moves of packets as lines through time and levels, the kernel that follows them, and the places of deflections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import require_memory
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.results import CentralizedPlan, Moves, Schedule
from obliv.errors import InputError
from obliv.kernels import kernel, run

# Kernel that follows packets along their moves


@kernel
def pushes(start: Array, edge: Array, up: Array, path_start: Array, path: Array, stack: Array, pushed: Array) -> int:
    """Mark the moves that neither follow the path nor undo the last such move, and return their number.

    `stack` must hold the moves of any packet.
    """
    count = 0
    for p in range(len(start) - 1):
        at = path_start[p]
        depth = 0
        for row in range(start[p], start[p + 1]):
            link = 2 * edge[row] + (0 if up[row] else 1)
            if depth > 0 and link == (stack[depth - 1] ^ 1):
                depth -= 1
            elif depth == 0 and up[row] and at < path_start[p + 1] and edge[row] == path[at]:
                at += 1
            else:
                stack[depth] = link
                depth += 1
                pushed[row] = True
                count += 1
    return count


# The waves of the centralized algorithm: which packet rides which boat, when, and between which levels.
#
# Wave i is in phase 2i - 1 + j at frame j of its group; boat k is at level a + t - 4 (k - 1) at time t of the phase,
# where a is the frame's first level.


@dataclass(frozen=True, eq=False)
class RideRows:
    """One row for every phase of every packet, packet after packet."""

    lam: int  # levels of a frame
    gamma: int  # frames of a group
    tau: int  # steps of a phase
    clock: tuple[int, int]  # start of both sessions
    packet: Array
    number: Array  # of the phase among the phases of the packet
    session: Array
    wave: Array
    group: Array  # first frame of the group
    frame: Array  # within the group
    phase: Array  # from 1
    begin: Array  # of the phase
    a: Array  # first level of the frame
    boat: Array  # from 1
    home: Array  # level where the ride begins
    goal: Array  # and where it ends
    stops: Array  # bool: whether it ends at a target

    @property
    def board(self) -> Array:
        """Move of the phase at which the ride begins, counted from 1."""
        return np.asarray(self.home - self.a + 4 * self.boat - 3)


def has_waves(schedule: Schedule) -> bool:
    """Return whether a schedule has a plan of waves, frames and boats."""
    return isinstance(schedule.plan, CentralizedPlan)


def rides(schedule: Schedule) -> RideRows:
    """Return all rides of a schedule of the centralized algorithm."""
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
    return RideRows(
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


Packets = int | Iterable[int] | None

POINTS = 200_000  # points of all lines of a picture


@dataclass(frozen=True, eq=False)
class PacketTraces:
    """Lines of packets through time and levels."""

    packets: Array  # the packet of every line
    bound: Array  # the points of line k are ``at[bound[k] : bound[k + 1]]``
    at: Array  # points as (time, level)
    first: Array  # of every line: start of the whole path of the packet, as (time, level)
    last: Array  # and its end

    @cached_property
    def lines(self) -> list[Array]:
        """Points of every line."""
        return [self.at[a:b] for a, b in zip(self.bound[:-1].tolist(), self.bound[1:].tolist(), strict=True)]


def moved(schedule: Any) -> tuple[Instance, Moves]:
    """Return the instance and the moves of a schedule."""
    if not isinstance(schedule, Schedule):
        raise InputError(f"a {type(schedule).__name__} is not a schedule; use the result of bufferless.schedule")
    if schedule.instance is None or schedule.moves is None or len(schedule.moves.start) - 1 != schedule.packets:
        raise InputError(f"the moves of this {schedule.algorithm} schedule were not kept: there is nothing to draw")
    return schedule.instance, schedule.moves


def choose(schedule: Schedule, among: Array, packets: Packets, many: int = 400) -> Array:
    """Return the packets to draw: those listed, or a fixed sample of `among` that includes the last to arrive."""
    _, moves = moved(schedule)
    if packets is not None and not isinstance(packets, int | np.integer):
        named = np.asarray(list(packets))
        if named.size and (named.dtype.kind not in "iu" or named.min() < 0 or named.max() >= schedule.packets):
            raise InputError(f"packets are numbers from 0 to {schedule.packets - 1}, or how many are drawn at most")
        chosen = np.intersect1d(named.astype(np.int64), among)
    else:
        most = many if packets is None else int(packets)
        if most < 1:
            raise InputError(f"packets={most}: at least one packet must be drawn")
        chosen = among
        if len(among) > most:
            last = among[np.argmax(schedule.delivery[among])]
            others = np.random.default_rng(0).choice(among[among != last], most - 1, replace=False)
            chosen = np.sort(np.append(others, last))
    size = np.cumsum(moves.start[chosen + 1] - moves.start[chosen])
    if len(chosen) and size[-1] > POINTS:
        if packets is not None:
            raise InputError(
                f"{len(chosen)} packets make {size[-1]} moves, {POINTS} can be drawn: choose fewer packets"
            )
        chosen = np.sort(np.random.default_rng(0).permutation(chosen)[: max(int((size <= POINTS).sum()), 1)])
    return np.asarray(chosen, np.int64)


def traces(schedule: Schedule, packets: Array, steps: tuple[int, int], coarse: bool) -> PacketTraces:
    """Return the lines of some packets."""
    instance, moves = moved(schedule)
    row = _rows_of(moves, packets)
    owner = np.repeat(packets, moves.start[packets + 1] - moves.start[packets])
    time, edge, up = moves.time[row].astype(np.int64), moves.edge[row], moves.up[row]
    more = moves.more[row] if len(moves.more) else np.zeros(len(row), np.int64)
    low = np.asarray(instance.network.edge_level(edge), np.int64)
    bounds = np.searchsorted(owner, packets), np.searchsorted(owner, packets, side="right") - 1
    first = np.column_stack([time[bounds[0]] - 1, (low + ~up)[bounds[0]]])
    last = np.column_stack([schedule.delivery[packets], instance.level[packets] + instance.length[packets]])

    drawn = (time + more >= steps[0]) & (time - 1 <= steps[1])
    owner, time, up, more, low = owner[drawn], time[drawn], up[drawn], more[drawn], low[drawn]
    tail, head = (low + ~up).astype(float), (low + up).astype(float)
    fresh = np.ones(len(owner), bool)
    fresh[1:] = owner[1:] != owner[:-1]
    gap = fresh.copy()
    gap[1:] |= time[1:] - 1 > (time + more)[:-1]
    long = (more > 0) & coarse
    inner = np.where(long, 3, 1 + more)
    size = gap + inner
    require_memory(80.0 * size.sum(), "the lines of the packets")
    of = np.repeat(np.arange(len(size)), size)
    k = np.arange(len(of)) - np.repeat(np.cumsum(size) - size, size) - gap[of]
    x, y = (time[of] + k).astype(float), np.where(k % 2 == 0, head[of], tail[of])
    level = long[of] & (k >= 0)
    x = np.where(level, time[of] + np.where(k == 0, 0, more[of]), x)
    end = np.where(more % 2 == 0, head, tail)[of]
    y = np.where(level, np.where(k == 2, end, low[of] + 0.5), y)
    begin = np.flatnonzero(fresh)
    place = np.concatenate([(np.cumsum(size) - size)[begin], [len(of)]]) if len(begin) else np.zeros(1, np.int64)
    seen = np.searchsorted(packets, owner[begin])
    return PacketTraces(owner[begin], place, np.column_stack([x, y]), first[seen], last[seen])


def deflections(schedule: Schedule, packets: Array | None = None) -> tuple[Array, Array, Array]:
    """Return every deflection of some packets (default all): packet, time of the move, level where it begins.

    In the centralized algorithm a packet is deflected when it moves below its home level, in other algorithms when it
    leaves its path. The result is empty for the distributed algorithm, whose packets also leave their paths for other
    reasons.
    """
    instance, moves = moved(schedule)
    chosen = np.arange(schedule.packets) if packets is None else packets
    empty = np.zeros(0, np.int64)
    kind = schedule.plan.kind if schedule.plan else ""
    if schedule.rules != "bufferless" or not schedule.deflections or not len(chosen) or kind == "distributed":
        return empty, empty, empty
    row = _rows_of(moves, chosen)
    size = moves.start[chosen + 1] - moves.start[chosen]
    owner = np.repeat(chosen, size)
    time, edge, up = moves.time[row].astype(np.int64), moves.edge[row], moves.up[row]
    if kind == "centralized":
        home = _home(schedule, owner, time)
        more = moves.more[row] if len(moves.more) else np.zeros(len(row), np.int64)
        low = np.asarray(instance.network.edge_level(edge), np.int64)
        back = np.where(low == home - 1, (more + 1 + ~up) // 2, 0)
        of = np.repeat(np.arange(len(row)), back)
        k = np.arange(len(of)) - np.repeat(np.cumsum(back) - back, back)
        return owner[of], time[of] + up[of] + 2 * k, home[of]
    start = np.concatenate([[0], np.cumsum(size)])
    paths = np.concatenate([[0], np.cumsum(instance.length[chosen])])
    at = np.repeat(instance.start[chosen] - paths[:-1], instance.length[chosen]) + np.arange(paths[-1])
    pushed = np.zeros(len(row), bool)
    stack = np.zeros(int(size.max(initial=0)) + 1, np.int64)
    run(pushes, 6.0 * len(row), start, edge.astype(np.int64), up, paths, instance.edge[at], stack, pushed)
    level = np.asarray(instance.network.edge_level(edge[pushed]), np.int64) + ~up[pushed]
    return owner[pushed], time[pushed], level


def _rows_of(moves: Moves, packets: Array) -> Array:
    size = moves.start[packets + 1] - moves.start[packets]
    skip = np.repeat(moves.start[packets] - (np.cumsum(size) - size), size)
    return np.asarray(skip + np.arange(len(skip)), np.int64)


def _home(schedule: Schedule, owner: Array, time: Array) -> Array:
    """Return the level where packets wait for their boats at given times; below all levels if they do not wait."""
    waves = rides(schedule)
    start = np.searchsorted(waves.packet, owner)
    tau = waves.tau
    number = (time - 1 - waves.begin[start]) // tau
    visit = np.clip(start + number, 0, len(waves.packet) - 1)
    waits = (waves.packet[visit] == owner) & (time - waves.begin[visit] < waves.board[visit])
    return np.where(waits & (number > 0), waves.home[visit], -9)
