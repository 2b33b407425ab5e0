"""Kernels: loads from next hops, destination by destination.

A block of destinations has its next hops in one list: node v towards the t-th destination of the block may take the
channels ``hop[ptr[t * nodes + v]:ptr[t * nodes + v + 1]]`` with probabilities share / total, total per (t, v).
"""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Block", "Descent", "Entries", "Places", "Queue", "hop_levels", "propagate", "scatter"]

LOOP = 1
GAP = 2


class Block(NamedTuple):
    """The next hops towards a block of destinations, as the module describes them, and the head of every channel.

    `level` holds the longest remaining path of every (destination, node), -1 where no start leads.
    """

    targets: Array
    ptr: Array
    hop: Array
    share: Array
    total: Array
    level: Array
    head: Array


class Descent(NamedTuple):
    """Scratch of a depth-first search, and its first fault: (LOOP or GAP, destination, node)."""

    multiple: Array
    stack: Array
    cursor: Array
    fault: Array


class Queue(NamedTuple):
    """What every node has to send, and nodes by level; `mass` is zero and `bucket` -1 before and after."""

    mass: Array
    bucket: Array
    after: Array


class Entries(NamedTuple):
    """Numerators of (channel, source), destination after destination; those of destination t end at ``end[t]``."""

    channel: Array
    source: Array
    weight: Array
    end: Array


class Places(NamedTuple):
    """Entries by channel, and where the next entry of every channel goes."""

    cursor: Array
    destination: Array
    source: Array
    weight: Array


@kernel
def _common_multiple(one: int, two: int, limit: int) -> int:
    """Return the least common multiple, -1 if it exceeds a limit above 0."""
    if one % two == 0:
        return one
    a, b = one, two
    while b != 0:
        a, b = b, a % b
    if limit > 0 and one // a > limit // two:
        return -1
    return one // a * two


@kernel
def hop_levels(block: Block, starts: Array, limit: int, descent: Descent) -> int:
    """Set the levels of a block, and find a common denominator of path probabilities.

    Returns the denominator, or -1 where it exceeds `limit` (0: no limit).
    """
    targets, ptr, hop, _, total, level, head = block
    multiple, stack, cursor, fault = descent
    nodes = len(cursor)
    common = 1
    for t in range(len(targets)):
        base = t * nodes
        for v in range(nodes):
            level[base + v] = -1
            multiple[v] = 0
        level[base + targets[t]] = 0
        multiple[targets[t]] = 1
        for k in range(len(starts)):
            if level[base + starts[k]] >= 0:  # on the way of an earlier start, whose denominator serves it too
                continue
            depth = 0
            stack[0] = starts[k]
            cursor[starts[k]] = ptr[base + starts[k]]
            level[base + starts[k]] = -2
            while depth >= 0:
                v = stack[depth]
                at = cursor[v]
                if at == ptr[base + v] and ptr[base + v + 1] == at:
                    fault[0] = GAP
                    fault[1] = targets[t]
                    fault[2] = v
                    return -1
                if at < ptr[base + v + 1]:
                    cursor[v] = at + 1
                    w = head[hop[at]]
                    if level[base + w] == -2:
                        fault[0] = LOOP
                        fault[1] = targets[t]
                        fault[2] = w
                        return -1
                    if level[base + w] == -1:
                        level[base + w] = -2
                        cursor[w] = ptr[base + w]
                        depth += 1
                        stack[depth] = w
                    continue
                far = 0
                least = 1
                for e in range(ptr[base + v], at):
                    w = head[hop[e]]
                    if level[base + w] >= far:
                        far = level[base + w] + 1
                    least = _common_multiple(least, multiple[w], limit)
                    if least < 0:
                        return -1
                if limit > 0 and total[base + v] > limit // least:
                    return -1
                level[base + v] = far
                multiple[v] = least * total[base + v]
                depth -= 1
            common = _common_multiple(common, multiple[starts[k]], limit)
            if common < 0:
                return -1
    return common


@kernel
def propagate(
    first: int, block: Block, starts: Array, denominator: int, queue: Queue, counts: Array, out: Entries
) -> int:
    """Send one unit from every start to each destination of the block, from `first` on.

    Adds to `counts` how many entries each channel has.  Returns the first destination that did not fit.
    """
    targets, ptr, hop, share, total, level, head = block
    mass, bucket, after = queue
    out_channel, out_source, out_weight, out_end = out
    nodes, channels = len(mass), len(counts)
    size = 0
    capacity = len(out_channel)
    for t in range(first, len(targets)):
        base = t * nodes
        begin = size
        for k in range(len(starts)):
            s = starts[k]
            if s == targets[t]:
                continue
            if size + channels > capacity:
                for e in range(begin, size):
                    counts[out_channel[e]] -= 1
                return t
            far = level[base + s]
            mass[s] = denominator
            bucket[far] = s
            after[s] = -1
            for rank in range(far, 0, -1):
                v = bucket[rank]
                bucket[rank] = -1
                while v >= 0:
                    unit = mass[v] // total[base + v]
                    mass[v] = 0
                    for e in range(ptr[base + v], ptr[base + v + 1]):
                        c = hop[e]
                        amount = unit * share[e]
                        out_channel[size] = c
                        out_source[size] = k
                        out_weight[size] = amount
                        counts[c] += 1
                        size += 1
                        w = head[c]
                        if mass[w] == 0:
                            below = level[base + w]
                            after[w] = bucket[below]
                            bucket[below] = w
                        mass[w] += amount
                    v = after[v]
            bucket[0] = -1
            mass[targets[t]] = 0
        out_end[t] = size
    return len(targets)


@kernel
def scatter(entries: Entries, first: int, places: Places, common: int) -> int:
    """Put entries behind their channels' cursors; returns the greatest common divisor with `common`.

    The destinations are numbered from `first` on.
    """
    channel, source, weight, ends = entries
    cursor, out_destination, out_source, out_weight = places
    begin = 0
    for t in range(len(ends)):
        for e in range(begin, ends[t]):
            at = cursor[channel[e]]
            cursor[channel[e]] = at + 1
            out_destination[at] = first + t
            out_source[at] = source[e]
            x = weight[e]
            out_weight[at] = x
            if x % common != 0:
                a, b = common, x
                while b != 0:
                    a, b = b, a % b
                common = a
        begin = ends[t]
    return common
