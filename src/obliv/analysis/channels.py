"""The worst case of single channels: bounds, optimal matchings, prices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.kernels import run
from obliv.loads.added import TwoPhaseLoads
from obliv.loads.pair_loads import PairLoads, whole
from obliv.loads.stored import StoredLoads
from obliv.matching import Matching, Weights, maximum_weight
from obliv.matching._kernels import assign_channels, simple_bounds

__all__ = ["Rates", "Solved", "best_flow", "prices_of", "rates_of", "solve_channels"]

Array = npt.NDArray[Any]
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
    rates = rates_of(loads)
    speeds = loads.topology.bandwidth
    bulk = loads if isinstance(loads, StoredLoads) and rates.unit and _fits(loads) else None
    bounds: list[Any] = _bulk_bounds(bulk, channels) if bulk else [None] * len(channels)
    work: list[tuple[Any, int]] = []
    made: dict[int, Weights] = {}
    for at, channel in enumerate(channels.tolist()):
        bound = bounds[at]
        if bound is None and len(channels) > 1 and not isinstance(loads, TwoPhaseLoads):
            made = {channel: loads.weights(channel)}
            bound = simple_bound(made[channel], rates)
        rank = 0 if bound is None else bound / speeds[channel] if speeds else bound
        work.append((rank, channel))
    work.sort(key=lambda pair: (-pair[0], pair[1]))
    best: Any = -1
    done = 0
    while done < len(work) and (work[done][0] > best or work[done][0] == 0 or best < 0):
        group = _group(bulk, work, done, best) if bulk else [work[done][1]]
        solved = _bulk(bulk, np.array(group), prices) if bulk else [_single(loads, group[0], rates, prices, made)]
        for channel, value, _ in solved:
            best = max(best, value / speeds[channel] if speeds else value)
        done += len(group)
        yield solved
        if progress is not None:
            progress(done / len(work))
        if best == 0 and work[done - 1][0] == 0:
            break


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
        found.append(np.add.reduceat(each[ids], ptr[:-1]) if len(ids) else each[:0])
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
    return loads.numerator.dtype != object and 8 * loads.denominator * int(loads.terminals + 2) ** 2 < 2**62


def _single(loads: PairLoads, channel: int, rates: Rates, prices: bool, made: dict[int, Weights]) -> Solved:
    if isinstance(loads, TwoPhaseLoads):
        value, _, _, price = _additive(loads, channel, rates)
        return channel, value, price if prices else None
    weights = made.get(channel) or loads.weights(channel)
    matching = maximum_weight(weights, *grouped_rates(weights, rates))
    return channel, matching.value, prices_of(weights, matching, loads.terminals) if prices else None


def _bulk_bounds(loads: StoredLoads, channels: Array) -> list[int]:
    value = np.empty(len(channels), np.int64)
    arrays = (loads.start, loads.destination, loads.source, loads.numerator)
    run(simple_bounds, 4.0 * len(loads.numerator), channels, *arrays, loads.terminals, value)
    found: list[int] = value.tolist()
    return found


def _group(loads: StoredLoads, work: list[tuple[Any, int]], done: int, best: Any) -> list[int]:
    """The next channels that can still be the worst: one at first, for a good incumbent, then many."""
    group, entries = [], 0
    most = 1 if done == 0 else _CHUNK
    while done < len(work) and (work[done][0] > best or best < 0) and entries < most:
        channel = work[done][1]
        entries += int(loads.start[channel + 1] - loads.start[channel]) + 1
        group.append(channel)
        done += 1
    return group or [work[done][1]]


def _bulk(loads: StoredLoads, channels: Array, prices: bool) -> list[Solved]:
    n = loads.terminals
    value = np.empty(len(channels), np.int64)
    price = np.empty((len(channels) if prices else 0, n), np.int64)
    longest = int(np.diff(loads.start).max(initial=0))
    run(
        assign_channels,
        30.0 * len(loads.numerator),
        *(channels, loads.start, loads.destination, loads.source, loads.numerator, n, longest, value, price),
    )
    return [
        (channel, best, price[k] if prices else None)
        for k, (channel, best) in enumerate(zip(channels.tolist(), value.tolist(), strict=True))
    ]


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
