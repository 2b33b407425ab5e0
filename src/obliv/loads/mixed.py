"""Loads made of other loads: convex mixes, and Valiant's two independent phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import gcd, lcm

import numpy as np

from obliv._util.arrays import INT64_SAFE, whole
from obliv._util.cost import Work, require_memory
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.loads.calls import Calls
from obliv.loads.search import Solved, one_after_another
from obliv.matching.shipments import Flows, Rates, Solution
from obliv.matching.weights import Weights, from_entries, members_of
from obliv.patterns.base import Traffic

__all__ = ["MixedLoads", "TwoPhaseLoads"]


class MixedLoads(PairLoads):
    """Σ probability × loads of several routings on one topology."""

    def __init__(self, parts: Sequence[tuple[Fraction, PairLoads]]) -> None:
        self.topology = parts[0][1].topology
        self.denominator = lcm(*(part.denominator * chance.denominator for chance, part in parts))
        counted = [part.samples for _, part in parts if part.samples is not None]
        self.samples = min(counted) if counted else None
        self.partial = any(part.partial for _, part in parts)
        self.declared = any(part.declared for _, part in parts)
        self._parts = [
            (chance.numerator * (self.denominator // (part.denominator * chance.denominator)), part)
            for chance, part in parts
        ]

    def weights(self, channel: int) -> Weights:
        n = self.terminals
        keys, values = [], []
        for factor, part in self._parts:
            row, col, weight = part.weights(channel).spread()
            keys.append(row.astype(np.int64) * n + col)
            values.append(weight.astype(object) * factor)
        pair, index = np.unique(np.concatenate(keys), return_inverse=True)
        total: Array = np.zeros(len(pair), object)
        np.add.at(total, index, np.concatenate(values))
        return from_entries(pair // n, pair % n, whole(total.tolist()))

    def work(self, channels: Array, symmetries: int = 0) -> Work:
        works = [part.work(channels, symmetries) for _, part in self._parts]
        return Work(sum(work.seconds for work in works), sum(work.memory for work in works))

    def totals(self) -> Array:
        return self._added([part.totals() for _, part in self._parts])

    def _carried(self, traffic: Traffic) -> Array:
        return self._added([part._carried(traffic) for _, part in self._parts])

    def _added(self, parts: list[Array]) -> Array:
        total = sum(
            (values.astype(object) * factor for values, (factor, _) in zip(parts, self._parts, strict=True)),
            np.zeros(self.topology.channels, object),
        )
        return whole(total.tolist())

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        if all(part._keeps(node_map, moved, place) for _, part in self._parts):
            return True
        return super()._keeps(node_map, moved, place)


class TwoPhaseLoads(PairLoads):
    """Loads of going first to a uniformly random terminal and from there on: a source's term plus a destination's.

    Self-pairs are sent out too.  ``sent[c, i]`` and ``taken[c, j]`` are the two terms over the denominator.
    """

    def __init__(self, base: PairLoads) -> None:
        self.topology = base.topology
        n = base.terminals
        require_memory(16.0 * n * self.topology.channels, f"Valiant's loads on {self.topology.spec}")
        self.samples = base.samples
        self.partial = base.partial
        self.declared = base.declared
        sent, taken = [], []
        for channel in range(self.topology.channels):
            row, col, weight = base.weights(channel).spread()
            sent.append(_summed(row, weight, n))
            taken.append(_summed(col, weight, n))
        shared = gcd(base.denominator * n, *(int(x) for terms in (*sent, *taken) for x in np.unique(terms)))
        self.denominator = base.denominator * n // shared
        self.sent = np.array(sent) // shared
        self.taken = np.array(taken) // shared

    def weights(self, channel: int) -> Weights:
        own, rows = np.unique(self.sent[channel], return_inverse=True)
        other, cols = np.unique(self.taken[channel], return_inverse=True)
        table = own[:, None] + other[None, :]
        r, c = np.nonzero(table)
        table_weights = from_entries(r, c, table[r, c])
        return Weights(
            table_weights.ptr,
            table_weights.col,
            table_weights.weight,
            members_of(rows, table_weights.row_members[1]),
            members_of(cols, table_weights.column_members[1]),
        )

    def totals(self) -> Array:
        n = self.terminals
        return whole([n * (sum(map(int, a)) + sum(map(int, b))) for a, b in zip(self.sent, self.taken, strict=True)])

    def _carried(self, traffic: Traffic) -> Array:
        rows, columns = np.zeros(self.terminals, object), np.zeros(self.terminals, object)
        np.add.at(rows, traffic.source, traffic.amount.astype(object))
        np.add.at(columns, traffic.destination, traffic.amount.astype(object))
        return whole((self.sent.astype(object) @ rows + self.taken.astype(object) @ columns).tolist())

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        return np.array_equal(self.sent[moved][:, place], self.sent) and np.array_equal(
            self.taken[moved][:, place], self.taken
        )

    def solve(self, channel: int, rates: Rates) -> Solution:
        """Solve a channel all of whose weights are sent_i + taken_j.

        All of the scarcer side is shipped, on the other side the heaviest terms first. The first term that is not
        shipped in full is what a unit of the scarcer side is worth beyond its own term.
        """
        sent, taken = [int(x) for x in self.sent[channel]], [int(x) for x in self.taken[channel]]
        supply, demand = [int(x) for x in rates.supply], [int(x) for x in rates.demand]
        units = min(sum(supply), sum(demand))
        shipped, row_margin = _heaviest(sent, supply, units)
        received, column_margin = _heaviest(taken, demand, units)
        value = sum(a * x for a, x in zip(sent, shipped, strict=True))
        value += sum(b * x for b, x in zip(taken, received, strict=True))
        prices = whole([max(0, b - column_margin) + row_margin for b in taken])
        return Solution(value, prices, partial(_paired, shipped, received))

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        return one_after_another(channels, progress, calls)


def _heaviest(worth: list[int], most: list[int], units: int) -> tuple[list[int], int]:
    """Return the units taken where they are worth most, and the worth of the next unit, 0 where all are taken."""
    took = [0] * len(worth)
    for at in sorted(range(len(worth)), key=lambda k: -worth[k]):
        took[at] = min(most[at], units)
        units -= took[at]
        if took[at] < most[at]:
            return took, worth[at]
    return took, 0


def _paired(sent: list[int], taken: list[int]) -> Flows:
    """Pair what is sent with what is taken, both in order."""
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


def _summed(index: Array, weight: Array, n: int) -> Array:
    wide = weight.dtype == object or int(weight.max(initial=0)) * len(weight) >= INT64_SAFE
    total: Array = np.zeros(n, object if wide else np.int64)
    np.add.at(total, index, weight.astype(total.dtype))
    return total
