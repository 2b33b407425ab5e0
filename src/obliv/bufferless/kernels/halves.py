"""Kernels: the two halves of a round of the distributed algorithm, move by move.

They return what the kernels of moves and rounds do, or GROW: the log is full, call again with a longer one.
"""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.bufferless.kernels.moves import (
    BEATEN,
    LEFT_OVER,
    NOT_BACK,
    SERVED,
    TWICE,
    WANDERING,
    Crowd,
    Links,
    Packets,
    move,
)
from obliv.bufferless.kernels.rounds import claims, decide, wander
from obliv.kernels import kernel

__all__ = ["GROW", "backward", "forward"]

GROW = -1


@kernel
def forward(begin: int, salt: int, packets: Packets, crowd: Crowd, links: Links, log: Array) -> int:
    """Run the forward half after time `begin`, from move ``at + 1`` of the tally on."""
    live, state = crowd.live, crowd.state
    at, count, rows = crowd.tally["at"], crowd.tally["live"], crowd.tally["rows"]
    tick, lost, fault = crowd.tally["tick"], crowd.tally["lost"], crowd.tally["fault"]
    while at[0] < packets.rule.tau and count[0] > 0:
        if rows[0] + count[0] > len(log):
            return GROW
        x = at[0] + 1
        tick[0] += 1
        bad = claims(x, salt, packets, crowd, links)
        if bad == 0:
            bad = decide(x, begin + x, packets, crowd, links.claim)
        if bad == 0 and lost[0] > 0:
            bad = wander(x, salt, crowd, links)
        if bad == 0:
            bad = move(begin + x, crowd, links, log)
        if bad != 0:
            return int(bad)
        at[0] = x
    lost[0] = 0
    for i in range(count[0]):
        p = live[i]
        state["undo"][p] = state["row"][p]
        state["undo_at"][p] = log["more"][state["row"][p]]
        if state["mode"][p] == WANDERING or state["mode"][p] == BEATEN:
            lost[0] += 1
        elif state["mode"][p] != SERVED or state["away"][p] != 0:
            fault[0] = p
            return LEFT_OVER
    return 0


@kernel
def undo(y: int, packets: Packets, crowd: Crowd, claim: Array, log: Array) -> int:
    """Choose for every packet the way back over the last move of the log that is not undone."""
    route, edge, live, state = packets.route, packets.edge, crowd.live, crowd.state
    taken = 2 * crowd.tally["tick"][0] * len(route)
    for i in range(crowd.tally["live"][0]):
        p = live[i]
        if state["late"][p] == 1 and y == packets.rule.tau:  # the step that it did not make
            link = 2 * int(edge[route["start"][p]])
        else:
            row, at = state["undo"][p], state["undo_at"][p]
            link = int(log["link"][row]) ^ (at & 1) ^ 1
            if at > 0:
                state["undo_at"][p] = at - 1
            elif log["before"][row] >= 0:
                state["undo"][p] = log["before"][row]
                state["undo_at"][p] = log["more"][log["before"][row]]
        if claim[link] >= taken:
            crowd.tally["fault"][0] = p
            return TWICE
        claim[link] = taken + p
        state["link"][p] = link
    return 0


@kernel
def backward(begin: int, packets: Packets, crowd: Crowd, links: Links, log: Array) -> int:
    """Run the reverse half: undo the moves, the last one first, until all packets are where the round began."""
    at, count, rows, tick = crowd.tally["at"], crowd.tally["live"], crowd.tally["rows"], crowd.tally["tick"]
    while at[0] < packets.rule.tau and count[0] > 0:
        if rows[0] + count[0] > len(log):
            return GROW
        y = at[0] + 1
        tick[0] += 1
        bad = undo(y, packets, crowd, links.claim, log)
        if bad == 0:
            bad = move(begin + y, crowd, links, log)
        if bad != 0:
            return int(bad)
        at[0] = y
    for i in range(count[0]):
        p = crowd.live[i]
        if crowd.state["node"][p] != crowd.state["origin"][p]:
            crowd.tally["fault"][0] = p
            return NOT_BACK
    return 0
