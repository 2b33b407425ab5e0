"""Kernels: how packets choose their links in the distributed algorithm, step by step.

``claim[link]`` says which packet uses a link and when: ``(2 * tick + boat) * packets + packet``, boat 1 on a boat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.bufferless.kernels.boats import RideRule, color_of, rank_of
from obliv.kernels import kernel

# Kernels: single moves of the distributed algorithm, checked and written down.
#
# Edge e is two directed links, 2e up and 2e + 1 down; ``link ^ 1`` is the way back.  Every kernel that checks something
# returns what is broken, or 0.  Records are small since a call copies them, and there are some calls for every move.


WAITING, RIDING, SERVED, BEATEN, WANDERING, GONE = 1, 2, 3, 4, 5, 6  # modes; 0 is outside
# broken rules
ASTRAY, TWICE, RESTED, NOT_HOME, CLASH, HIT, NO_BOAT = 1, 2, 3, 4, 5, 6, 7
NO_WAY_BACK, NO_FREE_LINK, LEFT_OVER, OUT_OF_FRAME, NOT_BACK = 8, 9, 10, 11, 12

#: A packet in the network.  `mode`; `index`: position on its path; `away`: 1 on the far side of its oscillation edge,
#: -1 deflected over the link `via`; `node`; `link`: the link of this move, -1 if not chosen; `row`: its last row of the
#: log; `board`: the move at which it meets its boat; `late`: whether it enters at move 2; `stop`: position of its
#: target; `color`; `sure`: whether the color is confirmed; `tied`: the last claim that met a rival; `home`: position at
#: the start of the sub-phase; `undo`, `undo_at`: the row and the step of it to undo next; `origin`: the node where the
#: round began.
PACKET = np.dtype(
    [
        (name, np.int64)
        for name in (
            *("mode", "index", "away", "node", "link", "row", "board", "late", "stop"),
            *("color", "sure", "tied", "home", "via", "undo", "undo_at", "origin"),
        )
    ]
)
#: Rows of the log, packets in the network, the offending packet, moves so far, deflections, the last move of this half,
#: and packets that failed.
MOVES_TALLY = np.dtype([(name, np.int64) for name in ("rows", "live", "fault", "tick", "deflected", "at", "lost")])


#: A row of the log, a run of steps over one edge, to and fro: the first link and its time, further steps, the packet,
#: and the packet's row before, -1 if there is none.
RUN = np.dtype([("time", np.int64), ("more", np.int64), ("link", np.int64), ("packet", np.int32), ("before", np.int32)])


class Packets(NamedTuple):
    """The rules and the paths of the packets."""

    rule: RideRule
    route: Array  # ROUTE of every packet
    edge: Array  # the paths, one after another


class RoundLinks(NamedTuple):
    """The links of the network."""

    low: Array  # of every edge: the node where it begins
    high: Array  # and where it ends
    exit_start: Array  # of every node: where the links that leave it begin in `exit_link`; then the end of the last
    exit_link: Array
    claim: Array  # of every link: the packet that uses it, and when


class Crowd(NamedTuple):
    """The packets in the network."""

    live: Array  # those in the network
    state: Array  # PACKET of every packet
    delivery: Array  # becomes the time when each packet arrives
    tally: Array  # one TALLY


@kernel
def move(now: int, crowd: Crowd, links: RoundLinks, log: Array) -> int:
    """Move every packet over its chosen link, if any; packets that have arrived leave `live`."""
    live, state, tally = crowd.live, crowd.state, crowd.tally
    link_of, node, row_of = state["link"], state["node"], state["row"]
    time, more, log_link = log["time"], log["more"], log["link"]
    staying = 0
    rows = tally["rows"][0]
    for i in range(tally["live"][0]):
        p = live[i]
        if state["mode"][p] != GONE:
            live[staying] = p
            staying += 1
        link = link_of[p]
        if link < 0:
            continue
        link_of[p] = -1
        tail, head = links.low[link >> 1], links.high[link >> 1]
        if link & 1:
            tail, head = head, tail
        if node[p] != tail:
            tally["fault"][0] = p
            return ASTRAY
        node[p] = head
        row = row_of[p]
        if row >= 0:
            again = more[row]
            if time[row] + again + 1 != now:
                tally["fault"][0] = p
                return RESTED
            if log_link[row] ^ (again & 1) == link ^ 1:
                more[row] = again + 1
                continue
        time[rows] = now
        more[rows] = 0
        log_link[rows] = link
        log["packet"][rows] = p
        log["before"][rows] = row
        row_of[p] = rows
        rows += 1
    tally["rows"][0] = rows
    tally["live"][0] = staying
    return 0


@kernel
def idle(moves: int, crowd: Crowd, log: Array) -> None:
    """Let all packets oscillate for `moves` more steps."""
    for i in range(crowd.tally["live"][0]):
        log["more"][crowd.state["row"][crowd.live[i]]] += moves


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
    member: Array, phase: int, part: int, turn: int, salt: int, packets: Packets, crowd: Crowd, links: RoundLinks
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
def claims(x: int, salt: int, packets: Packets, crowd: Crowd, links: RoundLinks) -> int:
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
def wander(x: int, salt: int, crowd: Crowd, links: RoundLinks) -> int:
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


# Kernels: the two halves of a round of the distributed algorithm, move by move.
#
# They return what the kernels of moves and rounds do, or GROW: the log is full, call again with a longer one.


GROW = -1


@kernel
def forward(begin: int, salt: int, packets: Packets, crowd: Crowd, links: RoundLinks, log: Array) -> int:
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
def backward(begin: int, packets: Packets, crowd: Crowd, links: RoundLinks, log: Array) -> int:
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
