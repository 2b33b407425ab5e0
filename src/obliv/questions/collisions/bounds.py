"""The law of the largest load at one number of flows per pair: exact, or between certified bounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, FloatArray
from obliv.errors import TooLargeError
from obliv.questions.collisions.draws import Draws, Part, exact_law, parts_of
from obliv.questions.collisions.joints import LEAST, MOST, TINY, Crossings, Joints, Law, crossings, weighted_sum

# Certified bounds on the probability that no channel is loaded more than allowed.
#
# Let p_c be the probability that channel c is overloaded: the law of its load is a convolution of binomial ones. With
# E_c for "channel c is not overloaded":
#
# - P(all E) ≥ 1 - Σ p_c (Boole).
# - The paths of a flow exclude each other, so the indicators "flow f takes path q" are negatively associated, and so
#   are those of all flows together (Joag-Dev and Proschan, 1983, properties P6 and P7, Definition 2.1). Events that are
#   decreasing functions of disjoint sets of them are at most as probable together as if they were independent. So P(all
#   E) ≤ Π P(all E of a plane), where no path crosses channels of two planes; and within a plane, or in a network of one
#   plane, P(all E) ≤ Π (1 - p_c) over channels of which no path crosses two.
# - *Laminar* networks, such as fat trees: of two channels on a common path, the flows that may cross both cross one
#   only if they cross the other one; and of any two channels either all flows that may cross both are like that, or
#   none crosses both. Take the channels in any order and write w_c for the product of 1 - p_b over all b after c. Then
#
#       - Σ w_c Σ N(b, c)  ≤  P(all E) - Π (1 - p_c)  ≤  Σ w_c Σ P(b, c),   sums over b before c,
#
#   with P(b, c) the covariance of "b is overloaded" and "c is overloaded" for channels with a common path, and N(b, c)
#   minus the covariance for others. Proof. With A for "all before c are E", P(all up to c are E) = P(A)(1 - p_c) - [P(A
#   and c overloaded) - p_c P(A)]; unfold this. It remains to bound the bracket, p_c [P(A | c overloaded) - P(A)]. That
#   c is overloaded is an increasing event in the independent indicators "flow f crosses c"; so the conditional law of
#   the flows that cross c dominates the unconditional one (Harris, 1960), and both can be drawn together such that
#   flows only change from paths without c to paths through c (Strassen, 1965). Then a channel b with a path through c
#   only gains flows, and any other one only loses some. So A becomes false with probability at most Σ [P(b overloaded |
#   c overloaded) - p_b] over the former, and becomes true with at most Σ [p_b - P(b overloaded | c overloaded)] over
#   the latter. ∎


class CertifiedBounds:
    """Bounds on the probability that no channel is loaded more than allowed.

    Parameters
    ----------
    crossings : Crossings
    flows : int
        Flows of each pair of terminals.
    """

    def __init__(self, crossings: Crossings, flows: int) -> None:
        self._on, self._flows = crossings, flows
        draws = crossings.draws
        law_of: dict[tuple[tuple[int, int, int, int], ...], Law] = {}
        self.laws: list[Law] = []
        for types, ways in zip(crossings.types, crossings.ways, strict=True):
            counts: dict[tuple[int, int], int] = defaultdict(int)
            keys = zip(draws.weight[types].tolist(), ways.tolist(), strict=True)
            for key, pairs in zip(keys, draws.pairs[types].tolist(), strict=True):
                counts[key] += pairs * flows
            parts = tuple((weight, n, way, draws.total - way) for (weight, way), n in sorted(counts.items()))
            if parts not in law_of:
                law_of[parts] = Law(weighted_sum(parts))
            self.laws.append(law_of[parts])

    def within(self, most: Array) -> tuple[float, float]:
        """Return bounds on the probability that no channel has more than `most` units, by group of channels.

        Shapes: `most` (groups,).
        """
        if not self._on.groups:
            return 1.0, 1.0
        over = np.array([law.above(int(k)) for law, k in zip(self.laws, most, strict=True)]).reshape(-1, 2)
        fits = np.array([law.within(int(k)) for law, k in zip(self.laws, most, strict=True)]).reshape(-1, 2)
        low = 1 - float((over[:, 1] * self._on.sizes).sum()) * MOST
        high = 1.0
        order = np.argsort(-over[:, 1], kind="stable")
        if self._on.laminar:
            limit = most // int(self._on.draws.weight[0])  # flows, which all have the same units
            gain, loss = self._joints.covariances(limit, over)
        for plane in self._planes:
            one = self._antichain(plane.sample, fits[:, 1])
            if self._on.laminar:
                one = min(one, self._with_gains(plane, order, fits, gain))
            high *= min(1.0, one) ** plane.count * MOST
        if self._on.laminar:
            low = max(low, self._with_losses(order, fits, loss))
        return max(0.0, min(low, high)) * LEAST, min(1.0, high * MOST)

    def excess(self, most: Array, unit: list[Fraction]) -> Fraction:
        """Return a bound on the mean of what channels have above `most` units, the load of a unit given by group."""
        total = Fraction(0)
        for law, k, size, one in zip(self.laws, most.tolist(), self._on.sizes.tolist(), unit, strict=True):
            rest = float(law.tail[max(0, k + 1) :].sum()) * MOST + TINY * len(law.tail) + TINY * 1e9
            total += size * one * Fraction(rest)
        return total

    @cached_property
    def _planes(self) -> list[_Plane]:
        on = self._on
        groups = max(on.groups, 1)
        planes = int(on.plane.max(initial=-1)) + 1
        members = np.unique(on.plane * groups + on.group, return_counts=True)
        one, two = on.group[on.one], on.group[on.two]
        key = (on.plane[on.one] * groups + np.minimum(one, two)) * groups + np.maximum(one, two)
        pairs = np.unique(key, return_counts=True)
        first = np.searchsorted(members[0], np.arange(planes + 1) * groups)
        begin = np.searchsorted(pairs[0], np.arange(planes + 1) * groups * groups)
        seen: dict[tuple[bytes, ...], _Plane] = {}
        for plane in range(planes):
            mine, met = slice(first[plane], first[plane + 1]), slice(begin[plane], begin[plane + 1])
            in_group = members[0][mine] - plane * groups
            both = pairs[0][met] - plane * groups * groups
            name: tuple[bytes, ...] = (
                in_group.tobytes(),
                members[1][mine].tobytes(),
                both.tobytes(),
                pairs[1][met].tobytes(),
            )
            if not on.laminar:
                name = (*name, str(plane).encode())
            if name in seen:
                seen[name].count += 1
                continue
            met_of = {divmod(k, groups): n for k, n in zip(both.tolist(), pairs[1][met].tolist(), strict=True)}
            sizes = dict(zip(in_group.tolist(), members[1][mine].tolist(), strict=True))
            seen[name] = _Plane(1, np.flatnonzero(on.plane == plane), sizes, met_of)
        return list(seen.values())

    @cached_property
    def _neighbors(self) -> tuple[Array, Array]:
        on = self._on
        one, two = np.concatenate([on.one, on.two]), np.concatenate([on.two, on.one])
        order = np.argsort(one, kind="stable")
        return np.searchsorted(one[order], np.arange(len(on.channel) + 1)), two[order]

    def _antichain(self, members: Array, fits: FloatArray) -> float:
        """Return a bound for channels of which no path crosses two, those first that are overloaded most often."""
        first, near = self._neighbors
        chance = fits[self._on.group[members]]
        barred = np.zeros(len(self._on.channel), bool)
        product = 1.0
        for at in np.argsort(chance, kind="stable").tolist():
            c = members[at]
            if not barred[c]:
                product *= float(chance[at])
                barred[near[first[c] : first[c + 1]]] = True
                if product < TINY:
                    break
        return product * MOST

    def _with_gains(self, plane: _Plane, order: Array, fits: FloatArray, gain: FloatArray) -> float:
        """Return the upper bound of a laminar plane."""
        sizes = np.zeros(self._on.groups)
        for group, size in plane.sizes.items():
            sizes[group] = size
        after, product = _after(order, fits[:, 1], sizes)
        place = self._joints.place
        gains = 0.0
        for (g, h), count in plane.met.items():
            weight = max(after[g], after[h])  # of the later one
            if weight > 0 and (g, h) in place:
                gains += count * weight * float(gain[place[g, h]])
        return (product + gains) * MOST

    def _with_losses(self, order: Array, fits: FloatArray, loss: FloatArray) -> float:
        """Return the lower bound of a laminar network."""
        _, product = _after(order, fits[:, 0], self._on.sizes)
        after, _ = _after(order, fits[:, 1], self._on.sizes)
        joints = self._joints
        weight = np.maximum(after[joints.one], after[joints.two])  # of the later one
        return product * LEAST - float((joints.far * weight) @ loss) * MOST

    @cached_property
    def _joints(self) -> Joints:
        return Joints(self._on, self._flows)


@dataclass(eq=False)
class _Plane:
    """Planes that are alike: how many; channels of one; how many of each group; pairs on a path, by groups."""

    count: int
    sample: Array
    sizes: dict[int, int]
    met: dict[tuple[int, int], int]


def _after(order: Array, fits: FloatArray, sizes: Array) -> tuple[FloatArray, float]:
    """Return for each group the product over all channels of the groups after it, and that over all channels."""
    power = fits[order] ** sizes[order] * MOST
    suffix = np.cumprod(np.append(1.0, power[::-1]))[::-1]
    after = np.empty(len(order))
    after[order] = suffix[1:]
    return after * MOST, float(np.prod(fits**sizes))


_LOADS = 1 << 20  # different loads


class FixedPart:
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
    place : FixedPart
    flows : int
        Flows of each pair.
    """

    def __init__(self, place: FixedPart, flows: int) -> None:
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
