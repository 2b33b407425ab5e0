"""Designs within the next hops of a routing: each pair splits its packets over the channels that these allow it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.designs.symmetry import Symmetry
from obliv.errors import InputError
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

__all__ = ["channels_of_pairs", "keeping"]


def channels_of_pairs(routing: Routing) -> Array:
    """Return the channels that next hops can lead each pair over.

    Parameters
    ----------
    routing : Routing
        With next hops that depend on the node and the destination only.

    Returns
    -------
    bool array, shape (terminals, terminals, channels)

    Raises
    ------
    InputError
        If next hops depend on the source, or pairs are left out.
    """
    topology, hops = routing.topology, routing.by_hops
    if hops is None or routing.partial:
        raise InputError(
            f"{routing.spec} does not bound a design: next hops must depend on node and destination only, for all pairs"
        )
    terminals = topology.terminals.tolist()
    count = len(terminals)
    require_memory(2.0 * count**2 * topology.channels, f"the channels of all pairs of {topology.spec}")
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    used = np.zeros((count, count, topology.channels), bool)
    for d, destination in enumerate(terminals):
        legal = np.unique(hops.hops_to(destination).channel)
        reached = np.zeros((topology.nodes, count), bool)  # by node and source
        reached[terminals, np.arange(count)] = True
        before = -1
        while (now := int(reached.sum())) != before:
            before = now
            np.logical_or.at(reached, head[legal], reached[tail[legal]])
        used[:, d, legal] = reached[tail[legal]].T
    return used


def keeping(topology: Topology, symmetry: Symmetry, used: Array) -> Symmetry:
    """Return the symmetries that take the channels of every pair to those of its image."""
    ends = np.arange(len(topology.terminals))
    kept = []
    for maps in symmetry.generators:
        image = used[np.ix_(maps.terminals[ends], maps.terminals[ends], maps.channels)]
        if np.array_equal(image, used):
            kept.append(maps)
    opposite = symmetry.opposite
    if opposite is not None and not np.array_equal(used.transpose(1, 0, 2)[:, :, opposite], used):
        opposite = None
    return replace(symmetry, generators=tuple(kept), opposite=opposite, to_first_node=None, to_first_channel=None)
