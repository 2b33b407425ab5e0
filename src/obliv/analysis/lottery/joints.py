"""How much more or less often two channels of a laminar network are overloaded together than independent ones."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from obliv._util.typing import Array, FloatArray
from obliv.analysis.lottery.crossings import Crossings
from obliv.analysis.lottery.laws import LEAST, MOST, TINY, Law, binomial, tail_at

__all__ = ["Joints"]

_KEPT = 1e-40  # numbers of flows less probable than this are bounded together


class Joints:
    """Pairs of groups of channels that the same flows may cross.

    Parameters
    ----------
    crossings : Crossings
    flows : int
        Flows of each pair of terminals.

    Attributes
    ----------
    flows : int
    one, two : int arrays, shape (pairs,)
        The groups; `one` ≤ `two`.
    near, far : int arrays, shape (pairs,)
        Pairs of channels of these groups on a common path, and all others.
    """

    def __init__(self, crossings: Crossings, flows: int) -> None:
        self._on, self.flows = crossings, flows
        shared = crossings.shared
        self._shared = np.fromiter(shared.values(), np.int64, len(shared)) * flows
        groups = np.array(list(shared), np.int64).reshape(-1, 2)
        self.one, self.two = groups[:, 0], groups[:, 1]
        sizes = crossings.sizes
        both = np.where(self.one == self.two, sizes[self.one] * (sizes[self.one] - 1) // 2, 0)
        both = np.where(self.one == self.two, both, sizes[self.one] * sizes[self.two])
        first, second = crossings.group[crossings.one], crossings.group[crossings.two]
        met = np.zeros((crossings.groups, crossings.groups), np.int64)
        np.add.at(met, (np.minimum(first, second), np.maximum(first, second)), 1)
        self.near = met[self.one, self.two]
        self.far = both - self.near
        self._laws: dict[tuple[int, int, int, bool], tuple[FloatArray, float]] = {}
        self._tails: dict[tuple[int, int], Array] = {}

    @cached_property
    def place(self) -> dict[tuple[int, int], int]:
        """The place of a pair of groups."""
        return {pair: at for at, pair in enumerate(zip(self.one.tolist(), self.two.tolist(), strict=True))}

    @cached_property
    def share(self) -> FloatArray:
        """The probability that a flow crosses a channel of each group that it may cross."""
        return self.ways / self._on.draws.total

    @cached_property
    def ways(self) -> Array:
        """The ways of a flow through a channel of each group that it may cross."""
        return np.array([int(ways[0]) for ways in self._on.ways], np.int64)

    @cached_property
    def crossing(self) -> Array:
        """Flows that may cross a channel of each group."""
        pairs = self._on.draws.pairs
        return np.array([int(pairs[types].sum()) for types in self._on.types], np.int64) * self.flows

    @cached_property
    def _kinds(self) -> tuple[Array, Array]:
        """Kinds of pairs, each with shared flows, others of either group and ways; and the kind of each pair.

        The group with more ways comes first.
        """
        first = np.where(self.ways[self.one] >= self.ways[self.two], self.one, self.two)
        second = self.one + self.two - first
        rows = [self._shared, self.crossing[first] - self._shared, self.crossing[second] - self._shared]
        table = np.stack([*rows, self.ways[first], self.ways[second]], axis=1)
        kinds, kind = np.unique(table, axis=0, return_inverse=True)
        return kinds, kind.ravel()

    def covariances(self, limit: Array, over: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return bounds on covariances of "is overloaded" for pairs of channels, by pair of groups.

        Parameters
        ----------
        limit : int array, shape (groups,)
            Flows that may cross a channel of each group.
        over : float array, shape (groups, 2)
            Bounds on the probability that more do.

        Returns
        -------
        gain, loss, least : float arrays
            Upper bounds of the covariance on a common path, and of minus the covariance elsewhere; a lower bound of the
            latter.
        """
        kinds, kind = self._kinds
        swap = self.ways[self.one] < self.ways[self.two]
        first, second = np.where(swap, self.two, self.one), np.where(swap, self.one, self.two)
        values, level = np.unique(limit, return_inverse=True)
        level = level.ravel()
        key = (kind * len(values) + level[first]) * len(values) + level[second]
        names, inverse = np.unique(key, return_inverse=True)
        nested, apart = np.zeros((len(names), 2)), np.zeros((len(names), 2))
        some_near, some_far = np.zeros(len(names), bool), np.zeros(len(names), bool)
        some_near[inverse[self.near > 0]] = True
        some_far[inverse[self.far > 0]] = True
        for at, name in enumerate(names.tolist()):
            rest, low = divmod(name, len(values))
            row, high = divmod(rest, len(values))
            what = [*kinds[row].tolist(), int(values[high]), int(values[low])]
            if some_near[at]:
                nested[at] = self._overloaded(*what, nested=True)
            if some_far[at]:
                apart[at] = self._overloaded(*what, nested=False)
        low = over[self.one, 0] * over[self.two, 0] * LEAST
        high = over[self.one, 1] * over[self.two, 1] * MOST
        gain = np.where(self.near > 0, np.maximum(0.0, nested[inverse, 1] - low), 0.0)
        loss = np.where(self.far > 0, np.maximum(0.0, high - apart[inverse, 0]), 0.0)
        least = np.where(self.far > 0, np.maximum(0.0, low - apart[inverse, 1]), 0.0)
        return gain, loss, least

    def _overloaded(
        self, shared: int, own: int, other: int, p: int, q: int, most: int, limit: int, *, nested: bool
    ) -> tuple[float, float]:
        """Return bounds on the probability that more than `most` flows cross one channel and `limit` another one."""
        key = (shared, p, q, nested)
        if key not in self._laws:
            self._laws[key] = _both(shared, self._on.draws.total, p, q, nested)
        law, rest = self._laws[key]
        first = tail_at(self._tail(own, p), most + 1 - np.arange(law.shape[0]))
        second = tail_at(self._tail(other, q), limit + 1 - np.arange(law.shape[1]))
        value = float(first @ law @ second)
        return max(0.0, value * LEAST - TINY), min(1.0, value * MOST + rest + TINY)

    def _tail(self, n: int, ways: int) -> Array:
        if (n, ways) not in self._tails:
            self._tails[n, ways] = Law(binomial(n, ways, self._on.draws.total - ways)).tail
        return self._tails[n, ways]


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
