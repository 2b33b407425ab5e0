"""The least largest load of a traffic, by a plain linear program."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

import obliv


def least_load(network: obliv.Topology, demand: Sequence[Sequence[Fraction | int]]) -> float:
    """Return the least largest load by a plain linear program, with a flow for each pair."""
    terminals, channels, nodes = network.terminals.tolist(), network.channels, network.nodes
    n = len(terminals)
    pairs = [(s, d) for s in range(n) for d in range(n) if s != d and demand[s][d]]
    equal, right = np.zeros((len(pairs) * nodes, len(pairs) * channels + 1)), np.zeros(len(pairs) * nodes)
    bound = np.zeros((channels, len(pairs) * channels + 1))
    for p, (s, d) in enumerate(pairs):
        right[p * nodes + terminals[s]], right[p * nodes + terminals[d]] = demand[s][d], -demand[s][d]
        for c in range(channels):
            equal[p * nodes + network.tail[c], p * channels + c] += 1
            equal[p * nodes + network.head[c], p * channels + c] -= 1
            bound[c, p * channels + c] = 1
    bound[:, -1] = [-float(network.bandwidth_of(c)) for c in range(channels)]
    cost = np.zeros(len(pairs) * channels + 1)
    cost[-1] = 1
    return float(linprog(cost, bound, np.zeros(channels), equal, right).fun)
