"""The law of the largest load at one number of flows per pair: exact, or between certified bounds."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.typing import Array
from obliv.analysis.lottery.bounds import CertifiedBounds
from obliv.analysis.lottery.crossings import Crossings, crossings
from obliv.analysis.lottery.draws import Draws
from obliv.analysis.lottery.exact import Part, exact_law, parts_of
from obliv.errors import TooLargeError

__all__ = ["Largest", "Place"]

_LOADS = 1 << 20  # different loads


class Place:
    """What does not depend on the number of flows: draws, crossings, and the loads that compare channels.

    Parameters
    ----------
    draws : Draws
    kept : bool array, optional
        The channels that count.
    """

    def __init__(self, draws: Draws, kept: Array | None) -> None:
        self.draws = draws
        topology = draws.topology
        bandwidths = topology.bandwidth or (Fraction(1),) * topology.channels
        self.common = lcm(*{b.numerator for b in bandwidths}) if bandwidths else 1
        self.scale = np.array([b.denominator * (self.common // b.numerator) for b in bandwidths], np.int64)
        self.even = max((e for c, e in enumerate(draws.even) if kept is None or kept[c]), default=Fraction(0))

    @cached_property
    def crossings(self) -> Crossings:
        return crossings(self.draws)

    @cached_property
    def parts(self) -> list[Part]:
        """The independent parts of the network."""
        return list(parts_of(self.draws))

    @cached_property
    def random(self) -> Array:
        """The channels that some flows may cross or not."""
        return np.unique(self.draws.path[self.draws.path >= 0])


class Largest:
    """The law of the largest load.

    Loads are counted in steps, of which a unit makes ``scale`` on a channel: see `step`.

    Parameters
    ----------
    place : Place
    flows : int
        Flows of each pair.
    """

    def __init__(self, place: Place, flows: int) -> None:
        self._place, self._flows = place, flows
        draws = place.draws
        self.step = draws.unit / (flows * place.common)
        self._sure = draws.base * flows
        self.least = int((self._sure * place.scale).max(initial=0))
        self.exact = exact_law(place.parts, draws.total, flows)
        self._known: dict[int, tuple[Fraction, Fraction]] = {}

    @cached_property
    def bounds(self) -> CertifiedBounds:
        return CertifiedBounds(self._place.crossings, self._flows)

    def steps_of(self, load: Fraction) -> int:
        """Return a load in whole steps, rounded down; at most what 64 bits hold, which is more than all flows make."""
        return min(int(load / self.step // 1), INT64_SAFE)

    def within(self, steps: int) -> tuple[Fraction, Fraction]:
        """Return bounds on the probability that the largest load is at most some steps; equal where it is exact."""
        if steps not in self._known:
            self._known[steps] = self._within(steps)
        return self._known[steps]

    def _within(self, steps: int) -> tuple[Fraction, Fraction]:
        if steps < self.least:
            return Fraction(0), Fraction(0)
        place = self._place
        if self.exact is not None:
            most = steps // place.scale[place.random] - self._sure[place.random]
            chance = self.exact.within(dict(zip(place.random.tolist(), most.tolist(), strict=True)))
            return chance, chance
        low, high = self.bounds.within(self._most(steps))
        return Fraction(low), Fraction(high)

    def _most(self, steps: int) -> Array:
        """Return the units that flows may put on a channel of each group within some steps."""
        sample = self._place.crossings.sample
        return np.asarray(steps // self._place.scale[sample] - self._sure[sample])

    def beyond(self, steps: int) -> Fraction:
        """Return a bound on the mean of what the largest load has above some steps, as a load."""
        if self.exact is not None:
            return (self.loads[-1] - steps) * self.step * (1 - self.within(steps)[1])
        sample = self._place.crossings.sample
        return self.bounds.excess(self._most(steps), [self.step * int(s) for s in self._place.scale[sample]])

    @cached_property
    def loads(self) -> list[int]:
        """All loads that the largest one may have, in steps; without those that are practically impossible."""
        place, draws = self._place, self._place.draws
        found: set[int] = {self.least}
        for channel, most in self._ranges():
            base, scale = int(self._sure[channel]), int(place.scale[channel])
            if most > _LOADS:
                raise TooLargeError(f"the largest load has more than {_LOADS:,} values: round the rates of the traffic")
            unit = int(np.gcd.reduce(draws.weight)) if len(draws.weight) else 1
            first = max(0, -(-(self.least // scale - base) // unit) * unit)
            found.update(range((base + first) * scale, (base + most) * scale + 1, unit * scale))
        return sorted(value for value in found if value >= self.least)

    def _ranges(self) -> Iterable[tuple[int, int]]:
        """Yield channels, and the most units that flows may put on them."""
        draws = self._place.draws
        if self.exact is None:
            for channel, law in zip(self._place.crossings.sample.tolist(), self.bounds.laws, strict=True):
                yield channel, len(law.head) - 1
            return
        most = np.zeros(draws.topology.channels, np.int64)
        for kind in range(len(draws.pairs)):
            crossed = np.unique(draws.path[draws.first[kind] : draws.first[kind + 1]])
            most[crossed[crossed >= 0]] += draws.pairs[kind] * draws.weight[kind] * self._flows
        seen = {(int(self._sure[c]), int(self._place.scale[c]), int(most[c])): c for c in self._place.random.tolist()}
        yield from ((channel, units) for (_, _, units), channel in seen.items())
