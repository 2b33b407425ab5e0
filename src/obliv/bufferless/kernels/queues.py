"""Kernels: store and forward.  Every edge has its waiting packets in a heap (a skew heap, smallest key on top)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["TALLY", "Queues", "forward", "meld"]

SORT_EVERY = 2  # moves a packet

#: The time; edges where packets wait; packets released so far.
TALLY = np.dtype([(name, np.int64) for name in ("now", "busy", "released")])


class Queues(NamedTuple):
    """Packets and the heaps in which they wait, packet p for edge ``edge[at[p]]``."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    release: Array  # of every packet: when it comes to its source
    ready: Array  # the packets in that order
    tie: Array  # of every packet
    key: Array  # of every packet that waits
    left: Array  # of every packet that waits: the tops of the two heaps below it, or -1
    right: Array
    top: Array  # of every edge: the best of its heap, -1 where it is empty
    busy: Array  # the edges where packets wait
    movers: Array  # packets that come to a node at this time, from an edge or from outside
    at: Array  # of every packet: one before its path while it is outside
    time: Array  # ``time[k]`` becomes the time of the move over ``edge[k]``
    tally: Array  # one TALLY


@kernel
def meld(a: int, b: int, key: Array, left: Array, right: Array) -> int:
    """Merge two heaps, given by their tops (-1: empty); return the top."""
    if a < 0:
        return b
    if b < 0:
        return a
    if key[b] < key[a]:
        a, b = b, a
    top = a
    while True:
        # b joins below a: the sides of a change places, and what was right goes on with b
        c = right[a]
        right[a] = left[a]
        if c < 0:
            left[a] = b
            break
        if key[b] < key[c]:
            b, c = c, b
        left[a] = c
        a = c
    return top


@kernel
def forward(queues: Queues, by_time: int, by_left: int, budget: int) -> None:
    """Run until all packets have arrived, or until more than `budget` moves were made.

    The key of a packet is by_time·(time of arrival) + by_left·(edges left), ties by `tie`.
    """
    start, edge, release, ready, tie, key, left, right, top, busy, movers, at, time, tally = queues
    now, edges, released = tally["now"][0], tally["busy"][0], tally["released"][0]
    packets = len(ready)
    moving = 0
    moved = 0
    since = 0
    while True:
        while released < packets and release[ready[released]] <= now:
            movers[moving] = ready[released]
            moving += 1
            released += 1
        for i in range(moving):
            p = movers[i]
            at[p] += 1
            if at[p] == start[p + 1]:
                continue
            e = edge[at[p]]
            key[p] = (by_time * int(now) + by_left * int(start[p + 1] - at[p])) * 4294967296 + tie[p]
            left[p] = -1
            right[p] = -1
            if top[e] < 0:
                top[e] = p
                busy[edges] = e
                edges += 1
            else:
                top[e] = meld(top[e], p, key, left, right)
        if (edges == 0 and released == packets) or moved > budget:
            break
        if (
            since > SORT_EVERY * packets
        ):  # packets in their order touch memory in its order; packets outside are no tops
            since = 0
            edges = 0
            for p in range(packets):
                if at[p] < start[p + 1] and top[edge[at[p]]] == p:
                    busy[edges] = edge[at[p]]
                    edges += 1
        now += 1
        moving = edges
        edges = 0
        for i in range(moving):
            e = busy[i]
            p = top[e]
            movers[i] = p
            time[at[p]] = now
            if left[p] < 0:
                top[e] = -1
            else:
                top[e] = meld(left[p], right[p], key, left, right)
                busy[edges] = e
                edges += 1
        moved += moving
        since += moving
    tally["now"][0], tally["busy"][0], tally["released"][0] = now, edges, released
