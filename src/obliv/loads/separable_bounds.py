"""Upper bounds of separable loads: positions along a channel's own dimension are merged into a few intervals.

Sources whose coordinates along the channel's dimension lie in one interval, and whose others agree, are merged, and so
are destinations; each pair of merged ones has the largest load of its members.  The transport between them is worth at
least as much as any traffic, and is far smaller than that between all nodes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.loads.search import Call, Calls, Problem, Solved, solved_channel
from obliv.matching.solve import maximum_weight
from obliv.matching.weights import from_entries

if TYPE_CHECKING:
    from obliv.loads.separable import SeparableLoads

__all__ = ["MergedBounds", "merged_first"]

_SCALE = 2**40
_MARGIN = 1 + 2.0**-36  # covers the rounding of sums of products of non-negative numbers
_PARTS = (1, 4, 16)  # intervals
_SIZE = 1 << 11  # merged sources for which the transport is small


class MergedBounds:
    """Upper bounds of the load of single channels, for separable loads between all nodes at rate 1."""

    def __init__(self, loads: SeparableLoads) -> None:
        topology = loads.topology
        others = max(topology.nodes // radix for radix in topology.radices)
        unit = topology.all_terminals and topology.unit_rates and not topology.bandwidth
        #: Numbers of intervals that are worth trying before a channel is solved.
        self.parts = tuple(
            parts for parts in _PARTS if unit and parts * others <= _SIZE and 2 * parts <= min(topology.radices)
        )
        self._loads = loads
        self._across = lru_cache(maxsize=256)(self._across_at)

    def seconds(self, solved: float) -> float:
        """Return the mean time of a channel where solving one takes `solved` seconds: few channels are solved."""
        others = max(self._loads.topology.nodes // radix for radix in self._loads.topology.radices)
        return 1.4e-6 * others**2 + 2e-5 * others**2 * (len(self.parts) > 1) * 0.1 + 0.01 * solved

    def bound(self, channel: int, parts: int) -> int:
        """Return an upper bound of a channel's load, in numerators, from a number of intervals."""
        loads, topology = self._loads, self._loads.topology
        dim, link = int(topology.dim_of[channel]), int(topology.link_of[channel])
        at = topology.coordinates(int(topology.tail[channel]))
        across, which = self._across(dim, at[:dim] + at[dim + 1 :])
        along = np.stack([loads.chances_along(dim, key, link) for key in loads.groups[dim]])
        used = (along != 0).any(axis=0)
        rows, columns = (np.array_split(np.flatnonzero(used.any(axis=axis)), parts) for axis in (1, 0))
        size = len(which)
        largest = np.zeros((parts, size, parts, size))
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                different = np.unique(along[:, row][:, :, column].reshape(len(along), -1), axis=1)
                largest[i, :, j] = (different.T @ across).max(axis=0, initial=0.0)[which]
        weight = np.ceil(largest.reshape(parts * size, -1) * (_SCALE * _MARGIN)).astype(np.int64)
        pair = np.nonzero(weight)
        merged = from_entries(pair[0], pair[1], weight[pair])
        supply, demand = (np.repeat([len(part) for part in side], size) for side in (rows, columns))
        matching = maximum_weight(merged, supply[merged.row_members[1]], demand[merged.column_members[1]])
        return -(-matching.value * loads.denominator // _SCALE)

    def _across_at(self, dim: int, at: tuple[int, ...]) -> tuple[Array, Array]:
        """Return the different columns of the groups' loads across a channel, and which one each pair has."""
        tables = []
        for key in self._loads.groups[dim]:
            product: Array = np.ones((1, 1))
            for (j, position), coordinate in zip(self._loads.positions(dim, key), at, strict=True):
                product = np.kron(self._loads.chances_at(j, position, coordinate), product)
            tables.append(product)
        different, which = np.unique(np.reshape(tables, (len(tables), -1)), axis=1, return_inverse=True)
        return different, which.reshape(tables[0].shape)


def _merged_bound(problem: Problem, channel: int, parts: int) -> int:
    merged: MergedBounds = problem.loads.merged  # type: ignore[attr-defined]
    return merged.bound(channel, parts)


def merged_first(parts: tuple[int, ...], channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve channels by falling upper bound, which is refined before a channel is solved.

    All channels whose bound is not below the largest load are solved, so that the lowest of those with this load is
    found, whatever the bounds are.
    """

    def next_call(entry: tuple[int, int, int]) -> Call:
        _, channel, level = entry
        return (_merged_bound, channel, parts[level]) if level < len(parts) else (solved_channel, channel)

    def likely() -> Iterator[Call]:
        for entry in heapq.nsmallest(4 * calls.width, queue):
            if -entry[0] >= best:
                yield next_call(entry)

    queue: list[tuple[int, int, int]] = []
    best = -1
    calls.plan((_merged_bound, channel, parts[0]) for channel in channels.tolist())
    for done, channel in enumerate(channels.tolist(), 1):
        queue.append((-calls.result(_merged_bound, channel, parts[0]), channel, 1))
        progress("bounds of channels", done / len(channels))
    heapq.heapify(queue)
    while queue and -queue[0][0] >= best:
        calls.plan(likely())
        entry = heapq.heappop(queue)
        _, channel, level = entry
        found = calls.result(*next_call(entry))
        if level < len(parts):
            heapq.heappush(queue, (-found, channel, level + 1))
            continue
        best = max(best, found.value)
        yield [(channel, found)]
        progress("channels", 1 - sum(-bound >= best for bound, *_ in queue) / len(channels))
