"""Loads that were enumerated, stored by channel: from listed or sampled paths, or from next hops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import floor, lcm
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, product_sum, starts, whole
from obliv._util.progress import Progress, require_memory, rising, within
from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.loads import _kernels
from obliv.loads._kernels import LoadsByChannel, assign_channels, coarsen, compare
from obliv.loads.base import PairLoads, RoundedPrices, Solved
from obliv.loads.workers import Calls
from obliv.matching.solve import Flows, Solution, Weights
from obliv.matching.solve import from_entries as weights_from
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology

_CHUNK = 2_000_000  # entries that are solved between two reports of progress


class StoredLoads(PairLoads):
    """Numerators of every channel, sorted by destination, then source.

    The entries of channel c are ``start[c] .. start[c + 1]`` of `destination`, `source` and `numerator`.
    """

    def __init__(
        self,
        topology: Topology,
        denominator: int,
        start: Array,
        destination: Array,
        source: Array,
        numerator: Array,
        samples: int | None = None,
    ) -> None:
        self.topology = topology
        self.denominator = denominator
        self.start = start
        self.destination = destination
        self.source = source
        self.numerator = numerator
        self.samples = samples

    def weights(self, channel: int) -> Weights:
        part = slice(self.start[channel], self.start[channel + 1])
        return weights_from(self.source[part], self.destination[part], self.numerator[part])

    def totals(self) -> Array:
        return self._sums(np.ones(1, np.int64), np.zeros(len(self.numerator), np.int8))

    def _carried(self, traffic: Traffic) -> Array:
        n = self.terminals
        require_memory(8.0 * n * n + 9.0 * len(self.numerator), "the traffic matrix")
        flow = np.zeros(n * n, np.int32)
        flow[traffic.source.astype(np.int64) * n + traffic.destination] = np.arange(1, len(traffic.amount) + 1)
        amounts = np.concatenate([np.zeros(1, traffic.amount.dtype), traffic.amount])
        return self._sums(amounts, flow[self.source.astype(np.int64) * n + self.destination])

    def _sums(self, amounts: Array, which: Array) -> Array:
        """Σ amounts[which] × numerator over the entries of each channel."""
        starts = self.start[:-1]
        largest = (
            int(max(self.numerator, default=0)) if self.numerator.dtype == object else self.numerator.max(initial=0)
        )
        bound = int(max(amounts)) * int(largest) * int(np.diff(self.start).max(initial=0))
        if self.numerator.dtype != object and amounts.dtype != object and bound < INT64_SAFE:
            added = np.concatenate([[0], np.cumsum(amounts[which] * self.numerator)])
            # differences of sums that may wrap are right all the same
            sums: Array = added[self.start[1:]] - added[starts]
            return sums
        return whole(
            [
                product_sum(amounts[which[a:b]], self.numerator[a:b])
                for a, b in zip(starts.tolist(), self.start[1:].tolist(), strict=True)
            ]
        )

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        work = 40.0 * len(self.numerator)
        loads = LoadsByChannel(self.start, self.destination, self.source, self.numerator)
        return bool(run(compare, work, loads, moved, place))

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        if calls.subject.rates.unit and self._fits:  # in less time than it takes to send the loads to a worker
            return self._in_bulk(channels, calls.subject.prices, progress)
        return super().solve_worst(channels, progress, calls)

    @property
    def _fits(self) -> bool:
        """Whether the matching of a channel stays within 64 bits, however its prices go."""
        if self.numerator.dtype == object:
            return False
        return 4 * int(self.numerator.max(initial=0)) * self.terminals < INT64_SAFE

    def _in_bulk(self, channels: Array, prices: bool, progress: Progress) -> Iterator[list[Solved]]:
        """Solve many channels a call, those with most entries first; the first call takes a few, to have a limit."""
        n, speeds = self.terminals, self.topology.bandwidth
        sizes = np.diff(self.start)
        order = channels[np.argsort(-sizes[channels], kind="stable")]
        ends = np.cumsum(sizes[order])
        loads = LoadsByChannel(self.start, self.destination, self.source, self.numerator)
        best: Any = -1
        done = 0
        while done < len(order):
            reach = (int(ends[done - 1]) if done else 0) + (_CHUNK if done else 0)
            upto = max(done + 32, int(np.searchsorted(ends, reach, side="right")))
            group = order[done:upto]
            limits = [max(-1, min(floor(best * speeds[c]), INT64_SAFE)) if speeds else best for c in group.tolist()]
            value = np.empty(len(group), np.int64)
            price = np.empty((len(group) if prices else 0, n), np.int64)
            first = starts(np.minimum(sizes[group], n))
            mates = np.empty(int(first[-1]), np.int32)
            work = 30.0 * len(self.numerator)
            run(assign_channels, work, group, np.array(limits, np.int64), loads, n, value, price, mates)
            solved: list[Solved] = []
            for k in np.flatnonzero(value >= 0).tolist():
                channel, load = int(group[k]), int(value[k])
                best = max(best, load / speeds[channel] if speeds else load)
                shipments = partial(self._matching, channel, mates, int(first[k]))
                solved.append((channel, Solution(load, price[k] if prices else None, shipments)))
            yield solved
            done += len(group)
            progress("channels", done / len(order))

    def _matching(self, channel: int, mates: Array, first: int) -> Flows:
        """Return the pairs of a channel's matching: from `first` on, the source of each of its destinations, or -1."""
        destinations = np.unique(self.destination[self.start[channel] : self.start[channel + 1]])
        pairs = zip(mates[first : first + len(destinations)].tolist(), destinations.tolist(), strict=True)
        return sorted((s, d, 1) for s, d in pairs if s >= 0)

    def describe(self) -> tuple[Any, ...]:
        return (RoundedPrices(self.rounded_prices),)

    def rounded_prices(self, channels: Array, prices: Array, limits: Array) -> Array:
        rounded = np.ascontiguousarray(prices)
        coarsest = max(0, self.denominator.bit_length() - 3)
        loads = LoadsByChannel(self.start, self.destination, self.source, self.numerator)
        work = 20.0 * len(self.numerator)
        run(coarsen, work, channels, loads, limits, rounded, self.terminals, coarsest)
        return rounded


# Stored loads of a routing whose paths are listed or sampled, from what each pair adds to each channel


#: A pair of terminals, and how often its packets cross each channel.
Crossings = tuple[int, int, dict[int, Fraction]]


class Numerators(NamedTuple):
    """What pairs of terminals add to channels: numerators over a common denominator, in any order."""

    source: Array
    destination: Array
    channel: Array
    numerator: Array
    denominator: int


def collected(crossings: Iterable[Crossings]) -> Numerators:
    """Return the expected crossings of pairs as entries."""
    rows = [(s, d, c, amount) for s, d, used in crossings for c, amount in used.items() if amount]
    denominator = lcm(*{amount.denominator for *_, amount in rows}) if rows else 1
    numerators = [amount.numerator * (denominator // amount.denominator) for *_, amount in rows]
    places: Array = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
    return Numerators(places[:, 0], places[:, 1], places[:, 2], whole(numerators), denominator)


def from_entries(topology: Topology, entries: Numerators, samples: int | None = None) -> StoredLoads:
    """Return entries as pair loads, sorted by channel, destination and source."""
    order = np.lexsort((entries.source, entries.destination, entries.channel))
    counts = np.bincount(entries.channel, minlength=topology.channels)
    return StoredLoads(
        topology,
        entries.denominator,
        starts(counts),
        entries.destination[order].astype(np.int32),
        entries.source[order].astype(np.int32),
        entries.numerator[order],
        samples,
    )


# Stored loads of a routing that is given by next hops


_DESTINATIONS = 64  # destinations whose next hops make one block
_ENTRIES = 1 << 21  # entries that are held before they are sorted into place


@dataclass(frozen=True, eq=False)
class Hops:
    """Next hops of every node towards one destination.

    Node v may take channels ``channel[ptr[v]:ptr[v + 1]]`` with probabilities ``share / total[v]``.
    """

    ptr: Array
    channel: Array
    share: Array
    total: Array

    @classmethod
    def even(cls, channel: Array, topology: Topology) -> Hops:
        """Return the next hops that take each of some channels with equal probability; channels are in order."""
        counts = np.bincount(topology.tail[channel], minlength=topology.nodes)
        ptr = starts(counts)
        return cls(ptr, channel, np.ones(len(channel), np.int64), np.maximum(counts, 1))


def joined(hops_of: list[Hops]) -> Hops:
    """Return the next hops towards several destinations one after another, with a last pointer at the end."""
    sizes = np.cumsum([0] + [len(hops.channel) for hops in hops_of])
    pointers = [hops.ptr[:-1] + size for hops, size in zip(hops_of, sizes, strict=False)]
    return Hops(
        np.concatenate([*pointers, sizes[-1:]]).astype(np.int64),
        np.concatenate([hops.channel for hops in hops_of]),
        np.concatenate([hops.share for hops in hops_of]),
        np.concatenate([hops.total for hops in hops_of]),
    )


def from_hops(
    topology: Topology,
    hops_to: Callable[[int], Hops],
    name: str,
    starts: Array | None = None,
    progress: Progress | None = None,
) -> StoredLoads:
    """Return the loads of a routing that is given by next hops."""
    step = rising(progress)
    begin = topology.terminals.astype(np.int64) if starts is None else np.asarray(starts, np.int64)
    work = 60.0 * len(topology.terminals) * len(begin)
    limit = INT64_SAFE // max(1, topology.nodes)
    blocks, denominator = _prepare(topology, hops_to, name, begin, work, limit, within(step, 0.0, 0.5))
    # hops that no packet takes may have larger numbers than the denominator of all loads
    small = denominator <= limit and all(block.total.dtype != object for block in blocks)
    number: Any = np.int64 if small else object
    counts = np.zeros(topology.channels, np.int64)
    parts: list[tuple[int, Array, Array, Array, Array]] = []
    for at, block in enumerate(blocks):
        first = at * _DESTINATIONS
        for part in _propagated(topology, block, first, begin, denominator, number, work, counts, name):
            parts.append(part)
            if len(parts) == 1:  # the others are taken to be like the first destinations
                entries = len(part[3]) * len(topology.terminals) / len(part[4])
                size = 36.0 if part[3].dtype != object else 90.0
                require_memory(size * entries / 2, f"the pair loads of {name} on {topology.spec}")  # a rough estimate
        step("pair loads", 0.5 + 0.5 * (first + len(block.targets)) / len(topology.terminals))
    return _sorted(topology, parts, counts, denominator, name)


def from_hop_groups(
    topology: Topology,
    groups: Sequence[tuple[Array, Callable[[int], Hops]]],
    name: str,
    progress: Progress,
) -> StoredLoads:
    """Return the loads of a routing whose next hops depend on a group of sources: sources with their next hops."""
    parts = []
    for at, (sources, hops_to) in enumerate(groups):
        parts.append(from_hops(topology, hops_to, name, sources))
        progress("pair loads", (at + 1) / len(groups))
    common = lcm(*(part.denominator for part in parts))
    number: Any = np.int64 if common < INT64_SAFE else object
    entries = Numerators(
        np.concatenate(
            [topology.number_of[sources][part.source] for (sources, _), part in zip(groups, parts, strict=True)]
        ),
        np.concatenate([part.destination for part in parts]),
        np.concatenate([np.repeat(np.arange(topology.channels), np.diff(part.start)) for part in parts]),
        np.concatenate([part.numerator.astype(number) * (common // part.denominator) for part in parts]),
        common,
    )
    return from_entries(topology, entries)


def _prepare(
    topology: Topology,
    hops_to: Callable[[int], Hops],
    name: str,
    starts: Array,
    work: float,
    limit: int,
    progress: Progress,
) -> tuple[list[_kernels.HopBlock], int]:
    """Return the blocks of next hops, and a common denominator of all loads."""
    nodes = topology.nodes
    blocks = []
    common = 1
    for block in _blocks(topology, hops_to, name, progress):
        fault = np.zeros(3, np.int64)
        scratch = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64), fault
        own = -1
        if block.total.dtype != object:
            descent = _kernels.Descent(np.empty(nodes, np.int64), *scratch)
            own = run(_kernels.hop_levels, work, block, starts, limit, descent)
            _refuse(topology, name, fault)
        if own < 0:  # beyond 64 bits: once more in Python integers
            descent = _kernels.Descent(np.empty(nodes, object), *scratch)
            exact = block._replace(total=block.total.astype(object))
            own = run(_kernels.hop_levels, work, exact, starts, 0, descent)
            _refuse(topology, name, fault)
        common = lcm(common, int(own))
        blocks.append(block)
    return blocks, common


def _blocks(
    topology: Topology, hops_to: Callable[[int], Hops], name: str, progress: Progress
) -> Iterator[_kernels.HopBlock]:
    """Yield the next hops towards all terminals, some destinations at a time; levels are not set yet."""
    terminals = topology.terminals.astype(np.int64)
    # with one next hop of every node
    require_memory(32.0 * topology.nodes * len(terminals), f"the next hops of {name} on {topology.spec}")

    def towards(number: int) -> Hops:
        hops = hops_to(int(terminals[number]))
        progress("next hops", (number + 1) / len(terminals))
        return hops

    for first in range(0, len(terminals), _DESTINATIONS):
        targets = terminals[first : first + _DESTINATIONS]
        hops = joined([towards(first + k) for k in range(len(targets))])
        level = np.empty(len(targets) * topology.nodes, np.int32)
        channel = hops.channel.astype(np.int32)
        yield _kernels.HopBlock(targets, hops.ptr, channel, hops.share, hops.total, level, topology.head)


def _propagated(
    topology: Topology,
    block: _kernels.HopBlock,
    first: int,
    starts: Array,
    denominator: int,
    number: Any,
    work: float,
    counts: Array,
    name: str,
) -> Iterator[tuple[int, Array, Array, Array, Array]]:
    """Entries (channel, source, numerator) of a block, with the number of the first destination and their ends."""
    nodes, channels = topology.nodes, topology.channels
    mass: Array = np.zeros(nodes, number)
    bucket, after = np.full(nodes + 1, -1, np.int64), np.empty(nodes, np.int64)
    capacity = min(_ENTRIES, channels * len(starts) * len(block.targets)) + channels
    queue = _kernels.NodeQueue(mass, bucket, after)
    hops = block._replace(share=block.share.astype(number), total=block.total.astype(number))
    done = 0
    while done < len(block.targets):
        out = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, number)
        ends = np.zeros(len(block.targets), np.int64)
        entries = _kernels.DestinationEntries(*out, ends)
        upto = int(run(_kernels.propagate, work, done, hops, starts, denominator, queue, counts, entries))
        if upto == done:
            capacity *= 2
            require_memory(16.0 * capacity, f"the pair loads of {name} on {topology.spec}")
            continue
        size = int(ends[upto - 1])
        require_memory(40.0 * size, f"the pair loads of {name} on {topology.spec}")
        yield first + done, *(part[:size].copy() for part in out), ends[done:upto]  # type: ignore[misc]
        done = upto


def _sorted(
    topology: Topology,
    parts: list[tuple[int, Array, Array, Array, Array]],
    counts: Array,
    denominator: int,
    name: str,
) -> StoredLoads:
    """Sort the entries by channel, freeing each part when it is in place."""
    start = starts(counts)
    total = int(start[-1])
    require_memory(16.0 * total, f"the pair loads of {name} on {topology.spec}")
    number: Any = object if parts and parts[0][3].dtype == object else np.int64
    destination, source, numerator = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, number)
    cursor = start[:-1].copy()
    common = denominator
    parts.reverse()
    while parts:
        first, *entries = parts.pop()
        places = _kernels.NextPlaces(cursor, destination, source, numerator)
        common = int(run(_kernels.scatter, 10.0 * total, _kernels.DestinationEntries(*entries), first, places, common))
    if common > 1:
        numerator //= common
    if number is object and total and max(numerator) < INT64_SAFE:
        numerator = numerator.astype(np.int64)
    return StoredLoads(topology, denominator // common, start, destination, source, numerator)


def _refuse(topology: Topology, name: str, fault: Array) -> None:
    kind, destination, node = (int(x) for x in fault)
    if not kind:
        return
    at, end = topology.name_of(node), topology.name_of(destination)
    if kind == _kernels.LOOP:
        raise RoutingError(f"{name}: the next hops towards {end} form a loop through {at}")
    raise RoutingError(f"{name}: {at} has no next hop towards {end}")
