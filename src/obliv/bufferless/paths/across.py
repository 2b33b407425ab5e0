"""Paths from the first level of any network to its last one: between given pairs, drawn step by step."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import grouped
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.paths.rows import Drawn, destinations, offsets
from obliv.errors import InputError
from obliv.topologies.leveled.base import Leveled

__all__ = ["across"]


def across(network: Leveled, kind: str, rng: np.random.Generator, *, share: float = 0.1) -> Drawn:
    """Draw one packet from every node of the first level to a node of the last.

    Parameters
    ----------
    network : Leveled
    kind : {"permutation", "transpose", "bit-reverse", "hotspot"}
        Destinations, as on networks of rows (see :func:`obliv.bufferless.paths.rows.rows`): the nodes of both levels
        count as rows in the order of their numbers.
    rng : numpy.random.Generator
    share : float
        For hotspot.

    Returns
    -------
    Drawn
        Every next edge is equally likely among those that lead to the destination. Pairs that no path joins are left
        out.

    Raises
    ------
    InputError
        If the first and the last level have different numbers of nodes, or the kind does not fit their number.
    """
    if not 0 <= share <= 1:
        raise InputError(f"share={share}: it must lie between 0 and 1")
    source, last = (np.flatnonzero(network.node_level == level) for level in (0, network.depth))
    if len(source) != len(last):
        raise InputError(
            f"{kind} on {network.spec}: the first level has {len(source)} nodes and the last one {len(last)}; both "
            "need the same number"
        )
    to = destinations(network.spec, kind, len(source), rng, share)
    target, at = np.unique(to, return_inverse=True)
    require_memory(float(network.nodes) * len(target) + 40.0 * network.edges, "which nodes lead to each destination")
    leads = np.zeros((network.nodes, len(target)), bool)
    leads[last[target], np.arange(len(target))] = True
    low, high = network.edge_ends
    level = network.node_level[low]
    by_level = np.argsort(level, kind="stable")
    cuts = np.searchsorted(level[by_level], np.arange(network.depth + 1))
    for first, end in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
        edge = by_level[first:end]
        np.logical_or.at(leads, low[edge], leads[high[edge]])
    joined = leads[source, at]
    node, at = source[joined], at[joined]
    edges = _walk(network, node, at, leads, rng)
    lost = len(source) - len(node)
    notes = (f"{lost:,} of {len(source):,} pairs are left out: no path of {network.spec} joins them",) if lost else ()
    return Drawn(offsets(np.full(len(node), network.depth)), edges.astype(np.int32).ravel(), notes)


def _walk(network: Leveled, node: Array, at: Array, leads: Array, rng: np.random.Generator) -> Array:
    """Return the edges of all packets, one row for each; column `at` of `leads` is a packet's destination."""
    low, high = network.edge_ends
    first, out = grouped(low, network.nodes)
    path = np.empty((len(node), network.depth), np.int64)
    for step in range(network.depth if len(node) else 0):
        degree = first[node + 1] - first[node]
        column = np.arange(int(degree.max(initial=0)))
        edge = out[np.minimum(first[node][:, None] + column, len(out) - 1)]
        fits = (column < degree[:, None]) & leads[high[edge], at[:, None]]
        draw = np.where(fits, rng.random(edge.shape), -1.0).argmax(axis=1)
        path[:, step] = edge[np.arange(len(node)), draw]
        node = high[path[:, step]]
    return path
