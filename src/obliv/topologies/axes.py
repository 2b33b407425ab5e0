"""One-dimensional networks: lines, rings and cliques, and the ways along them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, IntArray


@dataclass(frozen=True)
class Way:
    """A way along an axis: its probability, the coordinates from end to end, the links between them."""

    probability: Fraction
    coordinates: tuple[int, ...]
    links: tuple[int, ...]


class Directions(NamedTuple):
    """Dimension and direction (1 or -1) of every channel, and whether it is a wrap-around link."""

    dim: Array
    step: Array
    wraps: Array


@dataclass(frozen=True, eq=False)
class Axis:
    """One dimension: a line, a ring or a clique of `radix` coordinates.

    ``links[e]`` is (tail, head) of link e; links are numbered by tail, then in the order of construction.
    """

    kind: str
    radix: int
    links: tuple[tuple[int, int], ...] = field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        from obliv._util.files import state_of

        return state_of(self)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The direction of every link, 1 or -1."""
        if self.kind == "ring":
            return tuple(1 if link % 2 == 0 else -1 for link in range(len(self.links)))
        return tuple(1 if head > tail else -1 for tail, head in self.links)

    @property
    def wraps(self) -> frozenset[int]:
        """The wrap-around links of a ring, one in each direction; empty for lines and cliques."""
        return frozenset((2 * (self.radix - 1), 1)) if self.kind == "ring" else frozenset()

    @cached_property
    def distances(self) -> Array:
        """The distances between coordinates, shape (radix, radix)."""
        k = self.radix
        apart: Array = abs(np.arange(k)[:, None] - np.arange(k)[None, :])
        if self.kind == "clique":
            return (apart > 0).astype(np.int64)
        return np.minimum(apart, k - apart) if self.kind == "ring" else apart

    def ways(self, start: int, end: int) -> tuple[Way, ...]:
        """Return the minimal ways from one coordinate to another; in a tie each has probability 1/2."""
        return _ways(self, start, end)

    def spread_ways(self, start: int, end: int) -> tuple[Way, ...]:
        """Return both ways round a ring, up over D links with probability (k - D)/k; elsewhere the minimal way."""
        if self.kind != "ring" or start == end:
            return self.ways(start, end)
        k, ahead = self.radix, (end - start) % self.radix
        return tuple(
            Way(Fraction(k - far, k), *_round(k, start, step, far)) for step, far in ((1, ahead), (-1, k - ahead))
        )


@cache
def axis(kind: str, radix: int) -> Axis:
    """Return the line, ring or clique of a radix."""
    links: list[tuple[int, int]] = []
    for x in range(radix):
        if kind == "clique":
            links += [(x, y) for y in range(radix) if y != x]
        elif kind == "ring":
            links += [(x, (x + 1) % radix), (x, (x - 1) % radix)]
        else:
            links += [(x, y) for y in (x + 1, x - 1) if 0 <= y < radix]
    return Axis(kind, radix, tuple(links))


@cache
def _ways(along: Axis, start: int, end: int) -> tuple[Way, ...]:
    k = along.radix
    if start == end:
        return (Way(Fraction(1), (start,), ()),)
    if along.kind == "clique":
        link = start * (k - 1) + end - (end > start)
        return (Way(Fraction(1), (start, end), (link,)),)
    if along.kind == "line":
        step = 1 if end > start else -1
        coordinates = tuple(range(start, end + step, step))
        first = [0] + [2 * x - 1 for x in range(1, k)]  # the end nodes of a line have one link
        links = tuple(first[x] + (step < 0 and x < k - 1) for x in coordinates[:-1])
        return (Way(Fraction(1), coordinates, links),)
    ahead = (end - start) % k
    steps = [step for step, far in ((1, ahead), (-1, k - ahead)) if 2 * far <= k]
    ways = []
    for step in steps:
        far = ahead if step > 0 else k - ahead
        ways.append(Way(Fraction(1, len(steps)), *_round(k, start, step, far)))
    return tuple(ways)


def _round(k: int, start: int, step: int, far: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the coordinates and links of `far` steps round a ring."""
    coordinates = tuple((start + step * t) % k for t in range(far + 1))
    return coordinates, tuple(2 * x + (step < 0) for x in coordinates[:-1])


@cache
def first_links(along: Axis) -> IntArray:
    """Return the first link of every coordinate, and at the end the number of links."""
    return np.searchsorted([tail for tail, _ in along.links], np.arange(along.radix + 1))
