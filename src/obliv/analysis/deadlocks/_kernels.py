"""Kernel: the part of a directed graph that contains its cycles."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["drain"]


@kernel
def drain(ptr: Array, head: Array, left: Array) -> None:
    """Clear `left` for vertices without incoming edges, again and again (Kahn); without a cycle nothing is left.

    Parameters
    ----------
    ptr, head : integer arrays
        Edges of vertex v lead to ``head[ptr[v]:ptr[v + 1]]``.
    left : bool array, shape (vertices,)
        Must be set.
    """
    incoming = np.zeros(len(left), np.int64)
    for e in range(len(head)):
        incoming[head[e]] += 1
    ready = np.empty(len(left), np.int64)
    count = 0
    for v in range(len(left)):
        if incoming[v] == 0:
            ready[count] = v
            count += 1
    while count > 0:
        count -= 1
        v = ready[count]
        left[v] = False
        for e in range(ptr[v], ptr[v + 1]):
            w = head[e]
            incoming[w] -= 1
            if incoming[w] == 0:
                ready[count] = w
                count += 1
