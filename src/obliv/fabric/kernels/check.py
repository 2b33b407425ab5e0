"""Kernel: where ways end that do not arrive.

The arrays are those of :mod:`obliv.fabric.kernels.traces`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv.kernels import kernel

__all__ = ["last_switches"]

Array = Any


@kernel
def last_switches(
    leaf: Array, lid: Array, code: Array, first: Array, to: Array, row: Array, out: Array, at: Array
) -> None:
    """The switch where every way ends that does not arrive (code 0); of a loop the switch with the least number.

    All ways to one LID are followed together: what is known of a switch is not walked again.
    """
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
