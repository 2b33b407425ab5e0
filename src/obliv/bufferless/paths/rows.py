"""Paths through networks of rows: every input sends a packet to one output.

Draws are made in one fixed order, so that a seed gives the same instance wherever it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import reversed_bits
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.topologies.leveled.base import Leveled

__all__ = [
    "ROWS",
    "Drawn",
    "butterfly",
    "debruijn",
    "destinations",
    "fattree",
    "multibutterfly",
    "offsets",
    "rows",
    "shuffle",
]

#: Yields the edges of all paths of a family, level after level: network, sources, destinations, random generator.
Levels = Callable[[Leveled, Array, Array, np.random.Generator], Iterator[Array]]


#: The kinds of traffic between rows.
ROWS = ("random", "permutation", "transpose", "bit-reverse", "hotspot")


class Drawn(NamedTuple):
    """Paths: offsets, edges, and notes for the user."""

    start: Array
    edge: Array
    notes: tuple[str, ...] = ()


def offsets(length: Array) -> Array:
    """Return the first entry of each path, and the end of the last one."""
    start = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=start[1:])
    require_memory(24.0 * float(start[-1]), f"paths of {int(start[-1]):,} edges")
    return start


def rows(levels: Levels, network: Leveled, kind: str, rng: np.random.Generator, *, share: float = 0.1) -> Drawn:
    """Draw one packet from every row of the first level to a row of the last.

    Parameters
    ----------
    levels : function
        Yields the edges of all paths of the family, level after level.
    network : Leveled
        A butterfly, an unrolled de Bruijn, shuffle-exchange or fat-tree network, or a multibutterfly.
    kind : {"random", "permutation", "transpose", "bit-reverse", "hotspot"}
        Destinations: each on its own at random; a random permutation; the halves of the row's bits exchanged; its bits
        reversed; row 0 with probability `share`, else at random.
    rng : numpy.random.Generator
    share : float
        For hotspot.
    """
    if not 0 <= share <= 1:
        raise InputError(f"share={share}: it must lie between 0 and 1")
    base, digits = (
        (network.shape[0], network.shape[1]) if network.family == "unrolled-fattree" else (2, network.shape[0])
    )
    count = base**digits
    destination = destinations(network.spec, kind, count, rng, share)
    start = offsets(np.full(count, network.depth))
    edge = np.empty(int(start[-1]), np.int32)
    path = edge.reshape(count, network.depth)
    source = np.arange(count, dtype=np.int32)  # numbers of edges fit in 32 bits
    for level, column in enumerate(levels(network, source, destination.astype(np.int32), rng)):
        path[:, level] = column
    return Drawn(start, edge)


def destinations(spec: str, kind: str, count: int, rng: np.random.Generator, share: float) -> Array:
    """Return the destination of each of `count` rows."""
    bits = count.bit_length() - 1
    row = np.arange(count)
    if kind == "random":
        return rng.integers(0, count, count)
    if kind == "permutation":
        return np.asarray(rng.permutation(count))
    if kind == "hotspot":
        hot = rng.random(count) < share
        return np.where(hot, 0, rng.integers(0, count, count))
    if kind == "transpose":
        side = round(count**0.5)
        if side * side != count:
            raise InputError(f"transpose on {spec}: {count} rows are not a square; choose an even number of bits")
        return np.asarray(row % side * side + row // side)
    if 1 << bits != count:
        raise InputError(f"bit-reverse on {spec}: {count} rows are not a power of two")
    return reversed_bits(row, bits)


def butterfly(network: Leveled, row: Array, to: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Change the row bit by bit, the lowest first."""
    k = network.shape[0]
    for level in range(k):
        bit = (row ^ to) >> level & 1
        yield ((level << k) + row) * 2 + bit
        row = row ^ bit << level


def debruijn(network: Leveled, row: Array, to: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Shift in the destination's bits, the highest first."""
    k = network.shape[0]
    for level in range(k):
        bit = to >> (k - 1 - level) & 1
        yield ((level << k) + row) * 2 + bit
        row = row << 1 & (1 << k) - 1 | bit


def shuffle(network: Leveled, row: Array, to: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Let bit 0 become in round i bit (k - i) mod k of the destination, then all bits rotate."""
    k = network.shape[0]
    for turn in range(k):
        first = 3 * turn << k
        differs = (row ^ to >> (k - turn) % k) & 1
        yield first + row * 2 + differs
        row = row ^ differs
        yield first + (2 << k) + row
        row = row << 1 & (1 << k) - 1 | row >> (k - 1)


def fattree(network: Leveled, row: Array, to: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Go up by random ports, and down by the destination's digits."""
    k, h = network.shape
    port = rng.integers(0, k, (len(row), h - 1))
    yield row
    switch = row // k
    for level in range(1, 2 * h - 1):
        weight = k ** (level - 1 if level < h else 2 * h - 2 - level)
        digit = port[:, level - 1] if level < h else to // k // weight % k
        yield level * k**h + switch * k + digit
        switch = switch + (digit - switch // weight % k) * weight
    yield (2 * h - 1) * k**h + to


def multibutterfly(network: Leveled, node: Array, to: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Go through the half by the destination's bit, by a random one of its edges."""
    k, d, _ = network.shape
    choice = rng.integers(0, d, (len(node), k))
    for level in range(k):
        edge = (node * 2 + (to >> (k - 1 - level) & 1)) * d + choice[:, level]
        yield edge
        node = network.high[edge]
