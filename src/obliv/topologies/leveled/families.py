"""Leveled networks whose edges are formulas: butterflies, meshes, arrays and hypercubes.

Rows are numbered 0 to R - 1 in each level, and node (level, row) is level·R + row unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.checks import integers
from obliv.topologies.leveled.base import FAITHFUL, Leveled, by_formula

__all__ = ["array", "butterfly", "equal_levels", "in_blocks", "leveled_hypercube", "leveled_mesh", "row_count"]


_CLASS = "packets in other directions are separate classes, routed one after another"


@register_topology("butterfly", example="butterfly:5")
def butterfly(k: int) -> Leveled:
    """Butterfly of 2^k inputs and k levels of edges; one path joins an input and an output.

    Parameters
    ----------
    k : int
        Levels of edges, at least 1.

    Returns
    -------
    Leveled
        Edge (level·2^k + row)·2 + b leads to the same row where b = 0, to the one that differs in bit `level` where
        b = 1.

    References
    ----------
    [Lei92] F. T. Leighton, Introduction to parallel algorithms and architectures, 1992, section 3.2.

    Examples
    --------
    >>> butterfly(5)
    <Leveled butterfly:5: levels 0 to 5, 192 nodes, 320 edges>
    >>> low, high = butterfly(3).edge_ends
    >>> int(low[17]), int(high[17])  # row 0 of level 1, bit 1 flipped
    (8, 18)
    """
    (k,) = integers("butterfly", k=k)
    spec = f"butterfly:{k}"
    rows = row_count(spec, 2, k)
    return by_formula(
        spec,
        (k,),
        ((k + 1) * rows, 2 * k * rows, k),
        partial(_butterfly, k),
        partial(equal_levels, k, rows),
        partial(in_blocks, 2 * rows),
    )


@register_topology("leveled-mesh", example="leveled-mesh:16x16")
def leveled_mesh(*radices: int, orientation: str = "") -> Leveled:
    """Mesh of two or more dimensions whose packets move in one direction in each: up, or in another orientation.

    Parameters
    ----------
    *radices : int
        Nodes in each dimension; of two dimensions, rows and columns.
    orientation : str
        A sign for each dimension, as ``+-``; default ``+`` in all.

    Returns
    -------
    Leveled
        Nodes are numbered with the last coordinate first: of n × m nodes, x·m + y is in row x and column y. The level
        of a node is the sum of its coordinates, with n - 1 - x in the place of x in a dimension of sign ``-``. Edges
        are numbered dimension by dimension, whatever the orientation: the one between rows x and x + 1 of column y is
        x·m + y, the one between columns y and y + 1 of row x is (n - 1)·m + x·(m - 1) + y.

    Examples
    --------
    >>> leveled_mesh(3, 4)
    <Leveled leveled-mesh:3x4: levels 0 to 5, 12 nodes, 17 edges>
    >>> leveled_mesh(2, 2, orientation="+-").node_level.tolist()
    [1, 0, 2, 1]
    >>> leveled_mesh(4, 4, 4)
    <Leveled leveled-mesh:4x4x4: levels 0 to 9, 64 nodes, 144 edges>
    """
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
    return by_formula(
        spec,
        (*radices, *signs),
        (nodes, sum(nodes // radix * (radix - 1) for radix in radices), sum(radices) - len(radices)),
        partial(_mesh, radices, signs),
        partial(_mesh_levels, radices, signs),
        partial(_mesh_rises, radices, signs),
        remark=f"{FAITHFUL}; {_CLASS}",
    )


@register_topology("array", example="array:64")
def array(n: int, orientation: str = "+") -> Leveled:
    """Linear array of `n` nodes whose packets move only to the right (orientation +) or only to the left.

    Parameters
    ----------
    n : int
        Nodes, at least 2.
    orientation : str
        ``+`` (default) or ``-``.

    Returns
    -------
    Leveled
        Node i is on level i, or n - 1 - i; edge i joins the nodes i and i + 1.

    Examples
    --------
    >>> array(64)
    <Leveled array:64: levels 0 to 63, 64 nodes, 63 edges>
    """
    (n,) = integers("array", n=n)
    spec = f"array:{n}" + ("" if orientation == "+" else f",orientation={orientation}")
    if n < 2:
        raise TopologyError(f"{spec}: needs at least two nodes")
    if orientation not in ("+", "-"):
        raise TopologyError(f"{spec}: the orientation must be + or -")
    sign = 1 if orientation == "+" else -1
    return by_formula(
        spec,
        (n, sign),
        (n, n - 1, n - 1),
        partial(_mesh, (n,), (sign,)),
        partial(_mesh_levels, (n,), (sign,)),
        partial(_mesh_rises, (n,), (sign,)),
        remark=f"{FAITHFUL}; {_CLASS}",
    )


@register_topology("leveled-hypercube", example="leveled-hypercube:6")
def leveled_hypercube(k: int) -> Leveled:
    """Hypercube of 2^k nodes whose packets only set bits; the level of a node is its number of set bits.

    Parameters
    ----------
    k : int
        Dimensions, at least 1.

    Returns
    -------
    Leveled
        Edge b·2^(k-1) + r sets bit b; r is what the other bits make when bit b is taken out.

    Examples
    --------
    >>> leveled_hypercube(6)
    <Leveled leveled-hypercube:6: levels 0 to 6, 64 nodes, 192 edges>
    """
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
