"""Kernels: the lanes that routes take, and which channel and lane follows which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

# Kernel: where forwarding tables lead


class Forwarding(NamedTuple):
    """Cables and forwarding tables: where a switch sends a packet.

    ``first[v] + p`` is the slot of port p of node v.  ``to[slot]`` is the other end of its cable: the
    node of a switch, -1 for no cable, -3 - e for end e of those between which packets travel, -2 for anything else.
    ``row[v]`` is the row of a switch in the tables, -1 for no table, and ``out[lid, row]`` a port, 255 for no entry.
    """

    first: Array
    to: Array
    row: Array
    out: Array


class LidColumns(NamedTuple):
    """The LIDs of endpoints: the LID and the endpoint of each column, and how routes end.

    ``code`` has shape (leaves, columns), as :func:`trace_columns` stores it.
    """

    lid: Array
    endpoint: Array
    code: Array


@kernel
def trace_columns(leaf: Array, lid: Array, goal: Array, hops: Forwarding, code: Array, at: Array) -> None:
    """Store in `code` how the route from every leaf switch to every LID ends, and in `at` the switch where.

    Routes to one LID are followed together: a switch whose outcome is known is not visited again.  The numbers in
    `code` are those of :class:`obliv.fabric.routes.trace.Ending`.

    Parameters
    ----------
    leaf : int array, shape (leaves,)
        Nodes where routes begin.
    lid, goal : int arrays, shape (columns,)
        A LID, and the end that owns it.
    hops : Forwarding
    code : uint8 array, shape (leaves, columns)
    at : int32 array, shape (leaves, columns) or (0, 0)
        Of a loop it is the switch with the least number.
    """
    first, to, row, out = hops.first, hops.to, hops.row, hops.out
    nodes = len(row)
    done, opened = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)
    ending, place = np.zeros(nodes, np.uint8), np.zeros(nodes, np.int32)
    stack = np.empty(nodes, np.int32)
    for k in range(len(lid)):
        for i in range(len(leaf)):
            v = leaf[i]
            depth = 0
            result = 0
            while True:
                last = v
                if done[v] == k + 1:
                    result, last = ending[v], place[v]
                    break
                if opened[v] == k + 1:  # a loop: what was opened from here on
                    result = 6
                    back = depth - 1
                    while stack[back] != v:
                        last = min(last, stack[back])
                        back -= 1
                    break
                opened[v] = k + 1
                stack[depth] = v
                depth += 1
                if lid[k] <= 0:
                    result = 7
                    break
                if row[v] < 0:
                    result = 1
                    break
                port = np.int64(out[lid[k], row[v]]) if lid[k] < len(out) else np.int64(255)
                if port == 255:
                    result = 2
                    break
                if port == 0:
                    result = 5
                    break
                slot = first[v] + port
                if slot >= first[v + 1]:
                    result = 3
                    break
                end = to[slot]
                if end >= 0:
                    v = end
                    continue
                if end == -1:
                    result = 4
                elif end == -3 - goal[k]:
                    result = 0
                else:
                    result = 5
                break
            while depth > 0:
                depth -= 1
                v = stack[depth]
                done[v] = k + 1
                ending[v], place[v] = result, last
            code[i, k] = result
            if len(at):
                at[i, k] = last


class LaneArrays(NamedTuple):
    """SL-to-VL tables.

    The row of switch v from port `entry` to port `exit` has number ``row[first[v] + entry * ports[v] + exit]``, 0 where
    it is missing or ``first[v]`` is -1; ``vl[number, sl]`` is the lane, 15 discards the packet. ``entry[slot]`` is the
    slot at the other end of a port's cable.
    """

    first: Array
    ports: Array
    row: Array
    vl: Array
    entry: Array


class Origins(NamedTuple):
    """Sources at one leaf switch whose packets are treated alike.

    Origin r is at node ``node[r]``, number ``leaf[r]`` among the leaf switches; its packets come in by the port with
    slot ``entry[r]``. ``alone[r]`` is its endpoint where it has only one, else -1. ``of[s]`` is the origin of an
    endpoint, -1 for endpoints that are cabled to no switch.
    """

    node: Array
    leaf: Array
    entry: Array
    alone: Array
    of: Array


@kernel
def gather(origin_of: Array, endpoint: Array, levels: Array, masks: Array) -> int:
    """Join the SLs of all sources of an origin in `masks`; return how many pairs of a source and a LID have none.

    Parameters
    ----------
    origin_of : int64 array, shape (endpoints,)
        -1 for endpoints without a switch.
    endpoint : int64 array, shape (columns,)
        The endpoint that owns the LID of each column.
    levels : uint16 array, shape (endpoints, columns)
    masks : uint16 array, shape (origins, columns)
        Written.
    """
    lacking = 0
    for s in range(len(origin_of)):
        r = origin_of[s]
        if r < 0:
            continue
        for k in range(len(endpoint)):
            if endpoint[k] != s:
                if levels[s, k] == 0:
                    lacking += 1
                masks[r, k] |= levels[s, k]
    return lacking


class LaneWalk(NamedTuple):
    """Cables, forwarding tables and SL-to-VL tables, packed so that a hop reads few places in memory.

    ``node[v]`` has the first slot of a node, the end of its slots, its row in the forwarding tables (-1: none), where
    its rows in ``cell`` begin (-1: none), and its ports. ``slot[p]`` has the number of the channel between switches
    that begins there (-1: none), the slot at the other end of the cable, the node there, and ``uniform`` of that slot.
    ``cell`` has the number of a distinct row of ``vl`` in its lower `shift` bits; bit `shift` + s is set for rows that
    packets of SL s meet. ``uniform[p]`` is that number where it is the same for all ports out, else -1; where it is not
    -1, ``cell`` is not used, and bit s of ``met[p]`` is set for packets of SL s that come in there.
    """

    node: Array
    slot: Array
    uniform: Array
    met: Array
    cell: Array
    shift: int
    vl: Array
    out: Array


class Followed(NamedTuple):
    """What packets take; the arrays are written.

    Lane k of channel c is number k · channels + c. ``vertex`` is set for those in use; bit l of ``follows[n, p]`` where
    a packet on n takes port p on lane l next; ``bare[v]`` for switches without a table that packets meet.
    """

    channels: int
    vertex: Array
    follows: Array
    bare: Array


@kernel
def follow_lanes(
    order: Array, origins: Origins, columns: LidColumns, walk: LaneWalk, masks: Array, sls: Array, followed: Followed
) -> None:
    """Follow the routes of all origins to all LIDs, lane by lane.

    Routes that loop (code 6) or have no LID (7) are left out. A packet whose row is missing or gives VL 15 goes no
    further.

    Parameters
    ----------
    order : int64 array
        The columns, those with the same SLs one after the other: this takes less time.
    origins : Origins
    columns : LidColumns
        At most 2^16.
    walk : LaneWalk
        Bits of `cell` and `met` are set.
    masks : uint16 array, shape (1 or origins, 1 or columns)
        The SLs of packets from an origin to a LID.
    sls : int64 array
        The SLs to follow.
    followed : Followed
    """
    node, slots, cell, shift, vl, out = walk.node, walk.slot, walk.cell, walk.shift, walk.vl, walk.out
    uniform, met = walk.uniform, walk.met
    start, leaf, begin, alone, _ = origins  # once: each use counts references
    lid, endpoint, code = columns
    channels, vertex, follows, bare = followed.channels, followed.vertex, followed.follows, followed.bare
    many = len(sls)
    state = np.zeros(len(slots) * many, np.int32)  # of every channel and SL: last column + 1, and the lanes seen for it
    by_origin, by_column = masks.shape[0] > 1, masks.shape[1] > 1
    for k in order:
        for r in range(len(start)):
            mask = np.int64(masks[r if by_origin else 0, k if by_column else 0])
            i = leaf[r]
            if mask == 0 or code[i, k] == 6 or code[i, k] == 7 or alone[r] == endpoint[k]:
                continue
            for j in range(many):
                sl = sls[j]
                if mask >> sl & 1 == 0:
                    continue
                v = np.int64(start[r])
                entry = np.int64(begin[r])
                before = -1
                number = int(uniform[entry])
                while v >= 0 and node[v, 2] >= 0 and lid[k] < len(out):
                    port = np.int64(out[lid[k], node[v, 2]])
                    slot = node[v, 0] + port
                    if port == 0 or slot >= node[v, 1]:
                        break
                    if node[v, 3] < 0:
                        bare[v] = True
                        break
                    if number >= 0:
                        met[entry] |= 1 << sl
                    else:
                        place = node[v, 3] + (entry - node[v, 0]) * node[v, 4] + port
                        content = np.int64(cell[place])
                        if content >> (shift + sl) & 1 == 0:
                            cell[place] = content | np.int64(1) << (shift + sl)
                        number = int(content & ((np.int64(1) << shift) - 1))
                    lane = np.int64(vl[number, sl])
                    channel = np.int64(slots[slot, 0])
                    if number == 0 or lane == 15 or channel < 0:
                        break
                    if before >= 0:
                        follows[before, port] |= 1 << lane
                    seen = int(state[j * len(slots) + slot])
                    if seen >> 15 != k + 1:
                        seen = (k + 1) << 15
                    if seen >> lane & 1 != 0:
                        break
                    state[j * len(slots) + slot] = seen | 1 << lane
                    before = int(lane * channels + channel)
                    vertex[before] = True
                    entry = np.int64(slots[slot, 1])
                    v = np.int64(slots[slot, 2])
                    number = int(slots[slot, 3])


@kernel
def count_lost(
    origins: Origins,
    columns: LidColumns,
    hops: Forwarding,
    tables: LaneArrays,
    levels: Array,
    born: Array,
    first_pair: Array,
) -> tuple[int, int]:
    """Return how many pairs of a source and a LID may lose packets to VL 15, and how many of them meet a missing row.

    Parameters
    ----------
    origins : Origins
    columns : LidColumns
    hops : Forwarding
    tables : LaneArrays
    levels : uint16 array, shape (1 or endpoints, 1 or columns)
        The SLs of each pair.
    born : uint16 array, shape (endpoints,)
        The SLs that each endpoint drops itself.
    first_pair : int64 array, shape (2, 3)
        The first such pair of each sort, and its SL: source, column, SL; unchanged where there is none.
    """
    first, to, row, out = hops.first, hops.to, hops.row, hops.out
    lid, endpoint, code = columns
    by_source, by_column = levels.shape[0] > 1, levels.shape[1] > 1
    stamp = np.zeros(len(to) * 16, np.int32)  # of every state: port by which a packet comes in, and SL
    fate = np.zeros(len(to) * 16, np.uint8)
    trail = np.empty(len(row) + 1, np.int64)
    dropped, lacking = 0, 0
    for k in range(len(lid)):
        for s in range(len(origins.of)):
            r = origins.of[s]
            if r < 0 or endpoint[k] == s:
                continue
            i = origins.leaf[r]
            if code[i, k] == 6 or code[i, k] == 7:
                continue
            mask = np.int64(levels[s if by_source else 0, k if by_column else 0])
            both = 0
            for sl in range(16):
                if mask >> sl & 1 == 0:
                    continue
                v, entry = np.int64(origins.node[r]), np.int64(origins.entry[r])
                depth = 0
                result = 1 if born[s] >> sl & 1 != 0 else 0
                while result == 0 and v >= 0 and row[v] >= 0 and lid[k] < len(out):
                    state = entry * 16 + sl
                    if stamp[state] == k + 1:
                        result = int(fate[state])
                        break
                    trail[depth] = state
                    depth += 1
                    port = np.int64(out[lid[k], row[v]])
                    slot = first[v] + port
                    if port == 0 or slot >= first[v + 1]:
                        break
                    number = np.int64(0)
                    if tables.first[v] >= 0:
                        number = np.int64(tables.row[tables.first[v] + (entry - first[v]) * tables.ports[v] + port])
                    if number == 0:
                        result = 2
                        break
                    if tables.vl[number, sl] == 15:
                        result = 1
                        break
                    entry = tables.entry[slot]
                    v = np.int64(to[slot])
                while depth > 0:
                    depth -= 1
                    stamp[trail[depth]] = k + 1
                    fate[trail[depth]] = result
                if result > 0 and first_pair[result - 1, 0] < 0:
                    first_pair[result - 1, 0], first_pair[result - 1, 1], first_pair[result - 1, 2] = s, k, sl
                both |= result
            if both & 1 != 0:
                dropped += 1
            if both & 2 != 0:
                lacking += 1
    return dropped, lacking


# Kernel: which channel a route uses right after which


@kernel
def followers(
    leaf: Array, lid: Array, alone: Array, code: Array, hops: Forwarding, channel: Array, follows: Array
) -> None:
    """Mark ``follows[c, p]`` where a route takes channel c between two switches and then port p to a third switch.

    Routes that loop (code 6) or have no LID (7) are left out, and those from leaf ``alone[k]``, where the owner of
    LID k is the only endpoint.  Routes to one LID are followed together, each switch's own hop once.

    Parameters
    ----------
    leaf, lid, code
        As :func:`obliv.fabric.kernels.lanes.trace_columns` has them.
    alone : int array, shape (columns,)
    hops : Forwarding
    channel : int64 array, shape (slots,)
        The number of each channel between switches, -1 for other slots.
    follows : bool array, shape (channels between switches, ports)
    """
    first, to, row, out = hops.first, hops.to, hops.row, hops.out
    seen = np.zeros(len(row), np.int32)
    for k in range(len(lid)):
        for i in range(len(leaf)):
            if code[i, k] == 6 or code[i, k] == 7 or i == alone[k]:
                continue
            v = leaf[i]
            before = -1
            while v >= 0 and row[v] >= 0 and lid[k] < len(out):
                port = np.int64(out[lid[k], row[v]])
                slot = first[v] + port
                if port == 0 or slot >= first[v + 1] or channel[slot] < 0:
                    break
                if before >= 0:
                    follows[before, port] = True
                if seen[v] == k + 1:
                    break
                seen[v] = k + 1
                before = channel[slot]
                v = to[slot]
