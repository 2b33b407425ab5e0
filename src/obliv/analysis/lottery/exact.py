"""The exact law of the largest load, where parts of the network are independent and each one is small or of one type.

Flows of two types are in one part if both may cross one channel; the parts are independent. A part is counted

- by *convolution*, if all its flows draw from the same paths, and no channel is on two of them, as at the uplinks of a
  leaf: the ways to put n flows on paths 1 .. j such that no path has more than it may are, over the flows on path j,
  sums of those for paths 1 .. j - 1;
- by *enumeration* of the flows on every path otherwise, type by type, equal loads merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod

import numpy as np

from obliv.analysis.lottery.draws import Draws

__all__ = ["ExactLaw", "Part", "exact_law", "parts_of"]

_STATES = 1 << 15  # different loads of a part
_STEPS = 1 << 18  # sums to enumerate a part
_PRODUCTS = 1 << 20  # products to convolve a part


@dataclass(frozen=True)
class Part:
    """Types of one part: pairs, rate, and the paths of each with their ways."""

    pairs: tuple[int, ...]
    weight: tuple[int, ...]
    paths: tuple[tuple[tuple[tuple[int, ...], int], ...], ...]


class ExactLaw:
    """The exact probability that no channel is loaded more than allowed.

    Parameters
    ----------
    parts : list of callables
        The ways of each part in which no channel has more than its units, by channel, and all its ways.
    """

    def __init__(self, parts: list[Callable[[dict[int, int]], tuple[int, int]]]) -> None:
        self._parts = parts

    def within(self, most: dict[int, int]) -> Fraction:
        """Return the probability that no channel has more than `most` units."""
        ways = [part(most) for part in self._parts]
        return Fraction(prod(good for good, _ in ways), prod(every for _, every in ways))


def exact_law(independent: list[Part], total: int, flows: int) -> ExactLaw | None:
    """Return the exact law with some flows per pair; None where a part is too large.

    Parameters
    ----------
    independent : list of Part
    total : int
        The common denominator of the probabilities of paths.
    flows : int
    """
    parts: list[Callable[[dict[int, int]], tuple[int, int]]] = []
    for part in independent:
        one = _convolved(part, total, flows) or _enumerated(part, total, flows)
        if one is None:
            return None
        parts.append(one)
    return ExactLaw(parts)


def parts_of(draws: Draws) -> Iterator[Part]:
    """Yield the types of each independent part."""
    part_of_channel: dict[int, int] = {}
    part_of_type: list[int] = []
    join: list[int] = []

    def root(part: int) -> int:
        while join[part] != part:
            part = join[part]
        return part

    for kind in range(len(draws.pairs)):
        join.append(kind)
        crossed = np.unique(draws.path[draws.first[kind] : draws.first[kind + 1]])
        for channel in crossed[crossed >= 0].tolist():
            other = root(part_of_channel.setdefault(channel, kind))
            join[max(other, root(kind))] = min(other, root(kind))
        part_of_type.append(kind)
    members: dict[int, list[int]] = {}
    for kind in part_of_type:
        members.setdefault(root(kind), []).append(kind)
    for kinds in members.values():
        paths = []
        for kind in kinds:
            mine = slice(int(draws.first[kind]), int(draws.first[kind + 1]))
            rows = zip(draws.path[mine].tolist(), draws.ways[mine].tolist(), strict=True)
            paths.append(tuple((tuple(c for c in row if c >= 0), ways) for row, ways in rows))
        yield Part(
            tuple(int(draws.pairs[kind]) for kind in kinds),
            tuple(int(draws.weight[kind]) for kind in kinds),
            tuple(paths),
        )


def _convolved(part: Part, total: int, flows: int) -> Callable[[dict[int, int]], tuple[int, int]] | None:
    """Return the ways of a part of one type whose paths have no channel in common; None for other parts."""
    if len(part.pairs) > 1:
        return None
    paths, n, weight = part.paths[0], part.pairs[0] * flows, part.weight[0]
    channels = [c for path, _ in paths for c in path]
    if len(set(channels)) < len(channels) or n * n * len(paths) > _PRODUCTS:
        return None

    def ways(most: dict[int, int]) -> tuple[int, int]:
        caps = tuple(min([n, *(most[c] // weight for c in path)]) for path, _ in paths)
        return _put(n, caps, tuple(odds for _, odds in paths)), total**n

    return ways


def _put(n: int, caps: tuple[int, ...], odds: tuple[int, ...]) -> int:
    """Return the weighted ways to put n flows on paths with at most `caps` each; `odds` weigh a flow on each."""
    if min(caps) < 0:
        return 0
    if sum(caps) < n:
        return 0
    ways = [1] + [0] * n
    for cap, weight in zip(caps, odds, strict=True):
        powers = [weight**m for m in range(cap + 1)]
        ways = [
            sum(comb(t, m) * powers[m] * ways[t - m] for m in range(min(cap, t) + 1) if ways[t - m])
            for t in range(n + 1)
        ]
    return ways[n]


def _enumerated(part: Part, total: int, flows: int) -> Callable[[dict[int, int]], tuple[int, int]] | None:
    """Return the ways of a part by enumeration; None where it is too large."""
    sizes = zip(part.pairs, part.paths, strict=True)
    if sum(comb(pairs * flows + len(paths) - 1, len(paths) - 1) for pairs, paths in sizes) > _STATES:
        return None
    channels = sorted({c for paths in part.paths for path, _ in paths for c in path})
    most = sum(pairs * flows * weight for pairs, weight in zip(part.pairs, part.weight, strict=True))
    bits = most.bit_length()  # a number has the loads of all channels, side by side
    one = {c: 1 << bits * at for at, c in enumerate(channels)}
    states = {0: 1}
    steps = 0
    for pairs, weight, paths in zip(part.pairs, part.weight, part.paths, strict=True):
        rows = [(weight * sum(one[c] for c in path), ways) for path, ways in paths]
        choices = list(_spread(pairs * flows, rows).items())
        steps += len(states) * len(choices)
        if steps > _STEPS:
            return None
        after: dict[int, int] = {}
        for loads, count in states.items():
            for added, many in choices:
                key = loads + added
                after[key] = after.get(key, 0) + count * many
        states = after
        if len(states) > _STATES:
            return None
    every = prod(total ** (pairs * flows) for pairs in part.pairs)
    return _Enumerated(channels, bits, states, every)


class _Enumerated:
    """The ways of every vector of loads of a part; each vector is a number with some bits for each channel."""

    def __init__(self, channels: list[int], bits: int, states: dict[int, int], every: int) -> None:
        self._channels, self._every = channels, every
        mask = (1 << bits) - 1
        loads = [[state >> bits * at & mask for at in range(len(channels))] for state in states]
        self._loads, self._ways = np.array(loads, np.int64), list(states.values())

    def __call__(self, most: dict[int, int]) -> tuple[int, int]:
        fits = (self._loads <= np.array([most[c] for c in self._channels])).all(axis=1)
        return sum(self._ways[at] for at in np.flatnonzero(fits).tolist()), self._every


def _spread(n: int, rows: list[tuple[int, int]]) -> dict[int, int]:
    """Return the loads of n flows for all numbers of flows on the paths, with the ways to draw them.

    `rows` has the loads of a flow on each path, and its ways.
    """
    found = {(0, 0): 1}  # by the flows so far
    for loads, odds in rows:
        after: dict[tuple[int, int], int] = {}
        for (used, before), ways in found.items():
            for m in range(n - used + 1):
                key = used + m, before + m * loads
                after[key] = after.get(key, 0) + ways * comb(n - used, m) * odds**m
        found = after
    return {loads: ways for (used, loads), ways in found.items() if used == n}
