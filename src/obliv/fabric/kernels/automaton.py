"""Kernels: one automaton follows packets through tables, groups and lanes; the routes of forwarding tables.

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
    """Store in `code` how packets from every start to every LID can fare: 0 only if they arrive by all choices."""
    # Otherwise it is how they end by some choice, a loop before everything else that is met in the same state, and `at`
    # is the state where they end, unless it is empty; of a loop it is the one with the least number. Packets for one
    # LID are followed together: no state is visited twice.  Unless it is empty, `order` holds the states that packets
    # for the last LID come to, each after all that follow it where there is no loop; their number is returned.
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
    """Mark which slots packets cross: bit l of ``crossed[slot]`` by packets that came into the state on lane l."""
    # Packets for one LID are followed together, each state once on each lane; they start on lane 0, where `sends` says
    # so, and leave by a slot on `lane[slot]`, below 15.
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


# Kernels: the routes of forwarding tables, and what they put on channels


class RouteArrays(NamedTuple):
    """The routes of sources in classes that share theirs.

    Class r starts at leaf switch number ``leaf[r]``, node ``node[r]``, and uses, of each endpoint's LIDs, the
    `several` ones from offset ``low[r]`` on, again from 0 where an endpoint has fewer.  A class without a switch,
    leaf -1, reaches only the endpoint at the other end of its cable.  LID k, ``lid[k]`` with
    ``first_column[d] <= k < first_column[d + 1]``, belongs to endpoint d, and only where ``code[leaf, k]`` is 0 does
    its route arrive; other routes carry nothing.  `hops` is the automaton of forwarding tables: every set
    of ports has one, or none.
    """

    several: int
    class_of: Array  # of every endpoint
    slot_of: Array  # of every endpoint
    node: Array
    leaf: Array
    low: Array
    first_column: Array
    lid: Array
    code: Array
    hops: Automaton
    channel_of: Array  # of every slot


@kernel
def follow(routes: RouteArrays, s: int, d: int, o: int, path: Array) -> int:
    """Store the channels of route number `o` from source s to endpoint d; return their number, 0 if it is lost."""
    r = routes.class_of[s]
    path[0] = routes.channel_of[routes.slot_of[s]]
    if routes.leaf[r] < 0:
        return 1 if routes.hops.to[routes.slot_of[s]] == FIRST_END - d else 0
    begin = routes.first_column[d]
    k = begin + (routes.low[r] + o) % (routes.first_column[d + 1] - begin)
    if routes.code[routes.leaf[r], k] != DELIVERED:
        return 0
    # no call of another kernel: it would count references to every array, route by route
    first, to, row, out, ptr, port = routes.hops
    length, lid = 1, routes.lid[k]
    v = np.int64(routes.node[r])
    while v >= 0:
        slot = first[v] + np.int64(port[ptr[out[lid, row[v]]]])
        path[length] = routes.channel_of[slot]
        length += 1
        v = np.int64(to[slot])
    return length


ARRIVES, LOST, LOOPS = range(3)  # how a route ends


@kernel
def walk(v: int, k: int, goal: int, routes: RouteArrays, gone: Array, path: Array) -> tuple[int, int]:
    """Store the channels between switches of a route from a switch to LID number k of an endpoint."""
    # Return their number, and how the route ends: lost, too, where it takes a channel that is gone.
    first, to, row, out, ptr, port = routes.hops
    n, lid = 0, routes.lid[k]
    while v >= 0:
        if n > len(row):
            return n, LOOPS
        if row[v] < 0 or lid <= 0 or lid >= len(out):
            return n, LOST
        chosen = np.int64(out[lid, row[v]])
        if ptr[chosen] == ptr[chosen + 1]:
            return n, LOST
        slot = first[v] + np.int64(port[ptr[chosen]])
        if slot >= first[v + 1]:
            return n, LOST
        c = routes.channel_of[slot]
        if c >= 0 and gone[c]:
            return n, LOST
        v = int(to[slot])
        if v >= 0:
            path[n] = c
            n += 1
    return n, ARRIVES if v == FIRST_END - goal else LOST


@kernel
def spread_routes(routes: RouteArrays, fill: bool, last: Array, cursor: Array, pair: Array, times: Array) -> None:
    """Sort the routes of all classes to all endpoints by channel; channels between switches only."""
    # Pair r · endpoints + d is stored once for each channel, in `pair[cursor[c]]`; `times` is how many of its routes
    # cross the channel (no entries: every pair has one route).  Without `fill` they are only counted.  `last` must hold
    # -1.
    ends = len(routes.first_column) - 1
    many = len(times) > 0
    path = np.empty(len(routes.hops.row) + 1, np.int64)
    member = np.empty(len(routes.node), np.int64)  # a source of every class
    for s in range(len(routes.class_of)):
        member[routes.class_of[s]] = s
    for x in range(len(routes.node) * ends):
        # entries are stored by class; counting by destination stays within a column of the tables
        r, d = (x // ends, x % ends) if fill else (x % len(routes.node), x // len(routes.node))
        here = r * ends + d
        for o in range(routes.several):
            for hop in range(1, follow(routes, member[r], d, o, path) - 1):
                c = path[hop]
                if last[c] != here:
                    last[c] = here
                    if fill:
                        pair[cursor[c]] = here
                        if many:
                            times[cursor[c]] = 1
                    cursor[c] += 1
                elif fill and many:
                    times[cursor[c] - 1] += 1


@kernel
def bound_channels(
    start: Array, pair: Array, times: Array, ends: int, supply: Array, demand: Array, bound: Array
) -> None:
    """Store each channel's simple bound, min(Σ row maxima · supply, Σ column maxima · demand); rows are classes."""
    top = np.zeros(ends, np.int64)
    many = len(times) > 0
    for c in range(len(bound)):
        by_row = 0
        by_column = 0
        before = -1
        best = 0
        for e in range(start[c], start[c + 1]):
            r = pair[e] // ends
            d = pair[e] - r * ends
            weight = np.int64(times[e]) if many else np.int64(1)
            if r != before:
                if before >= 0:
                    by_row += best * supply[before]
                before = r
                best = 0
            if weight > best:
                best = int(weight)
            if weight > top[d]:
                by_column += (weight - top[d]) * demand[d]
                top[d] = weight
        if before >= 0:
            by_row += best * supply[before]
        for e in range(start[c], start[c + 1]):
            top[pair[e] % ends] = 0
        bound[c] = min(by_row, by_column)


@kernel
def sum_channels(routes: RouteArrays, supply: Array, total: Array) -> None:
    """Add to each channel between switches the supply of all classes, as often as their routes to all ends cross it."""
    path = np.empty(len(routes.hops.row) + 1, np.int64)
    member = np.empty(len(routes.node), np.int64)  # a source of every class
    for s in range(len(routes.class_of)):
        member[routes.class_of[s]] = s
    for r in range(len(routes.node)):
        for d in range(len(routes.first_column) - 1):
            for o in range(routes.several):
                for hop in range(1, follow(routes, member[r], d, o, path) - 1):
                    total[path[hop]] += supply[r]


@kernel
def carry(source: Array, destination: Array, amount: Array, routes: RouteArrays, total: Array) -> None:
    """Add to each channel the amounts of flows, as often as their routes cross it; destination -1 means no flow."""
    path = np.empty(len(routes.hops.row) + 1, np.int64)
    for f in range(len(source)):
        if source[f] != destination[f] and destination[f] >= 0:
            for o in range(routes.several):
                for hop in range(follow(routes, source[f], destination[f], o, path)):
                    total[path[hop]] += amount[f]


@kernel
def heaviest(images: Array, most: Array, factor: Array, routes: RouteArrays, total: Array, result: Array) -> None:
    """Store the largest factor · load under each row of `images`: the destination of every source, -1 for no flow."""
    # A pair sends the smaller of `most[0, s]` and `most[1, d]`.
    every = np.arange(images.shape[1])
    amount = np.zeros(images.shape[1], np.int64)
    for p in range(len(images)):
        total[:] = 0
        for s in range(len(every)):
            amount[s] = min(most[0, s], most[1, images[p, s]])  # -1 is the last, which is not used
        carry(every, images[p], amount, routes, total)
        best = 0
        for c in range(len(total)):
            best = max(best, total[c] * factor[c])
        result[p] = best


@kernel
def narrowest(source: Array, destination: Array, load: Array, routes: RouteArrays, result: Array) -> None:
    """Store the largest load on the routes of each pair, 0 where no route arrives."""
    path = np.empty(len(routes.hops.row) + 1, np.int64)
    for f in range(len(source)):
        best = 0
        for o in range(routes.several):
            for hop in range(follow(routes, source[f], destination[f], o, path)):
                best = max(best, load[path[hop]])
        result[f] = best
