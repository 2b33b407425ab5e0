"""Where forwarding tables lead: one route, or all routes with how they end, by classes of sources and LIDs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array, positions, starts
from obliv._util.progress import require_memory
from obliv.errors import InputError, RoutingError, SpecError
from obliv.fabric.kernels import automaton as kernels
from obliv.fabric.kernels.automaton import ELSEWHERE, FIRST_END, NO_CABLE, Automaton, RouteArrays, endings
from obliv.fabric.model import NONE, Fabric, Tables, typed
from obliv.fabric.names import owned_lids
from obliv.fabric.topology import FabricTopology
from obliv.kernels import run


class Ending(IntEnum):
    """How a route ends."""

    DELIVERED = kernels.DELIVERED
    NO_TABLE = kernels.WITHOUT_TABLE
    NO_ENTRY = kernels.WITHOUT_ENTRY
    NO_PORT = kernels.WITHOUT_PORT
    NO_CABLE = kernels.WITHOUT_CABLE
    WRONG_END = kernels.WRONG_END
    LOOP = kernels.LOOP
    NO_LID = kernels.WITHOUT_LID

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


#: Space of :func:`endings` for what is not asked for.
NOWHERE, UNORDERED = np.empty((0, 0), np.int32), np.empty(0, np.int32)


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
    >>> from obliv.fabric.generate import from_topology, tables_of
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
    automaton = of_tables(fabric, tables, np.array([owner]))
    first: list[int] = []
    node = int(fabric.node_of[source])
    if fabric.switch_row[node] < 0:
        first, node = [source], int(automaton.to[source])
    if node < 0:
        return Trace(first, {FIRST_END: Ending.DELIVERED, NO_CABLE: Ending.NO_CABLE}.get(node, Ending.WRONG_END))
    code = np.zeros((1, 1), np.uint8)
    run(endings, 60.0 * len(tables.switch), *map(np.array, ([node], [lid], [0])), automaton, code, NOWHERE, UNORDERED)
    slots, ending = route_slots(automaton, node, lid), Ending(int(code[0, 0]))
    if slots and fabric.port_of(slots[-1]) == 0:  # it stays at the switch
        slots.pop()
    return Trace(first + slots, ending)


def route_slots(hops: Automaton, node: int, lid: int) -> list[int]:
    """Return the slots by which a packet leaves switch after switch, each once, by the first of their ports."""
    slots: dict[int, int] = {}  # of every switch
    while node >= 0 and node not in slots and hops.row[node] >= 0 and 0 < lid < len(hops.out):
        chosen = int(hops.out[lid, hops.row[node]])
        if hops.ptr[chosen] == hops.ptr[chosen + 1]:
            break
        slot = int(hops.first[node]) + int(hops.port[hops.ptr[chosen]])
        if slot >= hops.first[node + 1]:
            break
        slots[node] = slot
        node = int(hops.to[slot])
    return list(slots.values())


def _owner(fabric: Fabric, lid: int) -> int:
    """Return the slot that owns a LID, -1 if no port does."""
    if lid <= 0:
        return -1
    past = lid - fabric.ports.lid.astype(np.int64)
    own = np.flatnonzero((fabric.ports.lid > 0) & (past >= 0) & (past < 1 << fabric.ports.lmc.astype(np.int64)))
    return int(own[0]) if len(own) else -1


#: The sets of forwarding tables: number p is port p alone, 255 is empty.
_SINGLE = starts([1] * NONE + [0]), np.arange(NONE, dtype=np.uint8)


def of_tables(fabric: Fabric, tables: Tables, ends: Array) -> Automaton:
    """Return the automaton of forwarding tables, for packets between some slots."""
    row = np.where(fabric.switch_row >= 0, positions(tables.switch, len(fabric.nodes)), -1)
    return automaton_of(fabric, ends, row, tables.out.T, *_SINGLE)


def automaton_of(fabric: Fabric, ends: Array, row: Array, out: Array, ptr: Array, port: Array) -> Automaton:
    """Return an automaton whose states are nodes; the last four are its fields."""
    to = np.full(len(fabric.ports.peer), NO_CABLE, np.int32)
    cabled = np.flatnonzero(fabric.ports.peer >= 0)
    other = fabric.node_of[fabric.ports.peer[cabled]]
    to[cabled] = np.where(fabric.switch_row[other] >= 0, other, ELSEWHERE)
    own = fabric.first_slot[fabric.switches]
    to[own[own < fabric.first_slot[fabric.switches + 1]]] = ELSEWHERE  # port 0 is the switch itself
    behind = np.where(fabric.ports.peer >= 0, fabric.ports.peer, np.arange(len(to)))
    end = positions(ends, len(to))[behind]
    at_end = (end >= 0) & ((fabric.ports.peer >= 0) | (to == ELSEWHERE))
    to[at_end] = FIRST_END - end[at_end]
    return Automaton(fabric.first_slot.astype(np.int64), to, row.astype(np.int32), out, ptr, port)


@dataclass(frozen=True, eq=False)
class Traces:
    """How the route from every leaf switch to every LID of an endpoint ends."""

    fabric: Fabric
    tables: Tables
    ends: Array  # int64, shape (endpoints,); the slots between which packets travel: all endpoints or a choice of them
    leaf: Array  # int, shape (leaves,); switches with an endpoint, as nodes of the fabric
    first_column: Array  # int64, shape (endpoints + 1,); where each endpoint's columns, one for each of its LIDs, begin
    lid: Array  # int, shape (columns,)
    code: Array  # uint8, shape (leaves, columns); an :class:`Ending`
    hops: Automaton  # where packets go; states are nodes

    @cached_property
    def endpoint(self) -> Array:
        """The endpoint of every column, by its place among `ends`."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.first_column))

    @cached_property
    def leaf_of(self) -> Array:
        """The leaf of every endpoint by its place in `leaf`, -1 for endpoints that are cabled to no switch."""
        place = positions(self.leaf, len(self.fabric.nodes))
        return np.asarray(place[self.fabric.node_of[self.fabric.ports.peer[self.ends]]])

    @cached_property
    def entries(self) -> Array:
        """The slot by which the packets of some endpoint come into every leaf switch."""
        beside = self.fabric.ports.peer[self.ends]
        entry: Array = np.empty(len(self.leaf), np.int64)
        entry[self.leaf_of[self.leaf_of >= 0]] = beside[self.leaf_of >= 0]
        return entry

    @cached_property
    def sends(self) -> Array:
        """Whether packets are sent from every leaf switch to every LID and come to an end, shape (leaves, columns).

        Where a leaf has one endpoint only, it sends itself nothing; routes that loop never release their channels.
        """
        sends: Array = (self.code != Ending.LOOP) & (self.code != Ending.NO_LID)
        alone = np.bincount(self.leaf_of[self.leaf_of >= 0], minlength=len(self.leaf)) == 1
        leaf = self.leaf_of[self.endpoint]
        own = np.flatnonzero((leaf >= 0) & np.append(alone, False)[leaf])
        sends[leaf[own], own] = False
        return sends


def trace_all(fabric: Fabric, tables: Tables, ends: Array | None = None) -> Traces:
    """Follow the tables from every leaf switch to every LID of every endpoint."""
    traces = untraced(fabric, tables, ends)
    arrays = traces.leaf, traces.lid, traces.endpoint, traces.hops, traces.code, NOWHERE, UNORDERED
    run(endings, 10.0 * traces.code.size, *arrays)
    return traces


def untraced(fabric: Fabric, tables: Tables, ends: Array | None = None, hops: Automaton | None = None) -> Traces:
    """Return what :func:`trace_all` does, before `code` is filled in; `hops` replaces the automaton of the tables."""
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
    if hops is None:
        hops = of_tables(fabric, tables, ends)
        hops = hops._replace(out=np.ascontiguousarray(hops.out))  # packets for one LID are followed together
    code = np.empty((len(leaf), len(lid)), np.uint8)
    return Traces(fabric, tables, ends, leaf, first_column, lid, code, hops)


def ending_of(traces: Traces, columns: Array, *, where: bool = False) -> tuple[Array, Array]:
    """Return how packets to some LIDs can fare, and where asked for the switch where they end."""
    lid, goal = traces.lid[columns], traces.endpoint[columns]
    code = np.empty((len(traces.leaf), len(lid)), np.uint8)
    at = np.empty(code.shape, np.int32) if where else NOWHERE
    run(endings, 10.0 * code.size, traces.leaf, lid, goal, traces.hops, code, at, UNORDERED)
    return code, at


# Which routes sources use: sources in classes that share theirs, and the LIDs that each class uses


_MAX_OFFSET = 127  # with an LMC of 7
_RULE = "an offset from 0 to 127, a list of them such as 0-0-1-1 (by place at the leaf), group, index or spread"

#: A rule for the LID of a destination that a source uses, or one offset for each terminal.
Offset = str | int | Sequence[int] | Array


@dataclass(frozen=True, eq=False)
class Routes:
    """Classes of sources and the routes that they use."""

    topology: FabricTopology
    traces: Traces  # between the terminals of the topology
    denominator: int  # the number of routes of a pair, equally likely; some may be the same
    class_of: Array  # int64, shape (terminals,)
    # leaf: int, shape (classes,); the number of a class's leaf switch; -1 for an endpoint that is cabled to no switch
    leaf: Array
    low: Array  # int64, shape (classes,); the first offset that a class uses; the others follow it

    @property
    def tables(self) -> Tables:
        """The forwarding tables."""
        return self.traces.tables

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.leaf)

    @cached_property
    def members(self) -> tuple[Array, Array]:
        """The sources of class r are ``ids[ptr[r]:ptr[r + 1]]``."""
        ids = np.argsort(self.class_of, kind="stable")
        ptr = starts(np.bincount(self.class_of, minlength=self.classes))
        return ptr.astype(np.int64), ids.astype(np.int64)

    @cached_property
    def arrays(self) -> RouteArrays:
        """Classes, LIDs, cables and tables for kernels."""
        traces = self.traces
        node = np.where(self.leaf >= 0, np.append(traces.leaf, 0)[self.leaf], -1)
        return RouteArrays(
            several=self.denominator,
            class_of=self.class_of,
            slot_of=traces.ends,
            node=node,
            leaf=self.leaf,
            low=self.low,
            first_column=traces.first_column,
            lid=traces.lid,
            code=traces.code,
            hops=of_tables(traces.fabric, traces.tables, traces.ends),
            channel_of=self.topology.channel_of,
        )

    def columns(self, r: int, destination: int) -> Array:
        """Return the columns of the LIDs that class `r` uses for a destination."""
        first, end = self.traces.first_column[destination : destination + 2].tolist()
        return np.asarray(first + np.arange(self.low[r], self.low[r] + self.denominator) % (end - first))

    @cached_property
    def delivered(self) -> Array | None:
        """How many routes of each class to each terminal arrive, shape (classes, terminals); None where all do.

        What a source sends to itself does not count.
        """
        arrives = self.traces.code == Ending.DELIVERED
        direct = self.leaf < 0
        if arrives.all() and not direct.any():
            return None
        ends = len(self.class_of)
        count = np.zeros((self.classes, ends), np.uint8)
        first, size = self.traces.first_column[:-1], np.diff(self.traces.first_column)
        for r in np.flatnonzero(~direct).tolist():
            for offset in range(int(self.low[r]), int(self.low[r]) + self.denominator):
                count[r] += arrives[self.leaf[r], first + offset % size]
        to = self.traces.hops.to[self.traces.ends]
        ptr, ids = self.members
        for r in np.flatnonzero(direct).tolist():
            other = FIRST_END - to[ids[ptr[r]]]
            if other >= 0:
                count[r, other] = self.denominator
        alone = ids[ptr[:-1][np.diff(ptr) == 1]]
        own = count[self.class_of[alone], alone]
        count[self.class_of[alone], alone] = self.denominator  # no other source of the class sends to it
        complete = bool((count == self.denominator).all())
        count[self.class_of[alone], alone] = own
        return None if complete else count

    @cached_property
    def missing(self) -> int:
        """Number of ordered pairs with a route that does not arrive."""
        if self.delivered is None:
            return 0
        short = self.delivered < self.denominator
        own = short[self.class_of, np.arange(len(self.class_of))]
        return int((short.sum(axis=1) * np.diff(self.members[0])).sum()) - int(own.sum())

    def first_missing(self) -> tuple[int, int, Ending] | None:
        """Return the first pair with a route that does not arrive, and how that route ends."""
        if self.delivered is None:
            return None
        for s, r in enumerate(self.class_of.tolist()):
            short = np.flatnonzero(self.delivered[r] < self.denominator)
            for d in short[short != s][:1].tolist():
                if self.leaf[r] < 0:
                    return s, d, Ending.WRONG_END
                codes = self.traces.code[self.leaf[r], self.columns(r, d)]
                return s, d, Ending(int(codes[codes != 0][0]))
        return None


def routes_of(topology: FabricTopology, tables: Tables, offset: Offset = "0", traces: Traces | None = None) -> Routes:
    """Return the classes of sources and their routes, for tables and a rule for the LIDs that a source uses."""
    fabric = topology.fabric
    if topology.terminals.max() >= topology.hosts:
        raise RoutingError(
            f"{topology.name_of(int(topology.terminals.max()))} is a switch: only hosts can be terminals, "
            "since tables lead from host to host"
        )
    traces = traces or trace_all(fabric, tables, topology.ends)
    ends, leaf = traces.ends, traces.leaf_of
    most = 1 << int(fabric.ports.lmc[ends].max())
    spread = isinstance(offset, str) and offset.strip() == "spread"
    own = np.zeros(len(ends), np.int64) if spread else offsets_of(topology, offset)
    # endpoints without a switch are classes of their own
    key = np.where(leaf < 0, len(traces.leaf) + np.arange(len(ends)), leaf) * (_MAX_OFFSET + 1) + own
    _, first, class_of = np.unique(key, return_index=True, return_inverse=True)
    return Routes(topology, traces, most if spread else 1, class_of.astype(np.int64), leaf[first], own[first])


def offsets_of(topology: FabricTopology, offset: Offset) -> Array:
    """Return the offset that every source adds to a destination's first LID; shape (terminals,)."""
    ends = topology.ends
    most = 1 << int(topology.fabric.ports.lmc[ends].max())
    if not isinstance(offset, str | int):
        own = np.asarray(list(offset))
        if own.shape != ends.shape or own.dtype.kind not in "iu" or own.min() < 0:
            raise RoutingError(f"offsets are {len(ends)} whole numbers from 0, one for each terminal")
        return _offered(own.astype(np.int64), most, topology.spec)
    place, count = (column[topology.terminals] for column in topology.fabric.endpoint_places)
    rule = str(offset).strip()
    if rule == "group":
        return np.asarray(place * most // count)
    if rule == "index":
        return np.asarray(place % most)
    words = rule.split("-")
    if not all(word.isdecimal() and word.isascii() and len(word) < 4 for word in words):
        raise SpecError.naming("{offset}={0!r}: write {1}", rule[:40], _RULE)
    given = _offered(np.array([int(word) for word in words]), most, topology.spec)
    return np.asarray(given[place % len(given)].astype(np.int64))


def _offered(offset: Array, most: int, spec: str) -> Array:
    """Return the offsets if some endpoint has so many LIDs."""
    if offset.max(initial=0) >= most:
        lids = f"{most} LIDs (LMC {most.bit_length() - 1})" if most > 1 else "one LID (LMC 0)"
        raise RoutingError(f"offset {offset.max()} is out of range: {spec} has at most {lids} for each endpoint")
    return offset
