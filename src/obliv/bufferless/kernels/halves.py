"""Kernels: the two halves of a round of the distributed algorithm, move by move.

Answers are those of the kernels of moves and rounds.  Answer GROW: the log is full, call again with a longer one.
"""

from __future__ import annotations

from typing import Any

from obliv.bufferless.kernels.moves import (
    AT,
    AWAY,
    BEATEN,
    FAULT,
    INDEX,
    KEEP,
    LATE,
    LEFT_OVER,
    LINK,
    LIVE,
    LOST,
    MODE,
    NODE,
    NODE0,
    NOT_BACK,
    ROW,
    ROWS,
    SERVED,
    TICK,
    TWICE,
    UNDO,
    UNDO_AT,
    WANDERING,
    Crowd,
    Links,
    Log,
    Rules,
    move,
)
from obliv.bufferless.kernels.rides import START, TAU
from obliv.bufferless.kernels.rounds import claims, decide, wander
from obliv.kernels import kernel

__all__ = ["GROW", "backward", "forward"]

Array = Any

GROW = -1
PUSHY = 3  # of `bent`: wanderers choose before those who oscillate


@kernel
def forward(begin: int, salt: int, rules: Rules, crowd: Crowd, links: Links, log: Log) -> int:
    """The forward half after time `begin`, from move ``counts[AT] + 1`` on."""
    live, state, counts, claim, when = crowd.live, crowd.state, crowd.counts, links.claim, log.when
    while counts[AT] < rules.rule[TAU] and counts[LIVE] > 0:
        if counts[ROWS] + counts[LIVE] > len(log.where):
            return GROW
        x = counts[AT] + 1
        counts[TICK] += 1
        bad = claims(x, salt, rules, crowd, claim)
        if bad == 0 and rules.bent[PUSHY] == 1:
            bad = wander(x, salt, crowd, links)
        if bad == 0:
            bad = decide(x, begin + x, rules, crowd, claim)
        if bad == 0 and counts[LOST] > 0:
            bad = wander(x, salt, crowd, links)
        if bad == 0:
            bad = move(begin + x, crowd, links, log)
        if bad != 0:
            return int(bad)
        counts[AT] = x
    counts[LOST] = 0
    for i in range(counts[LIVE]):
        p = live[i]
        state[p, UNDO] = state[p, ROW]
        state[p, UNDO_AT] = when[state[p, ROW], 1]
        if state[p, MODE] == WANDERING or state[p, MODE] == BEATEN:
            counts[LOST] += 1
        elif state[p, MODE] != SERVED or state[p, AWAY] != 0:
            counts[FAULT] = p
            return LEFT_OVER
    return 0


@kernel
def undo(y: int, rules: Rules, crowd: Crowd, claim: Array, log: Log) -> int:
    """Everybody chooses the way back of the last move of the log that is not undone."""
    given, edge, live, state, where, when = rules.given, rules.edge, crowd.live, crowd.state, log.where, log.when
    taken = 2 * crowd.counts[TICK] * len(given)
    for i in range(crowd.counts[LIVE]):
        p = live[i]
        if state[p, KEEP] == 1:
            link = 2 * int(edge[given[p, START] + state[p, INDEX]]) + state[p, AWAY]
            state[p, AWAY] = 1 - state[p, AWAY]
        elif state[p, LATE] == 1 and y == rules.rule[TAU]:  # the step that it did not make
            link = 2 * int(edge[given[p, START]])
        else:
            row, at = state[p, UNDO], state[p, UNDO_AT]
            link = int(where[row, 1]) ^ (at & 1) ^ 1
            if at > 0:
                state[p, UNDO_AT] = at - 1
            elif where[row, 2] >= 0:
                state[p, UNDO] = where[row, 2]
                state[p, UNDO_AT] = when[where[row, 2], 1]
        if claim[link] >= taken:
            crowd.counts[FAULT] = p
            return TWICE
        claim[link] = taken + p
        state[p, LINK] = link
    return 0


@kernel
def backward(begin: int, rules: Rules, crowd: Crowd, links: Links, log: Log) -> int:
    """The reverse half: moves are undone, the last one first, and everybody is back where the round began."""
    live, state, counts, claim = crowd.live, crowd.state, crowd.counts, links.claim
    while counts[AT] < rules.rule[TAU] and counts[LIVE] > 0:
        if counts[ROWS] + counts[LIVE] > len(log.where):
            return GROW
        y = counts[AT] + 1
        counts[TICK] += 1
        bad = undo(y, rules, crowd, claim, log)
        if bad == 0:
            bad = move(begin + y, crowd, links, log)
        if bad != 0:
            return int(bad)
        counts[AT] = y
    for i in range(counts[LIVE]):
        p = live[i]
        if state[p, KEEP] == 0 and state[p, NODE] != state[p, NODE0]:
            counts[FAULT] = p
            return NOT_BACK
    return 0
