"""Pair loads laid out for many permutations: what each pair of terminals adds, as short vectors onto rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.analysis._average_kernels import WIDTH
from obliv.analysis.worst_case import worst_case
from obliv.errors import TooLargeError, require_memory
from obliv.loads.pair_loads import PairLoads
from obliv.loads.separable import SeparableLoads

__all__ = ["PairVectors", "pair_vectors"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class PairVectors:
    """Arrays for the kernels, see :mod:`obliv.analysis._average_kernels`; loads are over `denominator`."""

    denominator: int
    terminals: int
    ptr: Array
    vector: Array
    row: Array
    vectors: Array
    rows: int
    group_ptr: Array
    group_row: Array

    @property
    def arguments(self) -> tuple[Array, ...]:
        """What the kernels take."""
        return self.ptr, self.vector, self.row, self.vectors, self.group_ptr, self.group_row


def pair_vectors(loads: PairLoads) -> PairVectors:
    """Lay pair loads out for the kernels.

    Dimension-ordered loads whose other coordinates stand at the source's, the destination's or anywhere become one
    vector a dimension (its links) and way to get there; other loads go channel by channel.
    """
    speeds = loads.topology.bandwidth
    scale = lcm(*(speed.numerator for speed in speeds)) if speeds else 1
    factor = [int(scale / speed) for speed in speeds]
    denominator = loads.denominator * scale
    worst = worst_case(loads).channel_load
    assert isinstance(worst, Fraction)
    bound = int(worst * denominator)  # no permutation loads a channel more, so this decides the number type
    if bound >= 2**62:
        raise TooLargeError(f"{loads.topology.spec}: loads over {denominator} exceed 64 bits; take a smaller network")
    number: Any = next(kind for kind in (np.int16, np.int32, np.int64) if bound <= np.iinfo(kind).max)
    if isinstance(loads, SeparableLoads) and not speeds and loads.topology.all_terminals:
        parts = _from_axes(loads)
        if parts is not None:
            return _packed(denominator, loads.terminals, *parts, number)
    return _packed(denominator, loads.terminals, *_from_channels(loads, factor), number)


def _packed(
    denominator: int,
    n: int,
    pair: Array,
    row: Array,
    vector: Array,
    vectors: Array,
    groups: list[list[int]],
    number: Any,
) -> PairVectors:
    order = np.argsort(pair, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=n * n))])
    return PairVectors(
        denominator,
        n,
        ptr.astype(np.int64),
        vector[order].astype(np.int32),
        row[order].astype(np.int32),
        vectors.astype(number),
        1 + max((r for group in groups for r in group), default=0),
        np.cumsum([0, *(len(group) for group in groups)]).astype(np.int64),
        np.array([r for group in groups for r in group], np.int32),
    )


def _from_axes(loads: SeparableLoads) -> tuple[Array, Array, Array, Array, list[list[int]]] | None:
    """Vectors along axes; None where an intermediate on the minimal way spreads over several coordinates."""
    topology = loads.topology
    if any(position[0] == "Q" for groups in loads.groups for key in groups for position in key):
        return None
    n, radices, strides = topology.nodes, topology.radices, topology.strides
    require_memory(40.0 * n * n * 2 * len(radices), f"the pairs of {topology.spec}")
    source, destination = np.divmod(np.arange(n * n), n)
    at = [(source // stride % k, destination // stride % k) for stride, k in zip(strides, radices, strict=True)]
    pairs, rows, chosen, vectors, outputs = [], [], [], [np.zeros((1, WIDTH), np.int64)], []
    blocks: dict[tuple[int, int, tuple[int, ...]], int] = {}  # (dimension, chunk of links, indexed dimensions)
    size = 1  # vector 0 is empty
    next_row = 0
    for dim, groups in enumerate(loads.groups):
        others = [j for j in range(len(radices)) if j != dim]
        links = len(topology.axes[dim].links)
        for key, segments in groups.items():
            indexed = tuple(j for j, position in zip(others, key, strict=True) if position[0] in "SD")
            keep = np.ones(n * n, bool)
            place = np.zeros(n * n, np.int64)
            step = 1
            for j, position in zip(others, key, strict=True):
                if len(position) > 1:
                    keep &= (at[j][0] == at[j][1]) == (position[1] == "=")
                if position[0] in "SD":
                    place += at[j]["SD".index(position[0])] * step
                    step *= radices[j]
            table = np.stack([loads.crossing(dim, key, segments, link) for link in range(links)], axis=-1)
            used = np.flatnonzero(keep & table.any(axis=-1)[at[dim]])
            k = radices[dim]
            for first in range(0, links, WIDTH):
                part = np.zeros((k * k, WIDTH), table.dtype)
                piece = table[..., first : first + WIDTH].reshape(k * k, -1)
                part[:, : piece.shape[1]] = piece
                block = (dim, first, indexed)
                if block not in blocks:
                    blocks[block] = next_row
                    next_row += step
                number = at[dim][0][used] * k + at[dim][1][used]
                full = part[number].any(axis=1)
                pairs.append(used[full])
                rows.append(blocks[block] + place[used][full])
                chosen.append(size + number[full])
                vectors.append(part)
                size += k * k
    for dim in range(len(radices)):
        others = [j for j in range(len(radices)) if j != dim]
        shape = [radices[j] for j in others]
        for first in range(0, len(topology.axes[dim].links), WIDTH):
            mine = [(indexed, base) for (d, f, indexed), base in blocks.items() if d == dim and f == first]
            for spot in np.ndindex(*shape):
                where = dict(zip(others, spot, strict=True))
                group = []
                for indexed, base in mine:
                    place_, step = 0, 1
                    for j in indexed:
                        place_ += where[j] * step
                        step *= radices[j]
                    group.append(base + place_)
                if group:
                    outputs.append(group)
    return (
        np.concatenate(pairs) if pairs else np.zeros(0, np.int64),
        np.concatenate(rows) if rows else np.zeros(0, np.int64),
        np.concatenate(chosen) if chosen else np.zeros(0, np.int64),
        np.concatenate(vectors),
        outputs,
    )


def _from_channels(loads: PairLoads, factor: list[int]) -> tuple[Array, Array, Array, Array, list[list[int]]]:
    """Channels side by side in rows of WIDTH; a pair has a vector of its own on every row that it loads."""
    n, channels = loads.terminals, loads.topology.channels
    pieces = []
    entries = 0
    for channel in range(channels):
        source, destination, weight = loads.weights(channel).spread()
        if factor:
            weight = weight * factor[channel]
        entries += len(weight)
        require_memory(60.0 * entries, f"the pair loads of {loads.topology.spec}")
        pieces.append((source.astype(np.int64) * n + destination, np.full(len(weight), channel), weight))
    pair, channel_, weight = (np.concatenate(part) for part in zip(*pieces, strict=True))
    cell = pair * (channels // WIDTH + 1) + channel_ // WIDTH
    unique, number = np.unique(cell, return_inverse=True)
    require_memory(8.0 * WIDTH * len(unique), f"the pair loads of {loads.topology.spec}")
    vectors = np.zeros((len(unique), WIDTH), np.int64)
    vectors[number, channel_ % WIDTH] = weight
    vectors, same = np.unique(vectors, axis=0, return_inverse=True) if len(unique) < 10**6 else (vectors, None)
    chosen = np.arange(len(unique)) if same is None else same.ravel()
    rows = unique % (channels // WIDTH + 1)
    groups = [[row] for row in range(channels // WIDTH + 1)]
    return unique // (channels // WIDTH + 1), rows, chosen, vectors, groups
