"""The switches of a fabric as arrays, and forwarding tables as the channels that switches take."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.model import Fabric
from obliv.fabric.tables import NONE, Tables
from obliv.fabric.topology import network

__all__ = ["SwitchNetwork", "switch_network"]


@dataclass(frozen=True, eq=False)
class SwitchNetwork:
    """The switches of a fabric, and the hosts beside them.

    Parameters
    ----------
    fabric : Fabric
    switches : Switches
    slot : int64 array, shape (channels,)
        The port where each channel begins.
    ends : int64 array, shape (destinations,)
        The places among the fabric's endpoints of the hosts that are beside a switch.
    flow : Fraction
        The load of one unit of :attr:`Switches.unit`.
    """

    fabric: Fabric
    switches: Switches
    slot: Array
    ends: Array
    flow: Fraction

    def routes_of(self, tables: Tables) -> Array:
        """Return the channel that every switch takes for every host, -1 for none, shape (destinations, switches)."""
        fabric, rows = self.fabric, self.fabric.switch_row[tables.switch]
        lids = fabric.ports.lid[fabric.endpoints[self.ends]]
        require_memory(8.0 * len(rows) * len(lids), f"routes of {fabric.name}")
        port = np.full((len(fabric.switches), len(lids)), NONE, np.int64)
        known = lids < tables.out.shape[1]
        port[np.ix_(rows, known)] = tables.out[:, lids[known]]
        first = fabric.first_slot[fabric.switches][:, None]
        slot = first + np.where(port < (fabric.first_slot[fabric.switches + 1])[:, None] - first, port, 0)
        channel = positions(self.slot, len(fabric.ports.peer))
        routes = np.where(port != NONE, channel[slot], -1).T.astype(np.int32)
        routes[np.arange(len(lids)), self.switches.home] = -1
        return np.ascontiguousarray(routes)

    def tables_of(self, routes: Array, base: Tables, name: str) -> Tables:
        """Return tables with these routes to hosts, and the entries of other tables for all other LIDs."""
        fabric = self.fabric
        port = (self.slot - fabric.first_slot[fabric.node_of[self.slot]]).astype(np.uint8)
        out = base.out.copy()
        rows = fabric.switch_row[base.switch]
        for d, end in enumerate(fabric.endpoints[self.ends].tolist()):
            lid = int(fabric.ports.lid[end])
            column = np.where(routes[d] >= 0, port[routes[d]], NONE)
            column[self.switches.home[d]] = fabric.port_of(int(fabric.ports.peer[end]))
            out[:, lid : lid + (1 << int(fabric.ports.lmc[end]))] = column[rows][:, None]
        return Tables(name, base.switch, out, base.line, base.spelling, base.top)


def switch_network(fabric: Fabric) -> SwitchNetwork:
    """Return the switches of a fabric as arrays.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> switch_network(from_topology(obliv.ring(4))).switches.head
    array([1, 3, 2, 0, 3, 1, 0, 2], dtype=int32)
    """
    tail, head, slot = fabric.trunks
    order = np.lexsort((slot, tail))
    tail, head, slot = tail[order], head[order], slot[order]
    beside = fabric.homes
    ends = np.flatnonzero(beside >= 0)
    count = len(fabric.switches)
    unit, flow = _units(fabric, slot)
    switches = Switches(
        tail=tail.astype(np.int32),
        head=head.astype(np.int32),
        first=np.searchsorted(tail, np.arange(count + 1)).astype(np.int32),
        unit=unit,
        hosts=np.bincount(beside[ends], minlength=count).astype(np.int32),
        home=beside[ends].astype(np.int32),
    )
    return SwitchNetwork(fabric, switches, slot, ends, flow)


def _units(fabric: Fabric, slot: Array) -> tuple[Array, Fraction]:
    """Return the load of one flow on every channel as integers, and what 1 stands for."""
    topology = network(fabric)
    bandwidth = [topology.bandwidth_of(c) for c in topology.channel_of[slot].tolist()]
    whole = lcm(*(width.numerator for width in bandwidth))
    return np.array([int(whole / width) for width in bandwidth], np.int64), Fraction(1, whole)
