"""Kernels of the checker of schedules: packets followed move by move."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.arrays import Array
from obliv.kernels import kernel

__all__ = ["EdgeEnds", "PacketRules", "Paths", "Rows", "WalkCheck", "longest_walk", "shortest_ends", "walk_packets"]

FINE = -1
NOT_THERE = 1  # a move begins where the packet is not
RESTS = 2
LATE = 3  # a move after the packet has arrived
BEFORE = 4  # moves out of order, or before time 1
LOST = 5  # not at the destination, or the path is not done
STRAYS = 6  # leaves the path where it may not


class EdgeEnds(NamedTuple):
    """The lower and the upper node of every edge."""

    low: Array
    high: Array


class Paths(NamedTuple):
    """Path p consists of the edges ``edge[start[p]:start[p + 1]]`` and leads from its source to its destination."""

    start: Array
    edge: Array
    source: Array
    destination: Array


class Rows(NamedTuple):
    """The moves of packet p are the rows ``start[p] .. start[p + 1] - 1``.

    `up` is False where an edge is taken downwards; `more` counts the further steps of an oscillation, and is empty
    where no packet oscillates.
    """

    start: Array
    time: Array
    edge: Array
    up: Array
    more: Array


class PacketRules(NamedTuple):
    """What packets may do: rest at nodes, keep to the edges of their paths, or go on after they have arrived."""

    rests: bool
    keeps: bool
    wanders: bool


class WalkCheck(NamedTuple):
    """Scratch and results of a walk.

    `stack` has room for the moves of any packet; `mark` holds -1 for every edge where packets keep to their edges.
    `arrival` gets the time of every packet's last move; `pushes` how many links were added and how many moves down
    were not over the edge just taken; `passed` how many packets go on from the end of their current path, the first of
    them, and the step in which it does; `fault` packet and row of the first fault.
    """

    stack: Array
    mark: Array
    arrival: Array
    pushes: Array
    passed: Array
    fault: Array


@kernel
def longest_walk(start: Array) -> int:
    """Return the largest number of rows of a packet."""
    most = 0
    for p in range(len(start) - 1):
        most = max(most, start[p + 1] - start[p])
    return most


@kernel
def go_on(p: int, step: int, passed: Array) -> None:
    """Count a packet that is sent on in a step although its current path has come to its end."""
    if passed[0] == 0:
        passed[1] = p
        passed[2] = step
    passed[0] += 1


@kernel
def walk_packets(links: EdgeEnds, paths: Paths, rows: Rows, rules: PacketRules, walk: WalkCheck) -> int:
    """Follow every packet move by move; the code of the first fault, or -1.

    A packet's current path is what is left of its own, after links to go back (`stack`, twice the edge and 1 for up).
    A move goes back over the last of those, or takes the next edge of the path, or adds a link to go back over. Where
    it rests, packets take their path's edges only.
    """
    low, high = links
    begin, path, source, destination = paths
    start, time, edge, up, more = rows
    rests, keeps, wanders = rules
    stack, mark, arrival, pushes, passed, fault = walk
    for p in range(len(begin) - 1):
        at = source[p]
        done = begin[p]
        end = begin[p + 1]
        depth = 0
        clock = 0
        before = -1
        beyond = False
        fault[0] = p
        if keeps:
            for i in range(begin[p], end):
                mark[path[i]] = p
        for r in range(start[p], start[p + 1]):
            fault[1] = r
            e = edge[r]
            if done == end and depth == 0:
                if not wanders:
                    return LATE
                if not beyond:
                    beyond = True
                    go_on(p, int(time[r]), passed)
            if time[r] < clock + 1:
                return BEFORE
            if clock > 0 and not rests and time[r] != clock + 1:
                return RESTS
            rides = up[r]
            if at != (low[e] if rides else high[e]):
                return NOT_THERE
            extra = more[r] if len(more) > 0 else 0
            if (keeps and mark[e] != p) or (rests and extra > 0):
                return STRAYS
            if not rides and e != before:
                pushes[1] += 1
            for back in range(1 + extra % 2):
                goes = rides if back == 0 else not rides
                if depth > 0 and stack[depth - 1] == 2 * e + (0 if goes else 1):
                    depth -= 1
                elif depth == 0 and goes and done < end and path[done] == e:
                    done += 1
                elif rests:
                    return STRAYS
                else:
                    stack[depth] = 2 * e + (1 if goes else 0)
                    depth += 1
                    pushes[0] += 1
                at = high[e] if goes else low[e]
                if back == 0 and extra > 0 and done == end and depth == 0:
                    if not wanders:
                        return LATE
                    if not beyond:
                        beyond = True
                        go_on(p, int(time[r]) + 1, passed)
            if extra > 1:  # each oscillation
                pushes[0] += (extra - extra % 2) // 2
            before = e
            clock = time[r] + extra
        if done != end or depth != 0 or at != destination[p]:
            return LOST
        arrival[p] = clock
    return FINE


@kernel
def shortest_ends(paths: Paths, users: Array, before: Array, after: Array) -> None:
    """Count every edge's users, and the fewest edges that any of them has before and after it."""
    start, path, _, _ = paths
    for p in range(len(start) - 1):
        for i in range(start[p], start[p + 1]):
            e = path[i]
            users[e] += 1
            if i - start[p] < before[e]:
                before[e] = i - start[p]
            if start[p + 1] - 1 - i < after[e]:
                after[e] = start[p + 1] - 1 - i
