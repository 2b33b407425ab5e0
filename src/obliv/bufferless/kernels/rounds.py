"""Kernels: how packets choose their links in the distributed algorithm, step by step.

``claim[link]`` says which packet uses a link and when: ``(2 * tick + boat) * packets + packet``, boat 1 on a boat.
"""

from __future__ import annotations

from obliv._util.typing import Array
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
    if index == state["stop"][p] + 1:
        state["mode"][p] = SERVED
        state["index"][p] = index - 1
        state["away"][p] = 1
        state["sure"][p] = 1


@kernel
def way_back(p: int, q: int, index: int, route: Array) -> int:
    """Return which entry of `edge` packet p is deflected over by q, -1 if there is none.

    It is the path edge before; at the source of p, the edge over which q came.
    """
    if index > 0:
        return int(route["start"][p] + index - 1)
    at = route["start"][q] + route["level"][p] - route["level"][q] - 1
    if at < route["start"][q]:
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
        if state["mode"][p] == GONE:
            continue
        if state["sure"][p] == 0:
            state["color"][p] = color_of(salt, p, chi)
        k = state["color"][p]
        home = state["home"][p]
        bottom = route["base"][p] + (phase - route["enter"][p]) * lam
        height = route["level"][p] + home - bottom
        tally["fault"][0] = p
        if height < 0 or height >= lam:
            return OUT_OF_FRAME
        if part < 2 and height % 2 == 1:
            return NOT_HOME
        state["late"][p] = 1 if late and turn == 1 else 0
        state["away"][p] = 1 if late and turn > 1 else 0
        e = edge[route["start"][p] + home]
        if state["node"][p] != (links.high[e] if state["away"][p] == 1 else links.low[e]):
            return NOT_HOME
        state["mode"][p] = WAITING
        state["index"][p] = home
        state["board"][p] = board_at(height, k, part)
        state["stop"][p] = -9
        if phase < route["last"][p] and route["level"][p] + route["length"][p] >= bottom + lam:
            state["stop"][p] = bottom + 2 * lam - 2 * k - 2 * chi * part - route["level"][p]
    for i in range(tally["live"][0]):
        p = crowd.live[i]
        state["origin"][p] = state["node"][p]
        if state["late"][p] == 1:
            state["origin"][p] = links.high[edge[route["start"][p]]]
    return 0


@kernel
def claims(x: int, salt: int, packets: Packets, crowd: Crowd, links: Links) -> int:
    """Claim for packets on boats the next link of their paths: confirmed ones first, then the best rank."""
    route, edge, live, state, claim = packets.route, packets.edge, crowd.live, crowd.state, links.claim
    mode = state["mode"]
    base = (2 * crowd.tally["tick"][0] + 1) * len(route)
    for i in range(crowd.tally["live"][0]):
        p = live[i]
        if mode[p] == WAITING and state["board"][p] == x:
            if state["away"][p] != 0 or (state["late"][p] == 1 and x == 1):
                crowd.tally["fault"][0] = p
                return NOT_HOME
            mode[p] = RIDING
        if mode[p] != RIDING:
            continue
        link = 2 * edge[route["start"][p] + state["index"][p]]
        q = claim[link] - base
        if q < 0:
            claim[link] = base + p
            continue
        if state["sure"][p] == 1 and state["sure"][q] == 1:
            crowd.tally["fault"][0] = p
            return CLASH
        if state["sure"][p] == state["sure"][q]:
            state["tied"][p] = base
            state["tied"][q] = base
            here = route["level"][p] + state["index"][p]
            mine, other = rank_of(salt, p, here), rank_of(salt, q, here)
            if mine < other or (mine == other and p < q):
                claim[link] = base + p
        elif state["sure"][p] == 1:
            claim[link] = base + p
    return 0


@kernel
def decide(x: int, now: int, packets: Packets, crowd: Crowd, claim: Array) -> int:
    """Choose the links of all packets but wanderers, and their states after the move; count the wanderers."""
    rule, route, edge = packets
    live, state, delivery, tally = crowd
    away_of, link_of = state["away"], state["link"]
    taken = 2 * tally["tick"][0] * len(route)
    base = taken + len(route)
    lost = 0
    for i in range(tally["live"][0]):
        p = live[i]
        mode = state["mode"][p]
        if mode >= BEATEN:
            state["mode"][p] = WANDERING
            lost += 1
            continue
        index = state["index"][p]
        link = 2 * int(edge[route["start"][p] + index])
        if mode == RIDING:
            if claim[link] != base + p:
                state["mode"][p] = WANDERING
                lost += 1
                continue
            link_of[p] = link
            index += 1
            state["index"][p] = index
            if index == route["length"][p]:
                state["mode"][p] = GONE
                delivery[p] = now
            elif rule.both_fail and state["tied"][p] == base:
                state["mode"][p] = BEATEN
            else:
                settle(p, index, state)
            continue
        if x == 1 and mode == WAITING and state["late"][p] == 1:
            continue
        away = away_of[p]
        if away == 1:
            link += 1
            away_of[p] = 0
        elif away == -1:
            link = 2 * state["via"][p]
            away_of[p] = 0
        elif claim[link] < taken:
            away_of[p] = 1
            if index + 1 == route["length"][p]:
                state["mode"][p] = GONE
                delivery[p] = now
        else:
            tally["fault"][0] = p
            if mode == SERVED:
                return HIT
            q = claim[link] - base
            if q < 0:
                return NO_BOAT
            at = way_back(p, q, index, route)
            if at < 0:
                return NO_WAY_BACK
            away_of[p] = -1
            state["via"][p] = edge[at]
            link = 2 * int(edge[at]) + 1
            tally["deflected"][0] += 1
        if claim[link] >= taken:
            tally["fault"][0] = p
            return TWICE
        claim[link] = taken + p
        link_of[p] = link
    tally["lost"][0] = lost
    return 0


@kernel
def wander(x: int, salt: int, crowd: Crowd, links: Links) -> int:
    """Give every wanderer a free link out of its node."""
    exit_start, exit_link, claim = links.exit_start, links.exit_link, links.claim
    live, state, tally = crowd.live, crowd.state, crowd.tally
    taken = 2 * tally["tick"][0] * len(state)
    for i in range(tally["live"][0]):
        p = live[i]
        if state["mode"][p] != WANDERING or state["link"][p] >= 0:
            continue
        first = exit_start[state["node"][p]]
        ways = exit_start[state["node"][p] + 1] - first
        turn = rank_of(salt, p, FAR + x) % ways
        left = ways
        while left > 0 and claim[exit_link[first + turn]] >= taken:
            turn = (turn + 1) % ways
            left -= 1
        if left == 0:
            tally["fault"][0] = p
            return NO_FREE_LINK
        link = exit_link[first + turn]
        claim[link] = taken + p
        state["link"][p] = link
        tally["deflected"][0] += 1
    return 0
