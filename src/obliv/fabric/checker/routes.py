"""The routes between all leaves and terminals, before and after a failure, and bounds of what they put on channels.

Pair leaf · terminals + terminal stands for all packets from the terminals at a leaf to a terminal; where packets are
not forwarded by their destination alone, every terminal counts as a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliv._util.arrays import Array, grouped
from obliv._util.progress import require_memory
from obliv.checker.claims import MalformedError
from obliv.checker.rerouted import Failed
from obliv.fabric.checker.hops import Hops, refilled

__all__ = ["After", "CheckedRoutes", "among", "routes_left", "routes_of"]

_STEPS = 100  # by which numbers of channels are raised before all routes are searched for a cycle


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
        """Return an upper bound of the packets that admissible traffic can send between pairs.

        A receiver in `paid` counts once, and the leaf of every other pair with all its terminals; without `paid` the
        smaller of both sums over all pairs.
        """
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
        """Return whether numbers that rise along all routes before a failure and new ones too were found.

        Those of channels behind a new route are raised until all fit; where that takes many steps there may be a cycle.
        """
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
        raise MalformedError("packets of some pairs do not arrive before a failure")
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
