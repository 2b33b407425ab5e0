"""Which switches of any fabric are above which: by distances from a central switch."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.model import Fabric
from obliv.routings.graphs.distances import Distances

__all__ = ["highest_first"]


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
