"""Which routes sources use: sources in classes that share theirs, and the LIDs that each class uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import starts
from obliv._util.typing import Array
from obliv.errors import RoutingError, SpecError
from obliv.fabric.kernels.loads import RouteArrays
from obliv.fabric.routes.trace import Ending, Traces, trace_all
from obliv.fabric.tables import Tables
from obliv.fabric.topology import FabricTopology

__all__ = ["Offset", "Routes", "offsets_of", "routes_of"]


_MAX_OFFSET = 127  # with an LMC of 7
_RULE = "an offset from 0 to 127, a list of them such as 0-0-1-1 (by place at the leaf), group, index or spread"

#: A rule for the LID of a destination that a source uses, or one offset for each terminal.
Offset = str | int | Sequence[int] | Array


@dataclass(frozen=True, eq=False)
class Routes:
    """Classes of sources and the routes that they use.

    Parameters
    ----------
    topology : FabricTopology
    traces : Traces
        Between the terminals of the topology.
    denominator : int
        The number of routes of a pair, equally likely; some may be the same.
    class_of : int64 array, shape (terminals,)
    leaf : int array, shape (classes,)
        The number of a class's leaf switch; -1 for an endpoint that is cabled to no switch.
    low : int64 array, shape (classes,)
        The first offset that a class uses; the others follow it.
    """

    topology: FabricTopology
    traces: Traces
    denominator: int
    class_of: Array
    leaf: Array
    low: Array

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
            first=traces.hops.first,
            to=traces.hops.to,
            row=traces.hops.row,
            out=traces.tables.out,
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
            other = -3 - to[ids[ptr[r]]]
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
    """Return the classes of sources and their routes, for tables and a rule for the LIDs that a source uses.

    Parameters
    ----------
    topology : FabricTopology
    tables : Tables
    offset : str, int or sequence of int
        See :func:`offsets_of`, or ``spread``: all LIDs of a destination equally.
    traces : Traces, optional
        Where the tables lead from terminal to terminal, if that is known.

    Raises
    ------
    RoutingError
        If a switch is a terminal.
    SpecError, RoutingError
        If the offset is invalid.
    """
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
    """Return the offset that every source adds to a destination's first LID.

    Parameters
    ----------
    topology : FabricTopology
    offset : str, int or sequence of int
        A whole number: the same for all. ``0-0-1-1``: by the source's place among the endpoints at its switch, in the
        order of the switch's ports, again from the first where there are more. ``index``: that place itself.
        ``group``: place · 2^LMC // endpoints at the switch. All endpoints count there, terminals or not. A sequence:
        one number for each terminal. Every number is below 2^LMC for the largest LMC, and counts modulo the number of
        LIDs that the destination has.

    Returns
    -------
    int64 array, shape (terminals,)

    Raises
    ------
    SpecError, RoutingError
        If the offset is invalid.
    """
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
