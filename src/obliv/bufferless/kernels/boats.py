"""Kernels: the distributed algorithm boat by boat, without moves, and its counter-based random numbers.

A packet that is not on a boat yields to those that are, so the fate of a packet depends only on packets of its own
wave, sub-phase and color.  A claim on an edge is ``stamp * packets + packet``; every boat of every round has its own
stamp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

# Kernels: counter-based random numbers, so that the same draw always gives the same number.
#
# All numbers are below 2^31, so that products fit 63 bits and the interpreter and machine code agree.


BITS = 31
MASK = 2**31 - 1


@kernel
def mix(number: int) -> int:
    """Return a scrambled number below 2^31; a permutation of those numbers."""
    number = (int(number) + 0x1E3779B9) & MASK
    number = ((number ^ (number >> 16)) * 0x7FEB352D) & MASK
    number = ((number ^ (number >> 15)) * 0x46CA68B5) & MASK
    return number ^ (number >> 16)


@kernel
def salt_of(seed: int, phase: int, part: int, turn: int) -> int:
    """Return the number that all draws of a round start from."""
    return int(mix(mix(mix(seed ^ phase) ^ part) ^ turn))


@kernel
def color_of(salt: int, packet: int, boats: int) -> int:
    """Return the color that a packet draws, uniform in 1..boats."""
    return 1 + ((int(mix(salt ^ packet)) * boats) >> BITS)


@kernel
def rank_of(salt: int, packet: int, place: int) -> int:
    """Return a packet's rank among those that meet at a place: a level, or the number of a move."""
    return int(mix(mix(salt ^ packet) ^ place))


CLASH, CROWDED = -1, -2  # two confirmed packets on one link; rounds run out
TRYING, SURE, GONE = 0, 1, 2  # fates

#: A packet's path (its first entry in `edge`, level, and edges), the phase in which it enters, the first level of that
#: phase's frame, the phase in which its wave is in the last frame of the group, and its first entry in `ridden`.
ROUTE = np.dtype([(name, np.int64) for name in ("start", "level", "length", "enter", "base", "last", "slot")])
#: A packet in a sub-phase: its fate, position on the path at the start, color, position, and the position at which it
#: succeeds; the last boat on which it met a rival; the next packet in the list of its color, and of its level.
RIDER = np.dtype([(name, np.int64) for name in ("fate", "home", "color", "at", "end", "tied", "after", "beside")])
#: When a packet is delivered: sub-phase, part, round and move.
DELIVERY = np.dtype([(name, np.int64) for name in ("sub", "part", "turn", "move")])
#: A sub-phase: phase, part and rounds; moves of members in the forward halves; members that stay in the network; other
#: packets in the network; members that failed in the last round.
SUBPHASE = np.dtype([(name, np.int64) for name in ("phase", "part", "rounds", "forward", "left", "others", "failed")])
#: The last stamp, the moves of this sub-phase, and the sub-phase in which the run stopped.
RIDES_TALLY = np.dtype([(name, np.int64) for name in ("stamp", "moves", "stopped")])


class RideRule(NamedTuple):
    """The constants of a run."""

    seed: int
    lam: int
    chi: int
    tau: int
    cap: int
    both_fail: bool


class Riders(NamedTuple):
    """Packets, the boats they try to get, and the record of the run."""

    rule: RideRule
    order: Array  # the packets by the phase in which they enter
    route: Array  # ROUTE of every packet
    edge: Array  # the paths, one after another
    state: Array  # RIDER of every packet
    claim: Array  # of every edge
    bucket: Array  # of every level: the first packet of a list that begins there, -1 between boats
    active: Array  # room for every packet
    boat: Array  # of every color: the first packet of its list, -1 if there is none
    live: Array  # the packets in the network
    member: Array  # those that ride in this sub-phase
    tally: Array  # one TALLY
    ridden: Array  # becomes the color of every packet in each of its phases, from its slot on
    gone: Array  # becomes the DELIVERY of every packet
    table: Array  # becomes the SUBPHASEs


@kernel
def better(fate: Array, salt: int, p: int, q: int, place: int) -> bool:
    """Return whether p takes the link from q."""
    if fate[p] != fate[q]:
        return bool(fate[p] == SURE)
    mine, other = rank_of(salt, p, place), rank_of(salt, q, place)
    return mine < other or (mine == other and p < q)


@kernel
def ride(
    first: int, stamp: int, salt: int, both_fail: int, route: Array, edge: Array, state: Array, claim: Array,
    bucket: Array, active: Array,
) -> int:  # fmt: skip
    """Run one boat, the packets of the list from `first`, level by level; return how many fail, or CLASH.

    There are many boats, and most have few packets: a call with all of :class:`Riders` would take longer than the ride.
    """
    length = route["length"]
    level = route["level"]
    start = route["start"]
    after = state["after"]
    at = state["at"]
    beside = state["beside"]
    ends = state["end"]
    fate = state["fate"]
    tied = state["tied"]
    low, high = len(bucket), -1
    p = first
    while p >= 0:
        here = level[p] + at[p]
        beside[p] = bucket[here]
        bucket[here] = p
        low, high = min(low, here), max(high, here)
        p = after[p]
    base = stamp * len(route)
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
                p = beside[p]
        for i in range(n):
            p = active[i]
            e = edge[start[p] + at[p]]
            q = claim[e] - base
            if q < 0:
                claim[e] = base + p
                continue
            if fate[p] == SURE and fate[q] == SURE:
                return CLASH
            if fate[p] == fate[q]:
                tied[p] = stamp
                tied[q] = stamp
            if better(fate, salt, p, q, here):
                claim[e] = base + p
        going = 0
        for i in range(n):
            p = active[i]
            if claim[edge[start[p] + at[p]]] != base + p:
                failed += 1
                continue
            at[p] += 1
            if at[p] == length[p]:
                fate[p] = GONE
            elif both_fail == 1 and tied[p] == stamp:
                failed += 1
            elif at[p] == ends[p]:
                fate[p] = SURE
            else:
                active[going] = p
                going += 1
        n = going
        here += 1
    return failed


@kernel
def board(size: int, phase: int, part: int, turn: int, salt: int, riders: Riders) -> int:
    """Draw colors and fill the boats; return the moves of packets that arrive by oscillation."""
    boat, member = riders.boat, riders.member
    lam, chi = riders.rule.lam, riders.rule.chi
    length, level = riders.route["length"], riders.route["level"]
    enter, base, last = riders.route["enter"], riders.route["base"], riders.route["last"]
    fate, color, after = riders.state["fate"], riders.state["color"], riders.state["after"]
    home, at, ends = riders.state["home"], riders.state["at"], riders.state["end"]
    moves = 0
    boat[:] = -1
    for i in range(size):
        p = member[i]
        if fate[p] == GONE:
            continue
        if fate[p] == TRYING:
            color[p] = color_of(salt, p, chi)
        if length[p] == 1 and part > 0:
            fate[p] = GONE
            riders.gone["turn"][p] = turn
            riders.gone["move"][p] = part
            moves += part
            continue
        k = color[p]
        bottom = base[p] + (phase - enter[p]) * lam
        end = length[p]
        if phase < last[p] and level[p] + end >= bottom + lam:
            end = min(end, bottom + 2 * lam - 2 * k - 2 * chi * part + 1 - level[p])
        at[p] = home[p]
        ends[p] = end
        after[p] = boat[k]
        boat[k] = p
    return moves


@kernel
def attempt(size: int, phase: int, part: int, turn: int, riders: Riders) -> int:
    """Run one round; return how many packets fail, or CLASH."""
    rule, route, state, gone, tally = riders.rule, riders.route, riders.state, riders.gone, riders.tally
    edge, claim, boat, bucket, active = riders.edge, riders.claim, riders.boat, riders.bucket, riders.active
    fate, after = state["fate"], state["after"]
    salt = salt_of(rule.seed, phase, part, turn)
    moves = board(size, phase, part, turn, salt, riders)
    stamp = tally["stamp"][0]
    failed = 0
    for k in range(1, rule.chi + 1):
        p = boat[k]
        if p < 0:
            continue
        stamp += 1
        lost = ride(p, stamp, salt, rule.both_fail, route, edge, state, claim, bucket, active)
        if lost == CLASH:
            return CLASH
        failed += lost
        while p >= 0:
            move = rule.tau
            if fate[p] == GONE:
                bottom = route["base"][p] + (phase - route["enter"][p]) * rule.lam
                move = 4 * k - 4 + route["level"][p] + route["length"][p] - bottom
                gone["turn"][p] = turn
                gone["move"][p] = move
            moves += move
            p = after[p]
    tally["stamp"][0] = stamp
    tally["moves"][0] += moves
    return failed


@kernel
def subphase(size: int, phase: int, part: int, number: int, riders: Riders) -> int:
    """Run rounds until all succeed; return how many members stay in the network, CLASH or CROWDED."""
    member, ridden, row = riders.member, riders.ridden, riders.table[number]
    slot, enter = riders.route["slot"], riders.route["enter"]
    fate, color, home, ends = riders.state["fate"], riders.state["color"], riders.state["home"], riders.state["end"]
    riders.tally["moves"][0] = 0
    turn = 0
    failed = 1
    while failed > 0 and turn < riders.rule.cap:
        turn += 1
        failed = attempt(size, phase, part, turn, riders)
    left = 0
    for i in range(size):
        p = member[i]
        ridden[slot[p] + phase - enter[p]] = color[p]
        if fate[p] == GONE:
            riders.gone["sub"][p] = number
            riders.gone["part"][p] = part
        else:
            home[p] = ends[p] - 1
            left += 1
    row["phase"] = phase
    row["part"] = part
    row["rounds"] = turn
    row["forward"] = riders.tally["moves"][0]
    row["left"] = left
    row["failed"] = failed
    if failed > 0:
        return CROWDED
    return CLASH if failed < 0 else left


@kernel
def boats(riders: Riders) -> int:
    """Run all phases; return how many sub-phases have members, or CLASH or CROWDED."""
    order, live, member = riders.order, riders.live, riders.member
    enter, level, base = riders.route["enter"], riders.route["level"], riders.route["base"]
    fate = riders.state["fate"]
    entered = 0
    n = 0
    number = 0
    phase = 0
    while entered < len(order) or n > 0:
        phase = phase + 1 if n > 0 else enter[order[entered]]
        while entered < len(order) and enter[order[entered]] == phase:
            live[n] = order[entered]
            n += 1
            entered += 1
        others = 0
        for part in range(3):
            size = 0
            for i in range(n):
                p = live[i]
                mine = 0 if phase > enter[p] else 1 + (level[p] - base[p]) % 2
                if mine == part:
                    member[size] = p
                    fate[p] = TRYING
                    size += 1
            if size == 0:
                continue
            riders.table["others"][number] = others
            left = subphase(size, phase, part, number, riders)
            if left < 0:
                riders.tally["stopped"][0] = number
                return int(left)
            number += 1
            others += left
        staying = 0
        for i in range(n):
            if fate[live[i]] != GONE:
                live[staying] = live[i]
                staying += 1
        n = staying
    return number
