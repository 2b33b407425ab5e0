"""Where forwarding tables lead: one route, or all routes at once with how they end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import positions, starts
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import InputError, RoutingError
from obliv.fabric.arguments import typed
from obliv.fabric.kernels.traces import Columns, Hops, trace_columns
from obliv.fabric.lids import owned_lids
from obliv.fabric.model import Fabric
from obliv.fabric.tables import NONE, Tables
from obliv.kernels import run

__all__ = ["Ending", "Trace", "Traces", "trace", "trace_all", "untraced"]


class Ending(IntEnum):
    """How a route ends."""

    DELIVERED = 0
    NO_TABLE = 1
    NO_ENTRY = 2
    NO_PORT = 3
    NO_CABLE = 4
    WRONG_END = 5
    LOOP = 6
    NO_LID = 7

    @property
    def words(self) -> str:
        """What happens to a packet there."""
        return _WORDS[self]


_WORDS = {
    Ending.DELIVERED: "arrives",
    Ending.NO_TABLE: "comes to a switch without a table",
    Ending.NO_ENTRY: "comes to a switch that has no port for it",
    Ending.NO_PORT: "is sent to a port that the switch does not have",
    Ending.NO_CABLE: "is sent to a port without a cable",
    Ending.WRONG_END: "ends somewhere else",
    Ending.LOOP: "goes round in a loop",
    Ending.NO_LID: "has no LID to go to",
}


class Trace(NamedTuple):
    """One route: the ports by which a packet leaves node after node, and how the route ends.

    A route that loops stops before it would leave a switch for the second time.
    """

    slots: list[int]
    ending: Ending


@typed
def trace(fabric: Fabric, tables: Tables, source: int, lid: int) -> Trace:
    """Return the route from a port of a channel adapter, or from a switch, to a LID.

    Parameters
    ----------
    fabric : Fabric
    tables : Tables
    source : int
        The slot of a CA port, or that of port 0 of a switch.
    lid : int
        Of an endpoint or of a switch.

    Returns
    -------
    Trace
        The slots by which the packet leaves node after node, and how its route ends; whatever the tables hold.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
    >>> tree = obliv.topology("fattree:4,2")
    >>> fabric = from_topology(tree)
    >>> route = trace(fabric, tables_of(obliv.routing("dmodk", tree), fabric), int(fabric.endpoints[0]), 14)
    >>> [fabric.nodes.description[fabric.node_of[slot]] for slot in route.slots], route.ending.words
    (['host(0,0)', 'switch((0),1)', 'switch((1),0)', 'switch((3),1)'], 'arrives')
    """
    if not 0 <= source < len(fabric.node_of):
        raise InputError(f"trace: there is no slot {source}: fabric.endpoints has those of channel adapters")
    owner = _owner(fabric, lid)
    if owner < 0:
        return Trace([], Ending.NO_LID)
    if source == owner:
        return Trace([], Ending.DELIVERED)
    slots: list[int] = []
    seen: set[int] = set()
    slot, ahead = source, source
    while True:
        node = int(fabric.node_of[ahead])
        if fabric.nodes.kind[node] == "switch":
            if node in seen:
                return Trace(slots, Ending.LOOP)
            seen.add(node)
            row = tables.row_of.get(node)
            if row is None:
                return Trace(slots, Ending.NO_TABLE)
            port = int(tables.out[row, lid]) if lid < tables.out.shape[1] else NONE
            if port == NONE:
                return Trace(slots, Ending.NO_ENTRY)
            slot = fabric.slot(node, port)
            if slot < 0:
                return Trace(slots, Ending.NO_PORT)
            if port == 0:
                return Trace(slots, Ending.DELIVERED if slot == owner else Ending.WRONG_END)
        elif slots:
            return Trace(slots, Ending.DELIVERED if ahead == owner else Ending.WRONG_END)
        slots.append(slot)
        ahead = int(fabric.ports.peer[slot])
        if ahead < 0:
            return Trace(slots, Ending.NO_CABLE)


def _owner(fabric: Fabric, lid: int) -> int:
    """Return the slot that owns a LID, -1 if no port does."""
    if lid <= 0:
        return -1
    past = lid - fabric.ports.lid.astype(np.int64)
    own = np.flatnonzero((fabric.ports.lid > 0) & (past >= 0) & (past < 1 << fabric.ports.lmc.astype(np.int64)))
    return int(own[0]) if len(own) else -1


@dataclass(frozen=True, eq=False)
class Traces:
    """How the route from every leaf switch to every LID of an endpoint ends.

    Parameters
    ----------
    fabric : Fabric
    tables : Tables
    ends : int64 array, shape (endpoints,)
        The slots between which packets travel: all endpoints or a choice of them.
    leaf : int array, shape (leaves,)
        Switches with an endpoint, as nodes of the fabric.
    first_column : int64 array, shape (endpoints + 1,)
        Where each endpoint's columns, one for each of its LIDs, begin.
    lid : int array, shape (columns,)
    code : uint8 array, shape (leaves, columns)
        An :class:`Ending`.
    """

    fabric: Fabric
    tables: Tables
    ends: Array
    leaf: Array
    first_column: Array
    lid: Array
    code: Array

    @cached_property
    def hops(self) -> Hops:
        """Cables and tables for kernels."""
        return _hops(self.fabric, self.tables, self.ends)

    @property
    def columns(self) -> Columns:
        """The columns for kernels."""
        return Columns(self.lid, self.endpoint, self.code)

    @cached_property
    def endpoint(self) -> Array:
        """The endpoint of every column, by its place among `ends`."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.first_column))

    @cached_property
    def leaf_of(self) -> Array:
        """The leaf of every endpoint by its place in `leaf`, -1 for endpoints that are cabled to no switch."""
        place = positions(self.leaf, len(self.fabric.nodes))
        return np.asarray(place[self.fabric.node_of[self.fabric.ports.peer[self.ends]]])


def trace_all(fabric: Fabric, tables: Tables, ends: Array | None = None) -> Traces:
    """Follow the tables from every leaf switch to every LID of every endpoint.

    Parameters
    ----------
    fabric : Fabric
    tables : Tables
    ends : int array, optional
        The slots between which packets travel; default all endpoints.

    Raises
    ------
    RoutingError
        If LMCs are out of range.
    """
    traces = untraced(fabric, tables, ends)
    nowhere = np.empty((0, 0), np.int32)
    arrays = traces.leaf, traces.lid, traces.endpoint, traces.hops, traces.code, nowhere
    run(trace_columns, 5.0 * traces.code.size, *arrays)
    return traces


def untraced(fabric: Fabric, tables: Tables, ends: Array | None = None) -> Traces:
    """Return what :func:`trace_all` does, before `code` is filled in."""
    ends = fabric.endpoints if ends is None else ends
    lmc = fabric.ports.lmc[ends].astype(np.int64)
    if len(lmc) and not 0 <= lmc.min() <= lmc.max() <= 7:
        raise RoutingError(f"LMC {lmc.max() if lmc.max() > 7 else lmc.min()} is out of range (0 to 7)")
    first_column = starts(1 << lmc)
    lid, endpoint = owned_lids(fabric.ports.lid[ends], lmc, np.arange(len(ends)))
    lid[fabric.ports.lid[ends[endpoint]] <= 0] = 0
    nodes = np.unique(fabric.node_of[fabric.ports.peer[ends]])
    leaf = nodes[np.isin(nodes, fabric.switches)]
    require_memory(float(len(leaf)) * len(lid), f"the routes of {fabric.name}")
    code = np.empty((len(leaf), len(lid)), np.uint8)
    return Traces(fabric, tables, ends, leaf, first_column, lid, code)


def _hops(fabric: Fabric, tables: Tables, ends: Array) -> Hops:
    """Return cables and tables as kernels take them, for packets between some slots."""
    is_switch = fabric.switch_row >= 0
    to = np.full(len(fabric.ports.peer), -1, np.int32)
    cabled = np.flatnonzero(fabric.ports.peer >= 0)
    other = fabric.node_of[fabric.ports.peer[cabled]]
    to[cabled] = np.where(is_switch[other], other, -2)
    end = positions(ends, len(fabric.ports.peer))[fabric.ports.peer[cabled]]
    to[cabled[end >= 0]] = -3 - end[end >= 0]
    row = np.where(is_switch, positions(tables.switch, len(fabric.nodes)), -1)
    return Hops(fabric.first_slot.astype(np.int64), to, row.astype(np.int32), np.ascontiguousarray(tables.out.T))
