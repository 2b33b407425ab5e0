"""Loads that were enumerated, stored by channel: 16 bytes an entry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import floor
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, product_sum, starts, whole
from obliv._util.cost import Work, require_memory
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.loads.calls import Calls
from obliv.loads.kernels.stored import Channels, assign_channels, coarsen, compare
from obliv.loads.search import Solved
from obliv.matching.shipments import Flows, Solution
from obliv.matching.weights import Weights, from_entries
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology

__all__ = ["StoredLoads"]

_CHUNK = 2_000_000  # entries that are solved between two reports of progress


class StoredLoads(PairLoads):
    """Numerators of every channel, sorted by destination, then source.

    The entries of channel c are ``start[c] .. start[c + 1]`` of `destination`, `source` and `numerator`.
    """

    def __init__(
        self,
        topology: Topology,
        denominator: int,
        start: Array,
        destination: Array,
        source: Array,
        numerator: Array,
        samples: int | None = None,
    ) -> None:
        self.topology = topology
        self.denominator = denominator
        self.start = start
        self.destination = destination
        self.source = source
        self.numerator = numerator
        self.samples = samples

    def weights(self, channel: int) -> Weights:
        part = slice(self.start[channel], self.start[channel + 1])
        return from_entries(self.source[part], self.destination[part], self.numerator[part])

    def totals(self) -> Array:
        return self._sums(np.ones(1, np.int64), np.zeros(len(self.numerator), np.int8))

    def _carried(self, traffic: Traffic) -> Array:
        n = self.terminals
        require_memory(8.0 * n * n + 9.0 * len(self.numerator), "the traffic matrix")
        flow = np.zeros(n * n, np.int32)
        flow[traffic.source.astype(np.int64) * n + traffic.destination] = np.arange(1, len(traffic.amount) + 1)
        amounts = np.concatenate([np.zeros(1, traffic.amount.dtype), traffic.amount])
        return self._sums(amounts, flow[self.source.astype(np.int64) * n + self.destination])

    def _sums(self, amounts: Array, which: Array) -> Array:
        """Σ amounts[which] × numerator over the entries of each channel."""
        starts = self.start[:-1]
        largest = (
            int(max(self.numerator, default=0)) if self.numerator.dtype == object else self.numerator.max(initial=0)
        )
        bound = int(max(amounts)) * int(largest) * int(np.diff(self.start).max(initial=0))
        if self.numerator.dtype != object and amounts.dtype != object and bound < INT64_SAFE:
            added = np.concatenate([[0], np.cumsum(amounts[which] * self.numerator)])
            # differences of sums that may wrap are right all the same
            sums: Array = added[self.start[1:]] - added[starts]
            return sums
        return whole(
            [
                product_sum(amounts[which[a:b]], self.numerator[a:b])
                for a, b in zip(starts.tolist(), self.start[1:].tolist(), strict=True)
            ]
        )

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        work = 40.0 * len(self.numerator)
        loads = Channels(self.start, self.destination, self.source, self.numerator)
        return bool(run(compare, work, loads, moved, place))

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        if calls.subject.rates.unit and self._fits:  # in less time than it takes to send the loads to a worker
            return self._in_bulk(channels, calls.subject.prices, progress)
        return super().solve_worst(channels, progress, calls)

    def work(self, channels: Array, symmetries: int = 0) -> Work:
        entries = float(np.diff(self.start)[channels].sum())
        return Work(1e-7 * (entries + symmetries * len(self.numerator)))

    @property
    def _fits(self) -> bool:
        """Whether the matching of a channel stays within 64 bits, however its prices go."""
        if self.numerator.dtype == object:
            return False
        return 4 * int(self.numerator.max(initial=0)) * self.terminals < INT64_SAFE

    def _in_bulk(self, channels: Array, prices: bool, progress: Progress) -> Iterator[list[Solved]]:
        """Solve many channels a call, those with most entries first; the first call takes a few, to have a limit."""
        n, speeds = self.terminals, self.topology.bandwidth
        sizes = np.diff(self.start)
        order = channels[np.argsort(-sizes[channels], kind="stable")]
        ends = np.cumsum(sizes[order])
        loads = Channels(self.start, self.destination, self.source, self.numerator)
        best: Any = -1
        done = 0
        while done < len(order):
            reach = (int(ends[done - 1]) if done else 0) + (_CHUNK if done else 0)
            upto = max(done + 32, int(np.searchsorted(ends, reach, side="right")))
            group = order[done:upto]
            limits = [max(-1, min(floor(best * speeds[c]), INT64_SAFE)) if speeds else best for c in group.tolist()]
            value = np.empty(len(group), np.int64)
            price = np.empty((len(group) if prices else 0, n), np.int64)
            first = starts(np.minimum(sizes[group], n))
            mates = np.empty(int(first[-1]), np.int32)
            work = 30.0 * len(self.numerator)
            run(assign_channels, work, group, np.array(limits, np.int64), loads, n, value, price, mates)
            solved: list[Solved] = []
            for k in np.flatnonzero(value >= 0).tolist():
                channel, load = int(group[k]), int(value[k])
                best = max(best, load / speeds[channel] if speeds else load)
                shipments = partial(self._matching, channel, mates, int(first[k]))
                solved.append((channel, Solution(load, price[k] if prices else None, shipments)))
            yield solved
            done += len(group)
            progress("channels", done / len(order))

    def _matching(self, channel: int, mates: Array, first: int) -> Flows:
        """Return the pairs of a channel's matching: from `first` on, the source of each of its destinations, or -1."""
        destinations = np.unique(self.destination[self.start[channel] : self.start[channel + 1]])
        pairs = zip(mates[first : first + len(destinations)].tolist(), destinations.tolist(), strict=True)
        return sorted((s, d, 1) for s, d in pairs if s >= 0)

    def rounded_prices(self, channels: Array, prices: Array, limits: Array) -> Array:
        rounded = np.ascontiguousarray(prices)
        coarsest = max(0, self.denominator.bit_length() - 3)
        loads = Channels(self.start, self.destination, self.source, self.numerator)
        work = 20.0 * len(self.numerator)
        run(coarsen, work, channels, loads, limits, rounded, self.terminals, coarsest)
        return rounded
