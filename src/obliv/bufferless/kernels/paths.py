"""Kernels: paths of leveled networks, written edge by edge into one array, packet after packet."""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["butterfly", "debruijn", "fattree", "hypercube", "mesh", "moves", "shuffle", "splitters", "walks"]


@kernel
def butterfly(k: int, source: Array, destination: Array, edge: Array) -> None:
    """Change the row bit by bit, the lowest first."""
    rows = 1 << k
    at = 0
    for p in range(len(source)):
        row = int(source[p])
        differs = row ^ int(destination[p])
        for level in range(k):
            edge[at] = (level * rows + row) * 2 + ((differs >> level) & 1)
            row ^= differs & (1 << level)
            at += 1


@kernel
def debruijn(k: int, source: Array, destination: Array, edge: Array) -> None:
    """Shift in the destination's bits, the highest first."""
    rows = 1 << k
    at = 0
    for p in range(len(source)):
        row = int(source[p])
        for level in range(k):
            bit = (int(destination[p]) >> (k - 1 - level)) & 1
            edge[at] = (level * rows + row) * 2 + bit
            row = ((row << 1) & (rows - 1)) | bit
            at += 1


@kernel
def shuffle(k: int, source: Array, destination: Array, edge: Array) -> None:
    """Let bit 0 become in round i bit (k - i) mod k of the destination, then all bits rotate."""
    rows = 1 << k
    at = 0
    for p in range(len(source)):
        row = int(source[p])
        for turn in range(k):
            bit = (int(destination[p]) >> ((k - turn) % k)) & 1
            differs = (row & 1) ^ bit
            edge[at] = turn * 3 * rows + row * 2 + differs
            row ^= differs
            edge[at + 1] = turn * 3 * rows + 2 * rows + row
            row = ((row << 1) & (rows - 1)) | (row >> (k - 1))
            at += 2


@kernel
def fattree(k: int, h: int, source: Array, destination: Array, port: Array, edge: Array) -> None:
    """Go up by the ports in `port`, and down by the destination's digits."""
    leaves = k**h
    at = 0
    for p in range(len(source)):
        edge[at] = source[p]
        at += 1
        switch = int(source[p]) // k
        weight = 1
        for level in range(1, h):
            up = int(port[p, level - 1])
            edge[at] = level * leaves + switch * k + up
            switch += (up - switch // weight % k) * weight
            weight *= k
            at += 1
        for level in range(h, 2 * h - 1):
            weight //= k
            down = int(destination[p]) // k // weight % k
            edge[at] = level * leaves + switch * k + down
            switch += (down - switch // weight % k) * weight
            at += 1
        edge[at] = (2 * h - 1) * leaves + destination[p]
        at += 1


@kernel
def splitters(k: int, d: int, high: Array, source: Array, destination: Array, choice: Array, edge: Array) -> None:
    """Go through a multibutterfly: the half by the destination's bit, one of its `d` edges by `choice`."""
    at = 0
    for p in range(len(source)):
        node = int(source[p])
        for level in range(k):
            half = (int(destination[p]) >> (k - 1 - level)) & 1
            edge[at] = (node * 2 + half) * d + choice[p, level]
            node = int(high[edge[at]])
            at += 1


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
def hypercube(k: int, source: Array, start: Array, bit: Array, edge: Array) -> None:
    """Set bit after bit."""
    half = 1 << (k - 1)
    for p in range(len(source)):
        node = int(source[p])
        for at in range(start[p], start[p + 1]):
            b = int(bit[at])
            below = (1 << b) - 1
            edge[at] = b * half + (((node >> 1) & ~below) | (node & below))
            node |= 1 << b


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
