"""The service levels and SL-to-VL tables of routes in dimension order with datelines."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lanes.tables import DROP, SLS, LaneTables
from obliv.fabric.reroute.datelines.routes import DimensionOrder
from obliv.fabric.reroute.layers.network import SwitchNetwork

__all__ = ["dateline_levels", "dateline_tables"]


def dateline_levels(network: SwitchNetwork, order: DimensionOrder) -> Levels:
    """Return the service level of every pair: bit k is set where its route crosses a dateline of dimension k."""
    fabric, switches = network.fabric, network.switches
    bit = np.where(order.crosses, 1 << np.maximum(order.dimension, 0), 0)
    homes, first = np.unique(switches.home, return_index=True)
    routes = order.routes[first]  # those of hosts beside each other differ by parallel cables only
    rows = np.arange(len(homes))[:, None]
    at = np.broadcast_to(np.arange(routes.shape[1]), routes.shape).copy()
    level = np.zeros(routes.shape, np.int64)
    while True:
        channel = routes[rows, at]
        moved = channel >= 0
        if not moved.any():
            break
        level |= np.where(moved, bit[channel], 0)
        at = np.where(moved, switches.head[channel], at)
    sl = np.zeros((len(fabric.endpoints), len(fabric.endpoints)), np.int64)
    sl[np.ix_(network.ends, network.ends)] = level[np.searchsorted(homes, switches.home)][:, switches.home].T
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    masks = np.repeat((1 << sl).astype(np.uint16), many, axis=1)
    if (masks == masks[:1]).all():
        masks = masks[:1]
    return Levels("dor-dateline", masks)


def dateline_tables(network: SwitchNetwork, order: DimensionOrder) -> LaneTables:
    """Return tables with lane 1 for packets that cross a dateline of the dimension in which they leave, else lane 0.

    Only the lowest bits of a service level count, so packets with any other one are free of deadlock, too.
    """
    fabric = network.fabric
    sl = np.arange(SLS)
    lanes = [np.full(SLS, DROP), np.zeros(SLS), *((sl >> k & 1) for k in range(order.dimensions))]
    number = np.where(fabric.ports.peer >= 0, 1, 0).astype(np.int32)  # of the row by the port by which packets leave
    number[network.slot] = 2 + order.dimension
    number[network.slot[order.dimension < 0]] = 1
    ports = np.diff(fabric.first_slot).astype(np.int64)
    ports[fabric.switch_row < 0] = 0
    rows = [_rows(number[fabric.first_slot[node] : fabric.first_slot[node + 1]]) for node in fabric.switches.tolist()]
    first = np.full(len(ports), -1, np.int64)
    sizes = ports[fabric.switches] ** 2
    first[fabric.switches] = np.cumsum(sizes) - sizes
    row = np.concatenate([*rows, np.zeros(0, np.int32)])
    own = np.where(fabric.switch_row[fabric.node_of] < 0, number, 0).astype(np.int32)
    return LaneTables("dor-dateline", np.array(lanes, np.uint8), first, row, np.zeros(len(row), np.int32), own)


def _rows(number: Array) -> Array:
    """Return the row numbers of a switch: the same for all ports by which packets come in."""
    out = number.copy()
    out[0] = 0  # packets to the switch itself
    return np.where(number[:, None] >= 0, out[None, :], 0).ravel().astype(np.int32)
