"""Leveled networks drawn at random: matchings between neighboring levels, and multibutterflies."""

from __future__ import annotations

from functools import partial

import numpy as np

from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.checks import integers
from obliv.topologies.leveled.base import Leveled, Levels, require_numbers
from obliv.topologies.leveled.families import equal_levels, in_blocks, row_count

__all__ = ["deep", "matchings", "multibutterfly", "random_leveled"]


@register_topology("random-leveled", example="random-leveled:L=60,W=16,d=2,seed=1")
def random_leveled(L: int, W: int, d: int = 2, seed: int = 0) -> Leveled:
    """Random leveled network: levels 0 to L of W nodes each, `d` random perfect matchings between adjacent levels.

    Parameters
    ----------
    L, W, d : int
        The last level, the nodes of a level, the edges up from a node; each at least 1.
    seed : int
        Of numpy's default generator, from which the matchings are drawn level by level.

    Returns
    -------
    Leveled
        Edge (level·W + row)·d + b belongs to matching b of its level; there may be parallel edges.

    Examples
    --------
    >>> random_leveled(60, 16, d=2, seed=1)
    <Leveled random-leveled:L=60,W=16,d=2,seed=1: levels 0 to 60, 976 nodes, 1920 edges>
    """
    L, W, d, seed = integers("random-leveled", L=L, W=W, d=d, seed=seed)
    spec = f"random-leveled:L={L},W={W},d={d},seed={seed}"
    _check(spec, seed, L=L, W=W, d=d)
    return _matched(spec, (L, W, d, seed))


@register_topology("deep", example="deep:L=200,W=64,S=32,seed=1")
def deep(L: int, W: int, S: int, seed: int = 0) -> Leveled:
    """Deep family: random-leveled with d = 2, on which all nodes of the first S levels send to the last level.

    Parameters
    ----------
    L, W : int
        The last level and the nodes of a level, each at least 1.
    S : int
        Levels whose nodes send, from 1 to L; congestion comes to about S, and almost all packets conflict.
    seed : int
        Of numpy's default generator, from which the matchings are drawn level by level.

    Returns
    -------
    Leveled
        Edges as in random-leveled.

    Examples
    --------
    >>> deep(200, 64, 32, seed=1)
    <Leveled deep:L=200,W=64,S=32,seed=1: levels 0 to 200, 12864 nodes, 25600 edges>
    """
    L, W, S, seed = integers("deep", L=L, W=W, S=S, seed=seed)
    spec = f"deep:L={L},W={W},S={S},seed={seed}"
    _check(spec, seed, L=L, W=W, S=S)
    if S > L:
        raise TopologyError(f"{spec}: S levels send, S can be {L} at most")
    return _matched(spec, (L, W, 2, seed, S))


@register_topology("multibutterfly", example="multibutterfly:5,d=2,seed=1")
def multibutterfly(k: int, d: int = 2, seed: int = 0) -> Leveled:
    """Multibutterfly of 2^k inputs: every node has `d` random edges into each half of its block.

    Parameters
    ----------
    k : int
        Levels of edges, at least 1.
    d : int
        Edges from a node into each half, at least 1.
    seed : int
        Of numpy's default generator, from which the edges are drawn level by level, block by block, half by half.

    Returns
    -------
    Leveled
        At level l the rows form blocks of 2^(k-l), halved by bit k-1-l of the row. Edge ((level·2^k + row)·2 + half)·d
        + i leads into that half; to every node lead 2d edges.

    References
    ----------
    [Upf92] E. Upfal, "An O(log N) deterministic packet-routing scheme", J. ACM 39 (1), 1992.

    [LM92] F. T. Leighton and B. M. Maggs, "Fast algorithms for routing around faults in multibutterflies and
    randomly-wired splitter networks", IEEE Trans. Computers 41 (5), 1992.

    Examples
    --------
    >>> multibutterfly(5, d=2, seed=1)
    <Leveled multibutterfly:5,d=2,seed=1: levels 0 to 5, 192 nodes, 640 edges>
    """
    k, d, seed = integers("multibutterfly", k=k, d=d, seed=seed)
    spec = f"multibutterfly:{k},d={d},seed={seed}"
    rows = row_count(spec, 2, k)
    _check(spec, seed, d=d)
    require_numbers(spec, (k + 1) * rows, 2 * d * k * rows)
    levels = Levels(
        (k + 1) * rows,
        2 * d * k * rows,
        k,
        partial(_splitters, k, d, seed),
        partial(equal_levels, k, rows),
        partial(in_blocks, 2 * d * rows),
    )
    return Leveled(spec, levels, "multibutterfly", (k, d, seed))


def matchings(L: int, W: int, d: int, rng: np.random.Generator) -> Array:
    """Return the row in the next level of every edge, shape (L, W, d): permutations drawn level by level."""
    to = np.empty((L, W, d), np.int32)
    for level in range(L):
        for b in range(d):
            to[level, :, b] = rng.permutation(W)
    return to


def _check(spec: str, seed: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise TopologyError(f"{spec}: {name} must be at least 1")
    if seed < 0:
        raise TopologyError(f"{spec}: the seed must not be negative")


def _matched(spec: str, shape: tuple[int, ...]) -> Leveled:
    L, W, d, seed = shape[:4]
    require_numbers(spec, (L + 1) * W, L * W * d)
    levels = Levels(
        (L + 1) * W,
        L * W * d,
        L,
        partial(_matching_ends, L, W, d, seed),
        partial(equal_levels, L, W),
        partial(in_blocks, W * d),
    )
    return Leveled(spec, levels, spec.partition(":")[0], shape)


def _matching_ends(L: int, W: int, d: int, seed: int) -> tuple[Array, Array]:
    to = matchings(L, W, d, np.random.default_rng(seed))
    to += (np.arange(1, L + 1, dtype=np.int32) * W)[:, None, None]
    return np.repeat(np.arange(L * W, dtype=np.int32), d), to.ravel()


def _splitters(k: int, d: int, seed: int) -> tuple[Array, Array]:
    """Assign each half's nodes to a shuffle of the block's nodes, two to each, d times."""
    rng = np.random.default_rng(seed)
    rows = 1 << k
    high = np.empty((k, rows, 2, d), np.int32)
    for level in range(k):
        block = rows >> level
        half = block // 2
        for first in range(0, rows, block):
            for side in range(2):
                to = (level + 1) * rows + first + side * half
                for i in range(d):
                    high[level, first : first + block, side, i] = to + rng.permutation(block) % half
    return np.repeat(np.arange(k * rows, dtype=np.int32), 2 * d), high.ravel()
