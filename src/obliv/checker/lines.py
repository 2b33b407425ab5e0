"""What the lower bounds of designs share: the inequality that they prove, and symmetries as maps of terminals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.checker.claims import MalformedError
from obliv.topologies.base import Topology

__all__ = ["Line", "is_index", "terminal_maps"]


@dataclass(frozen=True)
class Line:
    """What lengths or flows prove: ``distance ≤ price · pairs · hops + spent · objective`` for every routing."""

    price: int
    distance: int
    spent: Fraction
    pairs: int

    def least_objective(self, hops: Fraction) -> Fraction:
        """Return the bound of the worst case or the ratio with at most so many mean hops."""
        return (self.distance - self.price * self.pairs * hops) / self.spent if self.spent else Fraction(0)

    def least_hops(self, objective: Fraction) -> Fraction:
        """Return the bound of the mean hops with at most such a worst case or ratio."""
        return (self.distance - self.spent * objective) / (self.price * self.pairs) if self.price else Fraction(0)


def terminal_maps(generators: Array, topology: Topology) -> list[Array]:
    """Return where permutations of the nodes, one in each row, take the terminals; by their indexes."""
    if len(generators) and generators.shape[1] != topology.nodes:
        raise MalformedError("a generator is not a permutation of the nodes")
    maps = []
    for generator in generators:
        if not np.array_equal(np.sort(generator), np.arange(topology.nodes)):
            raise MalformedError("a generator is not a permutation of the nodes")
        maps.append(topology.number_of[generator[topology.terminals]])
        if (maps[-1] < 0).any():
            raise MalformedError("a generator does not keep the terminals")
    return maps


def is_index(value: Any, count: int) -> bool:
    """Return whether a part of a claim is a whole number from 0 to less than a count."""
    return type(value) is int and 0 <= value < count
