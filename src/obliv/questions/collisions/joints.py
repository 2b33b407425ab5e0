"""Which flows may cross which channels, how often two are overloaded together, and binomial laws with proven errors."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from obliv._util.arrays import Array, FloatArray
from obliv.errors import TooLargeError
from obliv.questions.collisions.draws import Draws


@dataclass(frozen=True, eq=False)
class Crossings:
    """Channels that flows may cross or not; those that the same flows cross at the same time are left out but one.

    Parameters
    ----------
    draws : Draws
    channel : int array, shape (m,)
        The channels.
    group : int array, shape (m,)
        Channels of a group may be crossed by the same flows with the same probabilities, and have the same bandwidth
        and the same rates that always cross them.
    types, ways : tuple of int arrays
        The types that may cross a channel of each group, and their probabilities, times ``draws.total``.
    one, two : int arrays
        Pairs of places in `channel`: those on a common path.
    laminar : bool
        Whether of two channels on a common path one is only crossed by flows that cross the other one too, where these
        may cross both, and whether of each pair all flows that may cross both do so together, or none. Then all flows
        have equal rates, and a channel one probability.
    plane : int array, shape (m,)
        The plane of each channel; no path crosses channels of two planes.
    """

    draws: Draws
    channel: Array
    group: Array
    types: tuple[Array, ...]
    ways: tuple[Array, ...]
    one: Array
    two: Array
    laminar: bool
    plane: Array

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.types)

    @cached_property
    def sizes(self) -> Array:
        """Channels of each group."""
        return np.bincount(self.group, minlength=self.groups)

    @cached_property
    def sample(self) -> Array:
        """A channel of each group."""
        return self.channel[np.unique(self.group, return_index=True)[1]]

    @cached_property
    def shared(self) -> dict[tuple[int, int], int]:
        """The pairs of terminals whose flows may cross channels of two groups, where there are some; first ≤ second."""
        flows = np.zeros((self.groups, len(self.draws.pairs)), np.float64)
        for g, types in enumerate(self.types):
            flows[g, types] = 1
        common = (flows * self.draws.pairs) @ flows.T
        one, two = np.nonzero(np.triu(common))
        return {(g, h): int(common[g, h]) for g, h in zip(one.tolist(), two.tolist(), strict=True)}


def crossings(draws: Draws) -> Crossings:
    """Return which flows may cross which channels."""
    channels = draws.topology.channels
    kind = draws.type_of_path
    rows, columns = np.nonzero(draws.path >= 0)
    key = kind[rows] * channels + draws.path[rows, columns]
    found, inverse = np.unique(key, return_inverse=True)
    ways = np.zeros(len(found), np.int64)
    np.add.at(ways, inverse, draws.ways[rows])
    types, crossed = np.divmod(found, channels)
    order = np.lexsort((types, crossed))
    types, crossed, ways = types[order], crossed[order], ways[order]
    channel, first = np.unique(crossed, return_index=True)
    bounds = np.append(first, len(crossed))
    number: dict[tuple[bytes, bytes, int, Fraction], int] = {}
    group = np.empty(len(channel), np.int64)
    some: list[tuple[Array, Array]] = []
    for at, c in enumerate(channel.tolist()):
        mine = slice(bounds[at], bounds[at + 1])
        name = (types[mine].tobytes(), ways[mine].tobytes(), int(draws.base[c]), draws.topology.bandwidth_of(c))
        group[at] = number.setdefault(name, len(some))
        if group[at] == len(some):
            some.append((types[mine], ways[mine]))
    place = np.full(channels, -1, np.int64)
    place[channel] = np.arange(len(channel))
    met = _Met.of(draws, kind, place)
    twin = _twins(met, group, some)
    kept = np.flatnonzero(~twin)
    place = np.full(len(channel), -1, np.int64)
    place[kept] = np.arange(len(kept))
    met = met.among(place)
    uniform = len(set(draws.weight.tolist())) <= 1 and all(len(set(w.tolist())) == 1 for _, w in some)
    laminar = uniform and met.nested([some[g] for g in group[kept].tolist()])
    one, two = met.pairs(len(kept))
    return Crossings(
        draws,
        channel[kept],
        group[kept],
        tuple(t for t, _ in some),
        tuple(w for _, w in some),
        one,
        two,
        laminar,
        _components(len(kept), one, two),
    )


@dataclass(frozen=True, eq=False)
class _Met:
    """For types and pairs of channels on a path of theirs: how many ways cross both."""

    kind: Array
    one: Array
    two: Array
    ways: Array

    @classmethod
    def of(cls, draws: Draws, kind: Array, place: Array) -> _Met:
        m = int(place.max(initial=-1)) + 1
        width = draws.path.shape[1]
        key = np.empty(0, np.int64)
        ways = np.empty(0, np.int64)
        for i in range(width):
            for j in range(i + 1, width):
                both = np.flatnonzero((draws.path[:, i] >= 0) & (draws.path[:, j] >= 0))
                a, b = place[draws.path[both, i]], place[draws.path[both, j]]
                own = (kind[both] * m + np.minimum(a, b)) * m + np.maximum(a, b)
                all_of, inverse = np.unique(np.concatenate([key, own]), return_inverse=True)
                sums = np.zeros(len(all_of), np.int64)
                np.add.at(sums, inverse, np.concatenate([ways, draws.ways[both]]))
                key, ways = all_of, sums
        rest, two = np.divmod(key, max(m, 1))
        kinds, one = np.divmod(rest, max(m, 1))
        return cls(kinds, one, two, ways)

    def among(self, place: Array) -> _Met:
        """Return what concerns the channels that have a place, by it."""
        one, two = place[self.one], place[self.two]
        both = (one >= 0) & (two >= 0)
        return _Met(self.kind[both], one[both], two[both], self.ways[both])

    def pairs(self, m: int) -> tuple[Array, Array]:
        one, two = np.divmod(np.unique(self.one * max(m, 1) + self.two), max(m, 1))
        return one, two

    def nested(self, crossing: list[tuple[Array, Array]]) -> bool:
        """Return whether of two channels on a path one is always crossed with the other one, by all flows or none."""
        share = np.array([int(ways[0]) for _, ways in crossing] or [0])
        if not np.array_equal(self.ways, np.minimum(share[self.one], share[self.two])):
            return False
        m = max(len(crossing), 1)
        pairs, count = np.unique(self.one * m + self.two, return_counts=True)
        known: dict[tuple[int, int], int] = {}
        for pair, met in zip(pairs.tolist(), count.tolist(), strict=True):
            one, two = crossing[pair // m][0], crossing[pair % m][0]
            names = id(one), id(two)
            if names not in known:
                known[names] = len(np.intersect1d(one, two, assume_unique=True))
            if known[names] != met:
                return False
        return True


def _twins(met: _Met, group: Array, some: list[tuple[Array, Array]]) -> Array:
    """Return which channels are crossed whenever another one of their group is, which comes before them."""
    twin = np.zeros(len(group), bool)
    same = np.flatnonzero(group[met.one] == group[met.two])
    if not len(same):
        return twin
    m = len(group)
    key, inverse = np.unique(met.one[same] * m + met.two[same], return_inverse=True)
    ways, count = np.zeros(len(key), np.int64), np.bincount(inverse)
    np.add.at(ways, inverse, met.ways[same])
    for at, pair in enumerate(key.tolist()):
        types, own = some[group[pair // m]]
        if count[at] == len(types) and ways[at] == own.sum():
            twin[pair % m] = True
    return twin


def _components(m: int, one: Array, two: Array) -> Array:
    """Return the component of each of m items under pairs."""
    label = np.arange(m)
    while True:
        least = label.copy()
        np.minimum.at(least, one, label[two])
        np.minimum.at(least, two, label[one])
        least = least[least]
        if np.array_equal(least, label):
            return np.unique(label, return_inverse=True)[1] if m else label
        label = least


# Binomial laws in floating point, with a proven bound on their rounding errors.
#
# All sums here have terms that are not negative, and all terms are products: nothing cancels. So every rounding changes
# a result by a factor within 1 ± 2^-53, and a result of n roundings is within 1 ± 1.01 n 2^-53 of the exact number.
# `LEAST` and `MOST` are 1 ± 10^-9, enough for eight million roundings; a law takes at most six for each of up to 2^20
# numbers. What is cut off or underflows is less than `TINY` of the probability.


LEAST = 1 - 1e-9
MOST = 1 + 1e-9
TINY = 1e-50
_CUT = 1e-60
_ROUND = 2.0**-50  # more than the error of a difference and a product
_LONGEST = 1 << 20


@lru_cache(maxsize=8192)
def binomial(n: int, ways: int, rest: int) -> FloatArray:
    """Return the probabilities of 0, 1, ... successes in n trials with odds ways : rest, up to a negligible rest.

    Examples
    --------
    >>> [round(p, 4) for p in binomial(3, 1, 1).tolist()]
    [0.125, 0.375, 0.375, 0.125]
    """
    if n >= _LONGEST:
        raise TooLargeError(f"{n:,} flows may cross one channel; at most {_LONGEST - 1:,} can be analyzed")
    if n == 0 or ways == 0:
        return np.ones(1)
    if rest == 0:
        return np.concatenate([np.zeros(n), np.ones(1)])
    mode = min(n, (n + 1) * ways // (ways + rest))
    k = np.arange(n)
    ratio = (n - k) / (k + 1) * (ways / rest)
    chance = np.concatenate([np.cumprod(1 / ratio[:mode][::-1])[::-1], [1.0], np.cumprod(ratio[mode:])])
    chance /= chance.sum()
    chance = chance[np.cumsum(chance[::-1])[::-1] > _CUT]
    chance.setflags(write=False)
    return chance


def weighted_sum(parts: tuple[tuple[int, int, int, int], ...]) -> FloatArray:
    """Return the law of Σ weight · Binomial(n) over parts (weight, n, ways, rest), odds ways : rest."""
    law = np.ones(1)
    for weight, n, ways, rest in parts:
        one = binomial(n, ways, rest)
        if (len(one) - 1) * weight + len(law) > _LONGEST:
            raise TooLargeError(f"a channel has more than {_LONGEST:,} possible loads: round the rates of the traffic")
        if weight > 1:
            spread = np.zeros((len(one) - 1) * weight + 1)
            spread[::weight] = one
            one = spread
        law = np.convolve(law, one)
        law = law[np.cumsum(law[::-1])[::-1] > _CUT]
    return law


class Law:
    """The law of a number, with bounds on its probabilities.

    Parameters
    ----------
    chance : float array
        The probabilities of 0, 1, ...

    Examples
    --------
    >>> law = Law(binomial(3, 1, 1))
    >>> low, high = law.above(1)
    >>> low < 0.5 < high, law.above(3)[1] < 1e-40
    (True, True)
    """

    def __init__(self, chance: FloatArray) -> None:
        self.tail = np.append(np.cumsum(chance[::-1])[::-1], 0.0)  # of k: at least k
        self.head = np.cumsum(chance)  # of k: at most k

    def above(self, most: int) -> tuple[float, float]:
        """Return bounds on the probability of more than a number."""
        if most < 0:
            return 1.0, 1.0
        p = float(self.tail[min(most + 1, len(self.tail) - 1)])
        return max(0.0, p * LEAST - TINY), min(1.0, p * MOST + TINY)

    def within(self, most: int) -> tuple[float, float]:
        """Return bounds on the probability of at most a number."""
        if most < 0:
            return 0.0, 0.0
        low, high = self.above(most)
        p = float(self.head[min(most, len(self.head) - 1)])
        return max((1 - high) * (1 - _ROUND), p * LEAST - TINY), min((1 - low) * (1 + _ROUND), p * MOST + TINY)


def tail_at(tail: Array, k: Array) -> FloatArray:
    """Return the tails at numbers of any size, 1 below zero."""
    return np.where(k <= 0, 1.0, tail[np.clip(k, 0, len(tail) - 1)])


# How much more or less often two channels of a laminar network are overloaded together than independent ones


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

    def covariances(self, limit: Array, over: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds on covariances of "is overloaded" for pairs of channels, by pair of groups.

        Shapes: `limit` (groups,), `over` (groups, 2).
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
        return gain, loss

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
