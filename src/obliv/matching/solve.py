"""Maximum-weight matching and transportation: solve in 64 bits, refine where 64 bits are too few."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, starts
from obliv._util.typing import Array
from obliv.kernels import run
from obliv.matching import _kernels as kernels
from obliv.matching.weights import Weights

__all__ = ["Matching", "maximum_weight"]


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
    >>> from obliv.matching.weights import from_entries
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
    matching = kernels.Matching(
        mate=np.empty(n, np.int32), owner=np.empty(m, np.int32), u=np.empty(n, np.int64), v=np.empty(m, np.int64)
    )
    search = kernels.Search(
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
