"""Who takes which way through a fabric: sources in classes that share theirs, and the LIDs that they use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError, SpecError
from obliv.fabric.kernels.loads import Ways
from obliv.fabric.routes.trace import Ending, Traces, Wiring, trace_all, wiring
from obliv.fabric.tables import Tables
from obliv.fabric.topology import FabricTopology

__all__ = ["Routes", "offsets_of", "routes_of"]


_MOST = 127  # the largest offset, with an LMC of 7
_RULE = "an offset from 0 to 127, a list of them such as 0-0-1-1 (by place at the leaf), group, index or spread"


@dataclass(frozen=True, eq=False)
class Routes:
    """Classes of sources and the ways that they take.

    Parameters
    ----------
    topology : FabricTopology
    tables : Tables
    wires : Wiring
    traces : Traces
    denominator : int
        How many ways a pair has, equally likely; some may be the same.
    class_of : int64 array, shape (terminals,)
    node, leaf : int arrays, shape (classes,)
        Where a class starts: a node of the fabric, and its number among the leaf switches; -1 for an endpoint without.
    low, high : int64 arrays, shape (classes,)
        The offsets that a class uses, `high` excluded.
    """

    topology: FabricTopology
    tables: Tables
    wires: Wiring
    traces: Traces
    denominator: int
    class_of: Array
    node: Array
    leaf: Array
    low: Array
    high: Array

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.node)

    @cached_property
    def members(self) -> tuple[Array, Array]:
        """The sources of class r are ``ids[ptr[r]:ptr[r + 1]]``."""
        ids = np.argsort(self.class_of, kind="stable")
        ptr = np.concatenate([[0], np.cumsum(np.bincount(self.class_of, minlength=self.classes))])
        return ptr.astype(np.int64), ids.astype(np.int64)

    @property
    def ways(self) -> Ways:
        """What kernels take of classes, LIDs, cables and tables."""
        traces, wires, topology = self.traces, self.wires, self.topology
        classes = self.class_of, wires.ends, self.node, self.leaf, self.low, self.high
        lids = traces.first_column, traces.lid, traces.code
        return Ways(*classes, *lids, wires.first, wires.to, wires.row, self.tables.out, topology.channel_of)

    def columns(self, r: int, destination: int) -> Array:
        """The LIDs that a class uses for a destination, by their place among all."""
        first, end = self.traces.first_column[destination : destination + 2].tolist()
        return np.asarray(first + np.arange(self.low[r], self.high[r]) % (end - first))

    @cached_property
    def delivered(self) -> Array | None:
        """How many ways of each class to each terminal arrive, shape (classes, terminals); None where all do.

        What a source sends to itself does not count.
        """
        arrives = self.traces.code == Ending.DELIVERED
        direct = self.leaf < 0
        if arrives.all() and not direct.any():
            return None
        ends = len(self.class_of)
        found = np.zeros((self.classes, ends), np.uint8)
        first, size = self.traces.first_column[:-1], np.diff(self.traces.first_column)
        for r in np.flatnonzero(~direct).tolist():
            for o in range(int(self.low[r]), int(self.high[r])):
                found[r] += arrives[self.leaf[r], first + o % size]
        to = self.wires.to[self.wires.ends]
        for r in np.flatnonzero(direct).tolist():
            other = -3 - to[self.members[1][self.members[0][r]]]
            if other >= 0:
                found[r, other] = self.denominator
        ptr, ids = self.members
        alone = ids[ptr[:-1][np.diff(ptr) == 1]]
        own = found[self.class_of[alone], alone]
        found[self.class_of[alone], alone] = self.denominator  # nobody else of the class sends to it
        complete = bool((found == self.denominator).all())
        found[self.class_of[alone], alone] = own
        return None if complete else found

    @cached_property
    def missing(self) -> int:
        """How many ordered pairs have a way that does not arrive."""
        if self.delivered is None:
            return 0
        short = self.delivered < self.denominator
        own = short[self.class_of, np.arange(len(self.class_of))]
        return int((short.sum(axis=1) * np.diff(self.members[0])).sum()) - int(own.sum())

    def first_missing(self) -> tuple[int, int, Ending] | None:
        """The first pair with a way that does not arrive, and how that way ends."""
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


def routes_of(topology: FabricTopology, tables: Tables, offset: Any = "0") -> Routes:
    """Classes of sources and their ways, for tables and a rule that says which LIDs a source uses.

    Parameters
    ----------
    topology : FabricTopology
    tables : Tables
    offset : str, int or sequence of int
        See :func:`offsets_of`, or ``spread``: all LIDs of a destination alike.
    """
    fabric = topology.fabric
    if topology.terminals.max() >= topology.hosts:
        raise RoutingError(
            f"{topology.name_of(int(topology.terminals.max()))} is a switch: tables lead from host to host, "
            "so that only hosts can be terminals"
        )
    ends = topology.ends
    wires = wiring(fabric, tables, ends)
    traces = trace_all(fabric, tables, wires)
    beside = fabric.node_of[fabric.peer[ends]]
    number = np.full(fabric.nodes, -1, np.int64)
    number[traces.leaf] = np.arange(len(traces.leaf))
    most = 1 << int(fabric.lmc[ends].max())
    spread = isinstance(offset, str) and offset.strip() == "spread"
    own = np.zeros(len(ends), np.int64) if spread else offsets_of(topology, offset)
    direct = number[beside] < 0
    # endpoints without a switch are classes of their own
    key = np.where(direct, len(traces.leaf) + np.arange(len(ends)), number[beside]) * (_MOST + 1) + own
    _, first, class_of = np.unique(key, return_index=True, return_inverse=True)
    low = own[first]
    return Routes(
        topology,
        tables,
        wires,
        traces,
        most if spread else 1,
        class_of.astype(np.int64),
        beside[first].astype(np.int64),
        number[beside][first],
        low,
        low + (most if spread else 1),
    )


def offsets_of(topology: FabricTopology, offset: Any) -> Array:
    """The offset that every source adds to a destination's first LID.

    Parameters
    ----------
    topology : FabricTopology
    offset : str, int or sequence of int
        A whole number: the same for all. ``0-0-1-1``: by the source's place among the endpoints at its switch, in the
        order of the switch's ports, again from the first where there are more. ``index``: that place itself.
        ``group``: place · 2^LMC // endpoints at the switch. All endpoints count there, terminals or not. A sequence:
        one number for each terminal. None may reach
        2^LMC for the largest LMC; each counts modulo the number of LIDs that the destination has.

    Returns
    -------
    int64 array, shape (terminals,)

    Raises
    ------
    SpecError, RoutingError
        If it is none of these.
    """
    ends = topology.ends
    most = 1 << int(topology.fabric.lmc[ends].max())
    if not isinstance(offset, str | int):
        own = np.asarray(list(offset))
        if own.shape != ends.shape or own.dtype.kind not in "iu" or own.min() < 0:
            raise RoutingError(f"offsets are {len(ends)} whole numbers from 0, one for each terminal")
        return _offered(own.astype(np.int64), most, topology.spec)
    place, count = (each[topology.terminals] for each in _places(topology))
    word = str(offset).strip()
    if word == "group":
        return np.asarray(place * most // count)
    if word == "index":
        return np.asarray(place % most)
    words = word.split("-")
    if not all(each.isdecimal() and each.isascii() and len(each) < 4 for each in words):
        raise SpecError(f"offset={word[:40]!r}: write {_RULE}")
    given = _offered(np.array([int(each) for each in words]), most, topology.spec)
    return np.asarray(given[place % len(given)].astype(np.int64))


def _offered(offset: Array, most: int, spec: str) -> Array:
    """The offsets, if some endpoint has so many LIDs."""
    if offset.max(initial=0) >= most:
        lids = f"{most} LIDs (LMC {most.bit_length() - 1})" if most > 1 else "one LID (LMC 0)"
        raise RoutingError(f"offset {offset.max()} is beyond what {spec} has: {lids} for each endpoint at most")
    return offset


def _places(topology: FabricTopology) -> tuple[Array, Array]:
    """The place of every endpoint among those at its switch, by the switch's ports, and how many those are."""
    fabric = topology.fabric
    beside = fabric.peer[fabric.endpoints]
    switch = fabric.node_of[beside]
    order = np.argsort(beside, kind="stable")  # slots of a switch stand together, in the order of its ports
    begins = np.flatnonzero(np.concatenate([[True], np.diff(switch[order]) != 0]))
    counts = np.diff(np.concatenate([begins, [len(order)]]))
    place, count = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.repeat(begins, counts)
    count[order] = np.repeat(counts, counts)
    return place, count
