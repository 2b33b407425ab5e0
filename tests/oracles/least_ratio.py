"""The least oblivious performance ratio by the plain linear program: every pair and channel a block, no symmetry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array


def least_ratio(
    nodes: int, links: Sequence[tuple[int, int]], terminals: Sequence[int], bandwidth: Sequence[float] = ()
) -> float:
    """Return the least oblivious performance ratio of all routings, approximately."""
    n, channels = len(terminals), len(links)
    speed = list(bandwidth) or [1.0] * channels
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    flows = len(pairs) * channels
    distance = flows + np.arange(channels * n * nodes).reshape(channels, n, nodes)
    price = flows + distance.size + np.arange(channels**2).reshape(channels, channels)
    ratio = flows + distance.size + price.size
    equal: list[tuple[int, int, float]] = []
    right = np.zeros(len(pairs) * nodes)
    below: list[tuple[int, int, float]] = []
    rows = 0
    for p, (i, j) in enumerate(pairs):
        right[p * nodes + terminals[i]], right[p * nodes + terminals[j]] = 1, -1
        for c, (tail, head) in enumerate(links):
            equal += [(p * nodes + tail, p * channels + c, 1), (p * nodes + head, p * channels + c, -1)]
            below += [(rows, p * channels + c, 1 / speed[c]), (rows, distance[c, i, terminals[j]], -1)]
            rows += 1
    for c in range(channels):
        for h, (tail, head) in enumerate(links):
            for i in range(n):
                if head == terminals[i]:
                    continue
                below += [(rows, distance[c, i, head], 1), (rows, price[c, h], -1)]
                if tail != terminals[i]:
                    below.append((rows, distance[c, i, tail], -1))
                rows += 1
        below += [(rows, price[c, h], speed[h]) for h in range(channels)]
        below.append((rows, ratio, -1))
        rows += 1

    def sparse(entries: list[tuple[int, int, float]], count: int) -> coo_array:
        row, column, value = zip(*entries, strict=True)
        return coo_array((value, (row, column)), shape=(count, ratio + 1)).tocsr()

    cost = np.zeros(ratio + 1)
    cost[ratio] = 1
    answer = linprog(cost, sparse(below, rows), np.zeros(rows), sparse(equal, len(right)), right, method="highs")
    assert answer.status == 0, answer.message
    return float(answer.fun)
