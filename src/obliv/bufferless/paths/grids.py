"""Paths through meshes, arrays and hypercubes: monotone, between any two nodes that such a path joins.

Those of meshes of three and more dimensions are in :mod:`obliv.bufferless.paths.families`.
"""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import Array, reversed_bits
from obliv.bufferless.kernels import direct
from obliv.bufferless.leveled.base import Leveled
from obliv.bufferless.paths import families
from obliv.bufferless.paths.families import Drawn, offsets
from obliv.errors import InputError
from obliv.kernels import run

__all__ = ["array", "between", "destinations", "hypercube", "mesh", "mesh_paths"]


# Smaller networks are drawn packet by packet, so that their seeds keep their paths; on larger ones that takes too long.
_LARGE = 128  # side of a mesh from which all packets are drawn at once
_LARGE_CUBE = 14  # dimensions of such a hypercube
_BLOCK = 1 << 22  # random numbers at a time


def mesh(
    network: Leveled,
    kind: str,
    rng: np.random.Generator,
    *,
    route: str = "random",
    rate: float = 1.0,
    share: float = 0.1,
) -> Drawn:
    """Draw one packet from every node of a mesh, or from a share of them."""
    if route not in ("random", "xy"):
        raise InputError(f"route={route}: it must be random, or xy for all steps from row to row first")
    _probabilities(rate=rate, share=share)
    if len(network.shape) > 4:
        to = (
            families.drawn_ends(network, share if kind == "hotspot" else 0.0, rng)
            if kind in ("random", "hotspot")
            else destinations(network.spec, kind, network.shape[: len(network.shape) // 2], rng)
        )
        source = np.arange(network.nodes)
        if rate < 1 and kind in ("random", "hotspot"):
            source = np.flatnonzero(rng.random(network.nodes) <= rate)
        return between(network, source, to[source], rng, route)
    n, m, down, right = network.shape
    if kind == "random" and max(n, m) < _LARGE and (down, right) == (1, 1):
        return _mesh_one_by_one(network, rng, route, rate)
    if kind in ("random", "hotspot"):
        x, y = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
        x, y = (x if down > 0 else n - 1 - x), (y if right > 0 else m - 1 - y)  # along the orientation
        to_x = rng.integers(x, n)
        to_y = rng.integers(y, m)
        if kind == "hotspot":
            hot = rng.random(n * m) < share
            to_x, to_y = np.where(hot, n - 1, to_x), np.where(hot, m - 1, to_y)
        to = (to_x if down > 0 else n - 1 - to_x) * m + (to_y if right > 0 else m - 1 - to_y)
        source = np.arange(n * m)
        if rate < 1:
            sends = rng.random(n * m) <= rate
            source, to = source[sends], to[sends]
    else:
        source = np.arange(n * m)
        to = destinations(network.spec, kind, (n, m), rng)
    return between(network, source, to, rng, route)


def between(network: Leveled, source: Array, to: Array, rng: np.random.Generator, route: str) -> Drawn:
    """Return paths between given nodes of a mesh or an array, where a monotone path joins them.

    On a mesh `route` is ``xy`` for steps from row to row first, ``yx`` for them last, ``random`` for a random order; in
    more dimensions accordingly.
    """
    if network.family == "array":
        right = network.shape[1]
        source, (length,), notes = _joined(source, ((to - source) * right,), network.spec)
        start = offsets(length)
        first = source if right > 0 else source - 1
        along = np.arange(start[-1]) - np.repeat(start[:-1], length)
        edge = np.repeat(first, length) + right * along
        return Drawn(start, edge.astype(np.int32), notes)
    if len(network.shape) > 4:
        source, steps, notes = _joined(source, families.ahead(network, source, to), network.spec)
        dimensions = {"xy": range(len(steps)), "yx": range(len(steps) - 1, -1, -1)}.get(route)
        return families.monotone(network, source, steps, rng, dimensions)._replace(notes=notes)
    _, m, down, right = network.shape
    downs, rights = (to // m - source // m) * down, (to % m - source % m) * right
    source, (downs, rights), notes = _joined(source, (downs, rights), network.spec)
    start = offsets(downs + rights)
    step = np.empty(int(start[-1]), np.int8)
    if route in ("xy", "yx"):
        order = (1, 0) if route == "xy" else (0, 1)
        both = np.stack([(rights, downs)[side] for side in order], axis=1).ravel()
        step[:] = np.repeat(np.tile(np.array(order, np.int8), len(downs)), both)
    else:
        cuts = np.searchsorted(start, np.arange(0, int(start[-1]) + _BLOCK, _BLOCK))
        for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            b = min(b, len(downs))
            part = start[a : b + 1] - start[a]
            uniform = rng.random(int(part[-1]))
            run(direct.moves, len(step), downs[a:b], part, uniform, step[start[a] : start[b]])
    return mesh_paths(network, source, start, step, notes)


def mesh_paths(network: Leveled, source: Array, start: Array, step: Array, notes: tuple[str, ...]) -> Drawn:
    """Return the edges of paths in a mesh, whose steps are 1 from row to row and 0 from column to column."""
    edge = np.empty(len(step), np.int32)
    run(direct.mesh, len(step), *network.shape, source, start, step, edge)
    return Drawn(start, edge, notes)


def _mesh_one_by_one(network: Leveled, rng: np.random.Generator, route: str, rate: float) -> Drawn:
    n, m, *_ = network.shape
    source, length, steps = [], [], []
    there = 0
    for node in range(n * m):
        x, y = divmod(node, m)
        if rng.random() > rate:
            continue
        downs, rights = int(rng.integers(x, n)) - x, int(rng.integers(y, m)) - y
        if downs + rights == 0:
            there += 1
            continue
        order = np.repeat(np.array([1, 0], np.int8), [downs, rights])
        source.append(node)
        length.append(downs + rights)
        steps.append(rng.permutation(order) if route == "random" else order)
    step = np.concatenate(steps) if steps else np.zeros(0, np.int8)
    return mesh_paths(network, np.array(source, np.int64), offsets(np.array(length, np.int64)), step, _there(there))


def array(
    network: Leveled,
    kind: str,
    rng: np.random.Generator,
    *,
    rate: float = 1.0,
    maxlen: int | None = None,
    share: float = 0.1,
) -> Drawn:
    """Draw one packet from every node of a linear array but the last, or from a share of them."""
    _probabilities(rate=rate, share=share)
    n, right = network.shape
    longest = n if maxlen is None else maxlen
    if longest < 1:
        raise InputError(f"maxlen={maxlen}: it must be at least 1")
    if kind not in ("random", "hotspot"):
        return between(network, np.arange(n), destinations(network.spec, kind, (n,), rng), rng, "")
    source, to = [], []
    for i in range(n - 1):
        if rng.random() <= rate:
            source.append(i)
            to.append(int(rng.integers(i + 1, min(n, i + longest + 1))))
    ends = np.array([source, to], np.int64).reshape(2, -1)
    if kind == "hotspot":
        ends[1, rng.random(len(to)) < share] = n - 1
    if right < 0:
        ends = n - 1 - ends
    return between(network, ends[0], ends[1], rng, "")


def hypercube(
    network: Leveled, kind: str, rng: np.random.Generator, *, probability: float = 0.6, share: float = 0.1
) -> Drawn:
    """Draw one packet from every node of a hypercube, which sets bits in random order."""
    _probabilities(probability=probability, share=share)
    (k,) = network.shape
    source = np.arange(1 << k)
    if kind == "random" and k < _LARGE_CUBE:
        source, length, bit = _bits_one_by_one(k, rng, probability)
        there = (1 << k) - len(source)
        return _cube_paths(k, source, length, bit, _there(there))
    if kind == "permutation":
        to = rng.permutation(1 << k)
    else:
        to = source | (rng.random((1 << k, k)) < probability) @ (1 << np.arange(k))
        if kind == "hotspot":
            to[rng.random(1 << k) < share] = (1 << k) - 1
    differs = (source ^ to)[:, None] >> np.arange(k) & 1
    ahead = np.where(source & ~to, -1, differs.sum(axis=1))
    order = np.where(differs, rng.random((1 << k, k)), 2.0).argsort(axis=1)[ahead > 0]
    source, (length,), notes = _joined(source, (ahead,), network.spec)
    return _cube_paths(k, source, length, order[np.arange(k) < length[:, None]], notes)


def _bits_one_by_one(k: int, rng: np.random.Generator, probability: float) -> tuple[Array, Array, Array]:
    source, length, bits = [], [], []
    for node in range(1 << k):
        unset = np.array([bit for bit in range(k) if not node >> bit & 1], np.int64)
        chosen = rng.permutation(unset[rng.random(len(unset)) < probability])
        if len(chosen):
            source.append(node)
            length.append(len(chosen))
            bits.append(chosen)
    return np.array(source, np.int64), np.array(length, np.int64), np.concatenate([*bits, np.zeros(0, np.int64)])


def _cube_paths(k: int, source: Array, length: Array, bit: Array, notes: tuple[str, ...]) -> Drawn:
    start = offsets(length)
    passed = np.cumsum(1 << bit) - (1 << bit)  # bits that are set before this one, in all packets so far
    node = np.repeat(source - passed[start[:-1]], length) + passed
    below = (1 << bit) - 1
    edge = (bit << k - 1) + (node >> 1 & ~below | node & below)
    return Drawn(start, edge.astype(np.int32), notes)


def destinations(spec: str, kind: str, sides: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return the destination of every node of a grid under a permutation; nodes are numbered row after row."""
    nodes = int(np.prod(sides))
    node = np.arange(nodes)
    if kind == "permutation":
        return rng.permutation(nodes)
    if kind == "transpose":
        if sides != sides[::-1]:
            raise InputError(
                f"transpose on {spec}: it needs as many rows as columns"
                if len(sides) == 2
                else f"transpose on {spec}: it needs sides that read the same backwards, as in 4x4x4 or 2x5x2"
            )
        return np.ravel_multi_index(np.unravel_index(node, sides)[::-1], sides)
    bits = nodes.bit_length() - 1
    if 1 << bits != nodes:
        raise InputError(f"bit-reverse on {spec}: {nodes} nodes are not a power of two")
    return reversed_bits(node, bits)


def _joined(source: Array, ahead: tuple[Array, ...], spec: str) -> tuple[Array, tuple[Array, ...], tuple[str, ...]]:
    """Return packets with edges to go, all in the right direction, and notes on the others."""
    against = np.any([edges < 0 for edges in ahead], axis=0)
    there = ~against & np.all([edges == 0 for edges in ahead], axis=0)
    joined = ~against & ~there
    notes = _there(int(there.sum()))
    if lost := int(against.sum()):
        notes += (f"{lost:,} of {len(source):,} pairs are left out: no monotone path of {spec} joins them",)
    return source[joined], tuple(edges[joined] for edges in ahead), notes


def _there(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    packets, are = (f"{count:,} packets", "are") if count > 1 else ("1 packet", "is")
    return (f"{packets} already at the destination {are} left out",)


def _probabilities(**given: float) -> None:
    for name, value in given.items():
        if not 0 <= value <= 1:
            raise InputError(f"{name}={value}: it must lie between 0 and 1")
