"""The service levels and SL-to-VL tables of routes in dimension order with datelines."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lanes.tables import DROP, SLS, LaneTables
from obliv.fabric.reroute.datelines.levels import lanes_by_level
from obliv.fabric.reroute.datelines.routes import DimensionOrder
from obliv.fabric.reroute.network import SwitchNetwork

__all__ = ["dateline_levels", "dateline_tables"]


def dateline_levels(network: SwitchNetwork, homes: Array, level: Array) -> Levels:
    """Return the service level of every pair of hosts.

    Parameters
    ----------
    network : SwitchNetwork
    homes : int array, shape (destinations,)
        The switches that have hosts, in increasing order.
    level : int array, shape (destinations, switches)
        The service level of packets from each switch to hosts at each of `homes`.
    """
    fabric, switches = network.fabric, network.switches
    sl = np.zeros((len(fabric.endpoints), len(fabric.endpoints)), np.int64)
    sl[np.ix_(network.ends, network.ends)] = level[np.searchsorted(homes, switches.home)][:, switches.home].T
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    masks = np.repeat((1 << sl).astype(np.uint16), many, axis=1)
    if (masks == masks[:1]).all():
        masks = masks[:1]
    return Levels("dor-dateline", masks)


def dateline_tables(network: SwitchNetwork, order: DimensionOrder, lanes: int) -> LaneTables:
    """Return tables with lane 1 for packets that cross a dateline of the dimension in which they leave, else lane 0.

    Detours may take further lanes: see :func:`obliv.fabric.reroute.datelines.levels.lanes_by_level`.
    """
    fabric = network.fabric
    by_level = lanes_by_level(order.dimensions, lanes)
    rows_by_number = [np.full(SLS, DROP), by_level[-1], *by_level[:-1]]
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
    return LaneTables("dor-dateline", np.array(rows_by_number, np.uint8), first, row, np.zeros(len(row), np.int32), own)


def _rows(number: Array) -> Array:
    """Return the row numbers of a switch: the same for all ports by which packets come in."""
    out = number.copy()
    out[0] = 0  # packets to the switch itself
    return np.where(number[:, None] >= 0, out[None, :], 0).ravel().astype(np.int32)
