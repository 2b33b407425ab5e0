"""A kept state of tables on their fabric, from which changes are answered: what uses each channel, and worst loads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from obliv._util.arrays import Array, grouped, starts
from obliv.errors import InputError
from obliv.fabric.arguments import typed
from obliv.fabric.kernels.failures import FailureSpace, Intact, intact_loads
from obliv.fabric.routes.dependencies import credit_loops, dependencies_of
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.trace import Ending
from obliv.fabric.topology import FabricTopology
from obliv.kernels import run

# Tables before a failure, laid out for many failures


def unit_of(routing: FabricRouting) -> int:
    """Return the number by which loads are whole numbers: a common multiple of the bandwidths."""
    speeds = routing.topology.bandwidth or (Fraction(1),)
    return lcm(*{Fraction(1 / speed).denominator for speed in set(speeds)})


def intact_tables(routing: FabricRouting, most: int) -> tuple[Intact, FailureSpace]:
    """Return what tables do before a failure, with the worst load of every channel between switches."""
    topology, loads, routes = routing.topology, routing.fabric_loads, routing.routes
    start, pair, _ = loads.entries
    channels, classes, ends = topology.channels, routes.classes, loads.terminals
    speeds, unit = topology.bandwidth or (Fraction(1),) * channels, unit_of(routing)
    layer, first_after, after = _dependencies(routing)
    slot_of = topology.slot_of.astype(np.int64)
    intact = Intact(
        start=start,
        pair=pair,
        matched=np.zeros(len(pair), np.uint8),
        size=np.diff(routes.members[0]),
        unit=np.array([int(unit / speed) for speed in speeds], np.int64),
        load=np.zeros(channels, np.int64),
        order=np.arange(channels),
        rank=np.arange(channels),
        layer=layer,
        first_after=first_after,
        after=after,
        slot_of=slot_of,
        tail_of=topology.fabric.node_of[slot_of].astype(np.int64),
    )
    space = FailureSpace(
        failed=np.full(channels, -1, np.int32),
        other=np.full((most, len(routes.traces.lid)), -1, np.int16),
        stamp=np.zeros(classes * ends, np.int32),
        less=np.zeros(channels, np.int32),
        more=np.zeros(channels, np.int32),
        first_added=np.full(channels, -1, np.int32),
        next_added=np.empty(1024, np.int32),
        added=np.empty(1024, np.int64),
        touched=np.empty(channels, np.int64),
        first_new=np.full(channels, -1, np.int32),
        next_new=np.empty(1024, np.int32),
        new=np.empty(1024, np.int32),
    )
    run(intact_loads, 50.0 * len(pair), intact, space, ends)
    order = np.argsort(-intact.load, kind="stable")
    rank = np.empty(channels, np.int64)
    rank[order] = np.arange(channels)
    return intact._replace(order=order, rank=rank), space


def room(space: FailureSpace, size: int) -> FailureSpace:
    """Return the same space with room for longer lists of changed routes."""
    next_added, next_new, new = (np.empty(size, np.int32) for _ in range(3))
    return space._replace(next_added=next_added, added=np.empty(size, np.int64), next_new=next_new, new=new)


def _dependencies(routing: FabricRouting) -> tuple[Array, Array, Array]:
    """Return a number for every channel that rises along each dependency, and what comes right after each channel.

    The numbers are 0 if some dependencies form a cycle.
    """
    topology = routing.topology
    slots, first, after = dependencies_of(routing.routes.traces)
    channel = topology.channel_of[slots]
    before = np.repeat(np.arange(len(slots)), np.diff(first))
    layer = np.zeros(len(slots), np.int32)
    waiting = np.bincount(after, minlength=len(slots))
    ready, at, left = np.flatnonzero(waiting == 0), 0, len(slots)
    while len(ready):  # layer by layer
        layer[ready] = at
        left -= len(ready)
        size = np.diff(first)[ready]
        inside = np.arange(int(size.sum())) - np.repeat(starts(size)[:-1], size)
        heads = after[np.repeat(first[:-1][ready], size) + inside]
        waiting -= np.bincount(heads, minlength=len(slots))
        ready, at = np.unique(heads[waiting[heads] == 0]), at + 1
    found = np.zeros(topology.channels, np.int32)
    found[channel] = layer if not left else 0
    first_after, order = grouped(channel[before], topology.channels)
    return found, first_after, channel[after[order]]


@dataclass(frozen=True, eq=False)
class Base:
    """Tables on their fabric with all that a small change needs; nothing of it refers to files.

    Pair class · terminals + terminal stands for the packets of a class of sources; see
    :class:`obliv.fabric.kernels.routes.RouteArrays` and :class:`obliv.fabric.kernels.failures.Intact`.

    Parameters
    ----------
    topology : FabricTopology
    routing : str
        The spec of the tables.
    notes : tuple of str
    sources : tuple of (path, SHA-256)
    loop : bool
        Whether there is a credit loop.
    certain : bool
        Whether there is none, and no route goes round: then lost routes cannot add one.
    missing : int
        Ordered pairs whose packets do not arrive.
    unit : int
        The denominator of loads.
    to, row, out : arrays
        What is behind each slot, the table of each node of the fabric, and the tables.
    first_column, lid : int arrays
        The LIDs of every terminal.
    node, low, class_of : int arrays
        The leaf switch and the first offset of every class; the class of every terminal.
    start, pair : int arrays
        What crosses each channel.
    load : int64 array
        The worst load of every channel.
    layer, first_after, after : int arrays
        Dependencies between channels.
    stamps : frozenset of (path, bytes, time)
        Of the files when the state was kept.
    """

    topology: FabricTopology
    routing: str
    notes: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    loop: bool
    certain: bool
    missing: int
    unit: int
    to: Array
    row: Array
    out: Array
    first_column: Array
    lid: Array
    node: Array
    low: Array
    class_of: Array
    start: Array
    pair: Array
    load: Array
    layer: Array
    first_after: Array
    after: Array
    stamps: frozenset[tuple[str, int, int]] = frozenset()

    @property
    def ends(self) -> int:
        """Number of terminals."""
        return len(self.class_of)

    @cached_property
    def size(self) -> Array:
        """The number of sources of every class."""
        return np.bincount(self.class_of, minlength=len(self.node))

    @cached_property
    def members(self) -> tuple[Array, Array]:
        """The sources of class r are ``ids[first[r]:first[r + 1]]``."""
        return starts(self.size), np.argsort(self.class_of, kind="stable")

    @cached_property
    def factor(self) -> Array:
        """The load that a packet puts on every channel, in units."""
        topology = self.topology
        speeds = {speed: int(self.unit / speed) for speed in set(topology.bandwidth)}
        return np.array([speeds[speed] for speed in topology.bandwidth] or [self.unit] * topology.channels, np.int64)

    @cached_property
    def end_of(self) -> Array:
        """The terminal of every column."""
        return np.repeat(np.arange(self.ends), np.diff(self.first_column))

    def columns(self, r: Array, terminal: Array) -> Array:
        """Return the columns of the LIDs that classes use for terminals."""
        first = self.first_column[terminal]
        return np.asarray(first + self.low[r] % (self.first_column[terminal + 1] - first))

    def weight(self, r: Array, terminal: Array) -> Array:
        """Return how many sources of classes send to terminals: all but the terminal itself."""
        return np.asarray(self.size[r] - (self.class_of[terminal] == r))

    def walk(self, node: Array, column: Array, out: Array, row: Array, gone: Array) -> tuple[Array, Array, Array]:
        """Follow tables from switches to LIDs.

        Parameters
        ----------
        node, column : int arrays
            Where each route begins, and the number of its LID.
        out : uint8 array
            Tables.
        row : int array
            The table of every node, -1 without one.
        gone : bool array, shape (channels,)
            Channels that are not there.

        Returns
        -------
        steps : int array, shape (routes, hops)
            Channels between switches, -1 behind the end.
        arrives, loops : bool arrays
            How routes end; both false where packets get lost.
        """
        topology = self.topology
        first, channel_of = topology.fabric.first_slot, topology.channel_of
        node, lid, goal = node.copy(), self.lid[column], self.end_of[column]
        alive = (lid > 0) & (lid < out.shape[1])
        arrives, loops = np.zeros(len(node), np.bool_), np.zeros(len(node), np.bool_)
        seen = node.copy()  # a switch on each route, of step 2^k: what comes back to it goes round
        steps: list[Array] = []
        for hop in range(len(out) + 1):
            at = row[node]
            alive &= at >= 0
            port = out[np.where(alive, at, 0), np.where(alive, lid, 0)].astype(np.int64)
            slot = first[node] + port
            alive &= (port > 0) & (slot < first[node + 1])
            slot = np.where(alive, slot, 0)
            channel = channel_of[slot]
            alive &= (channel < 0) | ~gone[channel]
            ahead = self.to[slot]
            arrives |= alive & (ahead == -3 - goal)
            alive &= ahead >= 0
            if not alive.any():
                break
            steps.append(np.where(alive, channel, -1))
            node = np.where(alive, ahead, node)
            loops |= alive & (node == seen)
            alive &= ~loops
            if (hop & (hop + 1)) == 0:
                seen = node.copy()
        taken = np.stack(steps, axis=1) if steps else np.full((len(node), 0), -1, np.int64)
        loops |= alive
        taken[loops] = -1
        return taken, arrives, loops


@typed
def base_of(routing: FabricRouting) -> Base:
    """Return the state of tables from which :func:`obliv.fabric.what_if` answers changes.

    Parameters
    ----------
    routing : FabricRouting
        Pairs whose packets do not arrive are left out.

    Raises
    ------
    InputError
        If pairs have several routes, or cables of hosts differ in speed.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> obliv.fabric.what_if(base, fail=["switch((0),1)/3"]).after.missing
    12
    """
    topology, routes = routing.topology, routing.routes
    if routes.denominator != 1 or not topology.unit_rates:
        raise InputError("a kept state needs one route per pair, and cables of hosts that are equally fast")
    intact, _ = intact_tables(routing, 1)
    arrays = routes.arrays
    loop = not credit_loops(routes.traces).acyclic
    return Base(
        topology=topology,
        routing=routing.spec,
        notes=topology.notes + routing.notes,
        sources=tuple(dict((*topology.sources, *routing.sources)).items()),
        loop=loop,
        certain=not loop and not (routes.traces.code == Ending.LOOP).any(),
        missing=routing.skipped,
        unit=unit_of(routing),
        to=arrays.to,
        row=arrays.row,
        out=arrays.out,
        first_column=arrays.first_column,
        lid=arrays.lid,
        node=arrays.node,
        low=arrays.low,
        class_of=arrays.class_of,
        start=intact.start,
        pair=intact.pair,
        load=intact.load,
        layer=intact.layer,
        first_after=intact.first_after,
        after=intact.after,
    )
