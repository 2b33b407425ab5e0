"""Kernels: paths on fat trees that are chosen one after another."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["least_weights"]


@kernel
def least_weights(below: Array, width: Array, counts: Array, draws: Array, table: Array) -> None:
    """Fill ``table[s, d]`` with the path number of least count, pair after pair; ``counts[up, height, link]``.

    Of equal ones the first, or that which ``draws[s, d]``, a number below 2^31, selects if there are such.
    """
    n = len(table)
    cost = np.zeros((2, width[len(width) - 1]), counts.dtype)  # of all paths up to one height and to the next one
    for s in range(n):
        for d in range(n):
            if s == d:
                continue
            turn = 0
            while s // below[turn] != d // below[turn]:
                turn += 1
            cost[0, 0] = 0
            for h in range(turn):
                links = width[h + 1]
                ports = links // width[h]
                lower, upper = cost[h % 2], cost[(h + 1) % 2]
                first_up, first_down = s // below[h] * links, d // below[h] * links
                for node in range(width[h]):
                    start, end = node * ports, (node + 1) * ports
                    up = counts[1, h, first_up + start : first_up + end]
                    down = counts[0, h, first_down + start : first_down + end]
                    sums, before = upper[start:end], lower[node]
                    for port in range(len(sums)):
                        sums[port] = before + up[port] + down[port]
            total = cost[turn % 2, : width[turn]]
            least = total[0]
            for number in range(1, width[turn]):
                least = min(least, total[number])
            left = 0  # of the equal ones, how many come before the chosen one
            if len(draws) > 0:
                for number in range(width[turn]):
                    left += total[number] == least
                left = (draws[s, d] * left) >> 31
            chosen = 0
            while left > 0 or total[chosen] != least:
                left -= total[chosen] == least
                chosen += 1
            table[s, d] = chosen
            for h in range(turn):
                port = chosen // (width[turn] // width[h + 1])
                counts[1, h, s // below[h] * width[h + 1] + port] += 1
                counts[0, h, d // below[h] * width[h + 1] + port] += 1
