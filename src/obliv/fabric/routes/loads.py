"""Pair loads of forwarding tables: for every channel the classes of sources and the destinations that use it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.progress import require_memory
from obliv.fabric.kernels.automaton import bound_channels, carry, spread_routes, sum_channels
from obliv.fabric.routes.trace import Routes
from obliv.fabric.topology import FabricTopology
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.matching.solve import Weights
from obliv.patterns.base import Traffic

__all__ = ["FabricLoads"]


class FabricLoads(PairLoads):
    """Loads of the routes that forwarding tables give; routes that do not arrive carry nothing anywhere.

    Between switches a channel's entries are stored, one for each class of sources and destination; those of an
    endpoint's own cable follow from who reaches whom.
    """

    topology: FabricTopology

    def __init__(self, routes: Routes) -> None:
        self.topology = routes.topology
        self.routes = routes
        self.denominator = routes.denominator

    @cached_property
    def entries(self) -> tuple[Array, Array, Array]:
        """Where the entries of each channel between switches begin, the entries, and how often each crosses it.

        An entry is class · endpoints + destination; where every pair has one route the last array is empty.
        """
        routes, channels = self.routes, self.topology.channels
        last, cursor = np.full(channels, -1, np.int64), np.zeros(channels, np.int64)
        many, nothing = self.denominator > 1, np.zeros(0, np.uint8)
        kind = np.dtype(np.int32) if routes.classes * self.terminals < 2**31 else np.dtype(np.int64)
        work = 30.0 * routes.classes * self.terminals * self.denominator
        run(spread_routes, work, routes.arrays, False, last, cursor, np.zeros(0, kind), nothing)
        start = starts(cursor)
        require_memory((kind.itemsize + many) * float(start[-1]), f"the pair loads of {self.topology.spec}")
        pair, times = np.empty(start[-1], kind), np.empty(start[-1] if many else 0, np.uint8)
        last[:] = -1
        run(spread_routes, work, routes.arrays, True, last, start[:-1].copy(), pair, times)
        return start, pair, times

    def weights(self, channel: int) -> Weights:
        topology = self.topology
        tail, head = int(topology.tail[channel]), int(topology.head[channel])
        if tail < topology.hosts:
            return self._star(tail, by_row=True)
        if head < topology.hosts:
            return self._star(head, by_row=False)
        return self._between_switches(channel)

    def _between_switches(self, channel: int) -> Weights:
        """Return the numerators on a channel between switches."""
        n = self.terminals
        start, pair, times = self.entries
        part = slice(int(start[channel]), int(start[channel + 1]))
        r, d = np.divmod(pair[part], n)
        rows, counts = np.unique(r, return_counts=True)
        columns, col = np.unique(d, return_inverse=True)
        ptr, ids = self.routes.members
        size = np.diff(ptr)[rows]
        begin = np.cumsum(size) - size
        inside = np.arange(int(size.sum())) - np.repeat(begin, size)
        return Weights(
            ptr=starts(counts),
            col=col.astype(np.int32),
            weight=times[part].astype(np.int64) if len(times) else np.ones(len(col), np.int64),
            row_members=(np.concatenate([begin, [int(size.sum())]]), ids[np.repeat(ptr[rows], size) + inside]),
            column_members=(np.arange(len(columns) + 1), columns.astype(np.int64)),
        )

    def _star(self, host: int, by_row: bool) -> Weights:
        """Return the weights of a host's own cable: empty where it is not a terminal."""
        end = int(self.topology.number_of[host])
        if end < 0:
            return _star_weights(np.zeros(0, np.int64), np.zeros(0, np.int64), by_row)
        return _star_weights(np.array([end]), self._sent(end) if by_row else self._taken(end), by_row)

    def _sent(self, source: int) -> Array:
        """Return how many of a source's routes to every destination arrive."""
        delivered = self.routes.delivered
        return self._arriving(source, None if delivered is None else delivered[self.routes.class_of[source]])

    def _taken(self, destination: int) -> Array:
        """Return how many routes of every source to a destination arrive."""
        delivered = self.routes.delivered
        return self._arriving(destination, None if delivered is None else delivered[self.routes.class_of, destination])

    def _arriving(self, end: int, delivered: Array | None) -> Array:
        """Return the number of routes that arrive (`delivered` None: all), without those from an end to itself."""
        count = np.full(self.terminals, self.denominator, np.int64)
        if delivered is not None:
            count[:] = delivered * np.int64(self.denominator // self.routes.denominator)
        count[end] = 0
        return count

    def bounds(self, supply: Array, demand: Array) -> Array | None:
        """Return the simple bound of every channel, min(Σ row maxima, Σ column maxima), for terminals with rates.

        Shapes: `supply` and `demand` (terminals,); returned (channels,).
        """
        largest = max(int(supply.astype(object).sum()), int(demand.astype(object).sum())) * self.denominator
        if supply.dtype == object or demand.dtype == object or largest >= INT64_SAFE:
            return None
        bound = self._bounds_between_switches(supply, demand)
        out, back = self._own_channels
        if self.routes.delivered is None:
            bound[out] = np.minimum(supply, demand.sum() - demand) * self.denominator
            bound[back] = np.minimum(demand, supply.sum() - supply) * self.denominator
        else:
            for end, (c, e) in enumerate(zip(out.tolist(), back.tolist(), strict=True)):
                sent, taken = self._sent(end), self._taken(end)
                bound[e] = min(int(taken.max()) * int(demand[end]), int(taken @ supply))
                bound[c] = min(int(sent.max()) * int(supply[end]), int(sent @ demand))
        return bound

    def _bounds_between_switches(self, supply: Array, demand: Array) -> Array:
        """Return the simple bounds of channels between switches, 0 for other channels."""
        start, pair, times = self.entries
        bound = np.zeros(self.topology.channels, np.int64)
        run(bound_channels, 5.0 * len(pair), start, pair, times, self.terminals, self._of_class(supply), demand, bound)
        return bound

    def _of_class(self, supply: Array) -> Array:
        """Return the supply of all sources of each class."""
        ptr, ids = self.routes.members
        return np.add.reduceat(supply[ids], ptr[:-1])

    @cached_property
    def _own_channels(self) -> tuple[Array, Array]:
        """The channels from and to every terminal."""
        topology = self.topology
        ends = topology.ends
        return topology.channel_of[ends], topology.channel_of[topology.fabric.ports.peer[ends]]

    def totals(self) -> Array:
        return self.uniform(np.ones(self.terminals, np.int64))

    def uniform(self, supply: Array) -> Array:
        """Return Σ supply of the source × numerator over all pairs, for every channel.

        Shapes: `supply` (terminals,); returned (channels,).
        """
        total = self._sums_between_switches(supply)
        out, back = self._own_channels
        if self.routes.delivered is None:
            total[out] = supply * (self.terminals - 1) * self.denominator
            total[back] = (supply.sum() - supply) * self.denominator
        else:
            for end, (c, e) in enumerate(zip(out.tolist(), back.tolist(), strict=True)):
                total[e] = (self._taken(end) * supply).sum()
                total[c] = self._sent(end).sum() * supply[end]
        return total

    def _sums_between_switches(self, supply: Array) -> Array:
        """Return Σ supply of the source × numerator on channels between switches, 0 for other channels."""
        total = np.zeros(self.topology.channels, np.int64)
        work = 20.0 * self.routes.classes * self.terminals * self.denominator
        run(sum_channels, work, self.routes.arrays, self._of_class(supply), total)
        return total

    def _carried(self, traffic: Traffic) -> Array:
        amount = traffic.amount
        if amount.dtype != object and int(amount.astype(object).sum()) * self.denominator >= INT64_SAFE:
            amount = amount.astype(object)
        total: Array = np.zeros(self.topology.channels, amount.dtype)
        flows = traffic.source.astype(np.int64), traffic.destination.astype(np.int64), amount
        run(carry, 30.0 * len(amount) * self.denominator, *flows, self.routes.arrays, total)
        return total


def _star_weights(end: Array, routes: Array, by_row: bool) -> Weights:
    """Return weights between one terminal and all others, grouped by their number of routes."""
    counts = np.unique(routes[routes > 0])
    groups = [np.flatnonzero(routes == count) for count in counts.tolist()]
    others = starts([len(group) for group in groups])
    ids = np.concatenate(groups) if groups else np.zeros(0, np.int64)
    size = len(groups)
    alone = np.arange(min(1, size) + 1), end[: min(1, size)].astype(np.int64)
    return Weights(
        ptr=np.arange(size + 1) if not by_row else np.unique(np.array([0, size])),
        col=np.arange(size, dtype=np.int32) if by_row else np.zeros(size, np.int32),
        weight=counts.astype(np.int64),
        row_members=alone if by_row else (others, ids),
        column_members=(others, ids) if by_row else alone,
    )
