"""Phase programs: what a dimension-ordered routing on a Cartesian network does, as data.

A program draws an intermediate coordinate in every dimension, then runs phases.  A phase takes some dimensions, in an
order drawn uniformly from those it lists, each to its intermediate coordinate or to the destination's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from math import factorial

__all__ = ["ANYWHERE", "QUADRANT", "SPREAD", "TO_DESTINATION", "TO_INTERMEDIATE", "Phase", "Program"]

#: Draw of intermediates: the directions first, then each coordinate uniformly on the minimal way (ends included).
QUADRANT = "quadrant"
#: Draw of intermediates: each coordinate uniformly over its dimension; every segment is minimal on its own.
ANYWHERE = "anywhere"
#: No intermediate, but both ways round a ring.
SPREAD = "spread"

TO_INTERMEDIATE = "I"
TO_DESTINATION = "D"


@dataclass(frozen=True)
class Phase:
    """One phase: where its dimensions go and the orders it may take them in, equally likely.

    `orders` None stands for all orders of all dimensions.
    """

    target: str
    orders: tuple[tuple[int, ...], ...] | None = None

    def each_order(self, dimensions: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield every order with its probability."""
        orders = self.orders
        count = factorial(dimensions) if orders is None else len(orders)
        for order in permutations(range(dimensions)) if orders is None else orders:
            yield Fraction(1, count), order

    def each_turn(self, dimensions: int) -> Iterator[tuple[Fraction, int, frozenset[int]]]:
        """Yield every dimension with the set of those taken before it, and the probability of that."""
        if self.orders is not None:
            for order in self.orders:
                for at, dim in enumerate(order):
                    yield Fraction(1, len(self.orders)), dim, frozenset(order[:at])
            return
        for dim in range(dimensions):
            others = [other for other in range(dimensions) if other != dim]
            for size in range(dimensions):
                chance = Fraction(factorial(size) * factorial(dimensions - 1 - size), factorial(dimensions))
                for before in combinations(others, size):
                    yield chance, dim, frozenset(before)


@dataclass(frozen=True)
class Program:
    """A sequence of phases that is followed with some probability.

    Parameters
    ----------
    probability : Fraction
        Of those pairs that it serves, the share that it serves.
    phases : tuple of Phase
    draw : str
        How intermediate coordinates are drawn.
    when : tuple of (dimension, bool)
        The pairs that it serves: in these dimensions source and destination differ (True) or agree (False).
    spread : tuple of int
        Dimensions that go from source to destination by way of a uniformly random coordinate and leave out what they
        would go twice: round a ring of k upwards over D links with probability (k - D)/k, downwards with D/k.
    """

    probability: Fraction
    phases: tuple[Phase, ...]
    draw: str = QUADRANT
    when: tuple[tuple[int, bool], ...] = ()
    spread: tuple[int, ...] = ()

    def serves(self, start: tuple[int, ...], end: tuple[int, ...]) -> bool:
        """Return whether it serves a pair, given by coordinates."""
        return all((start[dim] != end[dim]) == differ for dim, differ in self.when)

    def draws(self, dimensions: int) -> list[str]:
        """Return how intermediate coordinates are drawn in every dimension; empty where there are none."""
        stopping = {
            dim for phase in self.phases if phase.target == TO_INTERMEDIATE for _, dim, _ in phase.each_turn(dimensions)
        }
        return [self.draw if dim in stopping else SPREAD if dim in self.spread else "" for dim in range(dimensions)]
