"""Kernels: loads from next hops, destination by destination; numbered paths of fat trees; stored loads.

A block of destinations has its next hops in one list: node v towards the t-th destination of the block may take the
channels ``hop[ptr[t * nodes + v]:ptr[t * nodes + v + 1]]`` with probabilities share / total, total per (t, v).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel
from obliv.matching._kernels import Assignment, Floors, SearchSpace, assign
from obliv.matching._kernels import Entries as PairEntries

LOOP = 1
GAP = 2

UNSEEN = -1  # levels of nodes that are not settled: not reached, and on the stack
ACTIVE = -2


class HopBlock(NamedTuple):
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


class NodeQueue(NamedTuple):
    """What every node has to send, and nodes by level; `mass` is zero and `bucket` -1 before and after."""

    mass: Array
    bucket: Array
    after: Array


class DestinationEntries(NamedTuple):
    """Numerators of (channel, source), destination after destination; those of destination t end at ``end[t]``."""

    channel: Array
    source: Array
    weight: Array
    end: Array


class NextPlaces(NamedTuple):
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
def _order(t: int, block: HopBlock, starts: Array, descent: Descent) -> int:
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
def _settle(t: int, count: int, block: HopBlock, limit: int, descent: Descent) -> bool:
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
def hop_levels(block: HopBlock, starts: Array, limit: int, descent: Descent) -> int:
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
    t: int,
    block: HopBlock,
    starts: Array,
    denominator: int,
    queue: NodeQueue,
    channels: int,
    size: int,
    out: DestinationEntries,
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
    first: int,
    block: HopBlock,
    starts: Array,
    denominator: int,
    queue: NodeQueue,
    counts: Array,
    out: DestinationEntries,
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
def scatter(entries: DestinationEntries, first: int, places: NextPlaces, common: int) -> int:
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


# Kernels: stored loads, many channels in one call


class LoadsByChannel(NamedTuple):
    """Pair loads by channel: those of channel c are ``start[c] .. start[c + 1]``, sorted by row."""

    start: Array
    row: Array
    col: Array
    weight: Array


@kernel
def compare(loads: LoadsByChannel, moved: Array, place: Array) -> bool:
    """Whether the entries of every channel, relabelled by `place`, are those of its image; sorted by row, column."""
    start, row, col, weight = loads
    for c in range(len(moved)):
        d = moved[c]
        first, size = start[d], start[d + 1] - start[d]
        if size != start[c + 1] - start[c]:
            return False
        for e in range(start[c], start[c + 1]):
            r, k = place[row[e]], place[col[e]]
            low, high = first, first + size
            while low < high:
                middle = (low + high) >> 1
                if row[middle] < r or (row[middle] == r and col[middle] < k):
                    low = middle + 1
                else:
                    high = middle
            if low == first + size or row[low] != r or col[low] != k or weight[low] != weight[e]:
                return False
    return True


@kernel
def _rows_of(row: Array, weight: Array, first: int, end: int, ids: Array, ptr: Array) -> tuple[int, int]:
    """Find the rows that occur and where the entries of each begin; return how many they are and Σ row maxima."""
    n = 0
    before = -1
    best = 0
    total = 0
    for e in range(first, end):
        if row[e] != before:
            before = row[e]
            ids[n] = before
            ptr[n] = e - first
            n += 1
            total += best
            best = 0
        best = max(best, weight[e])
    ptr[n] = end - first
    return n, total + best


@kernel
def _column_maxima(col: Array, weight: Array, first: int, end: int, top: Array) -> int:
    """Sum the column maxima; `top` holds zeros before and after."""
    total = 0
    for e in range(first, end):
        if weight[e] > top[col[e]]:
            total += weight[e] - top[col[e]]
            top[col[e]] = weight[e]
    for e in range(first, end):
        top[col[e]] = 0
    return total


@kernel
def assign_channels(
    channels: Array, limit: Array, loads: LoadsByChannel, terminals: int, value: Array, price: Array, mates: Array
) -> None:
    """Solve channels one after another.

    ``value[k]`` becomes the optimum of channel ``channels[k]``, or -1 where its simple bound, min(Σ row maxima,
    Σ column maxima), is at most ``limit[k]``; where the rows' is far above it, the columns' is not asked.  Where
    `price` has rows, ``price[k, r]`` becomes the price of row r (0 where it has no entry).  `mates` gets the
    column of every row that has entries, -1 for none, channel after channel, in room for min(entries, terminals) each.
    """
    start, row, col, weight = loads
    ids = np.empty(terminals, np.int32)
    top = np.zeros(terminals, np.int64)
    ptr = np.empty(terminals + 1, np.int64)
    floors = Floors(np.zeros(terminals, np.int64), np.zeros(terminals, np.int64))
    matching = Assignment(
        np.empty(terminals, np.int32),
        np.empty(terminals, np.int32),
        np.empty(terminals, np.int64),
        np.empty(terminals, np.int64),
    )
    search = SearchSpace(
        np.empty(terminals, np.int64),
        np.empty(terminals, np.int32),
        np.full(terminals, -1, np.int32),
        np.empty(terminals, np.int32),
        np.empty(terminals, np.int32),
    )
    begin = 0
    for k in range(len(channels)):
        first, end = start[channels[k]], start[channels[k] + 1]
        offset = begin
        begin += min(end - first, terminals)
        n, bound = _rows_of(row, weight, first, end, ids, ptr)
        if bound >> 2 <= limit[k] < bound:
            bound = _column_maxima(col, weight, first, end, top)
        if bound <= limit[k]:
            value[k] = -1
            continue
        part = PairEntries(ptr, col[first:end], weight[first:end])
        assign(n, part, floors, matching, search)
        total = 0
        for i in range(n):
            total += matching.u[i]
            mates[offset + i] = matching.mate[i]
        for j in range(terminals):
            total += matching.v[j]
        value[k] = total
        if len(price) > 0:
            for r in range(terminals):
                price[k, r] = 0
            for i in range(n):
                price[k, ids[i]] = matching.u[i]


@kernel
def coarsen(channels: Array, loads: LoadsByChannel, limit: Array, price: Array, terminals: int, coarsest: int) -> None:
    """Round row prices up to the coarsest power of two that still proves `limit[k]` for channel ``channels[k]``."""
    start, row, col, weight = loads
    top = np.zeros(terminals, np.int64)
    for k in range(len(channels)):
        first, end = start[channels[k]], start[channels[k] + 1]
        shift = coarsest
        while shift > 0:
            step = 1 << shift
            total = 0
            for r in range(terminals):
                total += (price[k, r] + step - 1) // step * step
            for e in range(first, end):
                if total > limit[k]:
                    break
                p = (price[k, row[e]] + step - 1) // step * step
                over = weight[e] - p
                if over > top[col[e]]:
                    total += over - top[col[e]]
                    top[col[e]] = over
            for e in range(first, end):
                top[col[e]] = 0
            if total <= limit[k]:
                for r in range(terminals):
                    price[k, r] = (price[k, r] + step - 1) // step * step
                break
            shift -= 2


# Kernels: numbered paths of fat trees


class PairPaths(NamedTuple):
    """The numbers of the paths of every pair, and where the pair begins in a table of channels."""

    first: Array
    path: Array


class NumberedRoutes(NamedTuple):
    """The path number of every (row of alike hosts, host), and the hosts of a row.

    ``first[height, host]`` is the first link up from the host's sub-tree of each height, and into it; `parents` are
    those of the nodes of each level.
    """

    number: Array
    alike: int
    first: Array
    parents: Array


@kernel
def add_flows(routes: NumberedRoutes, source: Array, destination: Array, amount: Array, totals: Array) -> None:
    """Add the amount of every flow to ``totals[up, height, link]`` of the links of its path."""
    number, alike, first, parents = routes
    levels = len(parents)
    for f in range(len(source)):
        s, d = source[f], destination[f]
        turn = 0
        while turn < levels and first[turn, s] != first[turn, d]:
            turn += 1
        path = int(number[s // alike, d])
        for h in range(turn - 1, -1, -1):
            totals[1, h, first[h, s] + path] += amount[f]
            totals[0, h, first[h, d] + path] += amount[f]
            path //= parents[h]


@kernel
def same_paths(paths: PairPaths, image: PairPaths, channel: Array, balance: Array) -> bool:
    """Whether the paths of each pair become those of its image, in any order.

    Path w of pair p is identified by the channel ``channel[0, first[p] + w]``, for images ``channel[1, first[p] + w]``;
    nothing is compared where the first is negative. `balance` holds zeros before and after.
    """
    first, path = paths
    image_first, image_path = image
    same = True
    for p in range(len(first)):
        if first[p] < 0:
            continue
        for j in range(path.shape[1]):
            balance[channel[0, first[p] + path[p, j]]] += 1
            balance[channel[1, image_first[p] + image_path[p, j]]] -= 1
        for j in range(path.shape[1]):
            if balance[channel[0, first[p] + path[p, j]]] != 0:
                same = False
            if balance[channel[1, image_first[p] + image_path[p, j]]] != 0:
                same = False
            if not same:
                return False
    return same
