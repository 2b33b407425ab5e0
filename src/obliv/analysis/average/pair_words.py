"""Pair loads laid out for many permutations: the loads of several channels side by side in words of 64 bits."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import starts
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.analysis.average._kernels import PairEntries
from obliv.analysis.worst_case.exact import worst_load
from obliv.errors import TooLargeError
from obliv.loads.base import PairLoads
from obliv.loads.words import Lanes

__all__ = ["PairWords", "pair_words"]


class PairWords(NamedTuple):
    """Pair loads as the kernels take them, over `denominator`, and the exact worst load.

    Column i of the kernels' permutations holds the destination of terminal ``sources[i]``.
    """

    denominator: int
    terminals: int
    entries: PairEntries
    worst: Fraction
    sources: Array


def pair_words(loads: PairLoads, progress: Progress | None = None) -> PairWords:
    """Lay out pair loads for the kernels.

    Parameters
    ----------
    loads : PairLoads
        Exact.
    progress : callable, optional
        Called with what is being done and the share that is done.

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
    worst = worst_load(loads, progress)
    bound = int(worst * denominator)  # no permutation loads a channel more: so wide the lanes must be
    if bound >= 2**61:
        cause = "the bandwidths have too many digits" if speeds else "the probabilities have too large denominators"
        raise TooLargeError(
            f"{loads.topology.spec}: the largest channel load is a fraction over {denominator} whose numerator exceeds "
            f"61 bits, since {cause}; use simpler numbers"
        )
    lanes = Lanes(max(1, bound.bit_length()))
    words = loads.words(lanes, [int(scale / speed) for speed in speeds])
    base, groups = words.base, words.groups
    pair, word, value = _summed(words.pair, words.word, words.value)
    nonzero = np.flatnonzero(value)
    values, number = np.unique(value[nonzero], return_inverse=True)
    shift = 16 if max(len(values) + 1, len(base) + 1) < 2**16 else 32
    n = loads.terminals
    depth = max(len(group) for group in groups)
    idle = len(base)  # a word that stays zero
    packed = PairEntries(
        np.append(base, 0),
        *_by_pairs(n, pair[nonzero], word[nonzero], number, len(values), len(base), shift),
        shift,
        np.append(values, 0).astype(np.int64),
        depth,
        np.array([k for group in groups for k in group + [idle] * (depth - len(group))], np.int64),
        lanes.bits,
        lanes.count,
    )
    return PairWords(denominator, n, packed, worst, _sources(n))


def _sources(n: int) -> Array:
    """Return the terminals in steps that lead through all rows and columns of a mesh."""
    step = next(s for s in range(isqrt(n) + 1, 2 * n + 2) if gcd(s, n) == 1)
    return np.arange(n) * step % n


def _summed(pair: Array, word: Array, value: Array) -> tuple[Array, Array, Array]:
    """Return one entry for each word of a pair."""
    cells, index = np.unique(pair * (int(word.max(initial=0)) + 1) + word, return_inverse=True)
    total = np.zeros(len(cells), np.int64)
    np.add.at(total, index, value)
    return (*np.divmod(cells, int(word.max(initial=0)) + 1), total)


def _by_pairs(
    n: int, pair: Array, word: Array, number: Array, nothing: int, words: int, shift: int
) -> tuple[int, Array, Array, Array]:
    """Return the entries of each pair: the first 2 to 4, and the rest by fours, filled up with sums of nothing.

    Sources come in the order of :func:`_sources`, and fillings hit word after word, since a sum that waits for the sum
    before it into the same word costs time.
    """
    kind: Any = np.uint32 if shift == 16 else np.uint64
    seat = np.empty(n, np.int64)
    seat[_sources(n)] = np.arange(n)
    pair = seat[pair // n] * n + pair % n
    order = np.argsort(pair, kind="stable")
    pair, entry = pair[order], (word[order] | number[order] << shift).astype(kind)
    count = np.bincount(pair, minlength=n * n)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)  # among the entries of its pair

    def cost(width: int) -> float:  # in sums, as measured
        fours = -(-np.maximum(count - width, 0) // 4)
        return float(width + 1.5 * fours.any() + np.mean(4 * fours + 8 * (fours > 0)))

    width = min((2, 3, 4), key=cost)
    rest_ptr = starts(-(-np.maximum(count - width, 0) // 4))
    first, rest = (
        (np.arange(size) % words | nothing << shift).astype(kind) for size in (n * n * width, 4 * int(rest_ptr[-1]))
    )
    early = place < width
    first[pair[early] * width + place[early]] = entry[early]
    rest[4 * rest_ptr[pair[~early]] + place[~early] - width] = entry[~early]
    return width, first, rest_ptr.astype(np.int32), rest
