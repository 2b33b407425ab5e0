"""Kernel: where forwarding tables lead."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Columns", "Hops", "trace_columns"]


class Hops(NamedTuple):
    """Cables and forwarding tables: where a switch sends a packet.

    ``first[v] + p`` is the slot of port p of node v.  ``to[slot]`` is the other end of its cable: the
    node of a switch, -1 for no cable, -3 - e for end e of those between which packets travel, -2 for anything else.
    ``row[v]`` is the row of a switch in the tables, -1 for no table, and ``out[lid, row]`` a port, 255 for no entry.
    """

    first: Array
    to: Array
    row: Array
    out: Array


class Columns(NamedTuple):
    """The LIDs of endpoints: the LID and the endpoint of each column, and how routes end.

    ``code`` has shape (leaves, columns), as :func:`trace_columns` stores it.
    """

    lid: Array
    endpoint: Array
    code: Array


@kernel
def trace_columns(leaf: Array, lid: Array, goal: Array, hops: Hops, code: Array, at: Array) -> None:
    """Store in `code` how the route from every leaf switch to every LID ends, and in `at` the switch where.

    Routes to one LID are followed together: a switch whose outcome is known is not visited again.  The numbers in
    `code` are those of :class:`obliv.fabric.routes.trace.Ending`.

    Parameters
    ----------
    leaf : int array, shape (leaves,)
        Nodes where routes begin.
    lid, goal : int arrays, shape (columns,)
        A LID, and the end that owns it.
    hops : Hops
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
