"""Paths through networks of rows: every input sends a packet to one output.

Draws are made in one fixed order, so that a seed gives the same instance wherever it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.bufferless.kernels import paths as kernels
from obliv.errors import InputError
from obliv.kernels import Kernel, run
from obliv.topologies.leveled.base import Leveled

__all__ = ["ROWS", "Drawn", "by_rows", "destinations", "fattree", "multibutterfly", "offsets", "rows"]

#: Writes the paths of a family: network, sources, destinations, random generator, edges to fill.
Fill = Callable[[Leveled, Array, Array, np.random.Generator, Array], None]


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


def rows(fill: Fill, network: Leveled, kind: str, rng: np.random.Generator, *, share: float = 0.1) -> Drawn:
    """Draw one packet from every row of the first level to a row of the last.

    Parameters
    ----------
    fill : function
        Writes the paths of the family, given network, sources, destinations, random generator and the edges to fill.
    network : Leveled
        A butterfly, an unrolled de Bruijn, shuffle-exchange or fat-tree network, or a multibutterfly.
    kind : {"random", "permutation", "transpose", "bit-reverse", "hotspot"}
        Destinations: each on its own at random; a random permutation; the halves of the row's bits exchanged; its bits
        reversed; row 0 with probability `share`, else at random.
    rng : numpy.random.Generator
    share : float
        For hotspot.

    Returns
    -------
    Drawn
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
    fill(network, np.arange(count, dtype=np.int32), destination, rng, edge)
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


def reversed_bits(number: Array, bits: int) -> Array:
    """Return numbers with their `bits` bits reversed."""
    back = np.zeros_like(number)
    for bit in range(bits):
        back |= (number >> bit & 1) << (bits - 1 - bit)
    return back


def by_rows(
    kernel: Kernel, network: Leveled, source: Array, destination: Array, rng: np.random.Generator, edge: Array
) -> None:
    """Write paths that the rows determine, by a kernel of the family."""
    run(kernel, len(edge), network.shape[0], source, destination, edge)


def fattree(network: Leveled, source: Array, destination: Array, rng: np.random.Generator, edge: Array) -> None:
    """Write paths through a fat tree, with random ports up."""
    k, h = network.shape
    port = rng.integers(0, k, (len(source), h - 1))
    run(kernels.fattree, len(edge), k, h, source, destination, port, edge)


def multibutterfly(network: Leveled, source: Array, destination: Array, rng: np.random.Generator, edge: Array) -> None:
    """Write paths through a multibutterfly, with random edges into the right half."""
    k, d, _ = network.shape
    choice = rng.integers(0, d, (len(source), k))
    run(kernels.splitters, len(edge), k, d, network.high, source, destination, choice, edge)
