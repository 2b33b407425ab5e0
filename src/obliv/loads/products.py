"""Weights of a channel as sums of products of one-dimensional tables."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.matching.weights import Weights, from_entries, members_of
from obliv.topologies.cartesian import Cartesian

if TYPE_CHECKING:
    pass

__all__ = ["combined", "merged_tables"]


class _Merged(NamedTuple):
    """The tables of one dimension between classes of coordinates that are alike.

    `row_of` and `column_of` are the classes of coordinates; in the cells (`row`, `column`) some table is not zero.
    """

    tables: Array
    row_of: Array
    column_of: Array
    row: Array
    column: Array


def merged_tables(tables: list[list[Array]], nodes: int) -> list[_Merged]:
    """Return the tables of every dimension between classes of coordinates, or single ones where few are alike."""
    stacks = [np.stack(group) for group in tables]
    classes = [(_alike(stack.transpose(1, 0, 2)), _alike(stack.transpose(2, 0, 1))) for stack in stacks]
    if prod(len(r[0]) * len(c[0]) for r, c in classes) > nodes**2 // 16:
        classes = [((np.arange(stack.shape[1]), np.arange(stack.shape[1])),) * 2 for stack in stacks]
    sides = []
    for stack, ((rows, row_of), (columns, column_of)) in zip(stacks, classes, strict=True):
        least = stack[:, rows][:, :, columns]
        sides.append(_Merged(least, row_of, column_of, *np.nonzero((least != 0).any(axis=0))))
    return sides


def combined(topology: Cartesian, tables: list[list[Array]]) -> Weights:
    """Return the sum over groups of the products over dimensions, between classes of terminals that are alike."""
    sides = merged_tables(tables, topology.nodes)
    size = prod(len(side.row) for side in sides)
    require_memory(40.0 * size, f"the loads of one channel of {topology.spec}")
    row_class, row_size = np.zeros(topology.nodes, np.int64), 1
    col_class, col_size = np.zeros(topology.nodes, np.int64), 1
    row = col = np.zeros(1, np.int64)
    groups, wide = len(tables[0]), tables[0][0].dtype == object
    weight: Array = np.ones((groups, 1), tables[0][0].dtype)
    number: Array = np.zeros(1, np.int64)  # of the value of each entry, where values are Python integers
    numbers = np.arange(topology.nodes)
    for side, stride, radix in zip(sides, topology.strides, topology.radices, strict=True):
        place = numbers // stride % radix
        row_class += side.row_of[place] * row_size
        col_class += side.column_of[place] * col_size
        row = (row[None, :] + side.row[:, None] * row_size).ravel()
        col = (col[None, :] + side.column[:, None] * col_size).ravel()
        row_size *= side.tables.shape[1]
        col_size *= side.tables.shape[2]
        last = stride * radix == topology.nodes
        cells = side.tables[:, side.row, side.column]
        if wide:
            weight, row_of = _distinct(weight)
            cells, own = _distinct(cells)
            number = (row_of[number] + own[:, None] * weight.shape[1]).ravel()
        weight = (
            _products_summed(weight, cells) if last else (cells[:, :, None] * weight[:, None, :]).reshape(groups, -1)
        )
    used = np.flatnonzero((weight != 0)[number] if wide else weight)
    weights = from_entries(row[used], col[used], number[used] if wide else weight[used], weight if wide else None)
    members = Weights(
        weights.ptr,
        weights.col,
        weights.weight,
        members_of(row_class, weights.row_members[1]),
        members_of(col_class, weights.column_members[1]),
        weights.distinct,
    )
    if topology.all_terminals:
        return members
    index = topology.number_of
    source, destination, numerators = members.spread()
    inside = (index[source] >= 0) & (index[destination] >= 0)
    return from_entries(index[source[inside]], index[destination[inside]], numerators[inside])


def _distinct(table: Array) -> tuple[Array, Array]:
    """Return the different columns of a table, and the number of each column among them."""
    numbers: dict[tuple[Any, ...], int] = {}
    number = [numbers.setdefault(column, len(numbers)) for column in zip(*table.tolist(), strict=True)]
    columns: Array = np.array(list(numbers), object).T
    return columns, np.array(number)


def _products_summed(one: Array, two: Array) -> Array:
    """Return Σ over groups of the outer products, flattened; the new dimension runs slowest."""
    total = two[0][:, None] * one[0][None, :]
    for a, b in zip(one[1:], two[1:], strict=True):
        total += b[:, None] * a[None, :]
    flat: Array = total.ravel()
    return flat


def _alike(tables: Array) -> tuple[Array, Array]:
    """Return representatives of equal coordinates, and the class of each coordinate."""
    numbers: dict[Any, int] = {}
    firsts: list[int] = []
    classes = []
    for at, table in enumerate(tables):
        key = tuple(table.ravel().tolist()) if table.dtype == object else table.tobytes()
        if key not in numbers:
            numbers[key] = len(firsts)
            firsts.append(at)
        classes.append(numbers[key])
    return np.array(firsts), np.array(classes)
