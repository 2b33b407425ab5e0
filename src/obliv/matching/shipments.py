"""Optimal shipments between terminals: rates, simple bounds, and the worst traffic of one channel with its proof."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from obliv._util.arrays import whole
from obliv._util.typing import Array
from obliv.matching.solve import maximum_weight
from obliv.matching.weights import Weights

if TYPE_CHECKING:
    from obliv.matching.blocks import Blocks

__all__ = ["Flows", "Rates", "Solution", "grouped_rates", "ship", "ship_blocks", "simple_bound"]

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
    """Solve one channel.

    Parameters
    ----------
    weights : Weights
        The channel's numerators.
    rates : Rates
        What terminals send and take.
    terminals : int
        Number of terminals.

    Returns
    -------
    Solution
        Exact.
    """
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
    from obliv.matching.blocks import maximum_weight_of_blocks

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
