"""Transport between blocks of rows and columns, most of which have one weight throughout: solved by way of hubs.

The rows of a block that ship to another block at one weight throughout can send this by way of a hub, and its columns
can receive it by way of a hub: one entry stands for the whole block.  A hub takes part as a row and as a column; what
does not go through it is shipped from its row to its column, at a weight beyond all others, which is taken off again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.matching.solve import maximum_weight
from obliv.matching.weights import from_entries

__all__ = ["BlockMatching", "Blocks", "gains", "maximum_weight_of_blocks"]


class Blocks(NamedTuple):
    """Weights in blocks of equal shape: row (y, i) and column (z, j) have the weight ``values[kind[y, z], i, j]``.

    Attributes
    ----------
    kind : integer array, shape (Y, Z)
    values : integer array, shape (kinds, P, Q)
        Not negative; Python integers where 64 bits do not hold them.
    supply, demand : int64 arrays, shapes (Y, P) and (Z, Q)
        What rows may ship and columns take.
    """

    kind: Array
    values: Array
    supply: Array
    demand: Array

    def uniform(self) -> Array:
        """Return for every kind whether its block has one weight throughout."""
        same: Array = (self.values == self.values[:, :1, :1]).all(axis=(1, 2))
        return same

    def entries(self) -> int:
        """Return how many entries the transport by way of hubs has, nearly."""
        return self.kind.size + int((~self.uniform())[self.kind].sum()) * int(self.values[0].size)


@dataclass(frozen=True, eq=False)
class BlockMatching:
    """An optimal shipment between blocks with the prices of the columns that prove it.

    `prices` has the shape (Z, Q).  `flow` returns what is shipped between single rows, y * P + i, and columns,
    z * Q + j.
    """

    value: int
    prices: Array
    flow: Callable[[], tuple[Array, Array, Array]]


def gains(blocks: Blocks, prices: Array) -> Array:
    """Return what a unit of each row gains at most at some prices of the columns, nothing if it is not shipped.

    Both have the shapes of the supply and the demand.  With any prices that are not negative, the sum of what all rows
    gain and of all prices is a bound of the largest total weight.
    """
    kind, values, _, _ = blocks
    uniform = blocks.uniform()
    least: Array = prices.min(axis=1)
    whole = np.where(uniform, values[:, 0, 0], 0)[kind] - least  # where nothing is gained by 0 either
    gain: Array = np.repeat(whole.max(axis=1, initial=0)[:, None], values.shape[1], axis=1)
    y, z = np.nonzero(~uniform[kind])
    if len(y):
        single = (values[kind[y, z]] - prices[z][:, None, :]).max(axis=2)
        first = np.flatnonzero(np.diff(y, prepend=-1))
        gain[y[first]] = np.maximum(gain[y[first]], np.maximum.reduceat(single, first, axis=0))
    return gain


def maximum_weight_of_blocks(blocks: Blocks) -> BlockMatching:
    """Return a shipment of largest total weight, as :func:`~obliv.matching.solve.maximum_weight` does.

    Examples
    --------
    >>> import numpy as np
    >>> ones = np.ones((1, 2), np.int64)
    >>> values = np.array([[[2, 2], [2, 2]], [[1, 3], [0, 0]]])
    >>> blocks = Blocks(np.array([[0, 1]]), values, ones, np.ones((2, 2), np.int64))
    >>> maximum_weight_of_blocks(blocks).value
    5
    """
    kind, values, supply, demand = blocks
    (many, high), (wide_many, wide) = supply.shape, demand.shape
    uniform = blocks.uniform()
    whole = uniform[kind] & (values[:, 0, 0] != 0)[kind]
    single = ~uniform[kind]
    beyond = int(max(values.ravel().tolist(), default=0)) + 1
    # numbers: rows of blocks, hubs of rows, hubs of columns; columns likewise
    sent, taken = whole.any(axis=1), whole.any(axis=0)  # by way of a hub
    row_apart, col_apart = single.any(axis=1), single.any(axis=0)
    out, into = np.flatnonzero(sent & row_apart), np.flatnonzero(taken & col_apart)
    row_hub, col_hub = many * high + np.arange(many), wide_many * wide + many + np.arange(wide_many)
    row_side, col_side = many * high + many + np.arange(wide_many), wide_many * wide + np.arange(many)
    totals = supply.sum(axis=1), demand.sum(axis=1)
    ships = np.concatenate([np.where(row_apart.reshape(-1, 1), supply, 0).ravel(), totals[0] * sent, totals[1]])
    takes = np.concatenate([np.where(col_apart.reshape(-1, 1), demand, 0).ravel(), totals[0], totals[1] * taken])
    a, b = np.nonzero(whole)
    c, d = np.nonzero(single)
    rows = [
        (c[:, None, None] * high + np.arange(high)[:, None] + np.zeros(wide, np.int64)).ravel(),
        row_hub[a],
        (out[:, None] * high + np.arange(high)).ravel(),
        row_hub[out],
        np.repeat(row_side[into], wide),
        row_side[into],
    ]
    columns = [
        (d[:, None, None] * wide + np.zeros((high, 1), np.int64) + np.arange(wide)).ravel(),
        col_hub[b],
        np.repeat(col_side[out], high),
        col_side[out],
        (into[:, None] * wide + np.arange(wide)).ravel(),
        col_hub[into],
    ]
    number = np.concatenate(
        [
            (kind[c, d][:, None] * (high * wide) + np.arange(high * wide)).ravel(),
            kind[a, b] * (high * wide),
            np.full(sum(map(len, rows[2:])), values.size),
        ]
    )
    different: Array = np.append(values.ravel(), np.array([beyond], values.dtype))
    used = np.flatnonzero((different != 0)[number])
    row, column, number = np.concatenate(rows)[used], np.concatenate(columns)[used], number[used]
    if values.dtype == object:
        weights = from_entries(row, column, number, different)
    else:
        weights = from_entries(row, column, different[number])
    row_ids, col_ids = weights.row_members[1], weights.column_members[1]
    matching = maximum_weight(weights, ships[row_ids], takes[col_ids])
    price: Array = np.zeros(len(takes), matching.v.dtype)
    price[col_ids] = matching.v
    # whatever goes through a hub of columns pays its price
    prices = np.maximum(price[: wide_many * wide].reshape(wide_many, wide), price[col_hub][:, None])
    shipped = np.flatnonzero(matching.flow)
    flow = row_ids[weights.row_of_entry[shipped]], col_ids[weights.col[shipped]], matching.flow[shipped]
    beside = beyond * (int(totals[0][out].sum()) + int(totals[1][into].sum()))
    return BlockMatching(matching.value - beside, prices, partial(_without_hubs, supply, demand, flow))


def _without_hubs(supply: Array, demand: Array, flow: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Return what is shipped between single rows and columns, from what is shipped by way of hubs."""
    (many, high), (wide_many, wide) = supply.shape, demand.shape
    first_row, first_col = many * high, wide_many * wide
    result: list[tuple[int, int, int]] = []
    sends: dict[int, list[Any]] = {}
    takes: dict[int, list[Any]] = {}
    between = []
    for row, col, amount in zip(*(side.tolist() for side in flow), strict=True):
        if row < first_row and col < first_col:
            result.append((row, col, amount))
        elif row < first_row:
            sends.setdefault(row // high, []).append([row, amount])
        elif col < first_col:
            takes.setdefault(col // wide, []).append([col, amount])
        elif row < first_row + many and col >= first_col + many:
            between.append((row - first_row, col - first_col - many, amount))
    for y, z, amount in between:
        here = sends.setdefault(y, [[y * high + i, units] for i, units in enumerate(supply[y].tolist())])
        there = takes.setdefault(z, [[z * wide + j, units] for j, units in enumerate(demand[z].tolist())])
        while amount:
            some = min(amount, here[-1][1], there[-1][1])
            if some:
                result.append((here[-1][0], there[-1][0], some))
            amount -= some
            for side in (here, there):
                side[-1][1] -= some
                if not side[-1][1]:
                    side.pop()
    columns = np.array(result, np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]
