"""Pair loads without what terminals send to themselves."""

from __future__ import annotations

from obliv.loads.base import PairLoads
from obliv.matching.weights import Weights, from_entries

__all__ = ["LoadsWithoutSelf"]


class LoadsWithoutSelf(PairLoads):
    """The loads of other ones, between different terminals only."""

    def __init__(self, every: PairLoads) -> None:
        self.topology = every.topology
        self.denominator = every.denominator
        self.samples = every.samples
        self.partial = every.partial
        self._every = every

    def weights(self, channel: int) -> Weights:
        row, col, weight = self._every.weights(channel).spread()
        kept = row != col
        return from_entries(row[kept], col[kept], weight[kept])

    def without_self(self) -> PairLoads:
        return self
