"""The parts of a fabric that no cables connect."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv.fabric.model import Fabric

__all__ = ["pairs_apart"]


def pairs_apart(fabric: Fabric) -> tuple[int, int]:
    """Return the number of unconnected ordered pairs of endpoints, and the number of parts that contain endpoints.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> pairs_apart(from_topology(obliv.topology("fattree:4,2")))
    (0, 1)
    """
    ends, switches = fabric.endpoints, len(fabric.switches)
    tail, head, _ = fabric.trunks
    links = coo_array((np.ones(len(tail), bool), (tail, head)), (switches, switches))
    beside = fabric.homes
    part = connected_components(links, directed=False)[1][beside[beside >= 0]]
    lone = np.minimum(ends, fabric.ports.peer[ends])[beside < 0]  # cabled to no switch: a part for each cable
    _, size = np.unique(np.concatenate([part, switches + lone]), return_counts=True)
    return len(ends) ** 2 - int((size**2).sum()), len(size)
