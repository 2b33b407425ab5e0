"""Kernels: single moves of the distributed algorithm, checked and written down.

Edge e is two directed links, 2e up and 2e + 1 down; ``link ^ 1`` is the way back.  Every kernel that checks something
returns what is broken, or 0.  Records are small since a call copies them, and there are some calls for every move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from obliv.kernels import kernel

__all__ = ["Crowd", "Links", "Log", "Rules", "idle", "move", "sort_rows"]

Array = Any

# columns of `state`
MODE, INDEX, AWAY, NODE, LINK, ROW, BOARD, LATE, STOP = 0, 1, 2, 3, 4, 5, 6, 7, 8
COLOUR, SURE, TIED, HOME, KEEP, VIA, UNDO, UNDO_AT, NODE0, FIELDS = 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
WAITING, RIDING, SERVED, BEATEN, WANDERING, GONE = 1, 2, 3, 4, 5, 6  # modes; 0 is outside
ROWS, LIVE, FAULT, TICK, DEFLECTED, AT, LOST = 0, 1, 2, 3, 4, 5, 6
# what is broken
ASTRAY, TWICE, RESTED, NOT_HOME, CLASH, HIT, NO_BOAT = 1, 2, 3, 4, 5, 6, 7
NO_WAY_BACK, NO_FREE_LINK, LEFT_OVER, OUT_OF_FRAME, NOT_BACK = 8, 9, 10, 11, 12


class Rules(NamedTuple):
    """The rules, and the packets that keep them."""

    rule: Array  # as for the boats
    bent: Array  # which rules are broken on purpose
    given: Array  # as for the boats
    edge: Array  # the paths, one after another


class Links(NamedTuple):
    """The links of the network."""

    low: Array  # of every edge: the node where it begins
    high: Array  # and where it ends
    exit_start: Array  # of every node: where the links that leave it begin in `exit_link`; then the end of the last
    exit_link: Array
    claim: Array  # of every link: who uses it and when


class Crowd(NamedTuple):
    """The packets, and what they do."""

    live: Array  # those in the network
    state: Array  # a row for every packet
    delivery: Array  # of every packet: becomes the time when it arrives
    counts: Array  # rows of the log, packets in `live`, who is at fault, ticks, deflections, the last move, the beaten


class Log(NamedTuple):
    """A row for every run to and fro over one edge."""

    where: Array  # packet, first link and the packet's row before
    when: Array  # the time, and how many more moves


@kernel
def move(now: int, crowd: Crowd, links: Links, log: Log) -> int:
    """Everybody moves over the link chosen, if any; who has arrived leaves `live`."""
    low, high, live, state, where, when = links.low, links.high, crowd.live, crowd.state, log.where, log.when
    kept = 0
    rows = crowd.counts[ROWS]
    for i in range(crowd.counts[LIVE]):
        p = live[i]
        if state[p, MODE] != GONE:
            live[kept] = p
            kept += 1
        link = state[p, LINK]
        if link < 0:
            continue
        state[p, LINK] = -1
        e = link >> 1
        tail, head = low[e], high[e]
        if link & 1:
            tail, head = head, tail
        if state[p, NODE] != tail:
            crowd.counts[FAULT] = p
            return ASTRAY
        state[p, NODE] = head
        row = state[p, ROW]
        if row >= 0:
            more = when[row, 1]
            if when[row, 0] + more + 1 != now:
                crowd.counts[FAULT] = p
                return RESTED
            if where[row, 1] ^ (more & 1) == link ^ 1:
                when[row, 1] = more + 1
                continue
        where[rows, 0] = p
        where[rows, 1] = link
        where[rows, 2] = row
        when[rows, 0] = now
        when[rows, 1] = 0
        state[p, ROW] = rows
        rows += 1
    crowd.counts[ROWS] = rows
    crowd.counts[LIVE] = kept
    return 0


@kernel
def idle(moves: int, crowd: Crowd, log: Log) -> None:
    """Everybody goes to and fro so many moves more."""
    for i in range(crowd.counts[LIVE]):
        log.when[crowd.state[crowd.live[i], ROW], 1] += moves


@kernel
def sort_rows(log: Log, start: Array, time: Array, edge: Array, up: Array, more: Array) -> None:
    """The log packet after packet; `start` is zeros and ends as where the rows of each packet begin."""
    where, when, rows = log.where, log.when, len(time)
    packets = len(start) - 1
    for i in range(rows):
        start[where[i, 0] + 1] += 1
    for p in range(packets):
        start[p + 1] += start[p]
    for i in range(rows):
        p = where[i, 0]
        to = start[p]
        start[p] = to + 1
        time[to] = when[i, 0]
        edge[to] = where[i, 1] >> 1
        up[to] = where[i, 1] & 1 == 0
        more[to] = when[i, 1]
    for i in range(packets):
        p = packets - i
        start[p] = start[p - 1]
    start[0] = 0
