"""The routes between all leaves and terminals, before and after a failure, and bounds of what they put on channels.

Pair leaf · terminals + terminal stands for all packets from the terminals at a leaf to a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliv._util.arrays import grouped
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.checker.claims import MalformedError
from obliv.checker.failures.hops import NextHops
from obliv.checker.failures.refill import refilled

__all__ = ["After", "Failed", "Routes", "routes_of"]


@dataclass(frozen=True, eq=False)
class Failed:
    """What fails together: the channels of cables, in order, each before its opposite; and nodes."""

    channels: Array
    nodes: Array

    def gone(self, hops: NextHops) -> Array:
        """Return which channels cannot be taken."""
        topology = hops.topology
        gone: Array = np.isin(topology.tail, self.nodes) | np.isin(topology.head, self.nodes)
        gone[self.channels] = True
        return gone


@dataclass(frozen=True, eq=False)
class After:
    """What a failure changes.

    Parameters
    ----------
    moved : int array
        The pairs whose routes it cuts, sorted.
    routes : int array, shape (moved, hops)
        Their channels now, up to what failed where they end there.
    arrives : bool array, shape (moved,)
    gone : bool array, shape (channels,)
    """

    moved: Array
    routes: Array
    arrives: Array
    gone: Array


@dataclass(frozen=True, eq=False)
class Routes:
    """All routes before failures.

    Parameters
    ----------
    hops : NextHops
    size : int array, shape (leaves,)
        Terminals at each leaf.
    weight : int array, shape (pairs,)
        How many terminals send: those at the leaf, without the receiver itself.
    routes : int array, shape (pairs, hops)
        Channels behind the leaf, then -1.
    start, pair : int arrays
        The pairs that cross channel c are ``pair[start[c]:start[c + 1]]``.
    """

    hops: NextHops
    size: Array
    weight: Array
    routes: Array
    start: Array
    pair: Array

    @property
    def terminals(self) -> int:
        """Number of terminals."""
        return len(self.hops.own)

    def crossing(self, channel: int) -> Array:
        """Return the pairs that cross a channel."""
        return self.pair[self.start[channel] : self.start[channel + 1]]

    def after(self, failed: Failed, refill: bool) -> After:
        """Return what a failure changes."""
        hops, gone = self.hops, failed.gone(self.hops)
        cut = [self.crossing(c) for c in np.flatnonzero(gone).tolist()]
        dead = np.flatnonzero(np.isin(hops.leaf, failed.nodes))
        cut += [np.arange(r * self.terminals, (r + 1) * self.terminals) for r in dead.tolist()]
        moved = np.unique(np.concatenate([*cut, np.zeros(0, np.int64)]))
        moved = moved[self.weight[moved] > 0]
        r, d = np.divmod(moved, self.terminals)
        other = refilled(hops, gone, failed.channels) if refill else None
        routes, arrives = hops.routes(hops.leaf[r], d, gone, other)
        return After(moved, routes, arrives, gone)

    def crossing_after(self, channel: int, after: After) -> Array:
        """Return the pairs that arrive over a channel after a failure."""
        if after.gone[channel]:
            return np.zeros(0, np.int64)
        still = self.crossing(channel)
        still = still[~_among(still, after.moved)]
        come = after.moved[after.arrives & (after.routes == channel).any(axis=1)]
        return np.union1d(still, come)

    def lost(self, after: After) -> int:
        """Return the number of ordered pairs of terminals that a failure cuts off."""
        return int(self.weight[after.moved[~after.arrives]].sum())

    def cover(self, pairs: Array, paid: Array | None = None) -> int:
        """Return an upper bound of the packets that admissible traffic can send between pairs.

        A receiver in `paid` counts once, and the leaf of every other pair with all its terminals; without `paid` the
        smaller of both sums over all pairs.
        """
        r, d = np.divmod(pairs, self.terminals)
        if paid is None:
            return int(min(self.size[np.unique(r)].sum(), len(np.unique(d))))
        inside = paid[d]
        return int(self.size[np.unique(r[~inside])].sum()) + len(np.unique(d[inside]))

    def has_credit_loop(self, after: After | None = None) -> bool:
        """Return whether channels between switches, each used right after the one before, form a cycle."""
        from scipy.sparse.csgraph import connected_components

        topology, routes = self.hops.topology, self.routes[self.weight > 0]
        if after is not None:
            if self.layer is not None and self._rise(after.routes, self.layer):
                return False
            routes = np.full((len(self.weight), max(self.routes.shape[1], after.routes.shape[1])), -1, np.int64)
            routes[:, : self.routes.shape[1]] = self.routes
            routes[after.moved] = -1
            routes[after.moved, : after.routes.shape[1]] = after.routes
            routes = routes[self.weight > 0]
        count, _ = connected_components(self._graph(routes), directed=True, connection="strong")
        return bool(count < topology.channels)

    @cached_property
    def layer(self) -> Array | None:
        """A number of every channel that rises along all routes before a failure; None where there is no such one."""
        if self.has_credit_loop():
            return None
        graph = self._graph(self.routes[self.weight > 0]).tocoo()
        layer = np.zeros(self.hops.topology.channels, np.int64)
        while not (layer[graph.row] < layer[graph.col]).all():
            np.maximum.at(layer, graph.col, layer[graph.row] + 1)
        return layer

    def _rise(self, routes: Array, layer: Array) -> bool:
        """Return whether numbers rise along routes between switches."""
        before, behind = self._dependencies(routes)
        return bool((layer[before] < layer[behind]).all())

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


def routes_of(hops: NextHops) -> Routes:
    """Return all routes of next hops.

    Raises
    ------
    MalformedError
        If some do not arrive.
    """
    topology, leaves, ends = hops.topology, len(hops.leaf), len(hops.own)
    size = np.bincount(hops.row, minlength=leaves)
    weight = np.repeat(size, ends)
    weight[hops.row * ends + np.arange(ends)] -= 1
    require_memory(200.0 * leaves * ends, f"the routes of {topology.spec}")
    r, d = np.divmod(np.arange(leaves * ends), ends)
    routes, arrives = hops.routes(hops.leaf[r], d, np.zeros(topology.channels, np.bool_))
    if not arrives[weight > 0].all():
        raise MalformedError("packets of some pairs do not arrive before a failure")
    pair, hop = np.nonzero((routes >= 0) & (weight > 0)[:, None])
    start, order = grouped(routes[pair, hop], topology.channels)
    return Routes(hops, size, weight, routes, start, pair[order])


def _among(values: Array, known: Array) -> Array:
    """Return which values are among sorted known ones."""
    if not len(known):
        return np.zeros(len(values), np.bool_)
    return np.asarray(known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values)
