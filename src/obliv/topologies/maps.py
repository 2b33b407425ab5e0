"""Maps of nodes as maps of channels and of terminals."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.base import Topology

__all__ = ["channel_map", "terminal_map"]


def channel_map(topology: Topology, node_map: Array) -> Array | None:
    """Return the channel that each channel becomes when nodes are relabeled; None where the map is not an automorphism.

    Of parallel channels the k-th becomes the k-th; bandwidths must agree.
    """
    n = topology.nodes
    if (
        node_map.shape != (n,)
        or not np.issubdtype(node_map.dtype, np.integer)
        or not np.array_equal(np.sort(node_map), np.arange(n))
    ):
        return None
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    here = np.lexsort((np.arange(len(tail)), head, tail))
    there = np.lexsort((np.arange(len(tail)), node_map[head], node_map[tail]))
    if not (np.array_equal(node_map[tail[there]], tail[here]) and np.array_equal(node_map[head[there]], head[here])):
        return None
    moved = np.empty(len(tail), np.int64)
    moved[there] = here
    speeds = topology.bandwidth
    if speeds and any(speeds[c] != speeds[int(moved[c])] for c in range(len(tail))):
        return None
    return moved


def terminal_map(topology: Topology, node_map: Array) -> Array | None:
    """Return the terminal that each terminal becomes; None where terminals or their rates are not kept."""
    index = np.full(topology.nodes, -1, np.int64)
    index[topology.terminals] = np.arange(len(topology.terminals))
    place: Array = index[node_map[topology.terminals]]
    if (place < 0).any():
        return None
    for rates in (topology.injection, topology.ejection):
        if rates and any(rates[i] != rates[int(place[i])] for i in range(len(rates))):
            return None
    return place
