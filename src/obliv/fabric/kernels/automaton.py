"""Kernels: one automaton follows packets, through forwarding tables, through groups of ports and over virtual lanes.

A packet for a LID is in a state and leaves it by one of some ports.  For most questions a state is a switch.  Where the
port matters by which a packet came in, as for its virtual lane and for what follows what, a state is a switch that was
entered by a port: see :func:`obliv.fabric.routes.automaton.by_entry`.  A forwarding table leaves one port to every LID;
a group of adaptive routing leaves several.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

#: What is behind a slot that does not lead to a state; end e of those between which packets travel is FIRST_END - e.
NO_CABLE, ELSEWHERE, FIRST_END = -1, -2, -3
#: The same for slots whose row in the SL-to-VL table discards packets, or is missing.
DISCARDING, UNMAPPED = -(2**31), 1 - 2**31

#: How packets fare, as :class:`obliv.fabric.routes.trace.Ending` has it.
DELIVERED, WITHOUT_TABLE, WITHOUT_ENTRY, WITHOUT_PORT, WITHOUT_CABLE, WRONG_END, LOOP, WITHOUT_LID = range(8)
DISCARDED, WITHOUT_ROW = 8, 9

LANES = 16  #: That a packet can have.


class Automaton(NamedTuple):
    """Where packets go.

    State v leaves by slots ``first[v]`` to ``first[v + 1]``, one for each port of its switch. ``to[slot]`` is the state
    at the other end of the cable, or one of the numbers above. ``row[v]`` is the row of its switch in the tables, -1
    for no table. For a LID its ports are those of set n = ``out[lid, row[v]]``: ``port[ptr[n]:ptr[n + 1]]``.
    """

    first: Array
    to: Array
    row: Array
    out: Array
    ptr: Array
    port: Array


@kernel
def endings(start: Array, lid: Array, goal: Array, automaton: Automaton, code: Array, at: Array, order: Array) -> int:
    """Store in `code` how packets from every start to every LID can fare: 0 only if they arrive by all choices.

    Otherwise it is how they end by some choice, a loop before everything else that is met in the same state, and `at`
    is the state where they end, unless it is empty; of a loop it is the one with the least number. Packets for one LID
    are followed together: no state is visited twice.  Unless it is empty, `order` holds the states that packets for the
    last LID come to, each after all that follow it where there is no loop; their number is returned.
    """
    first, to, row, out, ptr, ports = automaton
    states = len(row)
    opened, done = np.zeros(states, np.int32), np.zeros(states, np.int32)  # for which column + 1
    ending, place = np.zeros(states, np.uint8), np.zeros(states, np.int32)
    cursor, last = np.empty(states, np.int64), np.empty(states, np.int64)  # the choices that are left
    stack = np.empty(states, np.int32)
    listed = 0
    for k in range(len(lid)):
        listed = 0
        inside = 0 < lid[k] < len(out)
        for i in range(len(start)):
            depth = -1
            ahead = np.int64(start[i]) if done[start[i]] != k + 1 else np.int64(-1)
            while depth >= 0 or ahead >= 0:
                # a new state: its choices, or why there are none
                if ahead >= 0:
                    v = ahead
                    depth += 1
                    stack[depth] = v
                    opened[v] = k + 1
                    cursor[v], last[v] = 0, 0
                    if inside and row[v] >= 0:
                        n = np.int64(out[lid[k], row[v]])
                        cursor[v], last[v] = ptr[n], ptr[n + 1]
                    ending[v], place[v] = DELIVERED, v
                    if lid[k] <= 0:
                        ending[v] = WITHOUT_LID
                    elif row[v] < 0:
                        ending[v] = WITHOUT_TABLE
                    elif cursor[v] == last[v]:
                        ending[v] = WITHOUT_ENTRY
                v = np.int64(stack[depth])
                where = v
                ahead = np.int64(-1)
                if cursor[v] == last[v]:
                    # all choices are followed: tell the state before
                    done[v] = k + 1
                    if len(order):
                        order[listed] = v
                    listed += 1
                    depth -= 1
                    if depth < 0:
                        break
                    result, where = np.int64(ending[v]), np.int64(place[v])
                    v = np.int64(stack[depth])
                else:
                    # the next choice
                    slot = first[v] + np.int64(ports[cursor[v]])
                    cursor[v] += 1
                    if slot >= first[v + 1]:
                        result = np.int64(WITHOUT_PORT)
                    elif to[slot] >= 0:
                        ahead = np.int64(to[slot])
                        if done[ahead] != k + 1 and opened[ahead] != k + 1:
                            continue
                        if done[ahead] == k + 1:
                            result, where = np.int64(ending[ahead]), np.int64(place[ahead])
                        else:
                            result = np.int64(LOOP)
                            back = depth
                            while stack[back] != ahead:
                                back -= 1
                                where = min(where, np.int64(stack[back]))
                        ahead = np.int64(-1)
                    elif to[slot] == FIRST_END - goal[k]:
                        result = np.int64(DELIVERED)
                    elif to[slot] == NO_CABLE:
                        result = np.int64(WITHOUT_CABLE)
                    elif to[slot] == DISCARDING:
                        result = np.int64(DISCARDED)
                    elif to[slot] == UNMAPPED:
                        result = np.int64(WITHOUT_ROW)
                    else:
                        result = np.int64(WRONG_END)
                if result != DELIVERED and (ending[v] == DELIVERED or (result == LOOP and ending[v] != LOOP)):
                    ending[v], place[v] = result, where
            code[i, k] = ending[start[i]]
            if len(at):
                at[i, k] = place[start[i]]
    return listed


@kernel
def follows(start: Array, lid: Array, sends: Array, automaton: Automaton, lane: Array, crossed: Array) -> None:
    """Mark which slots packets cross: bit l of ``crossed[slot]`` by packets that came into the state on lane l.

    Packets for one LID are followed together, each state once on each lane; they start on lane 0, where `sends` says
    so, and leave by a slot on ``lane[slot]``, below 15.
    """
    first, to, row, out, ptr, ports = automaton
    seen = np.zeros(len(row), np.int64)  # the last column + 1, and the lanes on which packets for it came
    waiting = np.empty(len(row) * LANES, np.int64)  # state · LANES + lane
    for k in range(len(lid)):
        if lid[k] <= 0 or lid[k] >= len(out):
            continue
        for i in range(len(start)):
            if not sends[i, k] or seen[start[i]] == ((k + 1) << LANES | 1):
                continue
            seen[start[i]] = (k + 1) << LANES | 1
            waiting[0] = np.int64(start[i]) * LANES
            count = 1
            while count > 0:
                count -= 1
                v, came = waiting[count] // LANES, 1 << (waiting[count] % LANES)
                if row[v] < 0:
                    continue
                n = np.int64(out[lid[k], row[v]])
                for choice in range(ptr[n], ptr[n + 1]):
                    slot = first[v] + np.int64(ports[choice])
                    if slot >= first[v + 1]:
                        continue
                    crossed[slot] |= came
                    ahead, leaves = np.int64(to[slot]), np.int64(lane[slot])
                    if ahead < 0:
                        continue
                    if seen[ahead] >> LANES != k + 1:
                        seen[ahead] = (k + 1) << LANES
                    if seen[ahead] >> leaves & 1 == 0:
                        seen[ahead] |= 1 << leaves
                        waiting[count] = ahead * LANES + leaves
                        count += 1
