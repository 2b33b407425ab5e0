"""Leveled networks by name: butterflies, meshes, arrays, hypercubes; random matchings; networks unrolled step by step.

Rows are numbered 0 to R - 1 in each level, and node (level, row) is level·R + row unless said otherwise. What users may
rely on, how nodes and edges are numbered above all, is in docs/reference/bufferless.md.

References
----------
[Lei92] F. T. Leighton, Introduction to parallel algorithms and architectures, 1992, section 3.2.

[LM92] F. T. Leighton and B. M. Maggs, "Fast algorithms for routing around faults in multibutterflies and
randomly-wired splitter networks", IEEE Trans. Computers 41 (5), 1992.

[PV97] F. Petrini and M. Vanneschi, "k-ary n-trees: high performance networks for massively parallel architectures",
IPPS 1997.

[Upf92] E. Upfal, "An O(log N) deterministic packet-routing scheme", J. ACM 39 (1), 1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv.bufferless.leveled.base import FAITHFUL, Leveled, Levels, by_formula, require_numbers
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import integers

_CLASS = "packets in other directions are separate classes, routed one after another"


@register_topology("butterfly", example="butterfly:5")
def butterfly(k: int) -> Leveled:
    """Butterfly of 2^k inputs and k levels of edges; one path joins an input and an output."""
    (k,) = integers("butterfly", k=k)
    spec = f"butterfly:{k}"
    return _in_rows(spec, (k,), row_count(spec, 2, k), k, 2, joins=partial(_butterfly, k))


@register_topology("leveled-mesh", example="leveled-mesh:16x16")
def leveled_mesh(*radices: int, orientation: str = "") -> Leveled:
    """Mesh of two or more dimensions whose packets move in one direction in each: up, or in another orientation."""
    radices = integers("leveled-mesh", *radices)
    plain = orientation in ("", "+" * len(radices))
    spec = f"leveled-mesh:{'x'.join(map(str, radices))}" + ("" if plain else f",orientation={orientation}")
    if len(radices) < 2:
        raise TopologyError(
            f"{spec}: needs two numbers or more, rows x columns, as in leveled-mesh:16x16; array:64 has one dimension"
        )
    nodes = prod(radices)
    if min(radices) < 1 or nodes < 2:
        raise TopologyError(f"{spec}: needs at least one row and one column, and two nodes")
    signs = tuple({"+": 1, "-": -1}.get(sign, 0) for sign in orientation or "+" * len(radices))
    if 0 in signs or len(signs) != len(radices):
        example = ("+-" * len(radices))[: len(radices)]
        raise TopologyError(f"{spec}: the orientation must be a sign for each dimension, as in orientation={example}")
    return _grid(spec, radices, signs)


@register_topology("array", example="array:64")
def array(n: int, orientation: str = "+") -> Leveled:
    """Linear array of `n` nodes whose packets move only to the right (orientation +) or only to the left."""
    (n,) = integers("array", n=n)
    spec = f"array:{n}" + ("" if orientation == "+" else f",orientation={orientation}")
    if n < 2:
        raise TopologyError(f"{spec}: needs at least two nodes")
    if orientation not in ("+", "-"):
        raise TopologyError(f"{spec}: the orientation must be + or -")
    return _grid(spec, (n,), (1 if orientation == "+" else -1,))


def _grid(spec: str, radices: tuple[int, ...], signs: tuple[int, ...]) -> Leveled:
    nodes = prod(radices)
    return by_formula(
        spec,
        (*radices, *signs),
        (nodes, sum(nodes // radix * (radix - 1) for radix in radices), sum(radices) - len(radices)),
        partial(_mesh, radices, signs),
        partial(_mesh_levels, radices, signs),
        partial(_mesh_rises, radices, signs),
        remark=f"{FAITHFUL}; {_CLASS}",
    )


@register_topology("leveled-hypercube", example="leveled-hypercube:6")
def leveled_hypercube(k: int) -> Leveled:
    """Hypercube of 2^k nodes whose packets only set bits; the level of a node is its number of set bits."""
    (k,) = integers("leveled-hypercube", k=k)
    spec = f"leveled-hypercube:{k}"
    nodes = row_count(spec, 2, k)
    return by_formula(
        spec,
        (k,),
        (nodes, k * nodes // 2, k),
        partial(_hypercube, k),
        partial(_hypercube_levels, k),
        partial(_hypercube_rises, k),
        remark=f"{FAITHFUL}; packets that also clear bits are left out",
    )


def row_count(spec: str, base: int, digits: int) -> int:
    """Return the number of rows if they can be numbered."""
    if digits < 1:
        raise TopologyError(f"{spec}: needs at least one level of edges")
    if digits * (base.bit_length() - 1) >= 31:
        raise TopologyError(
            f"{spec}: {base}^{digits} rows are too many; fewer than 2^31 nodes and edges can be numbered"
        )
    return int(base**digits)


def equal_levels(depth: int, rows: int) -> Array:
    """Return the level of every node where all levels have equally many."""
    return np.repeat(np.arange(depth + 1, dtype=np.int32), rows)


def in_blocks(size: int, edge: Array) -> Array:
    """Return the levels at which edges begin where `size` edges begin at each."""
    return edge // size


def _in_rows(spec: str, shape: tuple[int, ...], rows: int, depth: int, out: int, **more: Any) -> Leveled:
    """Return a network of `rows` nodes on every level, each with `out` edges up; `joins` or `ends` say where to."""
    size = ((depth + 1) * rows, depth * rows * out, depth)
    levels, rises = partial(equal_levels, depth, rows), partial(in_blocks, rows * out)
    if "joins" in more:
        return by_formula(spec, shape, size, more.pop("joins"), levels, rises, **more)
    require_numbers(spec, *size[:2])
    return Leveled(spec, Levels(*size, more["ends"], levels, rises), spec.partition(":")[0], shape)


def _butterfly(k: int, edge: Array) -> tuple[Array, Array]:
    rows = 1 << k
    low = edge >> 1
    level = low >> k
    return low, (low ^ ((edge & 1) << level)) + rows


def _mesh(radices: Sequence[int], signs: Sequence[int], edge: Array) -> tuple[Array, Array]:
    first, second = np.empty_like(edge), np.empty_like(edge)
    begin, nodes = 0, prod(radices)
    stride = nodes
    for radix, sign in zip(radices, signs, strict=True):
        stride //= radix
        count = nodes // radix * (radix - 1)
        chosen = (edge >= begin) & (edge < begin + count)
        number = edge[chosen] - begin
        node = number // ((radix - 1) * stride or 1) * radix * stride + number % ((radix - 1) * stride or 1)
        first[chosen], second[chosen] = (node, node + stride) if sign > 0 else (node + stride, node)
        begin += count
    return first, second


def _mesh_levels(radices: Sequence[int], signs: Sequence[int]) -> Array:
    levels = np.zeros(1, np.int32)
    for radix, sign in zip(radices, signs, strict=True):
        levels = (levels[:, None] + np.arange(radix, dtype=np.int32)[::sign]).ravel()
    return levels


def _mesh_rises(radices: Sequence[int], signs: Sequence[int], edge: Array) -> Array:
    node = _mesh(radices, signs, edge)[0]
    rises = np.zeros_like(node)
    for radix, sign in zip(reversed(radices), reversed(signs), strict=True):
        node, at = np.divmod(node, radix)
        rises += at if sign > 0 else radix - 1 - at
    return rises


def _hypercube(k: int, edge: Array) -> tuple[Array, Array]:
    half = 1 << (k - 1)
    bit, rest = edge // half, edge % half
    below = (1 << bit) - 1
    low = (rest & ~below) << 1 | (rest & below)
    return low, low | 1 << bit


def _hypercube_levels(k: int) -> Array:
    levels = np.zeros(1, np.int32)
    for _ in range(k):
        levels = np.concatenate([levels, levels + 1])
    return levels


def _hypercube_rises(k: int, edge: Array) -> Array:
    low = _hypercube(k, edge)[0]
    rises: Array = sum((low >> bit & 1 for bit in range(k)), np.zeros_like(low))
    return rises


# Leveled networks drawn at random: matchings between neighboring levels, and multibutterflies


@register_topology("random-leveled", example="random-leveled:L=60,W=16,d=2,seed=1")
def random_leveled(L: int, W: int, d: int = 2, seed: int = 0) -> Leveled:
    """Random leveled network: levels 0 to L of W nodes each, `d` random perfect matchings between adjacent levels."""
    L, W, d, seed = integers("random-leveled", L=L, W=W, d=d, seed=seed)
    spec = f"random-leveled:L={L},W={W},d={d},seed={seed}"
    _check(spec, seed, L=L, W=W, d=d)
    return _matched(spec, (L, W, d, seed))


@register_topology("deep", example="deep:L=200,W=64,S=32,seed=1")
def deep(L: int, W: int, S: int, seed: int = 0) -> Leveled:
    """Deep family: random-leveled with d = 2, on which all nodes of the first S levels send to the last level."""
    L, W, S, seed = integers("deep", L=L, W=W, S=S, seed=seed)
    spec = f"deep:L={L},W={W},S={S},seed={seed}"
    _check(spec, seed, L=L, W=W, S=S)
    if S > L:
        raise TopologyError(f"{spec}: S levels send, S can be {L} at most")
    return _matched(spec, (L, W, 2, seed, S))


@register_topology("multibutterfly", example="multibutterfly:5,d=2,seed=1")
def multibutterfly(k: int, d: int = 2, seed: int = 0) -> Leveled:
    """Multibutterfly of 2^k inputs: every node has `d` random edges into each half of its block."""
    k, d, seed = integers("multibutterfly", k=k, d=d, seed=seed)
    spec = f"multibutterfly:{k},d={d},seed={seed}"
    rows = row_count(spec, 2, k)
    _check(spec, seed, d=d)
    return _in_rows(spec, (k, d, seed), rows, k, 2 * d, ends=partial(_splitters, k, d, seed))


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
    return _in_rows(spec, shape, W, L, d, ends=partial(_matching_ends, L, W, d, seed))


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


# Other networks unrolled step by step: fat trees up and down, de Bruijn and shuffle-exchange networks


_UNROLLED = "all its levels are the same physical links, so that packets on different levels meet on them"


@register_topology("unrolled-fattree", example="unrolled-fattree:2,5")
def unrolled_fattree(k: int, h: int) -> Leveled:
    """k-ary fat tree of `h` levels, unrolled into channels up and then channels down: every packet goes to the top."""
    k, h = integers("unrolled-fattree", k=k, h=h)
    spec = f"unrolled-fattree:{k},{h}"
    if k < 2:
        raise TopologyError(f"{spec}: needs an arity of at least 2")
    leaves = row_count(spec, k, h)
    return by_formula(
        spec,
        (k, h),
        (2 * leaves + (2 * h - 1) * (leaves // k), 2 * h * leaves, 2 * h),
        partial(_fattree, k, h),
        partial(_fattree_levels, k, h),
        partial(in_blocks, leaves),
        remark="only where up and down are separate channels: a move back on an edge up is the physical link down",
    )


@register_topology("unrolled-debruijn", example="unrolled-debruijn:5")
def unrolled_debruijn(k: int) -> Leveled:
    """Binary de Bruijn graph of 2^k nodes, unrolled: in `k` steps a packet shifts in the bits of its destination."""
    (k,) = integers("unrolled-debruijn", k=k)
    spec = f"unrolled-debruijn:{k}"
    rows, joins = row_count(spec, 2, k), partial(_debruijn, k)
    return _in_rows(spec, (k,), rows, k, 2, joins=joins, faithful=False, remark=_UNROLLED)


@register_topology("unrolled-shuffle", example="unrolled-shuffle:5")
def unrolled_shuffle(k: int) -> Leveled:
    """Shuffle-exchange network of 2^k nodes, unrolled: exchange or stay, then rotate left, `k` times."""
    (k,) = integers("unrolled-shuffle", k=k)
    spec = f"unrolled-shuffle:{k}"
    rows = row_count(spec, 2, k)
    return by_formula(
        spec,
        (k,),
        ((2 * k + 1) * rows, 3 * k * rows, 2 * k),
        partial(_shuffle, k),
        partial(equal_levels, 2 * k, rows),
        partial(_shuffle_rises, rows),
        faithful=False,
        remark=f"{_UNROLLED}; and staying at a node requires a buffer",
    )


def _debruijn(k: int, edge: Array) -> tuple[Array, Array]:
    rows = 1 << k
    low = edge >> 1
    level = low >> k
    return low, (level + 1) * rows + (((low & (rows - 1)) << 1 & (rows - 1)) | (edge & 1))


def _shuffle(k: int, edge: Array) -> tuple[Array, Array]:
    rows = 1 << k
    turn, rest = edge // (3 * rows), edge % (3 * rows)
    choose = rest < 2 * rows
    row = np.where(choose, rest >> 1, rest - 2 * rows)
    to = np.where(choose, row ^ (rest & 1), (row << 1 & (rows - 1)) | row >> (k - 1))
    level = 2 * turn + ~choose
    return level * rows + row, (level + 1) * rows + to


def _shuffle_rises(rows: int, edge: Array) -> Array:
    return 2 * (edge // (3 * rows)) + (edge % (3 * rows) >= 2 * rows)


def _fattree(k: int, h: int, edge: Array) -> tuple[Array, Array]:
    leaves = k**h
    level, place = edge // leaves, edge % leaves
    switch, port = place // k, place % k
    digit = np.where(level < h, level - 1, 2 * h - 2 - level)  # the digit of the switch that this edge changes
    weight = (k ** np.arange(h + 1)).astype(edge.dtype)[digit.clip(0)]
    other = switch + (port - switch // weight % k) * weight
    before = np.where(level == 0, place, _switch(k, h, level) + switch)
    after = np.where(level == 0, switch, np.where(level == 2 * h - 1, place, other))
    return before, _switch(k, h, level + 1) + after


def _switch(k: int, h: int, level: Array) -> Array:
    """Return the first node of every level."""
    first: Array = k**h + (level - 1) * k ** (h - 1)
    return first


def _fattree_levels(k: int, h: int) -> Array:
    widths = [k**h, *[k ** (h - 1)] * (2 * h - 1), k**h]
    return np.repeat(np.arange(2 * h + 1, dtype=np.int32), widths)
