"""Upper bounds of separable loads: positions along a channel's own dimension are merged into a few intervals.

Sources whose coordinates along the channel's dimension lie in one interval, and whose others agree, are merged, and so
are destinations; each pair of merged ones has the largest load of its members.  The transport between them is worth at
least as much as any traffic, and is far smaller than that between all nodes.

Any prices of the merged destinations bound a channel as well. Those of a channel not far away, moved along with the
channel, are nearly as good as its own, and cost no search at all.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from obliv._util.arrays import starts
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.loads.calls import Call, Calls
from obliv.loads.search import Problem, Solved, solved_channel
from obliv.matching.blocks import Blocks, gains, maximum_weight_of_blocks

if TYPE_CHECKING:
    from obliv.loads.separable import SeparableLoads
    from obliv.topologies.axes import Axis

__all__ = ["MergedBounds", "Step", "merged_first"]

#: A bound of a channel: a function of the problem, the channel and a number of intervals, and this number.
Step = tuple["Callable[[Problem, int, int], int]", int]

_SCALE = 2**40
_MARGIN = 1 + 2.0**-36  # covers the rounding of sums of products of non-negative numbers
_PARTS = (1, 4, 16, 32)  # intervals
_SIZE = 1 << 11  # merged sources for which the transport is small
_SIZE_ON_LINES = 1 << 13  # the same where most blocks have one load
_AREAS = 8  # along a line, whose channels share prices


class MergedBounds:
    """Upper bounds of the load of single channels, for separable loads between all nodes at rate 1."""

    def __init__(self, loads: SeparableLoads) -> None:
        topology = loads.topology
        others = max(topology.nodes // radix for radix in topology.radices)
        unit = topology.all_terminals and topology.unit_rates and not topology.bandwidth
        self._lines = all(axis.kind == "line" for axis in topology.axes)
        most = _SIZE_ON_LINES if self._lines else _SIZE
        #: Numbers of intervals that are worth trying before a channel is solved.
        self.parts = tuple(
            parts for parts in _PARTS if unit and parts * others <= most and 2 * parts <= min(topology.radices)
        )
        self._loads = loads
        self._across = lru_cache(maxsize=256)(self._across_at)
        self._along = lru_cache(maxsize=512)(self._along_link)
        self._solved = lru_cache(maxsize=1024)(self._solved_at)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The bounds of a channel: each is better than those before and takes longer."""
        first: Step = (_near_bound, self.parts[1]) if len(self.parts) > 1 else (_merged_bound, self.parts[0])
        return first, *((_merged_bound, parts) for parts in self.parts[1:])

    def seconds(self, solved: float) -> float:
        """Return the mean time of a channel where solving one takes `solved` seconds: few channels are solved."""
        others = max(self._loads.topology.nodes // radix for radix in self._loads.topology.radices)
        bounds = 6e-7 if self._lines else 1.4e-6 + 2e-6 * (len(self.parts) > 1)
        return bounds * others**2 + 0.01 * solved * (not self._lines)

    def bound(self, channel: int, parts: int) -> int:
        """Return an upper bound of a channel's load, in numerators, from a number of intervals."""
        return self._numerators(self._solved(*self._place(channel), parts)[0])

    def near_bound(self, channel: int, parts: int) -> int:
        """Return an upper bound as :meth:`bound`, from the prices of a channel not far away: without a transport."""
        dim, link, at = self._place(channel)
        base_link, base = self._base(dim, link, at)
        prices = self._solved(dim, base_link, base, parts)[1]
        axes = self._others(dim)
        moved = prices.T.reshape(-1, *(axis.radix for axis in reversed(axes)))
        for j, (axis, here, there) in enumerate(zip(axes, at, base, strict=True)):
            spot = np.arange(axis.radix) + (there - here)
            spot = spot % axis.radix if axis.kind == "ring" else spot.clip(0, axis.radix - 1)
            moved = moved.take(spot, axis=len(axes) - j)
        blocks = self._merged(dim, link, at, parts)
        intervals = np.minimum(np.arange(blocks.demand.shape[1]), len(moved) - 1)
        price = moved.reshape(len(moved), -1).T[:, intervals]
        gain = gains(blocks, price)
        return self._numerators(int((blocks.supply * gain).sum()) + int((blocks.demand * price).sum()))

    def _numerators(self, value: int) -> int:
        return -(-value * self._loads.denominator // _SCALE)

    def _place(self, channel: int) -> tuple[int, int, tuple[int, ...]]:
        """Return the dimension of a channel, its link there, and its other coordinates."""
        topology = self._loads.topology
        dim, at = int(topology.dim_of[channel]), topology.coordinates(int(topology.tail[channel]))
        return dim, int(topology.link_of[channel]), at[:dim] + at[dim + 1 :]

    def _others(self, dim: int) -> list[Axis]:
        return [axis for j, axis in enumerate(self._loads.topology.axes) if j != dim]

    def _base(self, dim: int, link: int, at: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Return the place of the channel whose prices bound one: in the middle of an area of the network."""
        axis = self._loads.topology.axes[dim]
        tail, head = axis.links[link]
        if axis.kind == "line":
            first = _middle(min(tail, head), axis.radix - 1)
            link = axis.links.index((first, first + 1) if head > tail else (first + 1, first))
        base = []
        for other, coordinate in zip(self._others(dim), at, strict=True):
            alone = coordinate if other.kind == "clique" else 0
            base.append(_middle(coordinate, other.radix) if other.kind == "line" else alone)
        return link, tuple(base)

    def _solved_at(self, dim: int, link: int, at: tuple[int, ...], parts: int) -> tuple[int, Array]:
        """Return the value of the transport between merged nodes, and the prices of merged destinations."""
        matching = maximum_weight_of_blocks(self._merged(dim, link, at, parts))
        return matching.value, matching.prices

    def _merged(self, dim: int, link: int, at: tuple[int, ...], parts: int) -> Blocks:
        """Return the loads between merged nodes, rounded up."""
        across, kind = self._across(dim, at)
        different, rows, columns = self._along(dim, link, parts)
        shares, first = different
        total = across[0][:, None] * shares[0]
        for chance, share in zip(across[1:], shares[1:], strict=True):
            total += chance[:, None] * share
        largest = np.maximum.reduceat(total, first, axis=1).reshape(-1, len(rows), len(columns))
        values = np.ceil(largest * (_SCALE * _MARGIN)).astype(np.int64)
        return Blocks(kind, values, np.tile(rows, (len(kind), 1)), np.tile(columns, (len(kind), 1)))

    def _along_link(self, dim: int, link: int, parts: int) -> tuple[tuple[Array, Array], Array, Array]:
        """Return for pairs of intervals the groups' chances to cross a link that count, and the intervals' sizes.

        The chances of all pairs stand side by side, with the first column of each pair.
        """
        loads = self._loads
        along = np.stack([loads.chances_along(dim, key, link) for key in loads.groups[dim]])
        used = (along != 0).any(axis=0)
        places = (np.flatnonzero(used.any(axis=axis)) for axis in (1, 0))
        rows, columns = (np.array_split(side, min(parts, len(side))) for side in places)
        shares = [_largest(along[:, row][:, :, column].reshape(len(along), -1)) for row in rows for column in columns]
        different = np.concatenate(shares, axis=1), starts(np.array([share.shape[1] for share in shares]))[:-1]
        return different, np.array([len(row) for row in rows]), np.array([len(column) for column in columns])

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


def _middle(coordinate: int, places: int) -> int:
    """Return the middle of the area of a coordinate along a line."""
    area = max(1, places // _AREAS)
    return min(coordinate // area * area + area // 2, places - 1)


def _largest(columns: Array) -> Array:
    """Return those columns that no other column exceeds everywhere."""
    left = columns[:, np.argsort(-columns.sum(axis=0), kind="stable")]
    kept: list[Array] = []
    while left.shape[1]:
        kept.append(left[:, 0])
        left = left[:, (left > left[:, :1]).any(axis=0)]
    return np.array(kept).T


def _merged_bound(problem: Problem, channel: int, parts: int) -> int:
    merged: MergedBounds = problem.loads.merged  # type: ignore[attr-defined]
    return merged.bound(channel, parts)


def _near_bound(problem: Problem, channel: int, parts: int) -> int:
    merged: MergedBounds = problem.loads.merged  # type: ignore[attr-defined]
    return merged.near_bound(channel, parts)


def merged_first(steps: tuple[Step, ...], channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve channels by falling upper bound, which is refined before a channel is solved.

    All channels whose bound is not below the largest load are solved, so that the lowest of those with this load is
    found, whatever the bounds are.
    """

    def next_call(entry: tuple[int, int, int]) -> Call:
        _, channel, level = entry
        return (steps[level][0], channel, steps[level][1]) if level < len(steps) else (solved_channel, channel)

    def likely() -> Iterator[Call]:
        for entry in heapq.nsmallest(4 * calls.width, queue):
            if -entry[0] >= best:
                yield next_call(entry)

    queue: list[tuple[int, int, int]] = []
    best = -1
    calls.plan((steps[0][0], channel, steps[0][1]) for channel in channels.tolist())
    for done, channel in enumerate(channels.tolist(), 1):
        queue.append((-calls.result(steps[0][0], channel, steps[0][1]), channel, 1))
        progress("bounds of channels", done / len(channels))
    heapq.heapify(queue)
    while queue and -queue[0][0] >= best:
        calls.plan(likely())
        entry = heapq.heappop(queue)
        _, channel, level = entry
        found = calls.result(*next_call(entry))
        if level < len(steps):
            heapq.heappush(queue, (-min(found, -entry[0]), channel, level + 1))
            continue
        best = max(best, found.value)
        yield [(channel, found)]
        progress("channels", 1 - sum(-bound >= best for bound, *_ in queue) / len(channels))
