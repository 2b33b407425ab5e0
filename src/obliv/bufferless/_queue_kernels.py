"""Kernels: store and forward.  Every edge has its waiting packets in a heap (a skew heap, smallest key on top)."""

from __future__ import annotations

from typing import Any

from obliv.kernels import kernel

__all__ = ["forward", "meld"]

Array = Any

SORT_EVERY = 2  # moves a packet


@kernel
def meld(a: int, b: int, key: Array, left: Array, right: Array) -> int:
    """Make one heap of two, given by their tops (-1: empty); returns its top."""
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
def forward(
    start: Array,
    edge: Array,
    release: Array,
    ready: Array,
    tie: Array,
    by_time: int,
    by_left: int,
    key: Array,
    left: Array,
    right: Array,
    top: Array,
    busy: Array,
    movers: Array,
    at: Array,
    time: Array,
    state: Array,
    budget: int,
) -> None:
    """Steps until all packets are there, or until more than `budget` moves were made.

    Packet p comes to its source at time ``release[p]`` (`ready`: the packets in that order).  Waiting for edge
    ``edge[at[p]]`` it has the key by_time·(time of arrival) + by_left·(edges left), ties by `tie`.  `busy` lists the
    edges whose heap, with its `top`, holds a packet.  ``time[k]`` becomes the time of the move over ``edge[k]``.
    `state`: the time, how many edges are busy, how many packets were released.
    """
    now = state[0]
    edges = state[1]
    released = state[2]
    packets = len(ready)
    moved = 0
    since = 0
    while (edges > 0 or released < packets) and moved <= budget:
        while released < packets and release[ready[released]] <= now:
            p = ready[released]
            released += 1
            e = edge[at[p]]
            key[p] = (by_time * int(release[p]) + by_left * int(start[p + 1] - at[p])) * 4294967296 + tie[p]
            left[p] = -1
            right[p] = -1
            if top[e] < 0:
                top[e] = p
                busy[edges] = e
                edges += 1
            else:
                top[e] = meld(top[e], p, key, left, right)
        if since > SORT_EVERY * packets:  # packets in their order touch memory in its order
            since = 0
            edges = 0
            for p in range(packets):
                if at[p] < start[p + 1] and top[edge[at[p]]] == p:
                    busy[edges] = edge[at[p]]
                    edges += 1
        now += 1
        kept = 0
        for i in range(edges):
            e = busy[i]
            p = top[e]
            movers[i] = p
            time[at[p]] = now
            if left[p] < 0:
                top[e] = -1
            else:
                top[e] = meld(left[p], right[p], key, left, right)
                busy[kept] = e
                kept += 1
        moving = edges
        edges = kept
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
        moved += moving
        since += moving
    state[0] = now
    state[1] = edges
    state[2] = released
