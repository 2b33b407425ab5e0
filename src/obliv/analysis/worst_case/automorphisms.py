"""A search for symmetries of networks without generators, such as those from files (needs igraph or canonaut).

Automorphisms of the bare graph are seldom ones of the routing.  Channels are therefore colored first by a signature
of their pair loads that does not depend on the numbering.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.topologies.isomorphism import graph_search, undirected

__all__ = ["automorphisms", "signatures"]

_ROUNDS = 3  # of refinement


def automorphisms(loads: PairLoads, seconds: float = 20.0) -> list[Array]:
    """Return generators of a group of node maps that the routing may keep; each still has to be verified.

    Parameters
    ----------
    loads : PairLoads
    seconds : float
        Time limit; after it no symmetry is used, which costs speed and nothing else.

    Returns
    -------
    list of integer arrays, shape (nodes,)

    Raises
    ------
    MissingExtraError
        If neither igraph nor canonaut is installed.
    """
    topology = loads.topology
    graph = undirected(topology, _node_colors(loads), signatures(loads).tolist())
    generators = graph_search("automorphism_group", [graph], seconds)
    maps = [np.array(g[: topology.nodes]) for g in (generators or [[]])[0]]
    return [g for g in maps if not np.array_equal(g, np.arange(topology.nodes))]


def signatures(loads: PairLoads) -> Array:
    """Return a class number for every channel; channels that a symmetry carries onto each other have the same.

    By one-dimensional Weisfeiler-Leman refinement of each channel's weights between sources and destinations.
    """
    numbers: dict[Any, int] = {}
    classes = []
    n = loads.terminals
    for channel in range(loads.topology.channels):
        row, col, weight = loads.weights(channel).spread()
        values = np.unique(weight, return_inverse=True)[1] if len(weight) else weight
        by_row, by_col = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for _ in range(_ROUNDS):
            by_row, by_col = _refined(row, values, by_col, n), _refined(col, values, by_row, n)
        speed = loads.topology.bandwidth_of(channel)
        key = (speed, tuple(sorted(by_row.tolist())), tuple(sorted(by_col.tolist())), tuple(sorted(map(int, weight))))
        classes.append(numbers.setdefault(hash(key), len(numbers)))
    return np.array(classes, np.int64)


def _refined(index: Array, values: Array, colors: Array, n: int) -> Array:
    """For each row a color that depends on its weights and on the colors across, not on their order."""
    if not len(index):
        return np.zeros(n, np.int64)
    mixed = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= colors[index].astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    total = np.zeros(n, np.uint64)
    np.add.at(total, index, mixed)
    return total.astype(np.int64)


def _node_colors(loads: PairLoads) -> list[int]:
    """Return a color for every node: 0, or from 1 on the rates of a terminal."""
    topology = loads.topology
    colors = [0] * topology.nodes
    numbers: dict[Any, int] = {}
    for node, *rates in zip(topology.terminals.tolist(), *topology.rates(), strict=True):
        colors[node] = numbers.setdefault(tuple(rates), len(numbers) + 1)
    return colors
