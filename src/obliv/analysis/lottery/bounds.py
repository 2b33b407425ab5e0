"""Certified bounds on the probability that no channel is loaded more than allowed.

Let p_c be the probability that channel c is overloaded: the law of its load is a convolution of binomial ones. With E_c
for "channel c is not overloaded":

- P(all E) ≥ 1 - Σ p_c (Boole).
- The paths of a flow exclude each other, so the indicators "flow f takes path q" are negatively associated, and so are
  those of all flows together (Joag-Dev and Proschan, 1983, properties P6 and P7, Definition 2.1). Events that are
  decreasing functions of disjoint sets of them are at most as probable together as if they were independent. So
  P(all E) ≤ Π P(all E of a plane), where no path crosses channels of two planes; and within a plane, or in a network of
  one plane, P(all E) ≤ Π (1 - p_c) over channels of which no path crosses two.
- *Laminar* networks, such as fat trees: of two channels on a common path, the flows that may cross both cross one only
  if they cross the other one; and of any two channels either all flows that may cross both are like that, or none
  crosses both. Take the channels in any order and write w_c for the product of 1 - p_b over all b after c. Then

      - Σ w_c Σ N(b, c)  ≤  P(all E) - Π (1 - p_c)  ≤  Σ w_c Σ P(b, c),   sums over b before c,

  with P(b, c) the covariance of "b is overloaded" and "c is overloaded" for channels with a common path, and N(b, c)
  minus the covariance for others. Proof. With A for "all before c are E", P(all up to c are E) =
  P(A)(1 - p_c) - [P(A and c overloaded) - p_c P(A)]; unfold this. It remains to bound the bracket,
  p_c [P(A | c overloaded) - P(A)]. That c is overloaded is an increasing event in the independent indicators "flow f
  crosses c"; so the conditional law of the flows that cross c dominates the unconditional one (Harris, 1960), and both
  can be drawn together such that flows only change from paths without c to paths through c (Strassen, 1965). Then a
  channel b with a path through c only gains flows, and any other one only loses some. So A becomes false with
  probability at most Σ [P(b overloaded | c overloaded) - p_b] over the former, and becomes true with at most
  Σ [p_b - P(b overloaded | c overloaded)] over the latter.  ∎

  Where this leaves a wide interval, `pivots` gives a sharper one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from obliv._util.typing import Array, FloatArray
from obliv.analysis.lottery.crossings import Crossings
from obliv.analysis.lottery.joints import Joints
from obliv.analysis.lottery.laws import LEAST, MOST, TINY, Law, weighted_sum
from obliv.analysis.lottery.pivots import Pivots

__all__ = ["CertifiedBounds"]

_WIDE = 1e-4  # of an interval that is worth more work


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

        Parameters
        ----------
        most : int array, shape (groups,)
            Units of flows that may cross a channel of each group.
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
            covariances = self._joints.covariances(limit, over)
        for plane in self._planes:
            if self._on.laminar:
                one = self._apart(plane, order, fits[:, 1])
                one = min(one, self._with_gains(plane, order, fits, covariances[0]))
            else:
                one = self._antichain(plane.sample, fits[:, 1])
            high *= min(1.0, one) ** plane.count * MOST
        if self._on.laminar:
            low = max(low, self._with_losses(order, fits, covariances[1]))
            if min(1.0, high) - max(0.0, low) > _WIDE:
                sharper = self._pivots.within(limit, over, fits, covariances)
                low, high = max(low, sharper[0]), min(high, sharper[1])
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

    def _apart(self, plane: _Plane, order: Array, fits: FloatArray) -> float:
        """Return the same bound for whole groups of channels of planes that are alike."""
        chosen: list[int] = []
        product = 1.0
        for g in order.tolist():
            if g in plane.sizes and not any((min(g, h), max(g, h)) in plane.met for h in (*chosen, g)):
                chosen.append(g)
                product *= float(fits[g]) ** plane.sizes[g]
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

    @cached_property
    def _pivots(self) -> Pivots:
        return Pivots(self._on, self._joints)


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
