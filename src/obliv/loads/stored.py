"""Loads that were enumerated, stored by channel: 16 bytes an entry."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import product_sum, whole
from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.kernels import run
from obliv.loads._kernels import compare
from obliv.loads.base import PairLoads
from obliv.matching.weights import Weights, from_entries
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology

__all__ = ["StoredLoads"]


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
        if self.numerator.dtype != object and amounts.dtype != object and bound < 2**62:
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
        weight = self.numerator
        return bool(run(compare, work, self.start, moved, place, self.destination, self.source, weight))
