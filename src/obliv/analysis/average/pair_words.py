"""Pair loads laid out for many permutations: the loads of several channels side by side in words of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import Any

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.analysis.worst_case.exact import worst_case
from obliv.errors import TooLargeError
from obliv.loads.base import PairLoads
from obliv.loads.separable import SeparableLoads
from obliv.topologies.cartesian import Axis

__all__ = ["PairWords", "pair_words"]


@dataclass(frozen=True, eq=False)
class PairWords:
    """Arrays for the kernel, see :mod:`obliv.analysis.average._kernels`; loads are over `denominator`."""

    denominator: int
    terminals: int
    base: Array
    width: int
    first: Array
    rest_ptr: Array
    rest: Array
    shift: int
    value: Array
    depth: int
    group: Array
    bits: int
    lanes: int

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the kernel takes."""
        entries = (self.width, self.first, self.rest_ptr, self.rest, self.shift, self.value)
        return (self.base, *entries, self.depth, self.group, self.bits, self.lanes)


@dataclass(frozen=True)
class _Lanes:
    """How loads share a word."""

    bits: int

    @property
    def count(self) -> int:
        return 63 // (self.bits + 1)

    def words(self, sides: list[list[int]]) -> int:
        """How many words the links of an axis take; each side begins a new one, since a pair seldom uses two."""
        return sum(-(-len(side) // self.count) for side in sides)

    def packed(self, table: Array, sides: list[list[int]]) -> Array:
        """The links along the last axis side by side, shape (..., words)."""
        result = np.zeros((*table.shape[:-1], self.words(sides)), np.int64)
        first = 0
        for side in sides:
            for at, link in enumerate(side):
                result[..., first + at // self.count] += table[..., link] << (at % self.count * (self.bits + 1))
            first += -(-len(side) // self.count)
        return result


def pair_words(loads: PairLoads) -> PairWords:
    """Lay pair loads out for the kernels.

    Parameters
    ----------
    loads : PairLoads
        Exact.

    Returns
    -------
    PairWords
        Where dimension-ordered loads stand at the source's or the destination's other coordinates, or anywhere, the
        links of an axis share words, and what depends on one end only is the same for every permutation.

    Raises
    ------
    TooLargeError
        If the loads exceed 62 bits over their denominator, or would not fit in memory.
    """
    speeds = loads.topology.bandwidth
    scale = lcm(*(speed.numerator for speed in speeds)) if speeds else 1
    denominator = loads.denominator * scale
    worst = worst_case(loads).channel_load
    assert isinstance(worst, Fraction)
    bound = int(worst * denominator)  # no permutation loads a channel more: so wide the lanes must be
    if bound >= 2**61:
        raise TooLargeError(f"{loads.topology.spec}: loads over {denominator} exceed 64 bits; take a smaller network")
    lanes = _Lanes(max(1, bound.bit_length()))
    parts = None
    if isinstance(loads, SeparableLoads) and not speeds and loads.topology.all_terminals:
        parts = _from_axes(loads, lanes)
    if parts is None:
        parts = _from_channels(loads, [int(scale / speed) for speed in speeds], lanes)
    base, pair, word, value, groups = parts
    pair, word, value = _summed(pair, word, value)
    kept = np.flatnonzero(value)
    values, number = np.unique(value[kept], return_inverse=True)
    shift = 16 if max(len(values) + 1, len(base) + 1) < 2**16 else 32
    n = loads.terminals
    entries = _by_pairs(n, pair[kept], word[kept], number, len(values), len(base), shift)
    depth = max(len(group) for group in groups)
    idle = len(base)  # a word that stays zero
    return PairWords(
        denominator,
        n,
        np.append(base, 0),
        *entries,
        shift,
        np.append(values, 0).astype(np.int64),
        depth,
        np.array([k for group in groups for k in group + [idle] * (depth - len(group))], np.int64),
        lanes.bits,
        lanes.count,
    )


def _summed(pair: Array, word: Array, value: Array) -> tuple[Array, Array, Array]:
    """One entry for each word of a pair."""
    cells, index = np.unique(pair * (int(word.max(initial=0)) + 1) + word, return_inverse=True)
    total = np.zeros(len(cells), np.int64)
    np.add.at(total, index, value)
    return (*np.divmod(cells, int(word.max(initial=0)) + 1), total)


def _by_pairs(
    n: int, pair: Array, word: Array, number: Array, nothing: int, words: int, shift: int
) -> tuple[int, Array, Array, Array]:
    """The entries of each pair: the first 2 to 4, and the rest by fours, filled up with sums of nothing.

    Sources come in steps that lead through all rows and columns of a mesh, and fillings hit word after word, since a
    sum that waits for the sum before it into the same word costs time.
    """
    kind: Any = np.uint32 if shift == 16 else np.uint64
    step = next(s for s in range(isqrt(n) + 1, 2 * n + 2) if gcd(s, n) == 1)
    seat = np.empty(n, np.int64)
    seat[np.arange(n) * step % n] = np.arange(n)
    pair = seat[pair // n] * n + pair % n
    order = np.argsort(pair, kind="stable")
    pair, entry = pair[order], (word[order] | number[order] << shift).astype(kind)
    count = np.bincount(pair, minlength=n * n)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)  # among the entries of its pair

    def cost(width: int) -> float:  # in sums, as measured
        fours = -(-np.maximum(count - width, 0) // 4)
        return float(width + 1.5 * fours.any() + np.mean(4 * fours + 8 * (fours > 0)))

    width = min((2, 3, 4), key=cost)
    rest_ptr = np.concatenate([[0], np.cumsum(-(-np.maximum(count - width, 0) // 4))])
    first, rest = (
        (np.arange(size) % words | nothing << shift).astype(kind) for size in (n * n * width, 4 * int(rest_ptr[-1]))
    )
    early = place < width
    first[pair[early] * width + place[early]] = entry[early]
    rest[4 * rest_ptr[pair[~early]] + place[~early] - width] = entry[~early]
    return width, first, rest_ptr.astype(np.int32), rest


Parts = tuple[Array, Array, Array, Array, list[list[int]]]  # base, then pair, word and value of entries, then groups


def _from_axes(loads: SeparableLoads, lanes: _Lanes) -> Parts | None:
    """Words along axes; None where an intermediate on the minimal way spreads over several coordinates."""
    topology = loads.topology
    if any(position[0] == "Q" for groups in loads.groups for key in groups for position in key):
        return None
    n, radices, strides = topology.nodes, topology.radices, topology.strides
    require_memory(60.0 * n * n * len(radices), f"the pairs of {topology.spec}")
    source, destination = np.divmod(np.arange(n * n), n)
    at = [(source // stride % k, destination // stride % k) for stride, k in zip(strides, radices, strict=True)]
    blocks: dict[tuple[int, tuple[int, ...]], int] = {}  # (dimension, dimensions that index its words) -> first word
    sides = [_sides(along) for along in topology.axes]
    width = [lanes.words(each) for each in sides]
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
    return base, pair, word, value, groups_


def _sides(axis: Axis) -> list[list[int]]:
    """The links of an axis by direction."""
    if axis.kind == "clique":
        return [list(range(len(axis.links)))]
    ring = axis.kind == "ring"
    up = [e for e, (tail, head) in enumerate(axis.links) if (e % 2 == 0 if ring else head > tail)]
    return [up, [link for link in range(len(axis.links)) if link not in up]]


def _only_end(table: Array, positions: list[str]) -> int | None:
    """0 or 1 where a group depends on the source or on the destination alone, None where on both."""
    if "D" not in positions and np.array_equal(table, np.broadcast_to(table[:, :1], table.shape)):
        return 0
    if "S" not in positions and np.array_equal(table, np.broadcast_to(table[:1], table.shape)):
        return 1
    return None


def _from_channels(loads: PairLoads, factor: list[int], lanes: _Lanes) -> Parts:
    """Channels side by side in the order of their numbers."""
    n, channels = loads.terminals, loads.topology.channels
    words = -(-channels // lanes.count)
    pieces = []
    entries = 0
    for channel in range(channels):
        source, destination, weight = loads.weights(channel).spread()
        entries += len(weight)
        require_memory(60.0 * entries, f"the pair loads of {loads.topology.spec}")
        cell = (source.astype(np.int64) * n + destination) * words + channel // lanes.count
        shift = channel % lanes.count * (lanes.bits + 1)
        pieces.append((cell, (weight * (factor[channel] if factor else 1)).astype(np.int64) << shift))
    cells, value = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return np.zeros(words, np.int64), cells // words, cells % words, value, [[word] for word in range(words)]
