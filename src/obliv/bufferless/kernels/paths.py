"""Kernels: paths of leveled networks, written edge by edge into one array, packet after packet."""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["mesh", "moves", "walks"]


@kernel
def mesh(n: int, m: int, down: int, right: int, source: Array, start: Array, step: Array, edge: Array) -> None:
    """Follow steps down (1) and to the side (0); `down` and `right` are 1, or -1 in the other orientation."""
    for p in range(len(source)):
        x = int(source[p]) // m
        y = int(source[p]) % m
        for at in range(start[p], start[p + 1]):
            if step[at]:
                edge[at] = (x if down > 0 else x - 1) * m + y
                x += down
            else:
                edge[at] = (n - 1) * m + x * (m - 1) + (y if right > 0 else y - 1)
                y += right


@kernel
def moves(downs: Array, start: Array, uniform: Array, step: Array) -> None:
    """Draw random orders of steps down and to the side, all equally likely; one uniform number from [0, 1) a step."""
    for p in range(len(downs)):
        left = int(downs[p])
        for at in range(start[p], start[p + 1]):
            if uniform[at] * (start[p + 1] - at) < left:
                step[at] = 1
                left -= 1
            else:
                step[at] = 0


@kernel
def walks(first: Array, out: Array, high: Array, source: Array, start: Array, draw: Array, edge: Array) -> None:
    """Walk at random: node v has the edges ``out[first[v]:first[v + 1]]``; -1 where a walk can go no further."""
    for p in range(len(source)):
        node = int(source[p])
        for at in range(start[p], start[p + 1]):
            degree = first[node + 1] - first[node]
            if degree == 0:
                edge[at] = -1
            else:
                edge[at] = out[first[node] + draw[at] % degree]
                node = int(high[edge[at]])
