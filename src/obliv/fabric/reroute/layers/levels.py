"""The service levels of pairs whose routes are on layers."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.layers import NO_LAYER
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.model import Fabric

__all__ = ["levels_of"]


def levels_of(lane: Array, fabric: Fabric) -> Levels:
    """Return the service levels of pairs: the lane of their routes.

    Parameters
    ----------
    lane : uint8 array, shape (endpoints, switches)
        The lane of packets from hosts at a switch to an endpoint, 255 where there are none.
    fabric : Fabric

    Notes
    -----
    Pairs at one switch take the lane that most others to the destination have, so that rules can be few.
    """
    count = 1 + int(lane.max(initial=0, where=lane != NO_LAYER))
    often = np.stack([(lane == layer).sum(axis=1) for layer in range(count)])
    usual = often.argmax(axis=0).astype(np.uint8)
    full = np.where(lane == NO_LAYER, usual[:, None], lane)
    beside = fabric.switch_row[fabric.node_of[fabric.ports.peer[fabric.endpoints]]]
    if (full == usual[:, None]).all():
        sl = usual[None, :]
    else:
        sl = np.where(beside[:, None] >= 0, full.T[beside], usual[None, :])
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    return Levels("layered", np.repeat((1 << sl.astype(np.uint16)).astype(np.uint16), many, axis=1))
