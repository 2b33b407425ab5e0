"""Moves of packets as lines through time and levels, and the places of deflections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.kernels import run
from obliv.results.bufferless.schedule import Moves, Schedule
from obliv.topologies.leveled.instances import Instance
from obliv.view.schedules._kernels import pushes
from obliv.view.schedules.waves import rides

__all__ = ["Traces", "choose", "deflections", "moved", "traces"]

Packets = int | Iterable[int] | None

POINTS = 200_000  # points of all lines of a picture


@dataclass(frozen=True, eq=False)
class Traces:
    """Lines of packets through time and levels.

    Parameters
    ----------
    packets : int array, shape (lines,)
        The packet of every line.
    bound : int array, shape (lines + 1,)
        The points of line k are ``at[bound[k] : bound[k + 1]]``.
    at : float array, shape (points, 2)
        Points as (time, level).
    first, last : arrays, shape (lines, 2)
        Start and end of the whole path of the packet, as (time, level).
    """

    packets: Array
    bound: Array
    at: Array
    first: Array
    last: Array

    @cached_property
    def lines(self) -> list[Array]:
        """Points of every line."""
        return [self.at[a:b] for a, b in zip(self.bound[:-1].tolist(), self.bound[1:].tolist(), strict=True)]


def moved(schedule: Any) -> tuple[Instance, Moves]:
    """Return the instance and the moves of a schedule.

    Raises
    ------
    InputError
        If the argument is not a schedule or its moves were not kept.
    """
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


def traces(schedule: Schedule, packets: Array, steps: tuple[int, int], coarse: bool) -> Traces:
    """Return the lines of some packets.

    Parameters
    ----------
    schedule : Schedule
        The schedule, with its moves.
    packets : int array
        The packets to draw.
    steps : (int, int)
        Moves that begin after the second or end before the first of these times are left out.
    coarse : bool
        Whether to draw oscillation over an edge as one level line in its middle.
    """
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
    return Traces(owner[begin], place, np.column_stack([x, y]), first[seen], last[seen])


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
