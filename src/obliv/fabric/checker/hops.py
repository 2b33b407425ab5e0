"""Next hops of forwarding tables, asked of a routing, and the routes that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from obliv._util.arrays import Array, positions
from obliv._util.progress import require_memory
from obliv.checker.claims import MalformedError
from obliv.routings import descriptions
from obliv.routings.base import Routing
from obliv.topologies.base import Topology, find


@dataclass(frozen=True, eq=False)
class NextHops:
    """The channel by which every switch forwards packets for every terminal; terminals have one cable each.

    Parameters
    ----------
    topology : Topology
    switches : int array, shape (switches,)
        The nodes that are not terminals.
    place : int array, shape (nodes,)
        The number of every switch; -1 for terminals.
    channel : int32 array, shape (switches, terminals)
        -1 where a switch has no channel for a terminal.
    own : int array, shape (terminals,)
        The channel that leaves each terminal.
    leaf : int array, shape (leaves,)
        The nodes at the other ends of these channels.
    row : int array, shape (terminals,)
        The number of every terminal's leaf.
    """

    topology: Topology
    switches: Array
    place: Array
    channel: Array
    own: Array
    leaf: Array
    row: Array

    @property
    def tables(self) -> NextHops:
        """The next hops themselves."""
        return self

    def between(self, row: Array, terminal: Array, gone: Array) -> tuple[Array, Array]:
        """Return the channels of routes from leaves, given by number, as :meth:`routes` does."""
        return self.routes(self.leaf[row], terminal, gone)

    def routes(
        self, node: Array, terminal: Array, gone: Array, other: dict[int, Array] | None = None
    ) -> tuple[Array, Array]:
        """Return the channels of routes from switches to terminals, -1 behind their ends, and which of them arrive.

        Shapes: `gone` (channels,).
        """
        topology = self.topology
        node, goal = node.copy(), topology.terminals[terminal]
        alive, arrived = np.ones(len(node), np.bool_), np.zeros(len(node), np.bool_)
        steps = []
        for _ in range(topology.nodes):
            taken = self.channel[self.place[node], terminal].astype(np.int64)
            for changed, row in (other or {}).items():
                here = node == changed
                taken[here] = row[terminal[here]]
            alive &= taken >= 0
            alive &= ~gone[taken]
            if not alive.any():
                break
            steps.append(np.where(alive, taken, -1))
            node[alive] = topology.head[taken[alive]]
            arrived |= alive & (node == goal)
            alive &= topology.number_of[node] < 0
        routes = np.stack(steps, axis=1) if steps else np.full((len(node), 0), -1, np.int64)
        return routes, arrived


def next_hops_of(routing: Routing) -> NextHops:
    """Return the next hops of a routing by one channel for each destination."""
    topology, hops = routing.topology, find(routing, descriptions.NextHops)
    terminals = topology.terminals.astype(np.int64)
    if hops is None or (ask := hops.next_channels) is None:
        raise MalformedError(f"{routing.spec} does not forward packets by their destination alone")
    own, beside = own_channels(topology)
    switches = np.flatnonzero(topology.number_of < 0)
    require_memory(12.0 * len(switches) * len(terminals), f"the next hops of {topology.spec}")
    leaf, row = np.unique(beside, return_inverse=True)
    place = positions(switches, topology.nodes)
    return NextHops(topology, switches, place, _table(topology, switches, ask), own, leaf, row.ravel())


def own_channels(topology: Topology) -> tuple[Array, Array]:
    """Return the channel that leaves each terminal, and the switch to which it leads."""
    terminals = topology.terminals.astype(np.int64)
    out = np.bincount(topology.tail, minlength=topology.nodes)[terminals]
    back = np.bincount(topology.head, minlength=topology.nodes)[terminals]
    own = topology.first_channel[terminals].astype(np.int64)
    if (out != 1).any() or (back != 1).any() or (topology.number_of[topology.head[own]] >= 0).any():
        raise MalformedError(f"{topology.spec}: terminals must have one cable each, to a switch")
    return own, topology.head[own].astype(np.int64)


def _table(topology: Topology, switches: Array, ask: Callable[[Array, Array], Array]) -> Array:
    """Return the channel by which every switch forwards packets for every terminal, each checked."""
    terminals = topology.terminals.astype(np.int64)
    table = np.full((len(switches), len(terminals)), -1, np.int32)
    for number, node in enumerate(switches.tolist()):
        taken = np.asarray(ask(np.full(len(terminals), node), terminals))
        first, last = topology.first_channel[node : node + 2].tolist()
        if not (((taken >= first) & (taken < last)) | (taken == -1)).all():
            raise MalformedError(f"a next hop of {topology.name_of(node)} is not a channel that leaves it")
        table[number] = taken
    return table


# Paths of pairs, asked of a routing whose switches may forward the packets of two sources in two ways


@dataclass(frozen=True, eq=False)
class PathHops:
    """The path of every pair of terminals.

    Parameters
    ----------
    topology : Topology
    own : int array, shape (terminals,)
        The channel that leaves each terminal.
    leaf, row : int arrays, shape (terminals,)
        The node at the other end of it, and the number of the terminal itself, since no two terminals send alike.
    paths : int32 array, shape (terminals**2, hops)
        Channels behind the leaf, then -1, of pair source · terminals + destination.
    """

    topology: Topology
    own: Array
    leaf: Array
    row: Array
    paths: Array

    @property
    def tables(self) -> NextHops:
        """Next hops by destination, which there are not."""
        raise MalformedError(f"{self.topology.spec}: packets are not forwarded by their destination alone")

    def between(self, row: Array, terminal: Array, gone: Array) -> tuple[Array, Array]:
        """Return the channels of paths up to the first that is gone, and which paths have none of those.

        Shapes: `gone` (channels,).
        """
        paths = self.paths[row * len(self.own) + terminal].astype(np.int64)
        lost = (paths >= 0) & gone[paths]
        whole = np.cumsum(lost, axis=1) == 0
        return np.where(whole, paths, -1), ~lost.any(axis=1) & (paths >= 0).any(axis=1)


Hops = NextHops | PathHops


def hops_of(routing: Routing) -> Hops:
    """Return the next hops of a routing, or its paths where they depend on the source."""
    hops = find(routing, descriptions.NextHops)
    if hops is not None and hops.next_channels is not None:
        return next_hops_of(routing)
    topology = routing.topology
    own, leaf = own_channels(topology)
    require_memory(400.0 * len(own) ** 2, f"the paths of {topology.spec}")
    terminals = topology.terminals.tolist()
    found = [_path(routing, s, d, first) for s, first in zip(terminals, own.tolist(), strict=True) for d in terminals]
    paths = np.full((len(found), max(map(len, found), default=0)), -1, np.int32)
    for pair, channels in enumerate(found):
        paths[pair, : len(channels)] = channels
    return PathHops(topology, own, leaf, np.arange(len(own)), paths)


def _path(routing: Routing, source: int, destination: int, first: int) -> tuple[int, ...]:
    """Return the channels of a pair behind the first one; none from a terminal to itself."""
    if source == destination:
        return ()
    topology = routing.topology
    ways = [channels for channels, chance in routing.paths(source, destination) if chance]
    pair = f"from {topology.name_of(source)} to {topology.name_of(destination)}"
    if len(ways) != 1:
        raise MalformedError(f"{routing.spec} has {len(ways)} paths {pair}")
    path = tuple(int(c) for c in ways[0])
    inside = bool(path) and min(path) >= 0 and max(path) < topology.channels
    if not inside or path[0] != first or int(topology.head[path[-1]]) != destination:
        raise MalformedError(f"{routing.spec}: the path {pair} does not lead there")
    if any(topology.head[here] != topology.tail[ahead] for here, ahead in pairwise(path)):
        raise MalformedError(f"{routing.spec}: the path {pair} has a gap")
    return path[1:]


# The rule of ``refill``: which ports replace those that a switch lost


def refilled(hops: NextHops, gone: Array, lost: Array) -> dict[int, Array]:
    """Return the switches that lost a channel, with their channels for all terminals afterwards.

    For each terminal in order that a lost channel delivered to, a switch takes of its other channels from where the
    next hops of the other switches lead there: those with the shortest way, of these the least used, then the first.

    Shapes: `gone` (channels,).
    """
    topology = hops.topology
    nothing = np.zeros(topology.channels, np.bool_)
    rows: dict[int, Array] = {}
    for channel in lost.tolist():
        node = int(topology.tail[channel])
        before = hops.channel[hops.place[node]]
        row = rows.setdefault(node, before.astype(np.int64))
        wanted = np.flatnonzero(before == channel)
        wanted = wanted[hops.routes(np.full(len(wanted), node), wanted, nothing)[1]]
        first, last = topology.first_channel[node : node + 2].tolist()
        ways = _lengths(hops, np.arange(first, last), wanted, gone)
        in_use = row[row >= 0]
        uses = np.bincount(in_use[~gone[in_use]] - first, minlength=last - first).tolist()
        shortest = np.where(ways > 0, ways, topology.nodes + 1).min(axis=0)
        at, leads = np.nonzero(((ways > 0) & (ways == shortest)).T)
        ends = np.searchsorted(at, np.arange(len(wanted) + 1)).tolist()
        channels = leads.tolist()
        for terminal, begin, end in zip(wanted.tolist(), ends, ends[1:], strict=False):
            if begin < end:
                best = min(channels[begin:end], key=lambda c: (uses[c], c))
                row[terminal] = first + best
                uses[best] += 1
    return rows


def _lengths(hops: NextHops, channels: Array, wanted: Array, gone: Array) -> Array:
    """Return the number of channels of the ways to terminals that begin with channels, 0 where none leads there."""
    topology = hops.topology
    channel, terminal = np.repeat(channels, len(wanted)), np.tile(wanted, len(channels))
    head = topology.head[channel].astype(np.int64)
    there = head == topology.terminals[terminal]
    inner = np.flatnonzero(topology.number_of[head] < 0)
    routes, arrived = hops.routes(head[inner], terminal[inner], gone)
    length = there.astype(np.int64)
    length[inner] = np.where(arrived, 1 + (routes >= 0).sum(axis=1), 0)
    length[gone[channel]] = 0
    return np.reshape(length, (len(channels), len(wanted)))
