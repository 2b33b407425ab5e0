"""Next hops of tables, the paths of pairs, the routes before and after a failure, and the rule of ``refill``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from obliv._util.arrays import Array, grouped, positions
from obliv._util.progress import require_memory
from obliv.errors import RoutingError
from obliv.routings import descriptions
from obliv.routings.base import Routing
from obliv.topologies.base import Topology, find

__all__ = ["After", "CheckedRoutes", "among", "routes_left", "routes_of"]


@dataclass(frozen=True, eq=False)
class NextHops:
    """The channel by which every switch forwards packets for every terminal; terminals have one cable each."""

    topology: Topology
    switches: Array  # int, shape (switches,); the nodes that are not terminals
    place: Array  # int, shape (nodes,); the number of every switch; -1 for terminals
    channel: Array  # int32, shape (switches, terminals); -1 where a switch has no channel for a terminal
    own: Array  # int, shape (terminals,); the channel that leaves each terminal
    leaf: Array  # int, shape (leaves,); the nodes at the other ends of these channels
    row: Array  # int, shape (terminals,); the number of every terminal's leaf

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
        """Return the channels of routes from switches to terminals, -1 behind their ends, and which of them arrive."""
        # Shapes: `gone` (channels,).
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
        raise RoutingError(f"{routing.spec} does not forward packets by their destination alone")
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
        raise RoutingError(f"{topology.spec}: terminals must have one cable each, to a switch")
    return own, topology.head[own].astype(np.int64)


def _table(topology: Topology, switches: Array, ask: Callable[[Array, Array], Array]) -> Array:
    """Return the channel by which every switch forwards packets for every terminal, each checked."""
    terminals = topology.terminals.astype(np.int64)
    table = np.full((len(switches), len(terminals)), -1, np.int32)
    for number, node in enumerate(switches.tolist()):
        taken = np.asarray(ask(np.full(len(terminals), node), terminals))
        first, last = topology.first_channel[node : node + 2].tolist()
        if not (((taken >= first) & (taken < last)) | (taken == -1)).all():
            raise RoutingError(f"a next hop of {topology.name_of(node)} is not a channel that leaves it")
        table[number] = taken
    return table


# Paths of pairs, asked of a routing whose switches may forward the packets of two sources in two ways


@dataclass(frozen=True, eq=False)
class PathHops:
    """The path of every pair of terminals."""

    topology: Topology
    own: Array  # int, shape (terminals,); the channel that leaves each terminal
    # leaf, row: int, shape (terminals,); the node at the other end of it, and the number of the terminal itself, since
    # no two terminals send alike
    leaf: Array
    row: Array
    # paths: int32, shape (terminals**2, hops); channels behind the leaf, then -1, of pair source · terminals +
    # destination
    paths: Array

    @property
    def tables(self) -> NextHops:
        """Next hops by destination, which there are not."""
        raise RoutingError(f"{self.topology.spec}: packets are not forwarded by their destination alone")

    def between(self, row: Array, terminal: Array, gone: Array) -> tuple[Array, Array]:
        """Return the channels of paths up to the first that is gone, and which paths have none of those."""
        # Shapes: `gone` (channels,).
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
        raise RoutingError(f"{routing.spec} has {len(ways)} paths {pair}")
    path = tuple(int(c) for c in ways[0])
    inside = bool(path) and min(path) >= 0 and max(path) < topology.channels
    if not inside or path[0] != first or int(topology.head[path[-1]]) != destination:
        raise RoutingError(f"{routing.spec}: the path {pair} does not lead there")
    if any(topology.head[here] != topology.tail[ahead] for here, ahead in pairwise(path)):
        raise RoutingError(f"{routing.spec}: the path {pair} has a gap")
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


# The routes between all leaves and terminals, before and after a failure, and bounds of what they put on channels.
#
# Pair leaf · terminals + terminal stands for all packets from the terminals at a leaf to a terminal; where packets are
# not forwarded by their destination alone, every terminal counts as a leaf.


_STEPS = 100  # by which numbers of channels are raised before all routes are searched for a cycle


@dataclass(frozen=True, eq=False)
class Failed:
    """What fails together: the channels of cables, in order, each before its opposite; and nodes."""

    channels: Array
    nodes: Array

    def gone(self, hops: Any) -> Array:
        """Return which channels cannot be taken."""
        topology = hops.topology
        gone: Array = np.zeros(topology.channels, np.bool_)
        if len(self.nodes):
            gone[np.isin(topology.tail, self.nodes) | np.isin(topology.head, self.nodes)] = True
        gone[self.channels] = True
        return np.asarray(gone)


@dataclass(frozen=True, eq=False)
class After:
    """What a failure changes."""

    moved: Array  # int; the pairs whose routes it cuts, sorted
    routes: Array  # int, shape (moved, hops); their channels now, up to what failed where they end there
    arrives: Array  # bool, shape (moved,)
    gone: Array  # bool, shape (channels,)

    def come(self, channel: int) -> Array:
        """Return those of the pairs that arrive over a channel now."""
        return np.asarray(self.moved[self.arrives & (self.routes == channel).any(axis=1)])


@dataclass(frozen=True, eq=False)
class CheckedRoutes:
    """All routes before failures."""

    hops: Hops
    size: Array  # int, shape (leaves,); terminals at each leaf
    weight: Array  # int, shape (pairs,); how many terminals send: those at the leaf, without the receiver itself
    routes: Array  # int, shape (pairs, hops); channels behind the leaf, then -1
    # start, pair: int; the pairs that cross channel c are ``pair[start[c]:start[c + 1]]``
    start: Array
    pair: Array

    @property
    def terminals(self) -> int:
        """Number of terminals."""
        return len(self.hops.own)

    def crossing(self, channel: int) -> Array:
        """Return the pairs that cross a channel."""
        return self.pair[self.start[channel] : self.start[channel + 1]]

    def after(self, failed: Failed, refill: bool, follow: bool = True) -> After:
        """Return what a failure changes."""
        hops, gone = self.hops, failed.gone(self.hops)
        cables = np.flatnonzero(gone) if len(failed.nodes) else failed.channels
        cut = [self.crossing(c) for c in cables.tolist()]
        dead = np.flatnonzero(np.isin(hops.leaf, failed.nodes)) if len(failed.nodes) else failed.nodes
        cut += [np.arange(r * self.terminals, (r + 1) * self.terminals) for r in dead.tolist()]
        moved = _distinct(np.concatenate([*cut, np.zeros(0, np.int64)]))
        moved = moved[self.weight[moved] > 0]
        if not refill and not follow:
            return After(moved, np.zeros((len(moved), 0), np.int64), np.zeros(len(moved), np.bool_), gone)
        r, d = np.divmod(moved, self.terminals)
        if not refill:
            return After(moved, *hops.between(r, d, gone), gone)
        tables = hops.tables
        other = refilled(tables, gone, failed.channels)
        return After(moved, *tables.routes(tables.leaf[r], d, gone, other), gone)

    def crossing_after(self, channel: int, after: After) -> Array:
        """Return the pairs that arrive over a channel after a failure."""
        if after.gone[channel]:
            return np.zeros(0, np.int64)
        still = self.crossing(channel)
        return np.union1d(still[~among(still, after.moved)], after.come(channel))

    def lost(self, after: After) -> int:
        """Return the number of ordered pairs of terminals that a failure cuts off."""
        return int(self.weight[after.moved[~after.arrives]].sum())

    def cover(self, pairs: Array, paid: Array | None = None) -> int:
        """Return an upper bound of the packets that admissible traffic can send between pairs."""
        # A receiver in `paid` counts once, and the leaf of every other pair with all its terminals; without `paid` the
        # smaller of both sums over all pairs.
        r, d = np.divmod(pairs, self.terminals)
        if paid is None:
            return min(int(self.size[_distinct(r)].sum()), self._count(d))
        inside = paid[d]
        return int(self.size[_distinct(r[~inside])].sum()) + self._count(d[inside])

    def _count(self, terminals: Array) -> int:
        """Return the number of distinct terminals."""
        seen = np.zeros(self.terminals, np.bool_)
        seen[terminals] = True
        return int(np.count_nonzero(seen))

    def has_credit_loop(self, after: After | None = None) -> bool:
        """Return whether channels between switches, each used right after the one before, form a cycle."""
        from scipy.sparse.csgraph import connected_components

        graph = self._before
        if after is not None:
            if self.layer is not None and self._stays_acyclic(self.layer, after.routes):
                return False
            routes = np.full((len(self.weight), max(self.routes.shape[1], after.routes.shape[1])), -1, np.int64)
            routes[:, : self.routes.shape[1]] = self.routes
            routes[after.moved] = -1
            routes[after.moved, : after.routes.shape[1]] = after.routes
            graph = self._graph(routes[self.weight > 0])
        count, _ = connected_components(graph, directed=True, connection="strong")
        return bool(count < self.hops.topology.channels)

    @cached_property
    def layer(self) -> Array | None:
        """A number of every channel that rises along all routes before a failure; None where there is no such one."""
        if self.has_credit_loop():
            return None
        graph = self._before.tocoo()
        layer = np.zeros(self.hops.topology.channels, np.int64)
        while not (layer[graph.row] < layer[graph.col]).all():
            np.maximum.at(layer, graph.col, layer[graph.row] + 1)
        return layer

    @cached_property
    def _before(self) -> Any:
        """The graph of what channels are used right after each other, before a failure."""
        return self._graph(self.routes[self.weight > 0])

    def _stays_acyclic(self, layers: Array, routes: Array) -> bool:
        """Return whether numbers that rise along all routes before a failure and new ones too were found."""
        # Those of channels behind a new route are raised until all fit; where that takes many steps there may be a
        # cycle.
        first, follower = self._before.indptr, self._before.indices
        before, behind = self._dependencies(routes)
        new = before * len(layers) + behind
        before, behind = np.divmod(_distinct(new), len(layers))
        layer = layers.copy()
        head, least = behind, layer[before] + 1
        for _ in range(_STEPS):
            low = layer[head] < least
            if not low.any():
                return True
            np.maximum.at(layer, head[low], least[low])
            raised = _distinct(head[low])
            count = first[raised + 1] - first[raised]
            inside = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
            new = among(before, raised)
            head = np.concatenate([follower[np.repeat(first[raised], count) + inside], behind[new]])
            least = np.concatenate([np.repeat(layer[raised], count), layer[before[new]]]) + 1
        return False

    def _dependencies(self, routes: Array) -> tuple[Array, Array]:
        """Return channels between switches that routes use, and the ones right behind them."""
        topology = self.hops.topology
        inner = (topology.number_of[topology.head[routes]] < 0) & (routes >= 0)
        both = inner[:, :-1] & inner[:, 1:]
        return routes[:, :-1][both], routes[:, 1:][both]

    def _graph(self, routes: Array) -> Any:
        from scipy.sparse import csr_array

        channels = self.hops.topology.channels
        before, behind = self._dependencies(routes)
        before, behind = np.divmod(np.unique(before * channels + behind), channels)
        return csr_array((np.ones(len(before), np.int8), (before, behind)), shape=(channels, channels))


def routes_of(hops: Hops) -> CheckedRoutes:
    """Return all routes of next hops."""
    routes, lost = _routes(hops, np.zeros(hops.topology.channels, np.bool_))
    if len(lost):
        raise RoutingError("packets of some pairs do not arrive before a failure")
    return routes


def routes_left(hops: Hops, failed: Failed) -> tuple[CheckedRoutes, After]:
    """Return the routes that arrive after a failure for which the next hops were made, and the pairs that are lost."""
    gone = failed.gone(hops)
    routes, lost = _routes(hops, gone)
    return routes, After(lost, np.zeros((len(lost), 0), np.int64), np.zeros(len(lost), np.bool_), gone)


def _routes(hops: Hops, gone: Array) -> tuple[CheckedRoutes, Array]:
    """Return routes without channels that are gone, and the pairs whose packets do not arrive."""
    topology, leaves, ends = hops.topology, len(hops.leaf), len(hops.own)
    size = np.bincount(hops.row, minlength=leaves)
    weight = np.repeat(size, ends)
    weight[hops.row * ends + np.arange(ends)] -= 1
    require_memory(200.0 * leaves * ends, f"the routes of {topology.spec}")
    r, d = np.divmod(np.arange(leaves * ends), ends)
    routes, arrives = hops.between(r, d, gone)
    pair, hop = np.nonzero((routes >= 0) & (arrives & (weight > 0))[:, None])
    start, order = grouped(routes[pair, hop], topology.channels)
    return CheckedRoutes(hops, size, weight, routes, start, pair[order]), np.flatnonzero(~arrives & (weight > 0))


def _distinct(values: Array) -> Array:
    """Return sorted values, each once."""
    values = np.sort(values)
    return np.asarray(values[np.append(True, values[1:] != values[:-1])[: len(values)]])


def among(values: Array, known: Array) -> Array:
    """Return which values are among sorted known ones."""
    if not len(known):
        return np.zeros(len(values), np.bool_)
    return np.asarray(known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values)
