"""What a change of a few cables or table entries does, from a kept state: only changed routes and channels count."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from obliv._util.arrays import Array
from obliv._util.text import printable, several
from obliv.errors import InputError
from obliv.fabric.arguments import typed
from obliv.fabric.model import NONE
from obliv.fabric.names import NodeNames, port_number
from obliv.fabric.outages.base import Base
from obliv.fabric.outages.sets import Failure, about, named_failure, new_cables, with_cables
from obliv.fabric.results.worst import WhatIf
from obliv.questions.failures import FailureState
from obliv.results.base import provenance

# Changes of a fabric and its tables as users write them


_ENTRY = re.compile(r"(?P<name>.+)(?:[/:]|\[(?=\d+\]))(?P<lid>\d{1,5})\]?=(?P<port>[^=]+)", re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Changes:
    """What is changed: cables and switches that fail, and entries of tables.

    Parameters
    ----------
    names : tuple of str
        As they were written, or the names of what fails.
    failure : Failure
    entries : tuple of (row, LID, port)
        In the order in which they were given.
    cables : tuple of (slot, slot)
        New ones.
    """

    names: tuple[str, ...]
    failure: Failure
    entries: tuple[tuple[int, int, int], ...]
    cables: tuple[tuple[int, int], ...] = ()


def changes_of(base: Base, fail: Sequence[str], entries: Sequence[str], add: Sequence[str] = ()) -> Changes:
    """Return changes from their texts: ``NAME/PORT`` or ``NAME`` fails, and ``SWITCH/LID=PORT`` is the new port.

    ``NAME/PORT,NAME/PORT`` is a new cable.
    """
    topology = base.topology
    failure = named_failure(topology, fail) if fail else Failure("", ())
    slots = np.array(failure.slots, np.int64)
    if topology.at_host[topology.channel_of[slots]].any():
        raise InputError.naming("{fail}: the cable of a host: use fabric failures for it")
    names = NodeNames(topology.fabric)
    with about("entries"):
        found = tuple(_entry(base, names, text, hints=True) for text in entries)
    if len({entry[:2] for entry in found}) < len(found):
        raise InputError.naming("{entries}: an entry is set twice")
    cables = new_cables(topology, failure, add)
    new = (f"new: {topology.port_name(one)} - {topology.port_name(two)}" for one, two in cables)
    texts = ((failure.name,) if fail else ()) + (*new, *(printable(text) for text in entries))
    return Changes(texts, failure, found, cables)


def _entry(base: Base, names: NodeNames, text: str, hints: bool = False) -> tuple[int, int, int]:
    """Return the table, the LID and the port that a text names."""
    shown = f"{printable(text[:80])!r}"
    match = _ENTRY.fullmatch(text)
    port = NONE if match is None or match["port"] == "none" else port_number(match["port"])
    if match is None or port is None:
        raise InputError(f"{shown}: write SWITCH/LID=PORT, or SWITCH/LID=none")
    fabric = base.topology.fabric
    rest = text[match.end("name") :]
    accepted = partial(_entry, base, names) if hints else None
    node = names.find(match["name"], lambda near: near + rest, accepted)
    if node is None:
        hint = names.hint(match["name"], lambda near: near + rest, accepted)
        raise InputError(f"{shown}: no such node: give the name of a switch{hint}")
    row, lid = int(base.row[node]), int(match["lid"])
    if fabric.nodes.kind[node] != "switch" or row < 0:
        raise InputError(f"{shown}: not a switch with a table")
    if not 0 < lid < base.out.shape[1]:
        raise InputError(f"{shown}: LID {lid} is out of range (1 to {base.out.shape[1] - 1})")
    last = int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1
    if port != NONE and port > last:
        raise InputError(f"{shown}: port {port} does not exist: ports are 0 to {last}")
    return row, lid, port


_UNUSED = "no route of these tables uses the new cables: write the changed fabric for fabric route"
_OWN = "a host's own cable"  # it carries 1 where a host reaches anybody
_BLOCK = 1 << 20  # routes that are followed together


@typed
def what_if(base: Base, *, fail: Sequence[str] = (), entries: Sequence[str] = (), add: Sequence[str] = ()) -> WhatIf:
    """Return what a change of a few cables or table entries does to tables.

    Parameters
    ----------
    base : Base
        The state before, see :func:`obliv.fabric.base_of` and :func:`obliv.fabric.read_base`.
    fail : sequence of str, optional
        Cables ``NAME/PORT`` and switches ``NAME`` that fail.
    entries : sequence of str, optional
        New ports of table entries: ``SWITCH/LID=PORT``, or ``SWITCH/LID=none``.
    add : sequence of str, optional
        New cables between switches, ``NAME/PORT,NAME/PORT``, at free ports or at ports whose cables fail.

    Returns
    -------
    WhatIf
        Exact: as if the changed fabric and tables were analyzed from scratch.

    Raises
    ------
    InputError
        If there is no such node, port, cable, table or LID.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> obliv.fabric.what_if(base, entries=["switch((0),1)/14=3"])
    what-if: lft:dmodk on fabric:fattree:4,2
      change      switch((0),1)/14=3
      before      worst load 2   switch((0),1) port 3 -> switch((0),0) port 1
      after       worst load 2   switch((1),1) port 3 -> switch((0),0) port 2
      pairs lost  0
      work        4 channels changed, 1 solved
    """
    began = time.perf_counter()
    changes = changes_of(base, several(fail), several(entries), several(add))
    tables = _Changed(base, changes)
    moved = tables.moved()
    load, channel, solved = tables.worst(moved)
    served = base.ends * (base.ends - 1) - base.missing
    missing = base.missing + moved.lost
    order = int(np.argmax(base.load)) if len(base.load) else -1
    specs = {"topology": base.topology.spec, "routing": base.routing}
    return WhatIf(
        topology=base.topology.spec,
        routing=base.routing,
        provenance=provenance(specs, time.perf_counter() - began, sources=base.sources),
        changes=changes.names,
        before=_state(base, int(base.load.max(initial=0)), order, base.missing, served > 0, base.loop),
        after=_state(tables.base, load, channel, missing, served > moved.lost, tables.has_credit_loop()),
        channels=len(moved.channels),
        solved=solved,
        notes=(*base.notes, _UNUSED) if tables.unused(moved) else base.notes,
    )


def _state(base: Base, load: int, channel: int, missing: int, served: bool, loop: bool) -> FailureState:
    """Return the figures of tables, of which the largest load between switches is known."""
    value = Fraction(load, base.unit)
    name = base.topology.cable(channel).ends if load else ""
    if value < 1 and served:
        value, name = Fraction(1), _OWN
    return FailureState(value, name, missing, loop)


@dataclass(frozen=True, eq=False)
class _Moved:
    """Pairs whose routes change.

    Parameters
    ----------
    lost : int
        Ordered pairs of terminals cut off, less those connected anew.
    channels : int array
        The channels that change.
    first_less, less : int arrays
        The pairs that channel number k of these loses: ``less[first_less[k]:first_less[k + 1]]``.
    first_more, more : int arrays
        The pairs that come to it.
    """

    lost: int
    channels: Array
    first_less: Array
    less: Array
    first_more: Array
    more: Array


class _Changed:
    """Tables and cables after a change."""

    def __init__(self, base: Base, changes: Changes) -> None:
        self.before, self.entries = base, changes.entries
        self.base, self.number = with_cables(base, changes.failure, changes.cables)
        topology, fabric = base.topology, base.topology.fabric
        slots = np.array(changes.failure.slots, np.int64)
        self.gone = np.zeros(self.base.topology.channels, np.bool_)
        self.gone[self.number[topology.channel_of[np.concatenate([slots, fabric.ports.peer[slots]])]]] = True
        self.added = np.array(changes.cables, np.int64).ravel()
        self.dead = np.array(changes.failure.switches, np.int64)
        self.row = base.row.copy()
        self.row[self.dead] = -1
        self.out = base.out
        if self.entries:
            self.out = np.array(base.out)
            for row, lid, port in self.entries:
                self.out[row, lid] = port

    def unused(self, moved: _Moved) -> bool:
        """Return whether there are new cables, and no route that changes crosses one."""
        new = self.base.topology.channel_of[self.added]
        return len(new) > 0 and not np.isin(new, moved.channels).any()

    def moved(self) -> _Moved:
        """Return the pairs whose routes change, with what changes on channels."""
        base, ends = self.base, self.base.ends
        pairs = [base.pair[base.start[c] : base.start[c + 1]] for c in np.flatnonzero(self.gone).tolist()]
        switch = np.flatnonzero(base.node >= 0)
        ports = len(self.added) > 0 and base.missing > 0  # else no route led to a port without a cable
        for k in self._columns(ports=ports).tolist():
            terminal = np.full(len(switch), base.end_of[k])
            pairs.append(switch[base.columns(switch, terminal) == k] * ends + base.end_of[k])
        for cut in np.flatnonzero(np.isin(base.node, self.dead)).tolist():
            pairs.append(np.arange(cut * ends, (cut + 1) * ends))
        pair = _different(np.concatenate([*pairs, np.zeros(0, np.int64)]))
        r, d = np.divmod(np.asarray(pair, np.int64), ends)
        column = base.columns(r, d)
        nothing = np.zeros(len(self.number), np.bool_)
        old, arrived, _ = self.before.walk(base.node[r], column, base.out, base.row, nothing)
        old = np.where(old >= 0, self.number[old], -1)
        new, arrives, _ = base.walk(base.node[r], column, self.out, self.row, self.gone)
        weight = base.weight(r, d)
        space = max(1, len(base.node) * ends)
        before, after = _crossings(pair, old, arrived, space), _crossings(pair, new, arrives, space)
        less, more = (np.setdiff1d(*sides, assume_unique=True) for sides in ((before, after), (after, before)))
        channels = _different(np.concatenate([less // space, more // space]))
        first = np.append(channels, len(self.gone)) * space
        first_less, first_more = np.searchsorted(less, first), np.searchsorted(more, first)
        lost = int(weight[arrived].sum() - weight[arrives].sum())
        return _Moved(lost, channels, first_less, less % space, first_more, more % space)

    def worst(self, moved: _Moved) -> tuple[int, int, int]:
        """Return the largest load of a channel between switches, such a channel, and how many were solved."""
        base = self.base
        left = np.where(self.gone, -1, base.load)
        left[moved.channels] = -1
        hot = int(np.argmax(left)) if len(left) else -1
        best, solved = max(0, int(left[hot])) if hot >= 0 else 0, 0
        come = np.array([self._most(moved, k) for k in range(len(moved.channels))], np.int64)
        bound = base.load[moved.channels] + come * base.factor[moved.channels]
        for k in np.argsort(-bound, kind="stable").tolist():
            c = int(moved.channels[k])
            if bound[k] <= best:
                break
            if self.gone[c]:
                continue
            solved += 1
            load = self._solved(moved, k) * int(base.factor[c])
            if load > best:
                best, hot = load, c
        return best, hot, solved

    def has_credit_loop(self) -> bool:
        """Return whether there is a credit loop on a single lane."""
        base = self.base
        leaves, alone = self._leaves()
        if base.certain:
            keys = self._dependencies(leaves, alone, self._columns())
            before, after = np.divmod(keys, len(self.gone))
            if (base.layer[before] < base.layer[after]).all():
                return False
            old = np.repeat(np.arange(len(self.gone)), np.diff(base.first_after)) * len(self.gone) + base.after
            if not _cyclic(np.union1d(old, keys), len(self.gone)):
                return False
        return _cyclic(self._dependencies(leaves, alone, np.arange(len(base.lid))), len(self.gone))

    def _columns(self, ports: bool = True) -> Array:
        """Return the columns of the LIDs whose entries are changed, with `ports` or lead to a port with a new cable."""
        changed = np.zeros(self.base.out.shape[1], np.bool_)
        changed[[lid for _, lid, _ in self.entries]] = True
        fabric = self.base.topology.fabric
        for slot in self.added.tolist() if ports else ():
            row = int(self.base.row[fabric.node_of[slot]])
            if row >= 0:
                changed |= self.base.out[row] == fabric.port_of(slot)
        lid = self.base.lid
        return np.flatnonzero((lid > 0) & (lid < len(changed)) & changed[np.minimum(lid, len(changed) - 1)])

    def _leaves(self) -> tuple[Array, Array]:
        """Return the leaf switches, and for every terminal the leaf where no other terminal is, -1 for no such leaf."""
        node = self.base.node[self.base.class_of]
        leaves, count = np.unique(node[node >= 0], return_counts=True)
        return leaves, np.where((node >= 0) & np.isin(node, leaves[count == 1]), node, -1)

    def _dependencies(self, leaves: Array, alone: Array, columns: Array) -> Array:
        """Return which channels routes to some LIDs use one right after the other: channel · channels + next one."""
        base, channels = self.base, len(self.gone)
        found = [np.zeros(0, np.int64)]
        step = max(1, _BLOCK // max(1, len(leaves)))
        for at in range(0, len(columns), step):
            part = columns[at : at + step]
            node, column = np.repeat(leaves, len(part)), np.tile(part, len(leaves))
            others = alone[base.end_of[column]] != node
            routes, _, _ = base.walk(node[others], column[others], self.out, self.row, self.gone)
            both = (routes[:, :-1] >= 0) & (routes[:, 1:] >= 0)
            found.append(_different(routes[:, :-1][both] * channels + routes[:, 1:][both]))
        return _different(np.concatenate(found))

    def _most(self, moved: _Moved, k: int) -> int:
        """Return how much more can cross a channel by what came to it."""
        r, d = np.divmod(moved.more[moved.first_more[k] : moved.first_more[k + 1]], self.base.ends)
        return int(min(self.base.size[np.unique(r)].sum(), len(np.unique(d))))

    def _solved(self, moved: _Moved, k: int) -> int:
        """Return how many packets can cross a channel at once: a largest matching of sources and destinations."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        base, c = self.base, int(moved.channels[k])
        less = moved.less[moved.first_less[k] : moved.first_less[k + 1]]
        still = np.setdiff1d(base.pair[base.start[c] : base.start[c + 1]], less)
        pair = np.concatenate([still, moved.more[moved.first_more[k] : moved.first_more[k + 1]]]).astype(np.int64)
        r, d = np.divmod(pair, base.ends)
        first, ids = base.members
        size = base.size[r]
        inside = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        source, destination = ids[np.repeat(first[r], size) + inside], np.repeat(d, size)
        others = source != destination
        shape = (base.ends, base.ends)
        graph = csr_array((np.ones(int(others.sum()), np.int8), (source[others], destination[others])), shape=shape)
        return int((maximum_bipartite_matching(graph) >= 0).sum())


def _crossings(pair: Array, routes: Array, arrives: Array, space: int) -> Array:
    """Return what arrives over channels: channel · space + pair, sorted."""
    which, hop = np.nonzero((routes >= 0) & arrives[:, None])
    return np.sort(routes[which, hop] * space + pair[which])


def _different(numbers: Array) -> Array:
    """Return the different numbers, sorted; :func:`numpy.unique` hashes them, which is slow for millions."""
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0])


def _cyclic(keys: Array, channels: int) -> bool:
    """Return whether a graph has a cycle, from its edges: tail · vertices + head."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    tail, head = np.divmod(keys, channels)
    graph = csr_array((np.ones(len(keys), np.int8), (tail, head)), shape=(channels, channels))
    count, _ = connected_components(graph, directed=True, connection="strong")
    return bool(count < channels)
