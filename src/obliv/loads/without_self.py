"""Pair loads without what terminals send to themselves."""

from __future__ import annotations

from obliv.loads.base import PairLoads
from obliv.matching.weights import Weights, from_entries

__all__ = ["LoadsWithoutSelf"]


class LoadsWithoutSelf(PairLoads):
    """Pair loads between different terminals only, from those of all pairs."""

    def __init__(self, loads: PairLoads) -> None:
        self.topology = loads.topology
        self.denominator = loads.denominator
        self.samples = loads.samples
        self.partial = loads.partial
        self._loads = loads

    def weights(self, channel: int) -> Weights:
        row, col, weight = self._loads.weights(channel).spread()
        apart = row != col
        return from_entries(row[apart], col[apart], weight[apart])

    def without_self(self) -> PairLoads:
        return self
