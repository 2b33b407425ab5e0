"""The least worst case by the plain linear program: every pair, channel and potential a column, no symmetry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_array


def least_load(
    nodes: int,
    links: Sequence[tuple[int, int]],
    terminals: Sequence[int],
    bandwidth: Sequence[float] = (),
    injection: Sequence[float] = (),
    ejection: Sequence[float] = (),
) -> float:
    """Return the least worst-case load of all oblivious routings, approximately."""
    n, channels = len(terminals), len(links)
    speed = bandwidth or [1.0] * channels
    send, take = injection or [1.0] * n, ejection or [1.0] * n
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    flow = {(p, c): k for k, (p, c) in enumerate((p, c) for p in range(len(pairs)) for c in range(channels))}
    side = len(flow) + np.arange(2 * n * channels).reshape(2, n, channels)
    worst = len(flow) + side.size
    equal = lil_array((len(pairs) * nodes, worst + 1))
    right = np.zeros(len(pairs) * nodes)
    bound = lil_array((len(flow) + channels, worst + 1))
    for p, (i, j) in enumerate(pairs):
        for v in range(nodes):
            right[p * nodes + v] = (v == terminals[i]) - (v == terminals[j])
        for c, (tail, head) in enumerate(links):
            equal[p * nodes + tail, flow[p, c]] += 1
            equal[p * nodes + head, flow[p, c]] -= 1
            row = flow[p, c]
            bound[row, flow[p, c]], bound[row, side[0, i, c]], bound[row, side[1, j, c]] = 1, -1, -1
    for c in range(channels):
        row = len(flow) + c
        for i in range(n):
            bound[row, side[0, i, c]], bound[row, side[1, i, c]] = send[i], take[i]
        bound[row, worst] = -speed[c]
    cost = np.zeros(worst + 1)
    cost[worst] = 1
    answer = linprog(cost, bound.tocsr(), np.zeros(len(flow) + channels), equal.tocsr(), right, method="highs")
    assert answer.status == 0, answer.message
    return float(answer.fun)
