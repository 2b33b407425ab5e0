"""Kernels: greedy hot potato.  Edge e is two directed links, 2e up and 2e + 1 down; ``link ^ 1`` is the way back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["TALLY", "Game", "Keys", "Log", "Pool", "Queue", "collect", "leaving", "steps"]

PRIME = 2**31 - 1

#: Time; packets in the network; groups outside; logged moves; random numbers used; head of the list of free entries of
#: the pool, and its length; deflections; deepest stack.
TALLY = np.dtype(
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


class Queue(NamedTuple):
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


class Log(NamedTuple):
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
def deflect(count: int, game: Game, log: Log) -> None:
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
def inject(now: int, moving: int, game: Game, queue: Queue, log: Log) -> int:
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
def move(now: int, moving: int, game: Game, pool: Pool, log: Log) -> None:
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
def steps(game: Game, keys: Keys, queue: Queue, pool: Pool, log: Log, limit: int) -> None:
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
