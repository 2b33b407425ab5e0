"""The worst case of single channels: bounds, optimal matchings, prices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor, lcm
from typing import Any

import numpy as np

from obliv._util.arrays import whole
from obliv._util.typing import Array
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.loads.mixed import TwoPhaseLoads
from obliv.loads.stored import StoredLoads
from obliv.matching import Matching, Weights, maximum_weight
from obliv.matching._kernels import assign_channels

__all__ = ["Rates", "Solved", "best_flow", "prices_of", "rates_of", "solve_channels"]

Solved = tuple[int, Any, Any]  # channel, optimum, prices of the destinations or None

_CHUNK = 2_000_000  # entries that are solved between two looks at the clock


class Rates:
    """What terminals send and take, as whole numbers over a common denominator."""

    def __init__(self, injection: tuple[Fraction, ...], ejection: tuple[Fraction, ...]) -> None:
        self.unit = all(rate == 1 for rate in (*injection, *ejection))
        self.scale = lcm(*(rate.denominator for rate in (*injection, *ejection)))
        self.supply = whole([int(rate * self.scale) for rate in injection])
        self.demand = whole([int(rate * self.scale) for rate in ejection])


def rates_of(loads: PairLoads) -> Rates:
    """The rates of the terminals of some loads."""
    return Rates(*loads.topology.rates())


def solve_channels(
    loads: PairLoads,
    channels: Array,
    prices: bool,
    progress: Callable[[float], None] | None = None,
) -> Iterator[list[Solved]]:
    """Solve the channels that can still be the worst, most promising first, in groups.

    A channel is left out once its simple bound, min(Σ row maxima, Σ column maxima), is no larger than what another
    one carries; bounds and loads are per bandwidth.  Optima are in the units of the numerators, times the rates' scale.
    """
    if isinstance(loads, StoredLoads) and rates_of(loads).unit and _fits(loads):
        yield from _in_bulk(loads, channels, prices, progress)
    else:
        yield from _one_by_one(loads, channels, prices, progress)


def _in_bulk(
    loads: StoredLoads, channels: Array, prices: bool, progress: Callable[[float], None] | None
) -> Iterator[list[Solved]]:
    """Many channels a call, those with most entries first; a few to begin with, for something to compare with."""
    n, speeds = loads.terminals, loads.topology.bandwidth
    sizes = np.diff(loads.start)
    order = channels[np.argsort(-sizes[channels], kind="stable")]
    ends = np.cumsum(sizes[order])
    best: Any = -1
    done = 0
    while done < len(order):
        reach = (int(ends[done - 1]) if done else 0) + (_CHUNK if done else 0)
        upto = max(done + 32, int(np.searchsorted(ends, reach, side="right")))
        group = order[done:upto]
        reach_of = [min(floor(best * speeds[c]), 2**62) for c in group.tolist()] if speeds else [best] * len(group)
        limit = np.array(reach_of, np.int64)
        value = np.empty(len(group), np.int64)
        price = np.empty((len(group) if prices else 0, n), np.int64)
        work = 30.0 * len(loads.numerator)
        arrays = (loads.start, loads.destination, loads.source, loads.numerator)
        run(assign_channels, work, group, limit, *arrays, n, value, price)
        solved = np.flatnonzero(value >= 0).tolist()
        for k in solved:
            load = int(value[k])
            best = max(best, load / speeds[int(group[k])] if speeds else load)
        yield [(int(group[k]), int(value[k]), price[k] if prices else None) for k in solved]
        done += len(group)
        if progress is not None:
            progress(done / len(order))


def _one_by_one(
    loads: PairLoads, channels: Array, prices: bool, progress: Callable[[float], None] | None
) -> Iterator[list[Solved]]:
    """Channel by channel, largest bound first, until no bound beats what was found."""
    rates, speeds = rates_of(loads), loads.topology.bandwidth
    bounded = len(channels) > 1 and not isinstance(loads, TwoPhaseLoads)
    work: list[tuple[Any, int]] = []
    at_once = loads.bounds(rates.supply, rates.demand) if bounded else None
    for channel in channels.tolist():
        bound = 0
        if bounded:
            bound = simple_bound(loads.weights(channel), rates) if at_once is None else int(at_once[channel])
        work.append((bound / speeds[channel] if speeds else bound, channel))
    work.sort(key=lambda pair: (-pair[0], pair[1]))
    best: Any = -1
    for done, (bound, channel) in enumerate(work):
        if bounded and bound <= best:
            break
        value, price = _single(loads, channel, rates)
        best = max(best, value / speeds[channel] if speeds else value)
        yield [(channel, value, price if prices else None)]
        if progress is not None:
            progress((done + 1) / len(work))


def simple_bound(weights: Weights, rates: Rates) -> int:
    """min(Σ row maxima, Σ column maxima), each times what the row may ship or the column take."""
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
    """What each row may ship and each column take, members together."""
    found = []
    for (ptr, ids), each in ((weights.row_members, rates.supply), (weights.column_members, rates.demand)):
        if rates.unit:
            found.append(np.diff(ptr))
        elif len(ids):  # sums of Python integers, which do not wrap
            found.append(whole(np.add.reduceat(each[ids].astype(object), ptr[:-1]).tolist()))
        else:
            found.append(each[:0])
    return found[0], found[1]


def prices_of(weights: Weights, matching: Matching, terminals: int) -> Array:
    """The price of every destination, 0 where it has no weight."""
    ptr, ids = weights.column_members
    price: Array = np.zeros(terminals, matching.v.dtype)
    price[ids] = np.repeat(matching.v, np.diff(ptr))
    return price


def best_flow(loads: PairLoads, channel: int) -> tuple[int, list[tuple[int, int, int]], Array]:
    """The optimum of one channel, what its terminals send to whom for that, and the destinations' prices.

    Flows are (source, destination, whole number over the rates' scale).
    """
    rates = rates_of(loads)
    if isinstance(loads, TwoPhaseLoads):
        value, sent, taken, price = _additive(loads, channel, rates)
        return value, _paired(sent, taken), price
    weights = loads.weights(channel)
    supply, demand = grouped_rates(weights, rates)
    matching = maximum_weight(weights, supply, demand)
    left_row = [int(x) for x in rates.supply]
    left_col = [int(x) for x in rates.demand]
    (row_ptr, row_ids), (col_ptr, col_ids) = weights.row_members, weights.column_members
    flows = []
    used = np.flatnonzero(matching.flow)
    for r, c, amount in zip(
        weights.row_of_entry[used].tolist(), weights.col[used].tolist(), matching.flow[used].tolist(), strict=True
    ):
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
    return matching.value, flows, prices_of(weights, matching, loads.terminals)


def _fits(loads: StoredLoads) -> bool:
    """Whether a channel's matching stays within 64 bits whatever happens."""
    return loads.numerator.dtype != object and 4 * int(loads.numerator.max(initial=0)) * loads.terminals < 2**62


def _single(loads: PairLoads, channel: int, rates: Rates) -> tuple[int, Array]:
    if isinstance(loads, TwoPhaseLoads):
        value, _, _, price = _additive(loads, channel, rates)
        return value, price
    weights = loads.weights(channel)
    matching = maximum_weight(weights, *grouped_rates(weights, rates))
    return matching.value, prices_of(weights, matching, loads.terminals)


def _additive(loads: TwoPhaseLoads, channel: int, rates: Rates) -> tuple[int, list[int], list[int], Array]:
    """Where every weight is sent_i + taken_j: ship all of the scarcer side, and on the other side the heaviest first.

    The first term that is not shipped in full is what a unit of the scarcer side is worth beyond its own term.
    """
    sent, taken = [int(x) for x in loads.sent[channel]], [int(x) for x in loads.taken[channel]]
    supply, demand = [int(x) for x in rates.supply], [int(x) for x in rates.demand]
    units = min(sum(supply), sum(demand))
    shipped, row_margin = _heaviest(sent, supply, units)
    received, col_margin = _heaviest(taken, demand, units)
    value = sum(a * x for a, x in zip(sent, shipped, strict=True))
    value += sum(b * x for b, x in zip(taken, received, strict=True))
    price = whole([max(0, b - col_margin) + row_margin for b in taken])
    return value, shipped, received, price


def _heaviest(worth: list[int], most: list[int], units: int) -> tuple[list[int], int]:
    """Take units where they are worth most; the worth of the next unit that would be taken, 0 where all are."""
    took = [0] * len(worth)
    for at in sorted(range(len(worth)), key=lambda k: -worth[k]):
        took[at] = min(most[at], units)
        units -= took[at]
        if took[at] < most[at]:
            return took, worth[at]
    return took, 0


def _paired(sent: list[int], taken: list[int]) -> list[tuple[int, int, int]]:
    flows = []
    left, right = list(sent), list(taken)
    i = j = 0
    while i < len(left) and j < len(right):
        some = min(left[i], right[j])
        if some:
            flows.append((i, j, some))
        left[i] -= some
        right[j] -= some
        if not left[i]:
            i += 1
        else:
            j += 1
    return flows
