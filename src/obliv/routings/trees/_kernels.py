"""Kernels: paths on fat trees that are chosen one after another."""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["least_weights"]


@kernel
def least_weights(below: Array, width: Array, counts: Array, table: Array) -> None:
    """Fill ``table[s, d]`` with the path number of least count, pair after pair; ``counts[up, height, link]``."""
    n = len(table)
    for s in range(n):
        for d in range(n):
            if s == d:
                continue
            turn = 0
            while s // below[turn] != d // below[turn]:
                turn += 1
            best = -1
            chosen = 0
            for number in range(width[turn]):
                total = 0
                for h in range(turn):
                    port = number // (width[turn] // width[h + 1])
                    total += counts[1, h, s // below[h] * width[h + 1] + port]
                    total += counts[0, h, d // below[h] * width[h + 1] + port]
                if best < 0 or total < best:
                    best = total
                    chosen = number
            table[s, d] = chosen
            for h in range(turn):
                port = chosen // (width[turn] // width[h + 1])
                counts[1, h, s // below[h] * width[h + 1] + port] += 1
                counts[0, h, d // below[h] * width[h + 1] + port] += 1
