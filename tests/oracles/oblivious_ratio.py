"""The oblivious performance ratio by plain linear programs: flows of every pair, every channel, SciPy, no symmetry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_array

Path = tuple[Sequence[int], float]  # channels, probability


def oblivious_ratio(
    nodes: int,
    links: Sequence[tuple[int, int]],
    terminals: Sequence[int],
    paths: Mapping[tuple[int, int], Sequence[Path]],
    bandwidth: Sequence[float] = (),
) -> float:
    """Return the largest load over that of the best routing, approximately; `paths` by node numbers of pairs."""
    speed = bandwidth or [1.0] * len(links)
    pairs = [(i, j) for i in terminals for j in terminals if i != j]
    channels = len(links)
    columns = len(pairs) * (channels + 1)  # of every pair the flow over each channel, and the traffic
    equal = lil_array((len(pairs) * nodes, columns))
    bound = lil_array((channels, columns))
    for p, (i, j) in enumerate(pairs):
        for c, (tail, head) in enumerate(links):
            equal[p * nodes + tail, p * channels + c] += 1
            equal[p * nodes + head, p * channels + c] -= 1
            bound[c, p * channels + c] = 1
        equal[p * nodes + i, len(pairs) * channels + p] = -1
        equal[p * nodes + j, len(pairs) * channels + p] = 1
    load = np.zeros((channels, len(pairs)))
    for p, pair in enumerate(pairs):
        for taken, share in paths[pair]:
            for c in taken:
                load[c, p] += float(share)
    best = 0.0
    for c in range(channels):
        cost = np.zeros(columns)
        cost[len(pairs) * channels :] = -load[c] / speed[c]
        solved = linprog(cost, bound.tocsr(), speed, equal.tocsr(), np.zeros(len(pairs) * nodes), method="highs")
        best = max(best, -solved.fun)
    return best
