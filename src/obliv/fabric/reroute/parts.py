"""The parts of a fabric that no cables connect."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv.fabric.model import Fabric

__all__ = ["pairs_apart"]


def pairs_apart(fabric: Fabric) -> tuple[int, int]:
    """Return how many ordered pairs of endpoints no cables and switches connect, and in how many parts endpoints are.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> pairs_apart(from_topology(obliv.topology("fattree:4,2")))
    (0, 1)
    """
    ends, switches = fabric.endpoints, fabric.switches
    forwards = np.isin(np.arange(len(fabric.nodes)), switches)
    slots = np.flatnonzero(fabric.ports.peer >= 0)
    tail, head = fabric.node_of[slots], fabric.node_of[fabric.ports.peer[slots]]
    between = forwards[tail] & forwards[head]
    links = (np.ones(int(between.sum()), bool), (tail[between], head[between]))
    part = connected_components(coo_array(links, (len(fabric.nodes), len(fabric.nodes))), directed=False)[1]
    beside = fabric.node_of[fabric.ports.peer[ends]]
    part_of = np.where(forwards[beside], part[beside], -1)
    lone = np.minimum(ends, fabric.ports.peer[ends])[
        part_of < 0
    ]  # endpoints cabled to no switch: a part for each cable
    _, size = np.unique(np.concatenate([part_of[part_of >= 0], len(fabric.nodes) + lone]), return_counts=True)
    return len(ends) ** 2 - int((size**2).sum()), len(size)
