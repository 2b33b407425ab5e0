"""Where forwarding tables lead: one way, or all ways at once with how they end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.kernels.traces import trace_columns
from obliv.fabric.model import Fabric
from obliv.fabric.tables import NONE, Tables
from obliv.kernels import run

__all__ = ["Ending", "Trace", "Traces", "Wiring", "trace", "trace_all", "wiring"]


class Ending(IntEnum):
    """How a way ends."""

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


@dataclass(frozen=True, eq=False)
class Wiring:
    """Cables and tables as kernels take them; see :mod:`obliv.fabric.kernels.traces`.

    `ends` are the slots between which packets go, all endpoints or a choice of them.
    """

    fabric: Fabric
    ends: Array
    first: Array
    to: Array
    row: Array
    out: Array

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """In the order in which kernels take them."""
        return self.first, self.to, self.row, self.out

    @cached_property
    def leaves(self) -> Array:
        """The switches with one of the ends, in the order of the fabric."""
        beside = self.fabric.peer[self.ends]
        nodes = np.unique(self.fabric.node_of[beside])
        return nodes[np.isin(nodes, self.fabric.switches)]


def wiring(fabric: Fabric, tables: Tables, ends: Array | None = None) -> Wiring:
    """Cables and tables as kernels take them, for packets between some slots; default all endpoints."""
    ends = fabric.endpoints if ends is None else ends
    is_switch = np.zeros(fabric.nodes, np.bool_)
    is_switch[fabric.switches] = True
    to = np.full(len(fabric.peer), -1, np.int32)
    cabled = np.flatnonzero(fabric.peer >= 0)
    other = fabric.node_of[fabric.peer[cabled]]
    to[cabled] = np.where(is_switch[other], other, -2)
    number = np.full(len(fabric.peer), -1, np.int64)
    number[ends] = np.arange(len(ends))
    mine = number[fabric.peer[cabled]]
    to[cabled[mine >= 0]] = -3 - mine[mine >= 0]
    row = np.full(fabric.nodes, -1, np.int32)
    row[tables.switch] = np.arange(len(tables.switch))
    row[~is_switch] = -1
    return Wiring(fabric, ends, fabric.first_slot.astype(np.int64), to, row, np.ascontiguousarray(tables.out.T))


class Trace(NamedTuple):
    """One way: the ports by which a packet leaves node after node, and how that ends.

    A way that goes round in a loop stops before it would leave a switch for the second time.
    """

    slots: list[int]
    ending: Ending


def trace(fabric: Fabric, tables: Tables, source: int, lid: int) -> Trace:
    """The way from a port of a channel adapter, or from a switch, to a LID.

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
        The slots by which the packet leaves node after node, and how its way ends; whatever the tables hold.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
    >>> tree = obliv.topology("fattree:4,2")
    >>> fabric = from_topology(tree)
    >>> way = trace(fabric, tables_of(obliv.routing("dmodk", tree), fabric), int(fabric.endpoints[0]), 14)
    >>> [fabric.description[fabric.node_of[slot]] for slot in way.slots], way.ending.words
    (['host(0,0)', 'switch((0),1)', 'switch((1),0)', 'switch((3),1)'], 'arrives')
    """
    owner = _owner(fabric, lid)
    if owner < 0:
        return Trace([], Ending.NO_LID)
    switches = set(fabric.switches.tolist())
    slots: list[int] = []
    node = int(fabric.node_of[source])
    if source == owner:
        return Trace(slots, Ending.DELIVERED)
    if node not in switches:
        slots.append(source)
        ahead = int(fabric.peer[source])
        if ahead < 0:
            return Trace(slots, Ending.NO_CABLE)
        node = int(fabric.node_of[ahead])
        if node not in switches:
            return Trace(slots, Ending.DELIVERED if ahead == owner else Ending.WRONG_END)
    seen: set[int] = set()
    while node not in seen:
        seen.add(node)
        row = tables.row_of.get(node)
        if row is None:
            return Trace(slots, Ending.NO_TABLE)
        port = int(tables.out[row, lid]) if lid < tables.out.shape[1] else NONE
        if port == NONE:
            return Trace(slots, Ending.NO_ENTRY)
        if port == 0:
            here = int(fabric.first_slot[node]) == owner
            return Trace(slots, Ending.DELIVERED if here else Ending.WRONG_END)
        slot = fabric.slot(node, port)
        if slot < 0:
            return Trace(slots, Ending.NO_PORT)
        slots.append(slot)
        ahead = int(fabric.peer[slot])
        if ahead < 0:
            return Trace(slots, Ending.NO_CABLE)
        node = int(fabric.node_of[ahead])
        if node not in switches:
            return Trace(slots, Ending.DELIVERED if ahead == owner else Ending.WRONG_END)
    return Trace(slots, Ending.LOOP)


def _owner(fabric: Fabric, lid: int) -> int:
    """The slot that owns a LID, -1 for none."""
    if lid <= 0:
        return -1
    past = lid - fabric.lid.astype(np.int64)
    own = np.flatnonzero((fabric.lid > 0) & (past >= 0) & (past < 1 << fabric.lmc.astype(np.int64)))
    return int(own[0]) if len(own) else -1


@dataclass(frozen=True, eq=False)
class Traces:
    """How the way from every leaf switch to every LID of an endpoint ends.

    Parameters
    ----------
    ends : int64 array, shape (endpoints,)
        The slots of the endpoints.
    leaf : int array, shape (leaves,)
        Switches with an endpoint, as nodes of the fabric.
    endpoint, offset, lid : int arrays, shape (columns,)
        An endpoint's place among `ends`, and one of its LIDs, which is `offset` above its first.
    first_column : int64 array, shape (endpoints + 1,)
        Where each endpoint's columns begin.
    code : uint8 array, shape (leaves, columns)
        An :class:`Ending`.
    """

    ends: Array
    leaf: Array
    endpoint: Array
    offset: Array
    lid: Array
    first_column: Array
    code: Array


def trace_all(fabric: Fabric, tables: Tables, wires: Wiring | None = None) -> Traces:
    """Follow the tables from every leaf switch to every LID of every endpoint, or of the ends of the wiring.

    Parameters
    ----------
    fabric : Fabric
    tables : Tables
    wires : Wiring, optional
        Of the two, where it is at hand.

    Returns
    -------
    Traces

    Raises
    ------
    RoutingError
        If LMCs are out of range.
    """
    wires = wires or wiring(fabric, tables)
    ends = wires.ends
    lmc = fabric.lmc[ends].astype(np.int64)
    if len(lmc) and not 0 <= lmc.min() <= lmc.max() <= 7:
        raise RoutingError(f"an LMC of {lmc.max() if lmc.max() > 7 else lmc.min()}: they go from 0 to 7")
    first_column = np.concatenate([[0], np.cumsum(1 << lmc)])
    endpoint = np.repeat(np.arange(len(ends)), 1 << lmc)
    offset = np.arange(first_column[-1]) - first_column[endpoint]
    base = fabric.lid[ends].astype(np.int64)[endpoint]
    lid = np.where(base > 0, base + offset, 0)
    leaf = wires.leaves
    require_memory(float(len(leaf)) * len(lid), f"how the ways of {fabric.name} end")
    code = np.empty((len(leaf), len(lid)), np.uint8)
    run(trace_columns, 5.0 * code.size, leaf, lid, endpoint, *wires.arrays, code)
    return Traces(ends, leaf, endpoint, offset, lid, first_column, code)
