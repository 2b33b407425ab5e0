"""Kernels: single moves of the distributed algorithm, checked and written down.

Edge e is two directed links, 2e up and 2e + 1 down; ``link ^ 1`` is the way back.  Every kernel that checks something
returns what is broken, or 0.  Records are small since a call copies them, and there are some calls for every move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.bufferless.kernels.rides import Rule
from obliv.kernels import kernel

__all__ = ["PACKET", "RUN", "TALLY", "Crowd", "Links", "Packets", "idle", "move"]

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
TALLY = np.dtype([(name, np.int64) for name in ("rows", "live", "fault", "tick", "deflected", "at", "lost")])


#: A row of the log, a run of steps over one edge, to and fro: the first link and its time, further steps, the packet,
#: and the packet's row before, -1 if there is none.
RUN = np.dtype([("time", np.int64), ("more", np.int64), ("link", np.int64), ("packet", np.int32), ("before", np.int32)])


class Packets(NamedTuple):
    """The rules and the paths of the packets."""

    rule: Rule
    route: Array  # ROUTE of every packet
    edge: Array  # the paths, one after another


class Links(NamedTuple):
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
def move(now: int, crowd: Crowd, links: Links, log: Array) -> int:
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
