"""Loads made of other loads: convex mixes, and Valiant's two independent phases."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from obliv._util.arrays import whole
from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.matching.weights import Weights, from_entries
from obliv.patterns.base import Traffic

__all__ = ["MixedLoads", "TwoPhaseLoads"]


class MixedLoads(PairLoads):
    """Σ probability × loads of several routings on one topology."""

    def __init__(self, parts: Sequence[tuple[Fraction, PairLoads]]) -> None:
        self.topology = parts[0][1].topology
        self.denominator = lcm(*(part.denominator * chance.denominator for chance, part in parts))
        counted = [part.samples for _, part in parts if part.samples is not None]
        self.samples = min(counted) if counted else None
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

    def totals(self) -> Array:
        return self._added([part.totals() for _, part in self._parts])

    def _carried(self, traffic: Traffic) -> Array:
        return self._added([part._carried(traffic) for _, part in self._parts])

    def _added(self, each: list[Array]) -> Array:
        total = sum(
            (values.astype(object) * factor for values, (factor, _) in zip(each, self._parts, strict=True)),
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
        sent, taken = [], []
        for channel in range(self.topology.channels):
            row, col, weight = base.weights(channel).spread()
            sent.append(_summed(row, weight, n))
            taken.append(_summed(col, weight, n))
        shared = gcd(base.denominator * n, *(int(x) for each in (*sent, *taken) for x in np.unique(each)))
        self.denominator = base.denominator * n // shared
        self.sent = np.array(sent) // shared
        self.taken = np.array(taken) // shared

    def weights(self, channel: int) -> Weights:
        n = self.terminals
        own, rows = np.unique(self.sent[channel], return_inverse=True)
        other, cols = np.unique(self.taken[channel], return_inverse=True)
        table = own[:, None] + other[None, :]
        r, c = np.nonzero(table)
        found = from_entries(r, c, table[r, c])
        return Weights(
            found.ptr,
            found.col,
            found.weight,
            _gathered(rows, found.row_members[1], n),
            _gathered(cols, found.column_members[1], n),
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


def _summed(index: Array, weight: Array, n: int) -> Array:
    wide = weight.dtype == object or int(weight.max(initial=0)) * len(weight) >= 2**62
    total: Array = np.zeros(n, object if wide else np.int64)
    np.add.at(total, index, weight.astype(total.dtype))
    return total


def _gathered(class_of: Array, kept: Array, n: int) -> tuple[Array, Array]:
    members = [np.flatnonzero(class_of == k) for k in kept]
    return np.cumsum([0, *(len(each) for each in members)]), np.concatenate(members) if members else np.zeros(0, int)
