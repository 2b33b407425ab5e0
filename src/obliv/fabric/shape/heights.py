"""Which switches of a fabric are above which: by the levels of its fat tree, or by distances from a central switch."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.model import Fabric
from obliv.fabric.shape.tree import Shape, recognise
from obliv.routings.graphs.distances import Distances

__all__ = ["heights", "highest_first", "highest_first_in_tree"]


def highest_first_in_tree(fabric: Fabric, shape: Shape) -> Array:
    """Return the rows of the switches from the highest on; switches without a place in the tree are the lowest."""
    level = shape.level[fabric.switches].astype(np.int64)
    return np.lexsort((np.arange(len(level)), -level))


def highest_first(fabric: Fabric) -> Array:
    """Return the rows of the switches from a central one on; those farther from it are lower."""
    switches = fabric.switches
    if not len(switches):
        raise RoutingError(f"{fabric.name} has no switch, so there is nothing to route")
    tail, head, _ = fabric.trunks
    far = Distances(len(switches), tail, head, len(switches))
    depth = np.full(len(switches), -1, np.int64)
    while (depth < 0).any():  # every part of the fabric has a root of its own
        part = np.flatnonzero(far([int(np.argmin(depth))]) >= 0)
        depth[part] = min((far([v])[part] for v in part.tolist()), key=lambda hops: (hops.max(), hops.sum()))
    return np.lexsort((np.arange(len(depth)), depth))


def heights(fabric: Fabric) -> Array:
    """Return a different height for every switch, as the fat tree has it that the fabric is or nearly is, if any."""
    shape = recognise(fabric)
    order = highest_first(fabric) if shape is None else highest_first_in_tree(fabric, shape)
    height = np.empty(len(order), np.int64)
    height[order] = np.arange(len(order))[::-1]
    return height
