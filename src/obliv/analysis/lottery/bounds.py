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
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from obliv._util.typing import Array, FloatArray
from obliv.analysis.lottery.crossings import Crossings
from obliv.analysis.lottery.laws import LEAST, MOST, TINY, Law, binomial, tail_at, weighted_sum

__all__ = ["CertifiedBounds"]

_KEPT = 1e-40  # numbers of flows less probable than this are bounded together


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
        over = np.array([law.above(int(k)) for law, k in zip(self.laws, most, strict=True)]).reshape(-1, 2)
        fits = np.array([law.within(int(k)) for law, k in zip(self.laws, most, strict=True)]).reshape(-1, 2)
        low = 1 - float((over[:, 1] * self._on.sizes).sum()) * MOST
        high = 1.0
        order = np.argsort(-over[:, 1], kind="stable")
        known: _Known = {}
        for plane in self._planes:
            if self._on.laminar:
                one = self._apart(plane, order, fits[:, 1])
                one = min(one, self._with_gains(plane, order, over, fits, most, known))
            else:
                one = self._antichain(plane.sample, fits[:, 1])
            high *= min(1.0, one) ** plane.count * MOST
        if self._on.laminar:
            low = max(low, self._with_losses(order, over, fits, most, known))
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

    def _with_gains(
        self, plane: _Plane, order: Array, over: FloatArray, fits: FloatArray, most: Array, known: _Known
    ) -> float:
        """Return the upper bound of a laminar plane."""
        sizes = np.zeros(self._on.groups)
        for group, size in plane.sizes.items():
            sizes[group] = size
        after, product = _after(order, fits[:, 1], sizes)
        gains = 0.0
        for (g, h), count in plane.met.items():
            weight = max(after[g], after[h])  # of the later one
            if weight > 0 and (min(g, h), max(g, h)) in self._on.shared:
                joint = self._joint(g, h, True, most, known)[1]
                gains += count * weight * max(0.0, joint - over[g, 0] * over[h, 0] * LEAST)
        return (product + gains) * MOST

    def _with_losses(self, order: Array, over: FloatArray, fits: FloatArray, most: Array, known: _Known) -> float:
        """Return the lower bound of a laminar network."""
        sizes = self._on.sizes
        _, product = _after(order, fits[:, 0], sizes)
        after, _ = _after(order, fits[:, 1], sizes)
        losses = 0.0
        for (g, h), _pairs in self._on.shared.items():
            many = sizes[g] * (sizes[g] - 1) // 2 if g == h else sizes[g] * sizes[h]
            count = int(many) - self._met.get((g, h), 0)
            weight = max(after[g], after[h])  # of the later one
            if count and weight > 0:
                joint = self._joint(g, h, False, most, known)[0]
                losses += count * weight * max(0.0, over[g, 1] * over[h, 1] * MOST - joint)
        return product * LEAST - losses * MOST

    @cached_property
    def _met(self) -> dict[tuple[int, int], int]:
        """Pairs of channels on a common path, by their groups."""
        total: dict[tuple[int, int], int] = defaultdict(int)
        for plane in self._planes:
            for pair, count in plane.met.items():
                total[pair] += count * plane.count
        return total

    def _joint(self, g: int, h: int, nested: bool, most: Array, known: _Known) -> tuple[float, float]:
        """Return bounds on the probability that a channel of each of two groups is overloaded."""
        on = self._on
        g, h = (g, h) if on.ways[g][0] >= on.ways[h][0] else (h, g)  # the smaller share last
        shared = on.shared[min(g, h), max(g, h)] * self._flows
        own = self._pairs[g] * self._flows - shared, self._pairs[h] * self._flows - shared
        limit = int(most[g]) // self._weight, int(most[h]) // self._weight
        key = (shared, *own, int(on.ways[g][0]), int(on.ways[h][0]), nested, *limit)
        if key not in known:
            known[key] = self._overloaded(*key)
        return known[key]

    @cached_property
    def _pairs(self) -> list[int]:
        return [int(self._on.draws.pairs[types].sum()) for types in self._on.types]

    @cached_property
    def _weight(self) -> int:
        """The units of a flow of a laminar network."""
        return int(self._on.draws.weight[0])

    def _overloaded(
        self, shared: int, own: int, other: int, p: int, q: int, nested: bool, most: int, limit: int
    ) -> tuple[float, float]:
        key = (shared, p, q, nested)
        if key not in self._shared_laws:
            self._shared_laws[key] = _both(shared, self._on.draws.total, p, q, nested)
        law, rest = self._shared_laws[key]
        first = tail_at(self._tail(own, p), most + 1 - np.arange(law.shape[0]))
        second = tail_at(self._tail(other, q), limit + 1 - np.arange(law.shape[1]))
        value = float(first @ law @ second)
        return max(0.0, value * LEAST - TINY), min(1.0, value * MOST + rest + TINY)

    @cached_property
    def _shared_laws(self) -> dict[tuple[int, int, int, bool], tuple[FloatArray, float]]:
        return {}

    @cached_property
    def _tails(self) -> dict[tuple[int, int], Array]:
        return {}

    def _tail(self, n: int, ways: int) -> Array:
        if (n, ways) not in self._tails:
            self._tails[n, ways] = Law(binomial(n, ways, self._on.draws.total - ways)).tail
        return self._tails[n, ways]


_Known = dict[tuple[int, int, int, int, int, bool, int, int], tuple[float, float]]


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


def _both(n: int, total: int, p: int, q: int, nested: bool) -> tuple[FloatArray, float]:
    """Return the law of how many of n flows cross each of two channels, and a bound on the part that is cut off.

    A flow crosses the first one in p ways of `total` and the other one in q ≤ p: only if it crosses the first one where
    they are nested, only if it does not otherwise.
    """
    first = _short(binomial(n, p, total - p))
    rows = []
    for count in range(len(first)):
        law = binomial(count, q, p - q) if nested else binomial(n - count, q, total - p - q)
        rows.append(_short(law))
    both = np.zeros((len(first), max(len(row) for row in rows)))
    for count, row in enumerate(rows):
        both[count, : len(row)] = row * first[count]
    return both, 2 * _KEPT


def _short(law: FloatArray) -> FloatArray:
    rest = np.cumsum(law[::-1])[::-1]
    return law[rest > _KEPT]
