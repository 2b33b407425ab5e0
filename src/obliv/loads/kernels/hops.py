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

UNSEEN = -1  # levels of nodes that are not settled: not reached, and on the stack
ACTIVE = -2


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
    """The denominator of every node, scratch of a depth-first search, and a fault: (LOOP or GAP, destination, node)."""

    multiple: Array
    order: Array
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
def _order(t: int, block: Block, starts: Array, descent: Descent) -> int:
    """List the nodes on paths to a destination, each after its next hops (depth-first search).

    Returns their number, or -1 on a fault. The levels of listed nodes become 0.
    """
    targets, ptr, hop, _, _, level, head = block
    _, order, stack, cursor, fault = descent
    base = t * len(cursor)
    count = 0
    for k in range(len(starts)):
        if level[base + starts[k]] != UNSEEN:
            continue
        depth = 0
        stack[0] = starts[k]
        cursor[starts[k]] = ptr[base + starts[k]]
        level[base + starts[k]] = ACTIVE
        while depth >= 0:
            v = stack[depth]
            at = cursor[v]
            if at == ptr[base + v + 1]:
                if at == ptr[base + v]:
                    fault[0], fault[1], fault[2] = GAP, targets[t], v
                    return -1
                level[base + v] = 0
                order[count] = v
                count += 1
                depth -= 1
                continue
            cursor[v] = at + 1
            w = head[hop[at]]
            if level[base + w] == ACTIVE:
                fault[0], fault[1], fault[2] = LOOP, targets[t], w
                return -1
            if level[base + w] == UNSEEN:
                depth += 1
                stack[depth] = w
                cursor[w] = ptr[base + w]
                level[base + w] = ACTIVE
    return count


@kernel
def _settle(t: int, count: int, block: Block, limit: int, descent: Descent) -> bool:
    """Set the levels and denominators of the first nodes in order; False if one exceeds a limit above 0."""
    _, ptr, hop, _, total, level, head = block
    multiple, order, _, _, _ = descent
    base = t * len(multiple)
    for k in range(count):
        v = order[k]
        far = 0
        least = 1
        for e in range(ptr[base + v], ptr[base + v + 1]):
            w = head[hop[e]]
            if level[base + w] >= far:
                far = level[base + w] + 1
            least = _common_multiple(least, multiple[w], limit)
            if least < 0:
                return False
        if limit > 0 and total[base + v] > limit // least:
            return False
        level[base + v] = far
        multiple[v] = least * total[base + v]
    return True


@kernel
def hop_levels(block: Block, starts: Array, limit: int, descent: Descent) -> int:
    """Set the levels of a block, and find a common denominator of path probabilities.

    Returns the denominator, or -1 where it exceeds `limit` (0: no limit).
    """
    targets, level, multiple = block.targets, block.level, descent.multiple
    nodes = len(multiple)
    common = 1
    for t in range(len(targets)):
        base = t * nodes
        for v in range(nodes):
            level[base + v] = UNSEEN
        level[base + targets[t]] = 0
        multiple[targets[t]] = 1
        count = _order(t, block, starts, descent)
        if count < 0 or not _settle(t, count, block, limit, descent):
            return -1
        for k in range(len(starts)):
            common = _common_multiple(common, multiple[starts[k]], limit)
            if common < 0:
                return -1
    return common


@kernel
def _send(
    t: int, block: Block, starts: Array, denominator: int, queue: Queue, channels: int, size: int, out: Entries
) -> int:
    """Send one unit from every start to a destination, from the farthest nodes on; return the number of entries.

    Returns -1 where the entries do not fit.
    """
    targets, ptr, hop, share, total, level, head = block
    mass, bucket, after = queue
    out_channel, out_source, out_weight, _ = out
    base = t * len(mass)
    for k in range(len(starts)):
        s = starts[k]
        if s == targets[t]:
            continue
        if size + channels > len(out_channel):
            return -1
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
                    amount = unit * share[e]
                    out_channel[size] = hop[e]
                    out_source[size] = k
                    out_weight[size] = amount
                    size += 1
                    w = head[hop[e]]
                    if mass[w] == 0:
                        below = level[base + w]
                        after[w] = bucket[below]
                        bucket[below] = w
                    mass[w] += amount
                v = after[v]
        bucket[0] = -1
        mass[targets[t]] = 0
    return size


@kernel
def propagate(
    first: int, block: Block, starts: Array, denominator: int, queue: Queue, counts: Array, out: Entries
) -> int:
    """Send one unit from every start to each destination of the block, from `first` on.

    Adds to `counts` how many entries each channel has.  Returns the first destination that did not fit.
    """
    size = 0
    for t in range(first, len(block.targets)):
        end = _send(t, block, starts, denominator, queue, len(counts), size, out)
        if end < 0:
            return t
        for e in range(size, end):
            counts[out.channel[e]] += 1
        out.end[t] = end
        size = end
    return len(block.targets)


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
