"""Kernels: the two halves of a round of the distributed algorithm, move by move.

Arguments and answers are those of the kernels of moves and rounds.  Answer GROW: the log is full, call again with a
longer one.
"""

from __future__ import annotations

from typing import Any

from obliv.bufferless._move_kernels import (
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
    move,
)
from obliv.bufferless._ride_kernels import START, TAU
from obliv.bufferless._round_kernels import claims, decide, wander
from obliv.kernels import kernel

__all__ = ["GROW", "backward", "forward"]

Array = Any

GROW = -1
PUSHY = 3  # of `bent`: wanderers choose before those who oscillate


@kernel
def forward(
    begin: int,
    salt: int,
    live: Array,
    rule: Array,
    bent: Array,
    given: Array,
    edge: Array,
    low: Array,
    high: Array,
    exit_start: Array,
    exit_link: Array,
    state: Array,
    claim: Array,
    where: Array,
    when: Array,
    delivery: Array,
    count: Array,
) -> int:
    """The forward half after time `begin`, from move ``count[5] + 1`` on."""
    while count[AT] < rule[TAU] and count[LIVE] > 0:
        if count[ROWS] + count[LIVE] > len(where):
            return GROW
        x = count[AT] + 1
        count[TICK] += 1
        bad = claims(x, salt, live, rule, given, edge, state, claim, count)
        if bad == 0 and bent[PUSHY] == 1:
            bad = wander(x, salt, live, exit_start, exit_link, state, claim, count)
        if bad == 0:
            bad = decide(x, begin + x, live, rule, bent, given, edge, state, claim, delivery, count)
        if bad == 0 and count[LOST] > 0:
            bad = wander(x, salt, live, exit_start, exit_link, state, claim, count)
        if bad == 0:
            bad = move(begin + x, live, low, high, state, where, when, count)
        if bad != 0:
            return int(bad)
        count[AT] = x
    count[LOST] = 0
    for i in range(count[LIVE]):
        p = live[i]
        state[p, UNDO] = state[p, ROW]
        state[p, UNDO_AT] = when[state[p, ROW], 1]
        if state[p, MODE] == WANDERING or state[p, MODE] == BEATEN:
            count[LOST] += 1
        elif state[p, MODE] != SERVED or state[p, AWAY] != 0:
            count[FAULT] = p
            return LEFT_OVER
    return 0


@kernel
def undo(
    y: int, live: Array, rule: Array, given: Array, edge: Array, state: Array, claim: Array, where: Array, when: Array,
    count: Array,
) -> int:  # fmt: skip
    """Everybody chooses the way back of the last move of the log that is not undone."""
    packets = len(given)
    taken = 2 * count[TICK] * packets
    for i in range(count[LIVE]):
        p = live[i]
        if state[p, KEEP] == 1:
            link = 2 * int(edge[given[p, START] + state[p, INDEX]]) + state[p, AWAY]
            state[p, AWAY] = 1 - state[p, AWAY]
        elif state[p, LATE] == 1 and y == rule[TAU]:  # the step that it did not make
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
            count[FAULT] = p
            return TWICE
        claim[link] = taken + p
        state[p, LINK] = link
    return 0


@kernel
def backward(
    begin: int,
    live: Array,
    rule: Array,
    given: Array,
    edge: Array,
    low: Array,
    high: Array,
    state: Array,
    claim: Array,
    where: Array,
    when: Array,
    count: Array,
) -> int:
    """The reverse half: moves are undone, the last one first, and everybody is back where the round began."""
    while count[AT] < rule[TAU] and count[LIVE] > 0:
        if count[ROWS] + count[LIVE] > len(where):
            return GROW
        y = count[AT] + 1
        count[TICK] += 1
        bad = undo(y, live, rule, given, edge, state, claim, where, when, count)
        if bad == 0:
            bad = move(begin + y, live, low, high, state, where, when, count)
        if bad != 0:
            return int(bad)
        count[AT] = y
    for i in range(count[LIVE]):
        p = live[i]
        if state[p, KEEP] == 0 and state[p, NODE] != state[p, NODE0]:
            count[FAULT] = p
            return NOT_BACK
    return 0
