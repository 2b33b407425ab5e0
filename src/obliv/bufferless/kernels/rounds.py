"""Kernels: how packets choose their links in the distributed algorithm, step by step.

``claim[link]`` says which packet uses a link and when: ``(2 * tick + boat) * packets + packet``, boat 1 on a boat.
"""

from __future__ import annotations

from typing import Any

from obliv.bufferless.kernels.draws import color_of, rank_of
from obliv.bufferless.kernels.moves import (
    BEATEN,
    CLASH,
    GONE,
    HIT,
    NO_BOAT,
    NO_FREE_LINK,
    NO_WAY_BACK,
    NOT_HOME,
    OUT_OF_FRAME,
    RIDING,
    SERVED,
    TWICE,
    WAITING,
    WANDERING,
    Crowd,
    Links,
    Packets,
)
from obliv.kernels import kernel

__all__ = ["board_at", "claims", "decide", "enters_late", "prepare", "settle", "wander", "way_back"]

Array = Any

FAR = 1 << 20  # no level is there


@kernel
def enters_late(part: int) -> bool:
    """Return whether packets of this sub-phase enter at the second move; those from even inner levels do."""
    return part == 2


@kernel
def board_at(height: int, color: int, part: int) -> int:
    """Return the move at which the boat of a color is at the given height above the frame's first level."""
    return height + 4 * color - 3


@kernel
def settle(p: int, index: int, state: Array) -> None:
    """Let a packet on a boat succeed once it has crossed the edge on which it is to oscillate."""
    if index == state[p]["stop"] + 1:
        state[p]["mode"] = SERVED
        state[p]["index"] = index - 1
        state[p]["away"] = 1
        state[p]["sure"] = 1


@kernel
def way_back(p: int, q: int, index: int, route: Array) -> int:
    """Return which entry of `edge` packet p is deflected over by q, -1 if there is none.

    It is the path edge before; at the source of p, the edge over which q came.
    """
    if index > 0:
        return int(route[p]["start"] + index - 1)
    at = route[q]["start"] + route[p]["level"] - route[q]["level"] - 1
    if at < route[q]["start"]:
        return -1
    return int(at)


@kernel
def prepare(
    member: Array, phase: int, part: int, turn: int, salt: int, packets: Packets, crowd: Crowd, links: Links
) -> int:
    """Begin a round: members draw colors; compute when each meets its boat and where it is to stop."""
    route, edge, state, tally = packets.route, packets.edge, crowd.state, crowd.tally
    lam, chi = packets.rule.lam, packets.rule.chi
    late = enters_late(part)
    for i in range(len(member)):
        p = member[i]
        if state[p]["mode"] == GONE:
            continue
        if state[p]["sure"] == 0:
            state[p]["color"] = color_of(salt, p, chi)
        k = state[p]["color"]
        home = state[p]["home"]
        bottom = route[p]["base"] + (phase - route[p]["enter"]) * lam
        height = route[p]["level"] + home - bottom
        tally[0]["fault"] = p
        if height < 0 or height >= lam:
            return OUT_OF_FRAME
        if part < 2 and height % 2 == 1:
            return NOT_HOME
        state[p]["late"] = 1 if late and turn == 1 else 0
        state[p]["away"] = 1 if late and turn > 1 else 0
        e = edge[route[p]["start"] + home]
        if state[p]["node"] != (links.high[e] if state[p]["away"] == 1 else links.low[e]):
            return NOT_HOME
        state[p]["mode"] = WAITING
        state[p]["index"] = home
        state[p]["board"] = board_at(height, k, part)
        state[p]["stop"] = -9
        if phase < route[p]["last"] and route[p]["level"] + route[p]["length"] >= bottom + lam:
            state[p]["stop"] = bottom + 2 * lam - 2 * k - 2 * chi * part - route[p]["level"]
    for i in range(tally[0]["live"]):
        p = crowd.live[i]
        state[p]["origin"] = state[p]["node"]
        if state[p]["late"] == 1:
            state[p]["origin"] = links.high[edge[route[p]["start"]]]
    return 0


@kernel
def claims(x: int, salt: int, packets: Packets, crowd: Crowd, links: Links) -> int:
    """Claim for packets on boats the next link of their paths: confirmed ones first, then the best rank."""
    route, edge, live, state, claim = packets.route, packets.edge, crowd.live, crowd.state, links.claim
    base = (2 * crowd.tally[0]["tick"] + 1) * len(route)
    for i in range(crowd.tally[0]["live"]):
        p = live[i]
        if state[p]["mode"] == WAITING and state[p]["board"] == x:
            if state[p]["away"] != 0 or (state[p]["late"] == 1 and x == 1):
                crowd.tally[0]["fault"] = p
                return NOT_HOME
            state[p]["mode"] = RIDING
        if state[p]["mode"] != RIDING:
            continue
        link = 2 * edge[route[p]["start"] + state[p]["index"]]
        q = claim[link] - base
        if q < 0:
            claim[link] = base + p
            continue
        if state[p]["sure"] == 1 and state[q]["sure"] == 1:
            crowd.tally[0]["fault"] = p
            return CLASH
        if state[p]["sure"] == state[q]["sure"]:
            state[p]["tied"] = base
            state[q]["tied"] = base
            here = route[p]["level"] + state[p]["index"]
            mine, other = rank_of(salt, p, here), rank_of(salt, q, here)
            if mine < other or (mine == other and p < q):
                claim[link] = base + p
        elif state[p]["sure"] == 1:
            claim[link] = base + p
    return 0


@kernel
def decide(x: int, now: int, packets: Packets, crowd: Crowd, claim: Array) -> int:
    """Choose the links of all packets but wanderers, and their states after the move; count the wanderers."""
    rule, route, edge = packets
    live, state, delivery, tally = crowd
    taken = 2 * tally[0]["tick"] * len(route)
    base = taken + len(route)
    lost = 0
    for i in range(tally[0]["live"]):
        p = live[i]
        mode = state[p]["mode"]
        if mode >= BEATEN:
            state[p]["mode"] = WANDERING
            lost += 1
            continue
        index = state[p]["index"]
        link = 2 * int(edge[route[p]["start"] + index])
        if mode == RIDING:
            if claim[link] != base + p:
                state[p]["mode"] = WANDERING
                lost += 1
                continue
            state[p]["link"] = link
            index += 1
            state[p]["index"] = index
            if index == route[p]["length"]:
                state[p]["mode"] = GONE
                delivery[p] = now
            elif rule.both_fail and state[p]["tied"] == base:
                state[p]["mode"] = BEATEN
            else:
                settle(p, index, state)
            continue
        if x == 1 and mode == WAITING and state[p]["late"] == 1:
            continue
        away = state[p]["away"]
        if away == 1:
            link += 1
            state[p]["away"] = 0
        elif away == -1:
            link = 2 * state[p]["via"]
            state[p]["away"] = 0
        elif claim[link] < taken:
            state[p]["away"] = 1
            if index + 1 == route[p]["length"]:
                state[p]["mode"] = GONE
                delivery[p] = now
        else:
            tally[0]["fault"] = p
            if mode == SERVED:
                return HIT
            q = claim[link] - base
            if q < 0:
                return NO_BOAT
            at = way_back(p, q, index, route)
            if at < 0:
                return NO_WAY_BACK
            state[p]["away"] = -1
            state[p]["via"] = edge[at]
            link = 2 * int(edge[at]) + 1
            tally[0]["deflected"] += 1
        if claim[link] >= taken:
            tally[0]["fault"] = p
            return TWICE
        claim[link] = taken + p
        state[p]["link"] = link
    tally[0]["lost"] = lost
    return 0


@kernel
def wander(x: int, salt: int, crowd: Crowd, links: Links) -> int:
    """Give every wanderer a free link out of its node."""
    exit_start, exit_link, claim = links.exit_start, links.exit_link, links.claim
    live, state, tally = crowd.live, crowd.state, crowd.tally
    taken = 2 * tally[0]["tick"] * len(state)
    for i in range(tally[0]["live"]):
        p = live[i]
        if state[p]["mode"] != WANDERING or state[p]["link"] >= 0:
            continue
        first = exit_start[state[p]["node"]]
        ways = exit_start[state[p]["node"] + 1] - first
        turn = rank_of(salt, p, FAR + x) % ways
        left = ways
        while left > 0 and claim[exit_link[first + turn]] >= taken:
            turn = (turn + 1) % ways
            left -= 1
        if left == 0:
            tally[0]["fault"] = p
            return NO_FREE_LINK
        link = exit_link[first + turn]
        claim[link] = taken + p
        state[p]["link"] = link
        tally[0]["deflected"] += 1
    return 0
