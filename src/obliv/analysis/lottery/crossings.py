"""Which flows may cross which channels: groups of channels alike, pairs on one path, and planes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from obliv._util.typing import Array
from obliv.analysis.lottery.draws import Draws

__all__ = ["Crossings", "crossings"]


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
