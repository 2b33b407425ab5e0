"""Separable loads laid out for many permutations, axis by axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.loads.words import Lanes, Words
from obliv.topologies.axes import Axis

if TYPE_CHECKING:
    from obliv.loads.separable import SeparableLoads

__all__ = ["from_axes"]


def from_axes(loads: SeparableLoads, lanes: Lanes) -> Words | None:
    """Lay out the links of each axis side by side; None where an intermediate spreads over several coordinates.

    What depends on one end only is the same for every permutation.
    """
    topology = loads.topology
    if any(position[0] == "Q" for groups in loads.groups for key in groups for position in key):
        return None
    n, radices, strides = topology.nodes, topology.radices, topology.strides
    require_memory(60.0 * n * n * len(radices), f"the pairs of {topology.spec}")
    source, destination = np.divmod(np.arange(n * n), n)
    at = [(source // stride % k, destination // stride % k) for stride, k in zip(strides, radices, strict=True)]
    blocks: dict[tuple[int, tuple[int, ...]], int] = {}  # (dimension, dimensions that index its words) -> first word
    sides = [_sides(along) for along in topology.axes]
    width = [lanes.words(side) for side in sides]
    size = 0
    entries: list[tuple[Array, Array, Array]] = []
    constant: list[tuple[Array, Array]] = []
    for dim, groups in enumerate(loads.groups):
        k = radices[dim]
        for key, segments in groups.items():
            others = list(zip([j for j in range(len(radices)) if j != dim], key, strict=True))
            indexed = tuple(j for j, position in others if position[0] in "SD")
            keep, place, step = np.ones(n * n, np.bool_), np.zeros(n * n, np.int64), 1
            for j, position in others:
                if len(position) > 1:
                    keep = keep & ((at[j][0] == at[j][1]) == (position[1] == "="))
                if position[0] in "SD":
                    place += at[j]["SD".index(position[0])] * step
                    step *= radices[j]
            if (dim, indexed) not in blocks:
                blocks[dim, indexed] = size
                size += step * width[dim]
            links = range(len(topology.axes[dim].links))
            every = np.stack([loads.crossing(dim, key, segments, link) for link in links], axis=-1)
            table = lanes.packed(every, sides[dim])
            words = table.reshape(k * k, -1)[at[dim][0] * k + at[dim][1]]
            spot = blocks[dim, indexed] + place * width[dim]
            end = _only_end(table, [position[0] for _, position in others])
            if end is not None:  # every terminal once, whatever the permutation; where it does not hold, taken back
                once = np.arange(n) * (n if end == 0 else 1)
                constant.append((spot[once], words[once]))
                keep, words = ~keep, -words
            used = np.flatnonzero(keep)
            for w in range(width[dim]):
                entries.append((used, spot[used] + w, words[used, w]))
    base = np.zeros(size, np.int64)
    for spots, words in constant:
        for w in range(words.shape[1]):
            np.add.at(base, spots + w, words[:, w])
    groups_ = []
    for dim in range(len(radices)):
        others_ = [j for j in range(len(radices)) if j != dim]
        mine = [(indexed, first) for (d, indexed), first in blocks.items() if d == dim]
        for spot_ in np.ndindex(*(radices[j] for j in others_)):
            where = dict(zip(others_, spot_, strict=True))
            starts = []
            for indexed, first in mine:
                place_, step = 0, 1
                for j in indexed:
                    place_ += where[j] * step
                    step *= radices[j]
                starts.append(first + place_ * width[dim])
            groups_ += [[start + w for start in starts] for w in range(width[dim])]
    pair, word, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    return Words(base, pair, word, value, groups_)


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
