"""Kernels: the distributed algorithm boat by boat, without moves.

Whoever is not on a boat yields to boats, so what becomes of a packet depends only on packets of its own wave, sub-phase
and colour.  A claim on an edge is ``stamp * packets + packet``; every boat of every round has its own stamp.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from obliv.bufferless.kernels.draws import colour_of, rank_of, salt_of
from obliv.kernels import kernel

__all__ = ["CLASH", "CROWDED", "Riders", "boats"]

Array = Any

CLASH, CROWDED = -1, -2  # two confirmed packets on one link; rounds run out

# columns of `rule`
SEED, LAM, CHI, TAU, CAP, BOTH_FAIL = 0, 1, 2, 3, 4, 5
# columns of `given`
START, LEVEL, LENGTH, ENTER, BASE, LAST, SLOT = 0, 1, 2, 3, 4, 5, 6
# columns of `state`; AFTER and BESIDE lead to the next packet in a list of one colour, one level
FATE, HOME, COLOUR, AT, END, TIED, AFTER, BESIDE = 0, 1, 2, 3, 4, 5, 6, 7
TRYING, SURE, GONE = 0, 1, 2
# columns of `gone`
SUB, PART, TURN, MOVE = 0, 1, 2, 3


class Riders(NamedTuple):
    """Packets, the boats they try to get, and what is written down of it."""

    order: Array  # the packets as they enter
    rule: Array
    given: Array  # a row for every packet, as `state` and `gone`
    edge: Array  # the paths, one after another
    state: Array
    claim: Array  # of every edge
    bucket: Array  # of every level: the first packet of a list that begins there, -1 between boats
    active: Array  # room for every packet
    boat: Array  # of every colour: the first packet of its list, -1 if there is none
    live: Array  # the packets in the network
    member: Array  # those that ride in this sub-phase
    counts: Array  # the last stamp, single moves of this sub-phase, the row of the table where it went wrong
    ridden: Array  # becomes the colours of packets, of each phase after phase from its SLOT on
    gone: Array  # becomes sub-phase, part, round and move of every delivery
    # rows become phase, part, rounds, moves of members in the forward halves, members that stay, other packets in the
    # network, members that failed in the last round
    table: Array


@kernel
def better(state: Array, salt: int, p: int, q: int, place: int) -> bool:
    """Whether p takes the link from q."""
    if state[p, FATE] != state[q, FATE]:
        return bool(state[p, FATE] == SURE)
    mine, other = rank_of(salt, p, place), rank_of(salt, q, place)
    return mine < other or (mine == other and p < q)


@kernel
def ride(
    first: int, stamp: int, salt: int, both_fail: int, given: Array, edge: Array, state: Array, claim: Array,
    bucket: Array, active: Array,
) -> int:  # fmt: skip
    """One boat: the packets of the list that begins with `first`, level by level; how many fail, or CLASH.

    Boats are many and most have few packets; to be handed all of :class:`Riders` takes longer than those do.
    """
    low, high = len(bucket), -1
    p = first
    while p >= 0:
        here = given[p, LEVEL] + state[p, AT]
        state[p, BESIDE] = bucket[here]
        bucket[here] = p
        low, high = min(low, here), max(high, here)
        p = state[p, AFTER]
    base = stamp * len(given)
    failed = 0
    n = 0
    here = low
    while n > 0 or here <= high:
        if here <= high:
            p = bucket[here]
            bucket[here] = -1
            while p >= 0:
                active[n] = p
                n += 1
                p = state[p, BESIDE]
        for i in range(n):
            p = active[i]
            e = edge[given[p, START] + state[p, AT]]
            q = claim[e] - base
            if q < 0:
                claim[e] = base + p
                continue
            if state[p, FATE] == SURE and state[q, FATE] == SURE:
                return CLASH
            if state[p, FATE] == state[q, FATE]:
                state[p, TIED] = stamp
                state[q, TIED] = stamp
            if better(state, salt, p, q, here):
                claim[e] = base + p
        kept = 0
        for i in range(n):
            p = active[i]
            if claim[edge[given[p, START] + state[p, AT]]] != base + p:
                failed += 1
                continue
            state[p, AT] += 1
            if state[p, AT] == given[p, LENGTH]:
                state[p, FATE] = GONE
            elif both_fail == 1 and state[p, TIED] == stamp:
                failed += 1
            elif state[p, AT] == state[p, END]:
                state[p, FATE] = SURE
            else:
                active[kept] = p
                kept += 1
        n = kept
        here += 1
    return failed


@kernel
def board(size: int, phase: int, part: int, turn: int, salt: int, riders: Riders) -> int:
    """Colours are drawn and boats filled; the moves of packets that are there by going to and fro."""
    given, state, boat, gone, member = riders.given, riders.state, riders.boat, riders.gone, riders.member
    lam, chi = riders.rule[LAM], riders.rule[CHI]
    moves = 0
    boat[:] = -1
    for i in range(size):
        p = member[i]
        if state[p, FATE] == GONE:
            continue
        if state[p, FATE] == TRYING:
            state[p, COLOUR] = colour_of(salt, p, chi)
        if given[p, LENGTH] == 1 and part > 0:
            state[p, FATE] = GONE
            gone[p, TURN] = turn
            gone[p, MOVE] = part
            moves += part
            continue
        k = state[p, COLOUR]
        bottom = given[p, BASE] + (phase - given[p, ENTER]) * lam
        end = given[p, LENGTH]
        if phase < given[p, LAST] and given[p, LEVEL] + end >= bottom + lam:
            end = min(end, bottom + 2 * lam - 2 * k - 2 * chi * part + 1 - given[p, LEVEL])
        state[p, AT] = state[p, HOME]
        state[p, END] = end
        state[p, AFTER] = boat[k]
        boat[k] = p
    return moves


@kernel
def attempt(size: int, phase: int, part: int, turn: int, riders: Riders) -> int:
    """One round; how many fail, or CLASH."""
    rule, given, state, gone, counts = riders.rule, riders.given, riders.state, riders.gone, riders.counts
    edge, claim, boat, bucket, active = riders.edge, riders.claim, riders.boat, riders.bucket, riders.active
    salt = salt_of(rule[SEED], phase, part, turn)
    counts[1] += board(size, phase, part, turn, salt, riders)
    failed = 0
    for k in range(1, rule[CHI] + 1):
        p = boat[k]
        if p < 0:
            continue
        counts[0] += 1
        lost = ride(p, counts[0], salt, rule[BOTH_FAIL], given, edge, state, claim, bucket, active)
        if lost == CLASH:
            return CLASH
        failed += lost
        while p >= 0:
            move = rule[TAU]
            if state[p, FATE] == GONE:
                bottom = given[p, BASE] + (phase - given[p, ENTER]) * rule[LAM]
                move = 4 * k - 4 + given[p, LEVEL] + given[p, LENGTH] - bottom
                gone[p, TURN] = turn
                gone[p, MOVE] = move
            counts[1] += move
            p = state[p, AFTER]
    return failed


@kernel
def subphase(size: int, phase: int, part: int, made: int, riders: Riders) -> int:
    """Rounds until all succeed, and a row of the table; how many members stay in the network, CLASH or CROWDED."""
    given, state, gone, table = riders.given, riders.state, riders.gone, riders.table
    member, ridden = riders.member, riders.ridden
    riders.counts[1] = 0
    turn = 0
    failed = 1
    while failed > 0 and turn < riders.rule[CAP]:
        turn += 1
        failed = attempt(size, phase, part, turn, riders)
    left = 0
    for i in range(size):
        p = member[i]
        ridden[given[p, SLOT] + phase - given[p, ENTER]] = state[p, COLOUR]
        if state[p, FATE] == GONE:
            gone[p, SUB] = made
            gone[p, PART] = part
        else:
            state[p, HOME] = state[p, END] - 1
            left += 1
    table[made, 0] = phase
    table[made, 1] = part
    table[made, 2] = turn
    table[made, 3] = riders.counts[1]
    table[made, 4] = left
    table[made, 6] = failed
    if failed > 0:
        return CROWDED
    return CLASH if failed < 0 else left


@kernel
def boats(riders: Riders) -> int:
    """All phases; how many sub-phases have members, or CLASH or CROWDED."""
    order, given, state, live, member = riders.order, riders.given, riders.state, riders.live, riders.member
    entered = 0
    n = 0
    made = 0
    phase = 0
    while entered < len(order) or n > 0:
        phase = phase + 1 if n > 0 else given[order[entered], ENTER]
        while entered < len(order) and given[order[entered], ENTER] == phase:
            live[n] = order[entered]
            n += 1
            entered += 1
        others = 0
        for part in range(3):
            size = 0
            for i in range(n):
                p = live[i]
                mine = 0 if phase > given[p, ENTER] else 1 + (given[p, LEVEL] - given[p, BASE]) % 2
                if mine == part:
                    member[size] = p
                    state[p, FATE] = TRYING
                    size += 1
            if size == 0:
                continue
            riders.table[made, 5] = others
            left = subphase(size, phase, part, made, riders)
            if left < 0:
                riders.counts[2] = made
                return int(left)
            made += 1
            others += left
        kept = 0
        for i in range(n):
            if state[live[i], FATE] != GONE:
                live[kept] = live[i]
                kept += 1
        n = kept
    return made
