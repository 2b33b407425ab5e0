"""Kernel that follows packets along their moves; see :mod:`obliv.view.schedules.traces`."""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["pushes"]


@kernel
def pushes(start: Array, edge: Array, up: Array, path_start: Array, path: Array, stack: Array, pushed: Array) -> int:
    """Mark the moves that neither follow the path nor undo the last such move, and return their number.

    `stack` must hold the moves of any packet.
    """
    count = 0
    for p in range(len(start) - 1):
        at = path_start[p]
        depth = 0
        for row in range(start[p], start[p + 1]):
            link = 2 * edge[row] + (0 if up[row] else 1)
            if depth > 0 and link == (stack[depth - 1] ^ 1):
                depth -= 1
            elif depth == 0 and up[row] and at < path_start[p + 1] and edge[row] == path[at]:
                at += 1
            else:
                stack[depth] = link
                depth += 1
                pushed[row] = True
                count += 1
    return count
