"""Separable loads laid out for many permutations, axis by axis."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.loads.words import Lanes, Words
from obliv.topologies.axes import Axis

if TYPE_CHECKING:
    from obliv.loads.separable import SeparableLoads

__all__ = ["from_axes"]


Blocks = dict[tuple[int, tuple[int, ...]], int]  # (dimension, other dimensions that index its words) -> first word


def from_axes(loads: SeparableLoads, lanes: Lanes) -> Words | None:
    """Lay out the links of each axis side by side; None where an intermediate spreads over several coordinates.

    Words that depend on one end only are the same for every permutation.
    """
    topology = loads.topology
    keys = [(dim, key) for dim, groups in enumerate(loads.groups) for key in groups]
    if any(position[0] == "Q" for _, key in keys for position in key):
        return None
    n, radices, strides = topology.nodes, topology.radices, topology.strides
    require_memory(60.0 * n * n * len(radices), f"the pairs of {topology.spec}")
    source, destination = np.divmod(np.arange(n * n), n)
    at = [(source // stride % k, destination // stride % k) for stride, k in zip(strides, radices, strict=True)]
    sides = [_sides(along) for along in topology.axes]
    width = [lanes.words(side) for side in sides]
    blocks: Blocks = {}
    size = 0
    for dim, key in keys:
        indexed = _indexed(loads.positions(dim, key))
        if (dim, indexed) not in blocks:
            blocks[dim, indexed] = size
            size += prod(radices[j] for j in indexed) * width[dim]
    base = np.zeros(size, np.int64)
    entries: list[tuple[Array, Array, Array]] = []
    for dim, key in keys:
        positions = loads.positions(dim, key)
        links = range(len(topology.axes[dim].links))
        table = lanes.packed(np.stack([loads.crossing(dim, key, link) for link in links], axis=-1), sides[dim])
        words = table.reshape(radices[dim] ** 2, -1)[at[dim][0] * radices[dim] + at[dim][1]]
        served, place = _placed(positions, at, radices)
        first = blocks[dim, _indexed(positions)] + place * width[dim]
        end = _only_end(table, [position[0] for _, position in positions])
        if end is not None:  # added once per terminal for every permutation; subtracted for pairs that are not served
            once = np.arange(n) * (n if end == 0 else 1)
            np.add.at(base, first[once, None] + np.arange(width[dim]), words[once])
            served, words = ~served, -words
        used = np.flatnonzero(served)
        entries += [(used, first[used] + w, words[used, w]) for w in range(width[dim])]
    pair, word, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    return Words(base, pair, word, value, _groups(blocks, radices, width))


def _indexed(positions: list[tuple[int, str]]) -> tuple[int, ...]:
    """Return the dimensions in which words depend on the source or the destination."""
    return tuple(j for j, position in positions if position[0] in "SD")


def _placed(
    positions: list[tuple[int, str]], at: list[tuple[Array, Array]], radices: tuple[int, ...]
) -> tuple[Array, Array]:
    """Return which pairs a group serves, and the number of every pair in its block."""
    served, place = np.ones(len(at[0][0]), np.bool_), np.zeros(len(at[0][0]), np.int64)
    step = 1
    for j, position in positions:
        if len(position) > 1:
            served &= (at[j][0] == at[j][1]) == (position[1] == "=")
        if position[0] in "SD":
            place += at[j]["SD".index(position[0])] * step
            step *= radices[j]
    return served, place


def _groups(blocks: Blocks, radices: tuple[int, ...], width: list[int]) -> list[list[int]]:
    """Return the words whose sum holds the loads of the channels of each line of the network."""
    groups = []
    for dim in range(len(radices)):
        own = [(indexed, first) for (d, indexed), first in blocks.items() if d == dim]
        for spot in np.ndindex(*(1 if j == dim else k for j, k in enumerate(radices))):
            starts = []
            for indexed, first in own:
                place, step = 0, 1
                for j in indexed:
                    place += spot[j] * step
                    step *= radices[j]
                starts.append(first + place * width[dim])
            groups += [[start + w for start in starts] for w in range(width[dim])]
    return groups


def _sides(axis: Axis) -> list[list[int]]:
    """Return the links of an axis by direction."""
    if axis.kind == "clique":
        return [list(range(len(axis.links)))]
    ring = axis.kind == "ring"
    up = [e for e, (tail, head) in enumerate(axis.links) if (e % 2 == 0 if ring else head > tail)]
    return [up, [link for link in range(len(axis.links)) if link not in up]]


def _only_end(table: Array, positions: list[str]) -> int | None:
    """Return 0 or 1 where a group depends on the source or on the destination alone, None where on both."""
    if "D" not in positions and np.array_equal(table, np.broadcast_to(table[:, :1], table.shape)):
        return 0
    if "S" not in positions and np.array_equal(table, np.broadcast_to(table[:1], table.shape)):
        return 1
    return None
