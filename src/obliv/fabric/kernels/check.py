"""Kernel: where routes end that do not arrive."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.traces import Hops
from obliv.kernels import kernel

__all__ = ["last_switches"]


@kernel
def last_switches(leaf: Array, lid: Array, code: Array, hops: Hops, at: Array) -> None:
    """Store in `at` the switch where every lost route ends, -1 for routes that arrive (code 0).

    Of a loop it is the switch with the least number.  Routes to one LID are followed together: a switch whose outcome
    is known is not visited again.

    Parameters
    ----------
    leaf, lid, code
        As :func:`obliv.fabric.kernels.traces.trace_columns` has them.
    hops : Hops
    at : int32 array, shape (leaves, columns)
    """
    first, to, row, out = hops.first, hops.to, hops.row, hops.out
    nodes = len(row)
    opened, done = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)
    ending = np.zeros(nodes, np.int32)
    stack = np.empty(nodes, np.int32)
    for k in range(len(lid)):
        for i in range(len(leaf)):
            at[i, k] = -1
            if code[i, k] == 0:
                continue
            v = leaf[i]
            depth = 0
            while True:
                if done[v] == k + 1:
                    last = ending[v]
                    break
                if opened[v] == k + 1:  # a loop: what was opened from here on
                    last = v
                    back = depth - 1
                    while stack[back] != v:
                        last = min(last, stack[back])
                        back -= 1
                    break
                opened[v] = k + 1
                stack[depth] = v
                depth += 1
                last = v
                if code[i, k] == 7 or row[v] < 0 or lid[k] >= len(out):
                    break
                port = np.int64(out[lid[k], row[v]])
                slot = first[v] + port
                if port == 0 or port == 255 or slot >= first[v + 1] or to[slot] < 0:
                    break
                v = to[slot]
            while depth > 0:
                depth -= 1
                done[stack[depth]] = k + 1
                ending[stack[depth]] = last
            at[i, k] = last
