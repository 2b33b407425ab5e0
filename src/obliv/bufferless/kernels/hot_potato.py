"""Kernels: greedy hot potato.  Edge e is two directed links, 2e up and 2e + 1 down; ``link ^ 1`` is the way back."""

from __future__ import annotations

from typing import Any

from obliv.kernels import kernel

__all__ = ["collect", "leaving", "steps"]

Array = Any

PRIME = 2**31 - 1


@kernel
def leaving(low: Array, high: Array, first: Array, link: Array) -> None:
    """The links that leave every node: ``link[first[v] : first[v + 1]]``, upward ones first; `first` is zeros."""
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
    """The key of a packet, smaller is better; with `mix` other than 0 a fresh one, affine in its tie."""
    if mix != 0:
        return int((tie[p] * mix + shift) % PRIME)
    return int((by_time * int(entered[p]) + by_left * int(remaining[p])) * 4294967296 + tie[p])


@kernel
def steps(
    start: Array,
    edge: Array,
    low: Array,
    high: Array,
    first: Array,
    link: Array,
    group: Array,
    head: Array,
    tail: Array,
    line: Array,
    by_time: int,
    by_left: int,
    fresh: int,
    tie: Array,
    at: Array,
    want: Array,
    entered: Array,
    remaining: Array,
    delivery: Array,
    top: Array,
    pushed: Array,
    below: Array,
    claim: Array,
    active: Array,
    draw: Array,
    who: Array,
    over: Array,
    state: Array,
    limit: int,
) -> None:
    """Steps until all packets are there, or time `limit` is reached, or a log, pool or store of draws may not suffice.

    Packets outside stand in groups of one first edge each, group g being ``line[head[g] : tail[g]]``, best first;
    `group` lists those that are not empty.  Packet p wants the link ``want[p]``; the links that it has to go back are
    ``pushed[top[p]]``, ``pushed[below[top[p]]]``, ...; free entries of that pool form a list of the same kind.
    ``claim[l]`` is who takes link l at this step, -1 between steps.  Moves are logged as packet `who` and link `over`.
    `state`: time, packets active, groups, moves logged, numbers drawn used, head of the free list, its length,
    deflections, deepest stack.
    """
    now = state[0]
    count = state[1]
    groups = state[2]
    logged = state[3]
    drawn = state[4]
    free = state[5]
    spare = state[6]
    deflections = state[7]
    deepest = state[8]
    mix = 0
    shift = 0
    while count > 0 or groups > 0:
        if now >= limit or logged + count + groups > len(who) or drawn + count + 2 > len(draw) or count > spare:
            break
        now += 1
        if fresh:
            mix = 1 + draw[drawn] % (PRIME - 1)
            shift = draw[drawn + 1]
            drawn += 2

        # the best claimant of every link
        for i in range(count):
            p = active[i]
            rival = claim[want[p]]
            if rival < 0:
                claim[want[p]] = p
            else:
                mine = rank(p, tie, entered, remaining, by_time, by_left, mix, shift)
                if mine < rank(rival, tie, entered, remaining, by_time, by_left, mix, shift):
                    claim[want[p]] = p

        # the others take any link that is free; there is one, since all came to the node over links of their own
        for i in range(count):
            p = active[i]
            wish = want[p]
            who[logged + i] = p
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

        # injection over what is free still
        kept = 0
        moving = count
        for i in range(groups):
            g = group[i]
            p = line[head[g]]
            if claim[want[p]] < 0:
                claim[want[p]] = p
                who[logged + moving] = p
                over[logged + moving] = want[p]
                entered[p] = now
                moving += 1
                head[g] += 1
            if head[g] < tail[g]:
                group[kept] = g
                kept += 1
        groups = kept

        # moves
        count = 0
        for i in range(logged, logged + moving):
            p = who[i]
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
        logged += moving
    state[0] = now
    state[1] = count
    state[2] = groups
    state[3] = logged
    state[4] = drawn
    state[5] = free
    state[6] = spare
    state[7] = deflections
    state[8] = deepest


@kernel
def collect(who: Array, over: Array, cursor: Array, edge: Array, up: Array) -> None:
    """Sort logged moves by packet, each packet's in the order logged; `cursor` says where its next one goes."""
    for i in range(len(who)):
        p = who[i]
        edge[cursor[p]] = over[i] >> 1
        up[cursor[p]] = (over[i] & 1) == 0
        cursor[p] += 1
