"""Dependency graphs of a fabric: which channel, on which lane, packets can use right after which.

For tables, for groups and with virtual lanes they come from one automaton, whose states are the ports by which packets
come into switches: what they cross from there is what follows the channel by which they came.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import Array, positions, starts
from obliv._util.progress import require_memory
from obliv.fabric.kernels.automaton import Automaton, follows
from obliv.fabric.model import Fabric
from obliv.fabric.routes.trace import Routes, Traces
from obliv.kernels import run
from obliv.questions.deadlocks.graph import short_cycle
from obliv.routings.descriptions import LaneDependencies


@dataclass(frozen=True)
class CreditLoops:
    """Whether the channel dependency graph of forwarding tables has a cycle."""

    dependencies: int  # pairs of channels that some route uses one right after the other
    # cycle: the slots where the channels of a short cycle begin: each may be used right before the next, the last right
    # before the first. Empty where there is none.
    cycle: tuple[int, ...] = ()

    @property
    def acyclic(self) -> bool:
        """Whether no deadlock is possible, whatever the traffic."""
        return not self.cycle


def credit_loops(traces: Traces, columns: Array | None = None) -> CreditLoops:
    """Look for a cycle among the channels that packets can use one after the other, by any choices of the switches."""
    # Routes from every switch with an endpoint to every LID of an endpoint are followed; routes that loop never release
    # their channels and are reported by :func:`obliv.fabric.check`. All packets are assumed to use one virtual lane:
    # engines that spread service levels over several lanes (dfsssp, lash, nue, torus-2QoS) may be free of deadlock in
    # spite of a cycle. With `columns` only some LIDs count.
    channels, first, after = dependencies_of(traces, columns)
    cycle = short_cycle(first, after) or []
    return CreditLoops(len(after), tuple(int(channels[c]) for c in cycle))


def dependencies_of(traces: Traces, columns: Array | None = None) -> tuple[Array, Array, Array]:
    """Return the channel dependency graph of packets between switches: slots of channels, and what follows each."""
    columns = np.arange(len(traces.lid)) if columns is None else columns
    entries = by_entry(traces.fabric, traces.hops)
    bits = entries.crossed(traces.entries, traces.lid[columns], traces.sends[:, columns])
    return entries.slots, *graph_of(entries.dependencies(bits), len(entries.slots))


@dataclass(frozen=True, eq=False)
class ByEntry:
    """An automaton whose states are the slots by which packets come into a switch."""

    fabric: Fabric
    automaton: Automaton
    # entry, exit: int; each slot of it leads from the state ``entry`` out of the port of the fabric with slot ``exit``
    entry: Array
    exit: Array
    slots: Array  # int, shape (channels,); where the channels between switches begin

    @cached_property
    def number(self) -> Array:
        """The number of the channel that begins at every slot of the fabric, -1 for others."""
        return positions(self.slots, len(self.fabric.node_of))

    def crossed(self, start: Array, lid: Array, sends: Array, lane: Array | None = None) -> Array:
        """Return for every slot the lanes, as bits, on which packets came that leave by it."""
        bits = np.zeros(len(self.entry), np.uint16)
        lane = np.zeros(len(bits), np.uint8) if lane is None else lane
        run(follows, 10.0 * sends.size, start, lid, sends, self.automaton, lane, bits)
        return bits

    def dependencies(self, bits: Array, lane: Array | None = None) -> Array:
        """Return which vertex follows which, sorted: the one before · 2^32 + the one after."""
        # Lane l of channel c is vertex l · channels + c; `bits` are what :meth:`crossed` returns for `lane`.
        count = len(self.slots)
        here = np.flatnonzero((bits > 0) & (self.automaton.to >= 0))
        before = self.number[self.fabric.ports.peer[self.entry[here]]]
        here, before = here[before >= 0], before[before >= 0]
        after = self.number[self.exit[here]] + (0 if lane is None else lane[here].astype(np.int64) * count)
        came = bits[here]
        keys: list[Array] = [np.zeros(0, np.int64)]
        for vl in range(int(came.max(initial=0)).bit_length()):
            on = came >> vl & 1 > 0
            keys.append((before[on] + vl * count << 32) + after[on])
        return np.sort(np.concatenate(keys))


def by_entry(fabric: Fabric, hops: Automaton) -> ByEntry:
    """Return the automaton that tells apart by which port packets came, for one whose states are nodes."""
    ports = np.diff(hops.first)
    ports[fabric.switch_row < 0] = 0
    require_memory(40.0 * float(ports @ ports), f"the channel dependency graph of {fabric.name}")
    first = starts(ports[fabric.node_of])
    entry = np.repeat(np.arange(len(fabric.node_of), dtype=np.int32), np.diff(first))
    exit = hops.first[fabric.node_of[entry]] + np.arange(len(entry)) - first[entry]
    to = np.where(hops.to[exit] >= 0, fabric.ports.peer[exit], hops.to[exit]).astype(np.int32)
    slots = np.flatnonzero(hops.to >= 0)
    slots = slots[fabric.switch_row[fabric.node_of[slots]] >= 0]
    return ByEntry(fabric, hops._replace(first=first, to=to, row=hops.row[fabric.node_of]), entry, exit, slots)


def graph_of(keys: Array, vertices: int) -> tuple[Array, Array]:
    """Return a graph by sorted pairs: what follows vertex v is ``after[first[v]:first[v + 1]]``."""
    return starts(np.bincount(keys >> 32, minlength=vertices)), keys & (2**32 - 1)


def plain_dependencies(routes: Routes) -> LaneDependencies:
    """Return what follows what on one lane, cables of hosts included, by routes that all arrive."""
    traces, channel_of = routes.traces, routes.topology.channel_of
    hosts = len(traces.ends)
    require_memory(float(hosts) * len(traces.lid), f"the channel dependency graph of {traces.fabric.name}")
    # which source sends to which LID: those that its class uses, but its own
    uses = np.zeros((routes.classes, len(traces.lid)), np.bool_)
    size = np.diff(traces.first_column)
    for t in range(routes.denominator):
        uses[np.arange(routes.classes)[:, None], traces.first_column[:-1] + (routes.low[:, None] + t) % size] = True
    sends = uses[routes.class_of] & (traces.endpoint != np.arange(hosts)[:, None])
    switched = np.flatnonzero(routes.leaf[routes.class_of] >= 0)
    entries = by_entry(traces.fabric, traces.hops)
    own = channel_of[traces.ends]
    bits = entries.crossed(traces.fabric.ports.peer[traces.ends[switched]], traces.lid, sends[switched])
    crossed = np.flatnonzero(bits)
    before, after = channel_of[traces.fabric.ports.peer[entries.entry[crossed]]], channel_of[entries.exit[crossed]]
    used = np.unique(np.concatenate([own, before, after])).astype(np.int64)
    lane = np.zeros(len(before), np.int64)
    return LaneDependencies(np.stack([used, 0 * used], axis=1), np.stack([before, lane, after, lane], axis=1))
