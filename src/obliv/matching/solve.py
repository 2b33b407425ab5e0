"""Maximum-weight matching and shipments between terminals: solve in 64 bits, refine where these are too few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts, whole
from obliv.kernels import run
from obliv.matching import _kernels as kernels

# Sparse integer weights between rows and columns, each of which may stand for several alike


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights in compressed rows; rows and columns without any are left out.

    Parameters
    ----------
    ptr : int64 array, shape (rows + 1,)
    col : int32 array, shape (entries,)
    weight : int64 or object array, shape (entries,)
        Positive whole numbers; Python integers where 64 bits do not hold them.
    row_members, column_members : tuple of (ptr, ids)
        The members that each row and column stands for: row r is ``ids[ptr[r]:ptr[r + 1]]``.
    distinct : tuple of (values, numbers), optional
        For Python integers that repeat: ``weight`` is ``values[numbers]``, so that values can be worked on once.
    """

    ptr: Array
    col: Array
    weight: Array
    row_members: tuple[Array, Array]
    column_members: tuple[Array, Array]
    distinct: tuple[Array, Array] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.ptr) - 1

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.column_members[0]) - 1

    @property
    def row_of_entry(self) -> Array:
        """The row of every entry."""
        return np.repeat(np.arange(self.rows), np.diff(self.ptr))

    def spread(self) -> tuple[Array, Array, Array]:
        """Return every pair of members with its weight: arrays of row members, column members, weights."""
        (row_ptr, row_ids), (col_ptr, col_ids) = self.row_members, self.column_members
        row, col = self.row_of_entry, self.col.astype(np.int64)
        high, wide = np.diff(row_ptr)[row], np.diff(col_ptr)[col]
        size = high * wide
        entry = np.repeat(np.arange(len(size)), size)
        inside = np.arange(len(entry)) - np.repeat(np.cumsum(size) - size, size)
        return (
            row_ids[row_ptr[row[entry]] + inside // wide[entry]],
            col_ids[col_ptr[col[entry]] + inside % wide[entry]],
            self.weight[entry],
        )

    def of(self, rows: Array, columns: Array) -> Array:
        """Return the weights of pairs of members, given as arrays of row members and of column members."""
        if not len(self.weight):
            return np.zeros(len(rows), np.int64)
        row, col = _group_of(self.row_members, rows), _group_of(self.column_members, columns)
        keys = self.row_of_entry * self.columns + self.col
        order = np.argsort(keys, kind="stable")
        wanted = row * self.columns + col
        place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        return np.where((row >= 0) & (col >= 0) & (keys[place] == wanted), self.weight[place], 0)


def _group_of(members: tuple[Array, Array], wanted: Array) -> Array:
    """Return the group of each member, -1 where it has none."""
    ptr, ids = members
    group: Array = np.full(int(max(ids.max(initial=-1), wanted.max(initial=-1))) + 1, -1, np.int64)
    group[ids] = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return group[wanted]


def from_entries(row: Array, col: Array, weight: Array, values: Array | None = None) -> Weights:
    """Weights of single rows and columns from their entries, in any order; no pair twice.

    With `values`, `weight` has the number of each entry's value.
    """
    row_ids, row = _numbered(row)
    col_ids, col = _numbered(col)
    order = np.argsort(row * len(col_ids) + col)
    weight = weight[order]
    return Weights(
        ptr=starts(np.bincount(row, minlength=len(row_ids))),
        col=col[order].astype(np.int32),
        weight=weight if values is None else values[weight],
        row_members=(np.arange(len(row_ids) + 1), row_ids),
        column_members=(np.arange(len(col_ids) + 1), col_ids),
        distinct=None if values is None else (values, weight),
    )


def _numbered(ids: Array) -> tuple[Array, Array]:
    """Return the different ids, sorted, and the place of each id among them."""
    if not len(ids) or ids.max() > 4 * len(ids):
        return np.unique(ids, return_inverse=True)
    met = np.zeros(int(ids.max()) + 1, bool)  # many entries: without sorting them
    met[ids] = True
    return np.flatnonzero(met), (np.cumsum(met) - 1)[ids]


def members_of(class_of: Array, classes: Array) -> tuple[Array, Array]:
    """Return the members of each of some classes, as pointers and numbers."""
    order = np.argsort(class_of, kind="stable")
    ordered = class_of[order]
    first, end = np.searchsorted(ordered, classes), np.searchsorted(ordered, classes, side="right")
    ptr = starts(end - first)
    take = np.repeat(first - ptr[:-1], end - first) + np.arange(ptr[-1])
    return ptr, order[take]


#: Largest weights in bits; with prices that start at 0 the kernels stay within four times the largest weight.
_BITS = 60


@dataclass(frozen=True, eq=False)
class Matching:
    """An optimal shipment with its proof.

    ``u[i] + v[j] >= weight`` on every entry, u, v >= 0, and Σ supply·u + Σ demand·v = `value`, so that no shipment is
    worth more; `flow` holds what is shipped along each entry.
    """

    value: int
    u: Array
    v: Array
    flow: Array


def maximum_weight(weights: Weights, supply: Array | None = None, demand: Array | None = None) -> Matching:
    """Return a shipment of largest total weight that respects what rows may ship and columns take.

    Parameters
    ----------
    weights : Weights
        Positive integers of any size.
    supply, demand : integer arrays, shapes (rows,) and (columns,), optional
        Default: the number of members of each row and column.

    Returns
    -------
    Matching
        Exact; duals are integers in the units of the weights.

    Notes
    -----
    Unit supplies are a maximum-weight matching, found by auction sweeps without ε followed by shortest augmenting
    paths (Jonker and Volgenant's scheme on sparse rows, where every row may stay unmatched).  Weights beyond
    64 bits are solved digit by digit, see :func:`_by_digits`.

    Examples
    --------
    >>> import numpy as np
    >>> from obliv.matching.solve import from_entries
    >>> w = from_entries(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3, 2, 2]))
    >>> maximum_weight(w).value
    4
    """
    given = np.diff(weights.row_members[0]) if supply is None else np.asarray(supply)
    taken = np.diff(weights.column_members[0]) if demand is None else np.asarray(demand)
    if not len(weights.weight):
        return Matching(0, np.zeros(weights.rows, np.int64), np.zeros(weights.columns, np.int64), weights.weight)
    values = weights.weight if weights.distinct is None else weights.distinct[0]
    largest = int(max(values)) if values.dtype == object else int(values.max())
    if largest.bit_length() <= _BITS:
        low = np.zeros(weights.rows, np.int64), np.zeros(weights.columns, np.int64)
        u, v, flow = _in_64_bits(weights, weights.weight.astype(np.int64, copy=False), given, taken, *low)
    else:
        u, v, flow = _by_digits(weights, given, taken, largest.bit_length())
    used = np.flatnonzero(flow)
    value = sum(int(w) * int(x) for w, x in zip(weights.weight[used], flow[used], strict=True))
    return Matching(value, u, v, flow)


def _in_64_bits(
    weights: Weights, weight: Array, supply: Array, demand: Array, row_floor: Array, col_floor: Array
) -> tuple[Array, Array, Array]:
    if (supply == 1).all() and (demand == 1).all():
        if weights.rows > weights.columns:
            v, u, flow = _assign(_transposed(weights), weight, col_floor, row_floor)
            return u, v, flow
        return _assign((weights.ptr, weights.col, None), weight, row_floor, col_floor)
    return _transport(weights, weight, supply, demand, row_floor, col_floor)


def _assign(
    shape: tuple[Array, Array, Array | None], weight: Array, row_floor: Array, col_floor: Array
) -> tuple[Array, Array, Array]:
    ptr, col, entry = shape
    n, m = len(row_floor), len(col_floor)
    ordered = np.ascontiguousarray(weight if entry is None else weight[entry])
    matching = kernels.Assignment(
        mate=np.empty(n, np.int32), owner=np.empty(m, np.int32), u=np.empty(n, np.int64), v=np.empty(m, np.int64)
    )
    search = kernels.SearchSpace(
        dist=np.empty(m, np.int64),
        prev=np.empty(m, np.int32),
        place=np.full(m, -1, np.int32),
        heap=np.empty(m, np.int32),
        free=np.empty(n, np.int32),
    )
    entries, floors = kernels.Entries(ptr, col, ordered), kernels.Floors(row_floor, col_floor)
    run(kernels.assign, 40.0 * len(col), n, entries, floors, matching, search)
    used = col == np.repeat(matching.mate, np.diff(ptr))
    flow = np.zeros(len(col), np.int64)
    flow[used if entry is None else entry[used]] = 1
    return matching.u, matching.v, flow


def _transport(
    weights: Weights, weight: Array, supply: Array, demand: Array, row_floor: Array, col_floor: Array
) -> tuple[Array, Array, Array]:
    n, m = weights.rows, weights.columns
    most = max(sum(map(int, supply)), sum(map(int, demand)))
    units: Any = np.int64 if most < INT64_SAFE else object  # the kernel then runs on Python integers
    shipment = kernels.Shipment(
        flow=np.zeros(len(weight), units),
        left_row=supply.astype(units),
        left_col=demand.astype(units),
        u=np.empty(n, weight.dtype),
        v=np.empty(m, weight.dtype),
    )
    search = kernels.PathSearch(
        dist=np.empty(m, weight.dtype),
        row_dist=np.empty(n, weight.dtype),
        prev_row=np.empty(m, np.int32),
        prev_entry=np.empty(m, np.int64),
        via_col=np.full(n, -1, np.int32),
        via_entry=np.empty(n, np.int64),
        place=np.full(m, -1, np.int32),
        heap=np.empty(m, np.int32),
        opened=np.empty(n, np.int32),
    )
    entries = kernels.Entries(weights.ptr, weights.col, np.ascontiguousarray(weight))
    columns, floors = kernels.Columns(*_transposed(weights)), kernels.Floors(row_floor, col_floor)
    run(kernels.transport, 5.0 * len(weight) * (n + m), entries, columns, floors, shipment, search)
    return shipment.u, shipment.v, shipment.flow


def _transposed(weights: Weights) -> tuple[Array, Array, Array]:
    """Return the entries by column: pointers, rows, and the entries' numbers."""
    entry = np.argsort(weights.col, kind="stable")
    counts = np.bincount(weights.col, minlength=weights.columns)
    ptr = starts(counts)
    return ptr, weights.row_of_entry[entry].astype(np.int32), entry


def _by_digits(weights: Weights, supply: Array, demand: Array, bits: int) -> tuple[Array, Array, Array]:
    """Solve weights of up to so many bits, about 45 bits at a time, each time exactly.

    With the leading digits solved and U, V their optimal prices, the rest to maximize is the residual r = w - U - V,
    where leaving a unit of row i unmatched costs U_i (of column j, V_j).  The optimum of the leading digits
    has residuals in [0, 2^t), t the new digits, and no entry exceeds 2^t; hence an entry below -B, or a price of
    staying unmatched beyond B, with B = (units + 1)·2^t, is never worthwhile and is cut there.  What is cut at -2B
    also stays below the new prices, which start at -B: the duals hold on every entry without another check.

    All later steps together lower a price by less than 1.01·(units + 1) units of the last digit so far: an entry whose
    residual is below -3·(units + 1) then stays below its prices, and is left out of all later steps. Few are left.
    """
    units = min(sum(map(int, supply)), sum(map(int, demand)))
    step = _BITS - 2 - units.bit_length()  # what follows stays within four bounds
    if step < 8:  # too many units for digits: the kernel on Python integers, slow and as exact
        nothing = np.zeros(weights.rows, object), np.zeros(weights.columns, object)
        return _transport(weights, weights.weight.astype(object, copy=False), supply, demand, *nothing)
    values, number = weights.distinct or (weights.weight, slice(None))
    exact = values.astype(object, copy=False)
    digits = bits - _BITS
    u: Array = np.zeros(weights.rows, object)
    v: Array = np.zeros(weights.columns, object)
    residual = (exact >> digits).astype(np.int64)[number]
    left, entry = weights, None  # the entries that still matter, and their numbers among all
    bound = 0
    while True:
        low = -bound
        row_floor, col_floor = (np.maximum(-prices, low).astype(np.int64) for prices in (u, v))
        near = np.maximum(residual, 2 * low) if bound else residual
        du, dv, flow = _in_64_bits(left, near, supply, demand, row_floor, col_floor)
        u, v = u + du.astype(object), v + dv.astype(object)
        if digits == 0:
            return u, v, flow if entry is None else _spread(flow, entry, len(weights.weight))
        taken = min(step, digits)
        digits -= taken
        u, v = u << taken, v << taken
        bound = (units + 1) << taken
        row = left.row_of_entry
        residual = residual - du[row] - dv[left.col]
        kept = np.flatnonzero(residual >= -3 * (units + 1))
        residual, entry = residual[kept], kept if entry is None else entry[kept]
        ptr = starts(np.bincount(row[kept], minlength=left.rows))
        number = kept if isinstance(number, slice) else number[kept]
        left = replace(left, ptr=ptr, col=left.col[kept], weight=residual, distinct=None)
        residual = (residual << taken) + ((exact >> digits) & ((1 << taken) - 1)).astype(np.int64)[number]


def _spread(flow: Array, entry: Array, entries: int) -> Array:
    """Return the flow along all entries, from that along some."""
    total: Array = np.zeros(entries, flow.dtype)
    total[entry] = flow
    return total


# Optimal shipments between terminals: rates, simple bounds, and the worst traffic of one channel with its proof


#: Shipments as (source, destination, whole number over the rates' scale).
Flows = list[tuple[int, int, int]]


class Rates:
    """What terminals send and take, as whole numbers over a common denominator.

    Attributes
    ----------
    supply, demand : integer arrays, shape (terminals,)
        Numerators of the injection and ejection rates.
    scale : int
        Their common denominator.
    unit : bool
        Whether every rate is 1.
    """

    def __init__(self, injection: tuple[Fraction, ...], ejection: tuple[Fraction, ...]) -> None:
        self.unit = all(rate == 1 for rate in (*injection, *ejection))
        self.scale = lcm(*(rate.denominator for rate in (*injection, *ejection)))
        self.supply = whole([int(rate * self.scale) for rate in injection])
        self.demand = whole([int(rate * self.scale) for rate in ejection])


class Solution(NamedTuple):
    """The worst traffic of one channel, with its proof.

    Attributes
    ----------
    value : int
        The optimum, in units of the numerators times the rates' scale.
    prices : integer array, shape (terminals,), or None
        The destinations' prices, which prove the optimum; None where they were not asked for.
    shipments : function
        Returns the traffic that attains it; called only where it is wanted.
    """

    value: int
    prices: Array | None
    shipments: Callable[[], Flows]


def ship(weights: Weights, rates: Rates, terminals: int) -> Solution:
    """Solve one channel."""
    matching = maximum_weight(weights, *grouped_rates(weights, rates))
    ptr, ids = weights.column_members
    prices: Array = np.zeros(terminals, matching.v.dtype)
    prices[ids] = np.repeat(matching.v, np.diff(ptr))
    used = np.flatnonzero(matching.flow)
    row = np.searchsorted(weights.ptr, used, side="right") - 1
    shipped = row, weights.col[used], matching.flow[used]  # without the weights, which take far more room
    members = weights.row_members, weights.column_members
    return Solution(matching.value, prices, partial(_between_members, shipped, *members, rates))


def ship_blocks(
    blocks: Blocks, row_members: tuple[Array, Array], column_members: tuple[Array, Array], rates: Rates, terminals: int
) -> Solution:
    """Solve one channel that is given in blocks, as :func:`ship`, from the members of their rows and columns."""
    matching = maximum_weight_of_blocks(blocks)
    ptr, ids = column_members
    prices: Array = np.zeros(terminals, matching.prices.dtype)
    prices[ids] = np.repeat(matching.prices.ravel(), np.diff(ptr))
    shipments = partial(_between_blocks, matching.flow, row_members, column_members, rates)
    return Solution(matching.value, prices, shipments)


def simple_bound(weights: Weights, rates: Rates) -> int:
    """Return min(Σ row maxima, Σ column maxima), each times what the row may ship or the column take."""
    if not len(weights.weight):
        return 0
    supply, demand = grouped_rates(weights, rates)
    by_row = np.maximum.reduceat(weights.weight, weights.ptr[:-1])
    by_col: Array = np.zeros(weights.columns, weights.weight.dtype)
    np.maximum.at(by_col, weights.col, weights.weight)
    return min(
        sum(int(a) * int(b) for a, b in zip(by_row, supply, strict=True)),
        sum(int(a) * int(b) for a, b in zip(by_col, demand, strict=True)),
    )


def grouped_rates(weights: Weights, rates: Rates) -> tuple[Array, Array]:
    """Return what each row may ship and each column take, members together."""
    grouped = []
    for (ptr, ids), side in ((weights.row_members, rates.supply), (weights.column_members, rates.demand)):
        if rates.unit:
            grouped.append(np.diff(ptr))
        elif len(ids):  # sums of Python integers, which do not wrap
            grouped.append(whole(np.add.reduceat(side[ids].astype(object), ptr[:-1]).tolist()))
        else:
            grouped.append(side[:0])
    return grouped[0], grouped[1]


def _between_blocks(
    flow: Callable[[], tuple[Array, Array, Array]],
    row_members: tuple[Array, Array],
    column_members: tuple[Array, Array],
    rates: Rates,
) -> Flows:
    return _between_members(flow(), row_members, column_members, rates)


def _between_members(
    shipped: tuple[Array, Array, Array],
    row_members: tuple[Array, Array],
    column_members: tuple[Array, Array],
    rates: Rates,
) -> Flows:
    """Divide the shipments between rows and columns among their members."""
    left_row = [int(x) for x in rates.supply]
    left_col = [int(x) for x in rates.demand]
    (row_ptr, row_ids), (col_ptr, col_ids) = row_members, column_members
    flows = []
    for r, c, amount in zip(*(part.tolist() for part in shipped), strict=True):
        rows = iter(row_ids[row_ptr[r] : row_ptr[r + 1]].tolist())
        cols = iter(col_ids[col_ptr[c] : col_ptr[c + 1]].tolist())
        i, j = next(rows), next(cols)
        while amount:
            while not left_row[i]:
                i = next(rows)
            while not left_col[j]:
                j = next(cols)
            some = min(amount, left_row[i], left_col[j])
            flows.append((i, j, some))
            left_row[i] -= some
            left_col[j] -= some
            amount -= some
    return flows


# Transport between blocks of rows and columns, most of which have one weight throughout: solved by way of hubs.
#
# The rows of a block that ship to another block at one weight throughout can send this by way of a hub, and its columns
# can receive it by way of a hub: one entry stands for the whole block.  A hub takes part as a row and as a column; what
# does not go through it is shipped from its row to its column, at a weight beyond all others, which is taken off again.


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
