"""Kernels: the two halves of a round of the distributed algorithm, move by move.

They return what the kernels of moves and rounds do, or GROW: the log is full, call again with a longer one.
"""

from __future__ import annotations

from typing import Any

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

Array = Any

GROW = -1


@kernel
def forward(begin: int, salt: int, packets: Packets, crowd: Crowd, links: Links, log: Array) -> int:
    """Run the forward half after time `begin`, from move ``at + 1`` of the tally on."""
    live, state, tally = crowd.live, crowd.state, crowd.tally
    while tally[0]["at"] < packets.rule.tau and tally[0]["live"] > 0:
        if tally[0]["rows"] + tally[0]["live"] > len(log):
            return GROW
        x = tally[0]["at"] + 1
        tally[0]["tick"] += 1
        bad = claims(x, salt, packets, crowd, links)
        if bad == 0:
            bad = decide(x, begin + x, packets, crowd, links.claim)
        if bad == 0 and tally[0]["lost"] > 0:
            bad = wander(x, salt, crowd, links)
        if bad == 0:
            bad = move(begin + x, crowd, links, log)
        if bad != 0:
            return int(bad)
        tally[0]["at"] = x
    tally[0]["lost"] = 0
    for i in range(tally[0]["live"]):
        p = live[i]
        state[p]["undo"] = state[p]["row"]
        state[p]["undo_at"] = log[state[p]["row"]]["more"]
        if state[p]["mode"] == WANDERING or state[p]["mode"] == BEATEN:
            tally[0]["lost"] += 1
        elif state[p]["mode"] != SERVED or state[p]["away"] != 0:
            tally[0]["fault"] = p
            return LEFT_OVER
    return 0


@kernel
def undo(y: int, packets: Packets, crowd: Crowd, claim: Array, log: Array) -> int:
    """Choose for every packet the way back over the last move of the log that is not undone."""
    route, edge, live, state = packets.route, packets.edge, crowd.live, crowd.state
    taken = 2 * crowd.tally[0]["tick"] * len(route)
    for i in range(crowd.tally[0]["live"]):
        p = live[i]
        if state[p]["late"] == 1 and y == packets.rule.tau:  # the step that it did not make
            link = 2 * int(edge[route[p]["start"]])
        else:
            row, at = state[p]["undo"], state[p]["undo_at"]
            link = int(log[row]["link"]) ^ (at & 1) ^ 1
            if at > 0:
                state[p]["undo_at"] = at - 1
            elif log[row]["before"] >= 0:
                state[p]["undo"] = log[row]["before"]
                state[p]["undo_at"] = log[log[row]["before"]]["more"]
        if claim[link] >= taken:
            crowd.tally[0]["fault"] = p
            return TWICE
        claim[link] = taken + p
        state[p]["link"] = link
    return 0


@kernel
def backward(begin: int, packets: Packets, crowd: Crowd, links: Links, log: Array) -> int:
    """Run the reverse half: undo the moves, the last one first, until all packets are where the round began."""
    live, state, tally, claim = crowd.live, crowd.state, crowd.tally, links.claim
    while tally[0]["at"] < packets.rule.tau and tally[0]["live"] > 0:
        if tally[0]["rows"] + tally[0]["live"] > len(log):
            return GROW
        y = tally[0]["at"] + 1
        tally[0]["tick"] += 1
        bad = undo(y, packets, crowd, claim, log)
        if bad == 0:
            bad = move(begin + y, crowd, links, log)
        if bad != 0:
            return int(bad)
        tally[0]["at"] = y
    for i in range(tally[0]["live"]):
        p = live[i]
        if state[p]["node"] != state[p]["origin"]:
            tally[0]["fault"] = p
            return NOT_BACK
    return 0
