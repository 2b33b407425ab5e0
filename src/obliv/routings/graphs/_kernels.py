"""Kernel: distances to destinations."""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["distances_to"]


@kernel
def distances_to(goals: Array, first_in: Array, tail_in: Array, far: Array, queue: Array) -> None:
    """Find the fewest channels from every node to the nearest of `goals`; -1 where there is no path."""
    for v in range(len(far)):
        far[v] = -1
    end = 0
    for goal in goals:
        if far[goal] < 0:
            far[goal] = 0
            queue[end] = goal
            end += 1
    begin = 0
    while begin < end:
        v = queue[begin]
        begin += 1
        for e in range(first_in[v], first_in[v + 1]):
            w = tail_in[e]
            if far[w] < 0:
                far[w] = far[v] + 1
                queue[end] = w
                end += 1
