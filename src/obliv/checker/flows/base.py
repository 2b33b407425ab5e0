"""What one source sends over which channels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.rationals import share
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.routings.base import Routing

__all__ = ["STEPS", "CheckTime", "Flow", "Flows", "Pieces", "exact_chance"]

#: Elementary steps of a kernel between checks of the time limit.
STEPS = 2e7

#: Called before each unit of work; it may raise to end the check.
CheckTime = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Flow:
    """What one source sends over which channels, destination after destination (terminal numbers).

    Destination j has entries ``ends[j - 1] .. ends[j]`` of `channel` and `amount`; amounts are over ``whole[j]``.
    """

    ends: Array
    channel: Array
    amount: Array
    whole: Array

    def without(self, destination: int) -> Flow:
        """Return this flow without the part to one destination."""
        first, end = int(self.ends[destination - 1]) if destination else 0, int(self.ends[destination])
        ends = self.ends.copy()
        ends[destination:] -= end - first
        part = slice(first, end)
        return Flow(ends, np.delete(self.channel, part), np.delete(self.amount, part), self.whole)


#: From a terminal's number to its flow.
Flows = Callable[[int], Flow]


class Pieces:
    """The output of a kernel that fills two buffers, destination after destination, until one does not fit.

    Parameters
    ----------
    destinations : int
    size : int
        Entries of the first buffers; they grow where a destination does not fit.
    number : dtype
        Of the amounts.
    """

    def __init__(self, destinations: int, size: int, number: Any) -> None:
        self.ends = np.zeros(destinations, np.int64)
        self.done = 0
        self.size = size
        self._number = number
        self._before = 0
        self._parts: list[tuple[Array, Array]] = []

    def fill(self, kernel: Callable[[Array, Array], int]) -> int:
        """Run a kernel on new buffers and keep what it wrote; return the first destination that is not done."""
        channel, amount = np.empty(self.size, np.int64), np.empty(self.size, self._number)
        upto = kernel(channel, amount)
        if upto == self.done:
            self.size *= 4
        elif upto > self.done:
            size = int(self.ends[upto - 1])
            self._parts.append((channel[:size], amount[:size]))
            self.ends[self.done : upto] += self._before
            self._before += size
            self.done = upto
        return upto

    def flow(self, whole: Array) -> Flow:
        """Return all that was filled."""
        channel, amount = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
        return Flow(self.ends, channel, amount, whole)


def exact_chance(routing: Routing, value: Any) -> Fraction:
    """Return a probability of a routing as an exact number; see :func:`obliv._util.rationals.share` for floats."""
    chance = share(value)
    if chance is None:
        raise RoutingError(f"{routing.spec}: {value!r} is not a probability")
    return chance
