"""Distances between nodes, and whether a routing exists at all."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.topologies.base import Topology
from obliv.topologies.checks import require_pairs

__all__ = ["hop_distances", "require_connected"]


def hop_distances(topology: Topology) -> Array:
    """Return the hops from every node to every node, infinite where there is no path."""
    require_memory(16.0 * topology.nodes**2, "the distances between nodes")
    ones = np.ones(topology.channels)
    graph = csr_array((ones, (topology.tail, topology.head)), shape=(topology.nodes, topology.nodes))
    distances: Array = dijkstra(graph, unweighted=True)
    return distances


def require_connected(topology: Topology) -> None:
    """Refuse a network in which some terminal cannot reach another one."""
    require_pairs(topology)
    between = hop_distances(topology)[np.ix_(topology.terminals, topology.terminals)]
    if np.isinf(between).any():
        source, destination = (int(topology.terminals[k]) for k in np.argwhere(np.isinf(between))[0])
        raise TopologyError(
            f"{topology.spec}: no path leads from {topology.name_of(source)} to {topology.name_of(destination)}; "
            "choose terminals that are connected, or read one component (component=largest)"
        )
