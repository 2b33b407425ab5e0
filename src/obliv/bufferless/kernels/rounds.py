"""Kernels: how packets decide in the distributed algorithm, step by step.

``claim[link]`` tells who uses a link and when: ``(2 * tick + boat) * packets + packet``, boat 1 for who is on a boat.
"""

from __future__ import annotations

from typing import Any

from obliv.bufferless.kernels.draws import colour_of, rank_of
from obliv.bufferless.kernels.moves import (
    AWAY,
    BEATEN,
    BOARD,
    CLASH,
    COLOUR,
    DEFLECTED,
    FAULT,
    GONE,
    HIT,
    HOME,
    INDEX,
    KEEP,
    LATE,
    LINK,
    LIVE,
    LOST,
    MODE,
    NO_BOAT,
    NO_FREE_LINK,
    NO_WAY_BACK,
    NODE,
    NODE0,
    NOT_HOME,
    OUT_OF_FRAME,
    RIDING,
    SERVED,
    STOP,
    SURE,
    TICK,
    TIED,
    TWICE,
    VIA,
    WAITING,
    WANDERING,
    Crowd,
    Links,
    Rules,
)
from obliv.bufferless.kernels.rides import BASE, BOTH_FAIL, CHI, ENTER, LAM, LAST, LENGTH, LEVEL, START
from obliv.kernels import kernel

__all__ = ["claims", "decide", "prepare", "wander"]

Array = Any

FAR = 1 << 20  # no level is there
# columns of `bent`
EARLY, BACK_ON_PATH, AT_TARGET = 0, 1, 2


@kernel
def prepare(
    member: Array, phase: int, part: int, turn: int, salt: int, rules: Rules, crowd: Crowd, links: Links
) -> int:
    """A round begins: members draw colours; when each meets its boat, and where it is to stop."""
    given, edge, state, counts = rules.given, rules.edge, crowd.state, crowd.counts
    lam, chi = rules.rule[LAM], rules.rule[CHI]
    early = 1 if part == 2 and rules.bent[EARLY] == 1 else 0
    for i in range(len(member)):
        p = member[i]
        if state[p, MODE] == GONE or state[p, KEEP] == 1:
            continue
        if state[p, SURE] == 0:
            state[p, COLOUR] = colour_of(salt, p, chi)
        k = state[p, COLOUR]
        home = state[p, HOME]
        bottom = given[p, BASE] + (phase - given[p, ENTER]) * lam
        height = given[p, LEVEL] + home - bottom
        counts[FAULT] = p
        if height < 0 or height >= lam:
            return OUT_OF_FRAME
        if part < 2 and height % 2 == 1:
            return NOT_HOME
        late = 1 if part == 2 and early == 0 else 0
        state[p, LATE] = 1 if late == 1 and turn == 1 else 0
        state[p, AWAY] = 1 if late == 1 and turn > 1 else 0
        e = edge[given[p, START] + home]
        if state[p, NODE] != (links.high[e] if state[p, AWAY] == 1 else links.low[e]):
            return NOT_HOME
        state[p, MODE] = WAITING
        state[p, INDEX] = home
        state[p, BOARD] = height + 4 * k - 3 - early
        state[p, STOP] = -9
        if phase < given[p, LAST] and given[p, LEVEL] + given[p, LENGTH] >= bottom + lam:
            state[p, STOP] = bottom + 2 * lam - 2 * k - 2 * chi * part - given[p, LEVEL]
    for i in range(counts[LIVE]):
        p = crowd.live[i]
        state[p, NODE0] = state[p, NODE]
        if state[p, LATE] == 1:
            state[p, NODE0] = links.high[edge[given[p, START]]]
    return 0


@kernel
def claims(x: int, salt: int, rules: Rules, crowd: Crowd, claim: Array) -> int:
    """Who is on a boat claims the next link of its path: the confirmed before others, of those the best rank."""
    given, edge, live, state = rules.given, rules.edge, crowd.live, crowd.state
    base = (2 * crowd.counts[TICK] + 1) * len(given)
    for i in range(crowd.counts[LIVE]):
        p = live[i]
        if state[p, MODE] == WAITING and state[p, BOARD] == x:
            if state[p, AWAY] != 0 or (state[p, LATE] == 1 and x == 1):
                crowd.counts[FAULT] = p
                return NOT_HOME
            state[p, MODE] = RIDING
        if state[p, MODE] != RIDING:
            continue
        link = 2 * edge[given[p, START] + state[p, INDEX]]
        q = claim[link] - base
        if q < 0:
            claim[link] = base + p
            continue
        if state[p, SURE] == 1 and state[q, SURE] == 1:
            crowd.counts[FAULT] = p
            return CLASH
        if state[p, SURE] == state[q, SURE]:
            state[p, TIED] = base
            state[q, TIED] = base
            here = given[p, LEVEL] + state[p, INDEX]
            mine, other = rank_of(salt, p, here), rank_of(salt, q, here)
            if mine < other or (mine == other and p < q):
                claim[link] = base + p
        elif state[p, SURE] == 1:
            claim[link] = base + p
    return 0


@kernel
def decide(x: int, now: int, rules: Rules, crowd: Crowd, claim: Array) -> int:
    """All but wanderers choose their links and become what they are after the move; counts wanderers."""
    rule, bent, given, edge = rules
    live, state, delivery, counts = crowd
    packets = len(given)
    taken = 2 * counts[TICK] * packets
    base = taken + packets
    lost = 0
    for i in range(counts[LIVE]):
        p = live[i]
        mode = state[p, MODE]
        if mode >= BEATEN:
            state[p, MODE] = WANDERING
            lost += 1
            continue
        index = state[p, INDEX]
        link = 2 * int(edge[given[p, START] + index])
        if mode == RIDING:
            if claim[link] != base + p:
                state[p, MODE] = WANDERING
                lost += 1
                continue
            state[p, LINK] = link
            index += 1
            state[p, INDEX] = index
            if index == given[p, LENGTH]:
                state[p, MODE] = GONE
                delivery[p] = now
            elif rule[BOTH_FAIL] == 1 and state[p, TIED] == base:
                state[p, MODE] = BEATEN
            elif index == state[p, STOP] + 1:
                state[p, MODE] = SERVED
                state[p, INDEX] = index - 1
                state[p, AWAY] = 1
                state[p, SURE] = 1
            elif index == state[p, STOP] and bent[AT_TARGET] == 1:
                state[p, MODE] = SERVED
                state[p, SURE] = 1
            continue
        if x == 1 and mode == WAITING and state[p, LATE] == 1:
            continue
        away = state[p, AWAY]
        if away == 1:
            link += 1
            state[p, AWAY] = 0
        elif away == -1:
            link = 2 * state[p, VIA]
            state[p, AWAY] = 0
        elif claim[link] < taken:
            state[p, AWAY] = 1
            if index + 1 == given[p, LENGTH]:
                state[p, MODE] = GONE
                delivery[p] = now
        else:
            counts[FAULT] = p
            if mode == SERVED:
                return HIT
            q = claim[link] - base
            if q < 0:
                return NO_BOAT
            at = given[p, START] + index - 1
            if index == 0:  # back over the edge by which q came to the source of p
                at = given[q, START] + given[p, LEVEL] - given[q, LEVEL] - 1
                if at < given[q, START] or bent[BACK_ON_PATH] == 1:
                    return NO_WAY_BACK
            state[p, AWAY] = -1
            state[p, VIA] = edge[at]
            link = 2 * int(edge[at]) + 1
            counts[DEFLECTED] += 1
        if claim[link] >= taken:
            counts[FAULT] = p
            return TWICE
        claim[link] = taken + p
        state[p, LINK] = link
    counts[LOST] = lost
    return 0


@kernel
def wander(x: int, salt: int, crowd: Crowd, links: Links) -> int:
    """Wanderers that have no link yet take free links out of their nodes, whichever."""
    exit_start, exit_link, claim = links.exit_start, links.exit_link, links.claim
    live, state, counts = crowd.live, crowd.state, crowd.counts
    taken = 2 * counts[TICK] * len(state)
    for i in range(counts[LIVE]):
        p = live[i]
        if state[p, MODE] != WANDERING or state[p, LINK] >= 0:
            continue
        first = exit_start[state[p, NODE]]
        ways = exit_start[state[p, NODE] + 1] - first
        turn = rank_of(salt, p, FAR + x) % ways
        left = ways
        while left > 0 and claim[exit_link[first + turn]] >= taken:
            turn = (turn + 1) % ways
            left -= 1
        if left == 0:
            counts[FAULT] = p
            return NO_FREE_LINK
        link = exit_link[first + turn]
        claim[link] = taken + p
        state[p, LINK] = link
        counts[DEFLECTED] += 1
    return 0
