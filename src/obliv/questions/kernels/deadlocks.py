"""Kernels: packets along next hops, by virtual channel, and the part of a directed graph that contains its cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel


@kernel
def drain(ptr: Array, head: Array, left: Array) -> None:
    """Clear `left` for vertices without incoming edges, again and again (Kahn); without a cycle nothing is left.

    Parameters
    ----------
    ptr, head : integer arrays
        Edges of vertex v lead to ``head[ptr[v]:ptr[v + 1]]``.
    left : bool array, shape (vertices,)
        Must be set.
    """
    incoming = np.zeros(len(left), np.int64)
    for e in range(len(head)):
        incoming[head[e]] += 1
    ready = np.empty(len(left), np.int64)
    count = 0
    for v in range(len(left)):
        if incoming[v] == 0:
            ready[count] = v
            count += 1
    while count > 0:
        count -= 1
        v = ready[count]
        left[v] = False
        for e in range(ptr[v], ptr[v + 1]):
            w = head[e]
            incoming[w] -= 1
            if incoming[w] == 0:
                ready[count] = w
                count += 1


class HopsTowards(NamedTuple):
    """Next hops towards some destinations.

    Place k · nodes + v is node v on the way to ``targets[k]``, with next hops ``channel[ptr[place]:ptr[place + 1]]``.
    """

    nodes: int
    targets: Array
    ptr: Array
    channel: Array


class Counted(NamedTuple):
    """The number of paths; or, from 0 on, a place from where none leads on, or that packets come to again (`loops`)."""

    paths: float
    place: int
    loops: bool


class Turns(NamedTuple):
    """How packets change virtual channels.

    Channels from node v begin at ``first[v]``. From a channel to another one, by their `kind`, there is a turn to the
    next class where ``turned[one, other]``. With two `bits` a packet holds a dateline bit behind a channel that
    `wraps`, as long as it goes `straight`.
    """

    head: Array
    first: Array
    kind: Array
    turned: Array
    straight: Array
    wraps: Array
    classes: int
    bits: int


class Spread(NamedTuple):
    """What packets hold: state (channel · classes + class) · bits + dateline bit.

    ``seen`` is the last destination + 1 for which a state was visited, ``used`` whether there is one. Bit n of
    ``follows[state]``, in bytes, is set where the n-th channel from the node ahead is taken next.
    """

    seen: Array
    used: Array
    follows: Array


@kernel
def count_along(block: HopsTowards, sources: Array, head: Array) -> Counted:
    """Count the paths from some places, sorted, to their destinations; stop where next hops end or form a loop."""
    nodes, targets, ptr, channel = block
    opened, done = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)  # for which destination
    cursor, stack = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    paths = np.zeros(nodes)
    total = 0.0
    for source in sources:
        k, v = source // nodes, source % nodes
        base = k * nodes
        depth = 0 if done[v] != k else -1
        stack[0] = v
        while depth >= 0:
            v = stack[depth]
            if opened[v] != k:
                opened[v] = k
                cursor[v] = ptr[base + v]
                paths[v] = 1.0 if v == targets[k] else 0.0
                if v != targets[k] and cursor[v] == ptr[base + v + 1]:
                    return Counted(0.0, base + v, False)
            if v == targets[k] or cursor[v] == ptr[base + v + 1]:
                done[v] = k
                depth -= 1
                continue
            w = head[channel[cursor[v]]]
            if done[w] == k:
                paths[v] += paths[w]
                cursor[v] += 1
            elif opened[w] == k:
                return Counted(0.0, base + w, True)
            else:
                depth += 1
                stack[depth] = w
        total += paths[source % nodes]
    return Counted(total, -1, False)


@kernel
def spread(
    number: int, block: HopsTowards, sources: Array, turns: Turns, state: Spread, begins: Array, arrives: Array
) -> bool:
    """Follow packets from some places, sorted, hop by hop; return False as soon as they need more classes.

    Parameters
    ----------
    number : int
        Of the block's first destination.
    block : HopsTowards
        Every next hop leads to the destination in the end.
    sources : int64 array
    turns : Turns
    state : Spread
        Written.
    begins, arrives : bool arrays, shape (channels,)
        Set for channels with which packets begin, and with which they arrive.
    """
    nodes, targets, ptr, channel = block
    head, first, kind, turned, straight, wraps, classes, bits = turns
    seen, used, follows = state
    held = classes * bits
    waiting = np.empty(len(seen), np.int64)
    at = 0
    for k in range(len(targets)):
        stamp, base, count = number + k + 1, k * nodes, 0
        # the first hops
        while at < len(sources) and sources[at] < base + nodes:
            for e in range(ptr[sources[at]], ptr[sources[at] + 1]):
                s = channel[e] * held
                begins[channel[e]] = True
                if seen[s] != stamp:
                    seen[s] = stamp
                    waiting[count] = s
                    count += 1
            at += 1
        # and those after them
        while count > 0:
            count -= 1
            s = waiting[count]
            used[s] = True
            c, virtual = s // held, s % held
            v = head[c]
            if v == targets[k]:
                arrives[c] = True
                continue
            for e in range(ptr[base + v], ptr[base + v + 1]):
                after = channel[e]
                level = virtual // bits + (1 if turned[kind[c], kind[after]] else 0)
                if level >= classes:
                    return False
                behind = straight[kind[c], kind[after]] and (virtual % bits > 0 or wraps[c])
                n = after - first[v]
                follows[s, n // 8] |= 1 << (n % 8)
                t = after * held + level * bits + (1 if behind else 0)
                if seen[t] != stamp:
                    seen[t] = stamp
                    waiting[count] = t
                    count += 1
    return True
