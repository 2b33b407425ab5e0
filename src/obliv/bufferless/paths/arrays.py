"""Paths through meshes of three and more dimensions: monotone, between any two nodes that such a path joins."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.paths.rows import Drawn, offsets
from obliv.topologies.leveled.base import Leveled

__all__ = ["ahead", "drawn_ends", "monotone"]


def drawn_ends(network: Leveled, hot: float, rng: np.random.Generator) -> Array:
    """Return a destination for every node: each coordinate equally likely among those ahead, or all at their last.

    Parameters
    ----------
    network : Leveled
        A leveled mesh.
    hot : float
        The share of packets for the corner on the last level.
    rng : numpy.random.Generator
    """
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
    """Return paths with the given numbers of steps in each dimension.

    Parameters
    ----------
    network : Leveled
        A leveled mesh.
    source : int array
    steps : sequence of int array
    rng : numpy.random.Generator
    dimensions : sequence of int, optional
        The order of dimensions; by default all orders of steps are equally likely.
    """
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
