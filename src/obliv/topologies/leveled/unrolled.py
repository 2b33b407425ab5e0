"""Other networks unrolled step by step: fat trees up and down, de Bruijn and shuffle-exchange networks.

Rows are numbered 0 to R - 1 in each level, and node (level, row) is level·R + row unless said otherwise.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.checks import integers
from obliv.topologies.leveled.base import Leveled, by_formula
from obliv.topologies.leveled.families import equal_levels, in_blocks, row_count

__all__ = ["unrolled_debruijn", "unrolled_fattree", "unrolled_shuffle"]


_UNROLLED = "all its levels are the same physical links, so that packets on different levels meet on them"


@register_topology("unrolled-fattree", example="unrolled-fattree:2,5")
def unrolled_fattree(k: int, h: int) -> Leveled:
    """k-ary fat tree of `h` levels, unrolled into channels up and then channels down: every packet goes to the top.

    Parameters
    ----------
    k : int
        Arity, at least 2: ports up and ports down of every switch below the top.
    h : int
        Levels of switches, at least 1; there are k^h leaves.

    Returns
    -------
    Leveled
        Levels 0 and 2h are the leaves, level h the switches at the top, k^(h-1) to a level. Edge l·k^h + w·k + c is
        from leaf w·k + c to its switch w (l = 0), port c up of switch w of level l < h, or port c down of switch w of
        level l ≥ h. From switch level l to l + 1 a packet chooses digit l - 1 of the switch, on the way down the
        destination does.

    References
    ----------
    [PV97] F. Petrini and M. Vanneschi, "k-ary n-trees: high performance networks for massively parallel architectures",
    IPPS 1997.

    Examples
    --------
    >>> unrolled_fattree(2, 5)
    <Leveled unrolled-fattree:2,5: levels 0 to 10, 208 nodes, 320 edges>
    """
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
    """Binary de Bruijn graph of 2^k nodes, unrolled: in `k` steps a packet shifts in the bits of its destination.

    Parameters
    ----------
    k : int
        Bits of a node and steps, at least 1.

    Returns
    -------
    Leveled
        Edge (level·2^k + row)·2 + b leads to row (2·row mod 2^k) + b of the next level.

    Examples
    --------
    >>> unrolled_debruijn(5)
    <Leveled unrolled-debruijn:5: levels 0 to 5, 192 nodes, 320 edges>
    >>> unrolled_debruijn(5).faithful
    False
    """
    (k,) = integers("unrolled-debruijn", k=k)
    spec = f"unrolled-debruijn:{k}"
    rows = row_count(spec, 2, k)
    return by_formula(
        spec,
        (k,),
        ((k + 1) * rows, 2 * k * rows, k),
        partial(_debruijn, k),
        partial(equal_levels, k, rows),
        partial(in_blocks, 2 * rows),
        faithful=False,
        remark=_UNROLLED,
    )


@register_topology("unrolled-shuffle", example="unrolled-shuffle:5")
def unrolled_shuffle(k: int) -> Leveled:
    """Shuffle-exchange network of 2^k nodes, unrolled: exchange or stay, then rotate left, `k` times.

    Parameters
    ----------
    k : int
        Bits of a node, at least 1; there are 2k steps.

    Returns
    -------
    Leveled
        Round i has 3·2^k edges: i·3·2^k + row·2 + b leaves bit 0 of the row (b = 0) or flips it, and
        i·3·2^k + 2·2^k + row rotates the row's bits left by one.

    Examples
    --------
    >>> unrolled_shuffle(5)
    <Leveled unrolled-shuffle:5: levels 0 to 10, 352 nodes, 480 edges>
    """
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
