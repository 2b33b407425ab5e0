"""Stored loads of a routing that is given by next hops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, starts
from obliv._util.cost import Work, announce, forecast, require_memory
from obliv._util.progress import Progress, rising, within
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.loads.kernels import hops as kernels
from obliv.loads.paths import Entries, from_entries
from obliv.loads.stored import StoredLoads
from obliv.topologies.base import Topology

__all__ = ["Hops", "from_hop_groups", "from_hops", "joined"]

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
    """Return the loads of a routing that is given by next hops.

    Parameters
    ----------
    topology : Topology
    hops_to : callable
        The next hops towards a destination node.
    name : str
        The routing, for messages.
    starts : integer array, optional
        Source nodes; default every terminal.  Source k of the loads is ``starts[k]``.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    StoredLoads
        Exact.

    Raises
    ------
    RoutingError
        If next hops form a loop, or end before the destination.
    """
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
                what = f"the pair loads of {name} on {topology.spec}"
                announce(step, what, Work(2e-7 * entries, size * entries), rough=True)
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
    entries = Entries(
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
) -> tuple[list[kernels.Block], int]:
    """Return the blocks of next hops, and a common denominator of all loads."""
    nodes = topology.nodes
    blocks = []
    common = 1
    for block in _blocks(topology, hops_to, name, progress):
        fault = np.zeros(3, np.int64)
        scratch = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64), fault
        own = -1
        if block.total.dtype != object:
            descent = kernels.Descent(np.empty(nodes, np.int64), *scratch)
            own = run(kernels.hop_levels, work, block, starts, limit, descent)
            _refuse(topology, name, fault)
        if own < 0:  # beyond 64 bits: once more in Python integers
            descent = kernels.Descent(np.empty(nodes, object), *scratch)
            exact = block._replace(total=block.total.astype(object))
            own = run(kernels.hop_levels, work, exact, starts, 0, descent)
            _refuse(topology, name, fault)
        common = lcm(common, int(own))
        blocks.append(block)
    return blocks, common


def _blocks(
    topology: Topology, hops_to: Callable[[int], Hops], name: str, progress: Progress
) -> Iterator[kernels.Block]:
    """Yield the next hops towards all terminals, some destinations at a time; levels are not set yet."""
    terminals = topology.terminals.astype(np.int64)
    what = f"the next hops of {name} on {topology.spec}"
    size = float(topology.nodes) * len(terminals)
    require_memory(20.0 * size, what)
    step = forecast(progress, what, 32.0 * size)  # with one next hop of every node, which takes 12 bytes

    def towards(number: int) -> Hops:
        hops = hops_to(int(terminals[number]))
        step("next hops", (number + 1) / len(terminals))
        return hops

    for first in range(0, len(terminals), _DESTINATIONS):
        targets = terminals[first : first + _DESTINATIONS]
        hops = joined([towards(first + k) for k in range(len(targets))])
        level = np.empty(len(targets) * topology.nodes, np.int32)
        channel = hops.channel.astype(np.int32)
        yield kernels.Block(targets, hops.ptr, channel, hops.share, hops.total, level, topology.head)


def _propagated(
    topology: Topology,
    block: kernels.Block,
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
    queue = kernels.Queue(mass, bucket, after)
    hops = block._replace(share=block.share.astype(number), total=block.total.astype(number))
    done = 0
    while done < len(block.targets):
        out = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, number)
        ends = np.zeros(len(block.targets), np.int64)
        entries = kernels.Entries(*out, ends)
        upto = int(run(kernels.propagate, work, done, hops, starts, denominator, queue, counts, entries))
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
        places = kernels.Places(cursor, destination, source, numerator)
        common = int(run(kernels.scatter, 10.0 * total, kernels.Entries(*entries), first, places, common))
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
    if kind == kernels.LOOP:
        raise RoutingError(f"{name}: the next hops towards {end} form a loop through {at}")
    raise RoutingError(f"{name}: {at} has no next hop towards {end}")
