"""Pair loads without what terminals send to themselves."""

from __future__ import annotations

from obliv.loads.base import PairLoads
from obliv.loads.tree import TreeLoads
from obliv.matching.weights import Weights, from_entries

__all__ = ["LoadsWithoutSelf", "without_self"]


class LoadsWithoutSelf(PairLoads):
    """The loads of other ones, between different terminals only."""

    def __init__(self, whole: PairLoads) -> None:
        self.topology = whole.topology
        self.denominator = whole.denominator
        self.samples = whole.samples
        self._whole = whole

    def weights(self, channel: int) -> Weights:
        row, col, weight = self._whole.weights(channel).spread()
        kept = row != col
        return from_entries(row[kept], col[kept], weight[kept])


def without_self(loads: PairLoads) -> PairLoads:
    """The same loads where no terminal loads anything by sending to itself, else with that left out."""
    if isinstance(loads, TreeLoads | LoadsWithoutSelf) or not _sends_to_itself(loads):
        return loads
    return LoadsWithoutSelf(loads)


def _sends_to_itself(loads: PairLoads) -> bool:
    for channel in range(loads.topology.channels):
        row, col, _ = loads.weights(channel).spread()
        if (row == col).any():
            return True
    return False
