"""Pair loads laid out for many permutations: the loads of several channels side by side in words of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array

if TYPE_CHECKING:
    from obliv.loads.base import PairLoads

__all__ = ["Lanes", "Words", "from_channels"]


@dataclass(frozen=True)
class Lanes:
    """The layout of several loads in a word of 64 bits: `bits` for each load, and one to spare."""

    bits: int

    @property
    def count(self) -> int:
        """Number of loads in a word."""
        return 63 // (self.bits + 1)

    def words(self, sides: list[list[int]]) -> int:
        """Return how many words the links of an axis take; each side begins a new one, since a pair seldom uses two."""
        return sum(-(-len(side) // self.count) for side in sides)

    def packed(self, table: Array, sides: list[list[int]]) -> Array:
        """Return the links along the last axis side by side, shape (..., words)."""
        result = np.zeros((*table.shape[:-1], self.words(sides)), np.int64)
        first = 0
        for side in sides:
            for at, link in enumerate(side):
                result[..., first + at // self.count] += table[..., link] << (at % self.count * (self.bits + 1))
            first += -(-len(side) // self.count)
        return result


@dataclass(frozen=True, eq=False)
class Words:
    """Loads as sums of words, over the loads' denominator.

    Attributes
    ----------
    base : int64 array
        The part of every word that is the same for all permutations.
    pair, word, value : int64 arrays, shape (entries,)
        The amount that a pair of terminals, source * terminals + destination, adds to a word.
    groups : list of list of int
        Words whose sum holds the loads of the channels that share them.
    """

    base: Array
    pair: Array
    word: Array
    value: Array
    groups: list[list[int]]


def from_channels(loads: PairLoads, lanes: Lanes, factor: list[int]) -> Words:
    """Lay out channels side by side, in the order of their numbers."""
    n, channels = loads.terminals, loads.topology.channels
    words = -(-channels // lanes.count)
    pieces = []
    entries = 0
    for channel in range(channels):
        source, destination, weight = loads.weights(channel).spread()
        entries += len(weight)
        require_memory(60.0 * entries, f"the pair loads of {loads.topology.spec}")
        cell = (source.astype(np.int64) * n + destination) * words + channel // lanes.count
        shift = channel % lanes.count * (lanes.bits + 1)
        pieces.append((cell, (weight * (factor[channel] if factor else 1)).astype(np.int64) << shift))
    cells, value = (np.concatenate(part) for part in zip(*pieces, strict=True))
    base: Array = np.zeros(words, np.int64)
    return Words(base, cells // words, cells % words, value, [[word] for word in range(words)])
