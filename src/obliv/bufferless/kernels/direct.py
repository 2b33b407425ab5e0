"""Kernels: direct schedules by first fit over masks of offsets, store and forward, greedy hot potato, and paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

BITS = 63  # of a word, so that it never has a sign
FULL = 2**63 - 1


class Fit(NamedTuple):
    """Packets that choose offsets one after another; a place is a position in `order`."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    order: Array  # the packets in the order in which they choose
    first: Array  # of every packet: its lowest offset
    joins: Array  # places, by the word of the first offset, ascending within a word
    joins_start: Array  # of every word: where it begins in `joins`; then the end of the last
    mask: Array  # of every edge: zero; the offsets in use in the current word
    waiting: Array  # room for a place of every packet
    fitted: Array  # room for every packet
    offset: Array  # becomes the offset of every packet


@kernel
def merge(joins: Array, low: int, high: int, waiting: Array, count: int) -> int:
    """Merge the places ``joins[low:high]`` into the first `count` of `waiting`, all ascending; return their number."""
    i = count - 1
    j = high - 1
    k = count + high - low - 1
    while j >= low:
        if i >= 0 and waiting[i] > joins[j]:
            waiting[k] = waiting[i]
            i -= 1
        else:
            waiting[k] = joins[j]
            j -= 1
        k -= 1
    return count + high - low


@kernel
def first_fit(fit: Fit) -> None:
    """Give every packet, in `order`, the lowest offset from ``first`` on that no earlier one on its path has.

    Offsets are searched word by word: whether a packet fits in a word depends only on earlier packets in that word, so
    all packets are tried in the first word, the others in the next one, and every edge needs a single word of `mask`.
    """
    start, edge, order, first, mask, waiting = fit.start, fit.edge, fit.order, fit.first, fit.mask, fit.waiting
    count = 0
    word = 0
    words = len(fit.joins_start) - 1
    while count > 0 or word < words:
        if word < words:
            count = merge(fit.joins, fit.joins_start[word], fit.joins_start[word + 1], waiting, count)
        rest = 0
        fitting = 0
        touched = 0
        for i in range(count):
            place = waiting[i]
            p = order[place]
            begin = start[p]
            end = start[p + 1]
            bit = int(first[p]) - word * BITS
            taken = 0
            if bit > 0:
                taken = (1 << bit) - 1
            for k in range(begin, end):
                taken |= mask[edge[k]]
                if taken == FULL:
                    break
            if taken == FULL:
                waiting[rest] = place
                rest += 1
                continue
            free = ~taken & (taken + 1)
            for k in range(begin, end):
                mask[edge[k]] |= free
            bit = 0
            while free > 1:
                free >>= 1
                bit += 1
            fit.offset[p] = word * BITS + bit
            fit.fitted[fitting] = p
            fitting += 1
            touched += end - begin
        count = rest
        word += 1
        if count > 0 or word < words:
            if touched > len(mask):
                mask[:] = 0
            else:
                for i in range(fitting):
                    p = fit.fitted[i]
                    for k in range(start[p], start[p + 1]):
                        mask[edge[k]] = 0


# Kernels: store and forward.  Every edge has its waiting packets in a heap (a skew heap, smallest key on top)


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


# Kernels: greedy hot potato.  Edge e is two directed links, 2e up and 2e + 1 down; ``link ^ 1`` is the way back


PRIME = 2**31 - 1

#: Time; packets in the network; groups outside; logged moves; random numbers used; head of the list of free entries of
#: the pool, and its length; deflections; deepest stack.
HOT_POTATO_TALLY = np.dtype(
    [
        (name, np.int64)
        for name in ("now", "active", "groups", "logged", "drawn", "free", "spare", "deflections", "deepest")
    ]
)


class Keys(NamedTuple):
    """The key of a packet, the smallest is best: ``by_time·entered + by_left·remaining``, then `tie`."""

    by_time: int
    by_left: int
    fresh: bool  # new random keys in every step instead
    tie: Array  # of every packet


class EdgeQueue(NamedTuple):
    """Packets outside, in groups with the same first edge: group g is ``line[head[g] : tail[g]]``, best first."""

    group: Array  # the groups that are not empty
    head: Array
    tail: Array
    line: Array


class Pool(NamedTuple):
    """Stacks of links to retrace: ``pushed[top[p]]``, ``pushed[below[top[p]]]``, ... for packet p, -1 at the end."""

    top: Array
    pushed: Array
    below: Array


class MoveLog(NamedTuple):
    """Moves: packet and link."""

    packet: Array
    over: Array  # a link


class Game(NamedTuple):
    """The network, the packets and what they do."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    low: Array  # of every edge: its ends
    high: Array
    first: Array  # of every node: where the links that leave it begin in `link`; then the end of the last
    link: Array
    at: Array  # of every packet: its next entry of `edge`
    want: Array  # the link that it wants
    entered: Array
    remaining: Array  # links to go, to retrace and then ahead
    delivery: Array
    claim: Array  # of every link: the packet that takes it in this step, -1 between steps
    active: Array  # the packets in the network
    draw: Array  # random numbers below 2^31
    tally: Array  # one TALLY


@kernel
def leaving(low: Array, high: Array, first: Array, link: Array) -> None:
    """List the links that leave every node: ``link[first[v] : first[v + 1]]``, upward ones first; `first` is zeros."""
    edges = len(low)
    nodes = len(first) - 1
    for e in range(edges):
        first[low[e]] += 1
        first[high[e]] += 1
    total = 0
    for v in range(nodes):
        total += first[v]
        first[v] = total
    first[nodes] = total
    for back in range(edges):
        e = edges - 1 - back
        first[high[e]] -= 1
        link[first[high[e]]] = 2 * e + 1
    for back in range(edges):
        e = edges - 1 - back
        first[low[e]] -= 1
        link[first[low[e]]] = 2 * e


@kernel
def rank(p: int, tie: Array, entered: Array, remaining: Array, by_time: int, by_left: int, mix: int, shift: int) -> int:
    """Return the key of a packet; with `mix` other than 0 a random one, affine in its tie."""
    if mix != 0:
        return int((tie[p] * mix + shift) % PRIME)
    return int((by_time * int(entered[p]) + by_left * int(remaining[p])) * 4294967296 + tie[p])


@kernel
def compete(count: int, game: Game, keys: Keys) -> None:
    """Give every wanted link to the best of the first `count` active packets that want it."""
    active, want, claim, tally = game.active, game.want, game.claim, game.tally
    tie, entered, remaining, by_time, by_left = keys.tie, game.entered, game.remaining, keys.by_time, keys.by_left
    mix = 0
    shift = 0
    if keys.fresh:
        drawn = tally["drawn"][0]
        mix = 1 + game.draw[drawn] % (PRIME - 1)
        shift = game.draw[drawn + 1]
        tally["drawn"][0] = drawn + 2
    for i in range(count):
        p = active[i]
        rival = claim[want[p]]
        if rival < 0:
            claim[want[p]] = p
        else:
            mine = rank(p, tie, entered, remaining, by_time, by_left, mix, shift)
            if mine < rank(rival, tie, entered, remaining, by_time, by_left, mix, shift):
                claim[want[p]] = p


@kernel
def deflect(count: int, game: Game, log: MoveLog) -> None:
    """Log the links of the first `count` active packets: wanted ones, or random free ones of their nodes.

    There is always a free link, since packets came to a node over different links.
    """
    active, want, claim, draw, tally = game.active, game.want, game.claim, game.draw, game.tally
    low, high, first, link = game.low, game.high, game.first, game.link
    packet, over = log.packet, log.over
    logged = tally["logged"][0]
    drawn = tally["drawn"][0]
    for i in range(count):
        p = active[i]
        wish = want[p]
        packet[logged + i] = p
        over[logged + i] = wish
        if claim[wish] == p:
            continue
        node = low[wish >> 1]
        if wish & 1:
            node = high[wish >> 1]
        choices = 0
        for k in range(first[node], first[node + 1]):
            if claim[link[k]] < 0:
                choices += 1
        pick = (draw[drawn] * choices) >> 31
        drawn += 1
        for k in range(first[node], first[node + 1]):
            if claim[link[k]] < 0:
                if pick == 0:
                    claim[link[k]] = p
                    over[logged + i] = link[k]
                    break
                pick -= 1
    tally["drawn"][0] = drawn


@kernel
def inject(now: int, moving: int, game: Game, queue: EdgeQueue, log: MoveLog) -> int:
    """Let the best packet of every group enter if its link is free; return how many packets move."""
    want, claim, entered, tally = game.want, game.claim, game.entered, game.tally
    group, head, tail, line = queue.group, queue.head, queue.tail, queue.line
    logged = tally["logged"][0]
    groups = 0
    for i in range(tally["groups"][0]):
        g = group[i]
        p = line[head[g]]
        if claim[want[p]] < 0:
            claim[want[p]] = p
            log.packet[logged + moving] = p
            log.over[logged + moving] = want[p]
            entered[p] = now
            moving += 1
            head[g] += 1
        if head[g] < tail[g]:
            group[groups] = g
            groups += 1
    tally["groups"][0] = groups
    return moving


@kernel
def move(now: int, moving: int, game: Game, pool: Pool, log: MoveLog) -> None:
    """Make the last `moving` logged moves; deflected packets get a link to retrace."""
    start, edge, at, want, remaining = game.start, game.edge, game.at, game.want, game.remaining
    delivery, claim, active, tally = game.delivery, game.claim, game.active, game.tally
    top, pushed, below = pool.top, pool.pushed, pool.below
    packet, over = log.packet, log.over
    logged = tally["logged"][0]
    free = tally["free"][0]
    spare = tally["spare"][0]
    deflections = tally["deflections"][0]
    deepest = tally["deepest"][0]
    count = 0
    for i in range(logged, logged + moving):
        p = packet[i]
        taken = over[i]
        claim[taken] = -1
        if taken == want[p]:
            remaining[p] -= 1
            if top[p] < 0:
                at[p] += 1
                if at[p] == start[p + 1]:
                    delivery[p] = now
                    continue
            else:
                back = below[top[p]]
                below[top[p]] = free
                free = top[p]
                spare += 1
                top[p] = back
        else:
            remaining[p] += 1
            entry = free
            free = below[entry]
            spare -= 1
            pushed[entry] = taken
            below[entry] = top[p]
            top[p] = entry
            deflections += 1
            deepest = max(deepest, remaining[p] - (start[p + 1] - at[p]))
        if top[p] < 0:
            want[p] = 2 * edge[at[p]]
        else:
            want[p] = pushed[top[p]] ^ 1
        active[count] = p
        count += 1
    tally["active"][0] = count
    tally["logged"][0] = logged + moving
    tally["free"][0] = free
    tally["spare"][0] = spare
    tally["deflections"][0] = deflections
    tally["deepest"][0] = deepest


@kernel
def steps(game: Game, keys: Keys, queue: EdgeQueue, pool: Pool, log: MoveLog, limit: int) -> None:
    """Run until all packets have arrived, or time `limit`, or until log, pool or random numbers may not suffice."""
    tally = game.tally
    while tally["active"][0] > 0 or tally["groups"][0] > 0:
        now = tally["now"][0]
        count = tally["active"][0]
        if (
            now >= limit
            or tally["logged"][0] + count + tally["groups"][0] > len(log.packet)
            or tally["drawn"][0] + count + 2 > len(game.draw)
            or count > tally["spare"][0]
        ):
            break
        now += 1
        tally["now"][0] = now
        compete(count, game, keys)
        deflect(count, game, log)
        moving = inject(now, count, game, queue, log)
        move(now, moving, game, pool, log)


@kernel
def collect(packet: Array, over: Array, cursor: Array, edge: Array, up: Array) -> None:
    """Sort logged moves by packet, each packet's in the order logged; `cursor` is the position of its next move."""
    for i in range(len(packet)):
        p = packet[i]
        edge[cursor[p]] = over[i] >> 1
        up[cursor[p]] = (over[i] & 1) == 0
        cursor[p] += 1


# Kernels: paths of leveled networks, written edge by edge into one array, packet after packet


@kernel
def mesh(n: int, m: int, down: int, right: int, source: Array, start: Array, step: Array, edge: Array) -> None:
    """Follow steps down (1) and to the side (0); `down` and `right` are 1, or -1 in the other orientation."""
    for p in range(len(source)):
        x = int(source[p]) // m
        y = int(source[p]) % m
        for at in range(start[p], start[p + 1]):
            if step[at]:
                edge[at] = (x if down > 0 else x - 1) * m + y
                x += down
            else:
                edge[at] = (n - 1) * m + x * (m - 1) + (y if right > 0 else y - 1)
                y += right


@kernel
def moves(downs: Array, start: Array, uniform: Array, step: Array) -> None:
    """Draw random orders of steps down and to the side, all equally likely; one uniform number from [0, 1) a step."""
    for p in range(len(downs)):
        left = int(downs[p])
        for at in range(start[p], start[p + 1]):
            if uniform[at] * (start[p + 1] - at) < left:
                step[at] = 1
                left -= 1
            else:
                step[at] = 0


@kernel
def walks(first: Array, out: Array, high: Array, source: Array, start: Array, draw: Array, edge: Array) -> None:
    """Walk at random: node v has the edges ``out[first[v]:first[v + 1]]``; -1 where a walk can go no further."""
    for p in range(len(source)):
        node = int(source[p])
        for at in range(start[p], start[p + 1]):
            degree = first[node + 1] - first[node]
            if degree == 0:
                edge[at] = -1
            else:
                edge[at] = out[first[node] + draw[at] % degree]
                node = int(high[edge[at]])
