"""Paths of packets through rows, random networks, meshes of many dimensions, and from the first level to the last.

Draws are made in one fixed order, so that a seed gives the same instance wherever it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array, grouped, reversed_bits, starts
from obliv._util.progress import require_memory
from obliv.bufferless.kernels import direct
from obliv.bufferless.leveled.base import Leveled
from obliv.bufferless.leveled.families import matchings
from obliv.errors import InputError
from obliv.kernels import run

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
    start = starts(length)
    require_memory(24.0 * float(start[-1]), f"paths of {int(start[-1]):,} edges")
    return start


def rows(levels: Levels, network: Leveled, kind: str, rng: np.random.Generator, *, share: float = 0.1) -> Drawn:
    """Draw one packet from every row of the first level to a row of the last."""
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


# Random walks upwards: paths through random networks and through graphs from files


def random_leveled(
    network: Leveled,
    kind: str,
    rng: np.random.Generator,
    *,
    packets: int | None = None,
    minlen: int | None = None,
    maxlen: int | None = None,
) -> Drawn:
    """Draw random walks of random lengths from distinct nodes.

    As if the matchings had been drawn from `rng` before, so that one seed for the network and for the paths gives what
    one generator would have given for both.
    """
    L, W, d, _ = network.shape
    matchings(L, W, d, rng)
    least, most = _lengths(minlen, maxlen, L)
    wanted = _packets(packets, L * W, network.spec)
    source = rng.choice(L * W, wanted, replace=False)
    left = L - source // W
    start = np.zeros(wanted + 1, np.int64)
    draws = []
    for p, room in enumerate(left.tolist()):
        length = int(rng.integers(min(least, room), min(most, room) + 1))
        draws.append(rng.integers(d, size=length))
        start[p + 1] = start[p] + length
    return _walk(network, source, offsets(np.diff(start)), np.concatenate(draws))


def deep(network: Leveled, kind: str, rng: np.random.Generator) -> Drawn:
    """Draw random walks to the last level from every node of the first levels; draws as in :func:`random_leveled`."""
    L, W, d, _, S = network.shape
    matchings(L, W, d, rng)
    source = np.arange(S * W)
    start = offsets(L - source // W)
    return _walk(network, source, start, rng.integers(d, size=int(start[-1])))


def anywhere(
    network: Leveled,
    kind: str,
    rng: np.random.Generator,
    *,
    packets: int | None = None,
    minlen: int | None = None,
    maxlen: int | None = None,
) -> Drawn:
    """Draw random walks in any leveled graph, from distinct nodes with an outgoing edge."""
    least, most = _lengths(1 if minlen is None else minlen, maxlen, network.depth)
    senders = np.unique(network.low)
    wanted = len(senders) if packets is None else _packets(packets, len(senders), network.spec)
    source = senders if wanted == len(senders) else rng.choice(senders, wanted, replace=False)
    left = network.depth - network.node_level[source]
    start = offsets(rng.integers(np.minimum(least, left), np.minimum(most, left) + 1))
    return _walk(network, source, start, rng.integers(2**31, size=int(start[-1])))


def _walk(network: Leveled, source: Array, start: Array, draw: Array) -> Drawn:
    low, high = network.edge_ends
    first, out = grouped(low, network.nodes)
    edge = np.empty(len(draw), np.int32)
    run(direct.walks, len(edge), first, out, high, source, start, draw, edge)
    going = edge >= 0
    if going.all():
        return Drawn(start, edge)
    before = starts(going)
    return Drawn(before[start], edge[going])


def _lengths(minlen: int | None, maxlen: int | None, depth: int) -> tuple[int, int]:
    least = max(depth // 4, 1) if minlen is None else minlen
    most = depth if maxlen is None else maxlen
    if minlen is None:
        least = min(least, most)
    if not 1 <= least <= most:
        raise InputError(f"lengths from {least} to {most}: give minlen and maxlen with 1 <= minlen <= maxlen")
    return least, most


def _packets(packets: int | None, nodes: int, spec: str) -> int:
    wanted = max(nodes // 8, 1) if packets is None else packets
    if not 1 <= wanted <= nodes:
        raise InputError(
            f"packets={wanted}: {nodes} nodes of {spec} can send one each; give a number from 1 to {nodes}"
        )
    return wanted


# Paths through meshes of three and more dimensions: monotone, between any two nodes that such a path joins


def drawn_ends(network: Leveled, hot: float, rng: np.random.Generator) -> Array:
    """Return a destination for every node: each coordinate equally likely among those ahead, or all at their last."""
    radices, signs = _grid(network)
    corner = rng.random(network.nodes) < hot
    at = np.unravel_index(np.arange(network.nodes), radices)
    to = []
    for coordinate, radix, sign in zip(at, radices, signs, strict=True):
        along = coordinate if sign > 0 else radix - 1 - coordinate
        goal = np.where(corner, radix - 1, rng.integers(along, radix))
        to.append(goal if sign > 0 else radix - 1 - goal)
    return np.ravel_multi_index(tuple(to), radices)


def ahead(network: Leveled, source: Array, to: Array) -> tuple[Array, ...]:
    """Return for each dimension the steps from sources to destinations; negative ones are against the orientation."""
    radices, signs = _grid(network)
    ends = zip(np.unravel_index(to, radices), np.unravel_index(source, radices), signs, strict=True)
    return tuple((goal - begin) * sign for goal, begin, sign in ends)


def monotone(
    network: Leveled, source: Array, steps: Sequence[Array], rng: np.random.Generator, dimensions: Sequence[int] | None
) -> Drawn:
    """Return paths with the given numbers of steps in each dimension."""
    radices, signs = _grid(network)
    start = offsets(np.sum(steps, axis=0))
    total = int(start[-1])
    require_memory(60.0 * total, f"paths of {total:,} edges")
    order = list(range(len(radices)) if dimensions is None else dimensions)
    step = np.repeat(np.tile(np.array(order), len(source)), np.stack([steps[d] for d in order], axis=1).ravel())
    packet = np.repeat(np.arange(len(source)), np.diff(start))
    if dimensions is None:
        step = step[np.lexsort((rng.random(total), packet))]
    strides = [prod(radices[d + 1 :]) for d in range(len(radices))]
    move = np.array(signs)[step] * np.array(strides)[step]
    passed = np.cumsum(move) - move
    node = source[packet] + passed - passed[start[:-1]][packet] if total else np.zeros(0, np.int64)
    edge = np.zeros(total, np.int64)
    begin = 0
    for d, (radix, sign, stride) in enumerate(zip(radices, signs, strides, strict=True)):
        chosen = step == d
        lower = node[chosen] - (stride if sign < 0 else 0)  # the end with the smaller coordinate
        edge[chosen] = begin + lower // (radix * stride) * (radix - 1) * stride + lower % (radix * stride)
        begin += network.nodes // radix * (radix - 1)
    return Drawn(start, edge.astype(np.int32))


def _grid(network: Leveled) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the nodes in each dimension, and the directions."""
    half = len(network.shape) // 2
    return network.shape[:half], network.shape[half:]


# Paths from the first level of any network to its last one: between given pairs, drawn step by step


def across(network: Leveled, kind: str, rng: np.random.Generator, *, share: float = 0.1) -> Drawn:
    """Draw one packet from every node of the first level to a node of the last."""
    if not 0 <= share <= 1:
        raise InputError(f"share={share}: it must lie between 0 and 1")
    source, last = (np.flatnonzero(network.node_level == level) for level in (0, network.depth))
    if len(source) != len(last):
        raise InputError(
            f"{kind} on {network.spec}: the first level has {len(source)} nodes and the last one {len(last)}; both "
            "need the same number"
        )
    to = destinations(network.spec, kind, len(source), rng, share)
    target, at = np.unique(to, return_inverse=True)
    require_memory(float(network.nodes) * len(target) + 40.0 * network.edges, "which nodes lead to each destination")
    leads = np.zeros((network.nodes, len(target)), bool)
    leads[last[target], np.arange(len(target))] = True
    low, high = network.edge_ends
    level = network.node_level[low]
    by_level = np.argsort(level, kind="stable")
    cuts = np.searchsorted(level[by_level], np.arange(network.depth + 1))
    for first, end in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
        edge = by_level[first:end]
        np.logical_or.at(leads, low[edge], leads[high[edge]])
    joined = leads[source, at]
    node, at = source[joined], at[joined]
    edges = _walk_across(network, node, at, leads, rng)
    lost = len(source) - len(node)
    notes = (f"{lost:,} of {len(source):,} pairs are left out: no path of {network.spec} joins them",) if lost else ()
    return Drawn(offsets(np.full(len(node), network.depth)), edges.astype(np.int32).ravel(), notes)


def _walk_across(network: Leveled, node: Array, at: Array, leads: Array, rng: np.random.Generator) -> Array:
    """Return the edges of all packets, one row for each; column `at` of `leads` is a packet's destination."""
    low, high = network.edge_ends
    first, out = grouped(low, network.nodes)
    path = np.empty((len(node), network.depth), np.int64)
    for step in range(network.depth if len(node) else 0):
        degree = first[node + 1] - first[node]
        column = np.arange(int(degree.max(initial=0)))
        edge = out[np.minimum(first[node][:, None] + column, len(out) - 1)]
        fits = (column < degree[:, None]) & leads[high[edge], at[:, None]]
        draw = np.where(fits, rng.random(edge.shape), -1.0).argmax(axis=1)
        path[:, step] = edge[np.arange(len(node)), draw]
        node = high[path[:, step]]
    return path
