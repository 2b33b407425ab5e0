"""Loads of routings over trees of clusters: a pair loads a channel once for each cut between its ends.

A tree edge whose path crosses a channel on the way up adds 1 to the load of all pairs that leave its cluster, and on
the way down to that of all pairs that enter it. No admissible traffic sends more over a cut than the smaller of its
sides, so the sum of the smaller sides bounds a channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, addable, starts, whole
from obliv._util.progress import Progress
from obliv.loads.base import BoundPrices, PairLoads, Solved, best_first, by_bound
from obliv.loads.workers import Calls
from obliv.matching.solve import Weights, members_of
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology

__all__ = ["CutLoads", "Cuts"]


class Cuts(NamedTuple):
    """The cuts that load each channel: those of channel c are ``start[c] .. start[c + 1]``.

    A cluster of tree t is an interval ``first .. end`` of the terminals in the order of t: terminal i has the place
    ``place[t, i]``.
    """

    start: Array
    tree: Array
    first: Array
    end: Array
    leaving: Array  #: Whether pairs that leave the cluster load the channel, or those that enter it.
    place: Array


class CutLoads(PairLoads):
    """Sums of cuts, over the number of trees."""

    def __init__(self, topology: Topology, cuts: Cuts, denominator: int) -> None:
        self.topology = topology
        self.cuts = cuts
        self.denominator = denominator

    def _inside(self, channel: int) -> tuple[Array, Array]:
        """Return which terminals each cut of a channel contains, shape (cuts, terminals), and whether they leave it."""
        cuts = self.cuts
        part = slice(int(cuts.start[channel]), int(cuts.start[channel + 1]))
        place = cuts.place[cuts.tree[part]]
        inside = (place >= cuts.first[part, None]) & (place < cuts.end[part, None])
        return inside, cuts.leaving[part]

    def weights(self, channel: int) -> Weights:
        inside, leaving = self._inside(channel)
        alike, class_of = np.unique(np.packbits(inside, axis=0), axis=1, return_inverse=True)
        classes = alike.shape[1]
        class_of = class_of.ravel()
        one = np.zeros(classes, np.int64)
        one[class_of] = np.arange(len(class_of))  # a member of each class
        member = inside[:, one].astype(np.int64)
        away, into = member[leaving], member[~leaving]
        load = away.T @ (1 - away) + (1 - into).T @ into
        row, column = np.nonzero(load)
        rows, columns = np.unique(row), np.unique(column)
        return Weights(
            ptr=starts(np.bincount(np.searchsorted(rows, row), minlength=len(rows))),
            col=np.searchsorted(columns, column).astype(np.int32),
            weight=load[row, column],
            row_members=members_of(class_of, rows),
            column_members=members_of(class_of, columns),
        )

    def cut_bounds(self) -> Array:
        """Return the sum of the smaller sides of the cuts of every channel, for terminals that send and take 1."""
        size = self.cuts.end - self.cuts.first
        return self._sums(np.minimum(size, self.terminals - size))

    def totals(self) -> Array:
        size = self.cuts.end - self.cuts.first
        return self._sums(size * (self.terminals - size))

    def without_self(self) -> PairLoads:
        return self

    def memory(self, channels: Array) -> float:
        return 40.0 * self.terminals**2 * (len(channels) > 0)

    def describe(self) -> tuple[Any, ...]:
        return (BoundPrices(self._bound_prices),) if self.topology.unit_rates else ()

    def _bound_prices(self, channel: int) -> Array:
        inside, leaving = self._inside(channel)
        wide = 2 * inside.sum(axis=1) > inside.shape[1]  # the outside is smaller
        outside = ~inside[leaving & wide]
        prices: Array = outside.sum(axis=0) + inside[~leaving & ~wide].sum(axis=0)
        return prices.astype(np.int64)

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        if not calls.subject.rates.unit:
            return best_first(channels, progress, calls)
        bounds = self.cut_bounds()
        return by_bound([(int(bounds[c]), c) for c in channels.tolist()], progress, calls)

    def _sums(self, values: Array) -> Array:
        added = np.concatenate([[0], np.cumsum(values)])
        sums: Array = added[self.cuts.start[1:]] - added[self.cuts.start[:-1]]
        return sums

    def _carried(self, traffic: Traffic) -> Array:
        amount = addable(traffic.amount, len(self.cuts.place) * 64)
        sums = []
        for channel in range(self.topology.channels):
            inside, leaving = self._inside(channel)
            total = 0
            for cluster, away in zip(inside, leaving, strict=True):
                out, into = cluster[traffic.source], cluster[traffic.destination]
                crossing = out & ~into if away else ~out & into
                total += int(amount[crossing].sum()) if crossing.any() else 0
            sums.append(total)
        return whole(sums)

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        totals = self.totals()
        return bool((totals[moved] == totals).all()) and super()._keeps(node_map, moved, place)
