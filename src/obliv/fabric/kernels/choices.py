"""Kernels: where packets can come if every switch may choose among the ports of a set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Choices", "followed_by", "order_rows", "trace_choices"]

_LOOP, _NO_LID = 6, 7


class Choices(NamedTuple):
    """The ports among which switches may choose, and where cables lead.

    For LID l, the switch of row v has the set of ports number ``choice[l, v]``. Set n is ``port[ptr[n]:ptr[n + 1]]``;
    set 0 is empty. The slots of row v are ``first[v] <= slot < end[v]``, its port p has slot ``first[v] + p``.
    ``to[slot]`` is the row of the switch at the other end, -1 for no cable, -3 - e for end e of those between which
    packets travel, -2 for anything else.
    """

    ptr: Array
    port: Array
    choice: Array
    first: Array
    end: Array
    to: Array


@kernel
def _ending(choices: Choices, v: int, port: int, goal: int) -> int:
    """Return how a packet for an end fares by one port of a row: an ending, or -1 where it comes to a switch."""
    if port == 0:
        return 5
    slot = choices.first[v] + port
    if slot >= choices.end[v]:
        return 3
    to = choices.to[slot]
    if to >= 0:
        return -1
    if to == -1:
        return 4
    return 0 if to == -3 - goal else 5


@kernel
def trace_choices(
    leaf: Array, lid: Array, goal: Array, choices: Choices, tables: Array, code: Array, at: Array
) -> None:
    """Store in `code` how packets from every leaf to every LID can fare: 0 only if they arrive by all choices.

    Otherwise it is how they end by some choice, a loop before everything else that is met at the same switch. Numbers
    are those of :class:`obliv.fabric.routes.trace.Ending`.

    Parameters
    ----------
    leaf : int array, shape (leaves,)
        Rows where packets begin.
    lid, goal : int arrays, shape (columns,)
        A LID, and the end that owns it.
    choices : Choices
    tables : bool array, shape (rows,)
        Whether a switch has a table.
    code : uint8 array, shape (leaves, columns)
    at : int32 array, shape (leaves, columns) or (0, 0)
        The row where they end; of a loop one of its rows.
    """
    rows = len(choices.first)
    seen = np.full(rows, -1, np.int32)  # the column for which a row was opened
    done = np.full(rows, -1, np.int32)  # and the one for which its outcome is known
    ending, place = np.zeros(rows, np.uint8), np.zeros(rows, np.int32)
    stack, cursor = np.empty(rows, np.int32), np.empty(rows, np.int64)
    ptr, ports, choice, first, _, to = choices
    for k in range(len(lid)):
        inside = 0 < lid[k] < len(choice)
        for i in range(len(leaf)):
            start = leaf[i]
            if done[start] != k:
                depth = 0
                stack[0] = start
                seen[start] = k
                ending[start], place[start] = 0, start
                cursor[start] = ptr[choice[lid[k], start]] if inside else 0
                while depth >= 0:
                    v = stack[depth]
                    n = choice[lid[k], v] if inside else 0
                    if cursor[v] == (ptr[n] if inside else 0):  # the first visit
                        if lid[k] <= 0:
                            ending[v] = _NO_LID
                        elif not tables[v]:
                            ending[v] = 1
                        elif ptr[n] == ptr[n + 1]:
                            ending[v] = 2
                    if not inside or cursor[v] == ptr[n + 1]:
                        done[v] = k
                        depth -= 1
                        if depth >= 0 and ending[v] != 0:
                            u = stack[depth]
                            if ending[u] == 0 or (ending[u] != _LOOP and ending[v] == _LOOP):
                                ending[u], place[u] = ending[v], place[v]
                        continue
                    port = np.int64(ports[cursor[v]])
                    cursor[v] += 1
                    result = _ending(choices, v, port, goal[k])
                    w, where = v, v
                    if result < 0:
                        w = to[first[v] + port]
                        if done[w] == k:
                            result, where = np.int64(ending[w]), np.int64(place[w])
                        elif seen[w] == k:
                            result, where = _LOOP, w
                        else:
                            seen[w] = k
                            ending[w], place[w] = 0, w
                            cursor[w] = ptr[choice[lid[k], w]]
                            depth += 1
                            stack[depth] = w
                            continue
                    if result != 0 and (ending[v] == 0 or (ending[v] != _LOOP and result == _LOOP)):
                        ending[v], place[v] = result, where
            code[i, k] = ending[start]
            if len(at):
                at[i, k] = place[start]


@kernel
def order_rows(lid: int, start: Array, choices: Choices, seen: Array, order: Array, scratch: Array) -> int:
    """List the rows that packets for a LID can come to, each after all rows that they can come to from there.

    Parameters
    ----------
    lid : int
    start : int array
        Rows where packets begin, and from which all choices lead to the end.
    choices : Choices
    seen : bool array, shape (rows,)
        False; True for the listed rows on return.
    order : int array, shape (rows,)
    scratch : int64 array, shape (2, rows)

    Returns
    -------
    int
        How many rows are listed.
    """
    ptr, ports, choice, first, _, to = choices
    stack, cursor = scratch[0], scratch[1]
    count = 0
    for i in range(len(start)):
        if seen[start[i]]:
            continue
        depth = 0
        stack[0] = start[i]
        seen[start[i]] = True
        cursor[start[i]] = ptr[choice[lid, start[i]]]
        while depth >= 0:
            v = stack[depth]
            if cursor[v] == ptr[choice[lid, v] + 1]:
                order[count] = v
                count += 1
                depth -= 1
                continue
            w = to[first[v] + np.int64(ports[cursor[v]])]
            cursor[v] += 1
            if w >= 0 and not seen[w]:
                seen[w] = True
                cursor[w] = ptr[choice[lid, w]]
                depth += 1
                stack[depth] = w
    return count


@kernel
def followed_by(
    lid: Array, leaf: Array, code: Array, choices: Choices, channel: Array, index: Array, follows: Array
) -> None:
    """Mark ``follows[c, g]`` where packets take channel c between two switches and then choose from set number g.

    Parameters
    ----------
    lid : int array, shape (columns,)
    leaf : int array, shape (leaves,)
        Rows where packets begin.
    code : uint8 array, shape (leaves, columns)
        How they can fare; where they can go round in circles, they are left out.
    choices : Choices
    channel : int64 array, shape (slots,)
        The number of each channel between switches, -1 for other slots.
    index : int array, shape (sets, rows)
        The number of a set among those of a row.
    follows : bool array, shape (channels between switches, sets of a row)
    """
    ptr, ports, choice, first, end, to = choices
    rows = len(first)
    seen = np.full(rows, -1, np.int32)
    stack = np.empty(rows, np.int32)
    for k in range(len(lid)):
        if lid[k] <= 0 or lid[k] >= len(choice):
            continue
        depth = 0
        for i in range(len(leaf)):
            if code[i, k] != _LOOP and seen[leaf[i]] != k:
                seen[leaf[i]] = k
                stack[depth] = leaf[i]
                depth += 1
        while depth > 0:
            depth -= 1
            v = stack[depth]
            n = choice[lid[k], v]
            for at in range(ptr[n], ptr[n + 1]):
                slot = first[v] + np.int64(ports[at])
                if ports[at] == 0 or slot >= end[v] or channel[slot] < 0:
                    continue
                w = to[slot]
                follows[channel[slot], index[choice[lid[k], w], w]] = True
                if seen[w] != k:
                    seen[w] = k
                    stack[depth] = w
                    depth += 1
