"""Kernels: permutations with their largest loads, cycles of directed graphs, next hops, draws of paths, disjoint pairs.

A word of 64 bits holds the loads of several channels side by side, in lanes wide enough that no permutation makes one
overflow, with a bit to spare; adding words adds all lanes at once.  An entry names a word (its low `shift` bits) and a
value (the bits above); a pair of terminals p = source · n + destination adds its entries on top of what `base` holds
for every permutation.  Every pair has `width` entries, 2 to 4, in `first`; where that is too few, the rest follow in
`rest`, by fours ``rest_ptr[p] .. rest_ptr[p + 1]``.  So nearly all branches go the same way for every pair; with a
loop over as many entries as each pair has, its mispredicted ends cost more than the sums.  The channels of a group are
the lanes of the sum of `depth` words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel


class PairEntries(NamedTuple):
    """The loads of all pairs in words of several channels, as the module describes them."""

    base: Array
    width: int
    first: Array
    rest_ptr: Array
    rest: Array
    shift: int
    value: Array
    depth: int
    group: Array
    bits: int
    lanes: int


@kernel
def _add(words: Array, value: Array, entry: Any, shift: Any, low: Any) -> None:
    words[np.uint64(entry) & low] += value[np.uint64(entry) >> shift]


@kernel
def largest_loads(images: Array, pairs: PairEntries, words: Array, out: Array) -> None:
    """Find the largest load of each row of `images`, a permutation.

    `words` is scratch for as many words as the base has.
    """
    base, width, first, rest_ptr, rest, shift, value, depth, group, bits, lanes = pairs
    count, n = images.shape
    above = np.uint64(shift)
    low = (np.uint64(1) << above) - np.uint64(1)
    full = (1 << (bits + 1)) - 1
    ones = 0
    for _ in range(lanes):
        ones = (ones << (bits + 1)) | 1
    spare = ones << bits
    late = np.empty(n + 1, np.int64)  # the pairs with more entries
    some_late = len(rest) > 0
    for p in range(count):
        for k in range(len(base)):
            words[k] = base[k]
        end = 0
        for i in range(n):
            pair = i * n + images[p, i]
            at = pair * width
            _add(words, value, first[at], above, low)
            _add(words, value, first[at + 1], above, low)
            if width > 2:
                _add(words, value, first[at + 2], above, low)
            if width > 3:
                _add(words, value, first[at + 3], above, low)
            if some_late:
                late[end] = pair
                end += rest_ptr[pair + 1] > rest_ptr[pair]
        for i in range(end):
            for four in range(rest_ptr[late[i]], rest_ptr[late[i] + 1]):
                _add(words, value, rest[4 * four], above, low)
                _add(words, value, rest[4 * four + 1], above, low)
                _add(words, value, rest[4 * four + 2], above, low)
                _add(words, value, rest[4 * four + 3], above, low)
        top = 0  # in each lane the largest of all groups
        for g in range(len(group) // depth):
            total = 0
            for k in range(g * depth, g * depth + depth):
                total += words[group[k]]
            greater = ((top | spare) - total) & spare
            top = total ^ ((total ^ top) & (greater - (greater >> bits)))
        best = 0
        for _ in range(lanes):
            best = max(best, top & full)
            top >>= bits + 1
        out[p] = best


@kernel
def random_permutations(seed: int, block: int, images: Array) -> None:
    """Fill the rows of `images` with random permutations; seed and block alone decide which.

    Numbers come from splitmix64, two of 32 bits a step.  Each gives up to three exchanges of the shuffle without bias:
    the whole part of number · size is one, what is left over serves the next size, and the last leftover says, as it
    does for a single size, when to draw anew (Brackett-Rozinsky and Lemire, Batched ranged random integers, 2024).
    """
    gamma = np.uint64(0x9E3779B97F4A7C15)
    fraction = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    one = np.uint64(1)
    state = np.uint64(seed)
    for salt in (np.uint64(block), np.uint64(0)):  # so that neighboring seeds and blocks have nothing in common
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) + salt * gamma
    count, n = images.shape
    left = 0
    pool = np.uint64(0)
    for p in range(count):
        for i in range(n):
            images[p, i] = i
        i = n - 1
        while i > 0:
            three = i < 1600  # then three sizes multiply to less than 2^32
            size = np.uint64(i + 1)
            second = size - one if three else one
            third = second - one if three and i > 1 else one
            whole = size * second * third
            while True:
                if left == 0:
                    state += gamma
                    pool = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                    pool = (pool ^ (pool >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                    pool = pool ^ (pool >> np.uint64(31))
                    left = 2
                a = (pool & fraction) * size
                b = (a & fraction) * second
                c = (b & fraction) * third
                pool = pool >> half
                left -= 1
                over = c & fraction
                if over >= whole or over >= (np.uint64(1 << 32) - whole) % whole:
                    break
            j = np.int64(a >> half)
            other = images[p, j]
            images[p, j] = images[p, i]
            images[p, i] = other
            if not three:
                i -= 1
                continue
            if i > 1:
                j = np.int64(b >> half)
                other = images[p, j]
                images[p, j] = images[p, i - 1]
                images[p, i - 1] = other
            if i > 2:
                j = np.int64(c >> half)
                other = images[p, j]
                images[p, j] = images[p, i - 2]
                images[p, i - 2] = other
            i -= 3


@kernel
def all_permutations(images: Array) -> None:
    """Fill the n! rows of `images` with all permutations, by Heap's exchanges."""
    n = images.shape[1]
    count = np.zeros(n + 1, np.int64)
    for i in range(n):
        images[0, i] = i
    k = 1
    i = 1
    while i < n:
        if count[i] < i:
            for other in range(n):
                images[k, other] = images[k - 1, other]
            j = 0 if i % 2 == 0 else count[i]
            images[k, j] = images[k - 1, i]
            images[k, i] = images[k - 1, j]
            k += 1
            count[i] += 1
            i = 1
        else:
            count[i] = 0
            i += 1


# Kernel: the part of a directed graph that contains its cycles


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


# Kernels: packets along next hops, destination by destination, and which virtual channel of a channel follows which


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


# Kernel: samples of the largest load where flows draw their paths


class Lots(NamedTuple):
    """What flows draw, and what a channel carries always.

    Flows of type t are ``flows[t]``, each of ``weight[t]`` units. They take path ``first[t] + k`` where a number below
    2^32 is at least ``bound[first[t] + k - 1]`` and less than ``bound[first[t] + k]``; a type has `even` paths, if they
    are equally likely, else 0. Load times `scale` compares channels.
    """

    flows: Array
    weight: Array
    first: Array
    even: Array
    bound: Array
    path: Array
    base: Array
    scale: Array


@kernel
def largest_drawn_loads(seed: int, block: int, lots: Lots, load: Array, out: Array) -> None:
    """Fill `out` with samples of the largest load, times its scale; seed and block alone decide which.

    Numbers come from splitmix64, two of 32 bits a step; `load` is scratch for all channels.
    """
    flows, weight, first, even, bound, path, base, scale = lots
    gamma = np.uint64(0x9E3779B97F4A7C15)
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    state = np.uint64(seed)
    for salt in (np.uint64(block), np.uint64(0)):  # so that neighboring seeds and blocks have nothing in common
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) + salt * gamma
    least = 0
    for c in range(len(base)):
        least = max(least, base[c] * scale[c])
    width = path.shape[1]
    spare = False
    pool = np.uint64(0)
    for at in range(len(out)):
        for c in range(len(base)):
            load[c] = base[c]
        best = least
        for t in range(len(flows)):
            for _ in range(flows[t]):
                if spare:
                    number = pool >> half
                else:
                    state += gamma
                    pool = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                    pool = (pool ^ (pool >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                    pool = pool ^ (pool >> np.uint64(31))
                    number = pool & low
                spare = not spare
                k = first[t]
                if even[t] > 0:
                    k += np.int64((number * np.uint64(even[t])) >> half)
                else:
                    while np.int64(number) >= bound[k]:
                        k += 1
                for step in range(width):
                    c = path[k, step]
                    if c < 0:
                        break
                    load[c] += weight[t]
                    best = max(best, load[c] * scale[c])
        out[at] = best


# Kernels: node-disjoint pairs on the links of a fat tree under a routing of single paths.
#
# ``path[r, d]`` is the number of the path from the hosts r · alike .. (r + 1) · alike - 1, which share it, to host d;
# see :class:`obliv.topologies.trees.Tree` for numbers of paths and of links. ``port[turn, path]`` is the part of it
# that tells links of one height apart, and a link of a height is (sub-tree, port).


class RowRoutes(NamedTuple):
    """The path number of every (row of hosts, host), how many hosts share a row, and the hosts below each level."""

    path: Array
    alike: int
    below: Array


class Side(NamedTuple):
    """The links of one height and direction: the port of every (turn, path number), and how many ports there are."""

    port: Array
    height: int
    up: bool
    ports: int


class Adjacency(NamedTuple):
    """The hosts that rows have pairs with on a link: row r those of ``to[ptr[r]:ptr[r + 1]]``."""

    ptr: Array
    to: Array


class RowSearch(NamedTuple):
    """Scratch of a search: the host that a row would give up, the row that would take it, and the rows to visit."""

    via: Array
    before: Array
    queue: Array


@kernel
def _turn(a: int, b: int, below: Array) -> int:
    level = 0
    while a // below[level] != b // below[level]:
        level += 1
    return level


@kernel
def link_bounds(routes: RowRoutes, side: Side, sources: Array, destinations: Array) -> None:
    """Count the sources and the destinations of the pairs on every link of one side."""
    path, alike, below = routes
    port, height, up, ports = side
    rows, hosts = path.shape
    size = below[height]
    row_size = max(1, size // alike)
    last = np.empty(ports, np.int64)
    seen = np.empty((row_size if up else size, ports), np.bool_)
    for sub in range(hosts // size):
        last[:] = -1
        seen[:] = False
        base = sub * ports
        if up:
            for d in range(hosts):
                turn = _turn(sub * size, d, below)
                if turn <= height:
                    continue
                for r in range(row_size):
                    p = port[turn, path[sub * row_size + r, d]]
                    if last[p] != d:
                        last[p] = d
                        destinations[base + p] += 1
                    if not seen[r, p]:
                        seen[r, p] = True
                        sources[base + p] += alike
        else:
            for r in range(rows):
                turn = _turn(r * alike, sub * size, below)
                if turn <= height:
                    continue
                for d in range(size):
                    p = port[turn, path[r, sub * size + d]]
                    if last[p] != r:
                        last[p] = r
                        sources[base + p] += alike
                    if not seen[d, p]:
                        seen[d, p] = True
                        destinations[base + p] += 1


@kernel
def _mark(row: int, routes: RowRoutes, side: Side, port: int, first: int, used: Array) -> int:
    """Mark the hosts from `first` on that a row reaches through a port; return how many there are."""
    path, alike, below = routes
    count = 0
    for k in range(len(used)):
        turn = _turn(row * alike, first + k, below)
        used[k] = turn > side.height and side.port[turn, path[row, first + k]] == port
        count += used[k]
    return count


@kernel
def _pairs_on_link(routes: RowRoutes, side: Side, link: int) -> Adjacency:
    """Return the pairs of rows and hosts whose path uses a link."""
    rows, hosts = routes.path.shape
    sub, port = link // side.ports, link % side.ports
    size = routes.below[side.height]
    first_row, end_row = (sub * size // routes.alike, (sub + 1) * size // routes.alike) if side.up else (0, rows)
    first_host = 0 if side.up else sub * size
    used = np.zeros(hosts if side.up else size, np.bool_)
    ptr = np.zeros(rows + 1, np.int64)
    for r in range(rows):
        inside = first_row <= r < end_row
        ptr[r + 1] = ptr[r] + (_mark(r, routes, side, port, first_host, used) if inside else 0)
    to = np.empty(ptr[rows], np.int64)
    for r in range(first_row, end_row):
        _mark(r, routes, side, port, first_host, used)
        at = ptr[r]
        for host in range(len(used)):
            if used[host]:
                to[at] = first_host + host
                at += 1
    return Adjacency(ptr, to)


@kernel
def _augment(root: int, pairs: Adjacency, owner: Array, reached: Array, search: RowSearch) -> bool:
    """Give a row one more host, moving others on along a shortest alternating path; False where there is no path.

    The rows on alternating paths are marked in `reached`, which is cleared where a path is found.
    """
    ptr, to = pairs
    via, before, queue = search
    head, tail = 0, 1
    queue[0] = root
    reached[root] = True
    before[root] = -1
    while head < tail:
        r = queue[head]
        head += 1
        for e in range(ptr[r], ptr[r + 1]):
            d = to[e]
            other = owner[d]
            if other < 0:
                while r >= 0:
                    owner[d] = r
                    d = via[r]
                    r = before[r]
                for k in range(tail):
                    reached[queue[k]] = False
                return True
            if not reached[other]:
                reached[other] = True
                via[other] = d
                before[other] = r
                queue[tail] = other
                tail += 1
    return False


@kernel
def match_link(routes: RowRoutes, side: Side, link: int, enough: int, owner: Array, reached: Array) -> int:
    """Find the largest number of node-disjoint pairs on a link; stop at `enough`.

    On return ``owner[d]`` is the row that destination d is matched to, or -1, and ``reached[r]`` says whether row r is
    on an alternating path from a row that could send more: the rows that are not, and the destinations that those that
    are have pairs with, cover all pairs.
    """
    pairs = _pairs_on_link(routes, side, link)
    ptr, to = pairs
    rows = len(reached)
    owner[:] = -1
    reached[:] = False
    sent = np.zeros(rows, np.int64)
    total = 0
    for r in range(rows):
        for e in range(ptr[r], ptr[r + 1]):
            if sent[r] < routes.alike and owner[to[e]] < 0:
                owner[to[e]] = r
                sent[r] += 1
                total += 1
    search = RowSearch(np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64))
    for root in range(rows):
        while sent[root] < routes.alike and ptr[root + 1] > ptr[root] and not reached[root] and total < enough:
            if _augment(root, pairs, owner, reached, search):
                sent[root] += 1
                total += 1
    return total
