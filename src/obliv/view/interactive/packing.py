"""Pair loads as text for a page: different numbers and different rows once, everything else as small whole numbers."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, whole
from obliv._util.typing import Array
from obliv.checker.flows.base import Flow
from obliv.errors import TooLargeError
from obliv.loads.base import PairLoads

__all__ = ["UnevenError", "flow_entries", "number", "pack_loads", "text_of", "weight_entries"]

_MOST_ENTRIES = 8_000_000  # pairs on channels that are looked at before giving up
_LOOKED_AT = 8  # sources from which the room of all is estimated

#: Channels, destinations and numerators of what one source sends, sorted by channel, then by destination.
Entries = tuple[Array, Array, Array]


class UnevenError(ValueError):
    """A load that is not a whole number over the denominator."""


def number(value: int) -> int | str:
    """Return a whole number as JSON that every reader reads exactly: as text from 2**53 on."""
    return value if -(2**53) < value < 2**53 else str(value)


def text_of(numbers: Iterable[int]) -> str:
    """Return whole numbers ≥ 0 as base64: seven bits a byte, the lowest first, the highest bit set in all but the last.

    Examples
    --------
    >>> text_of([1, 300])
    'AawC'
    """
    data = bytearray()
    for value in numbers:
        while value > 127:
            data.append(value & 127 | 128)
            value >>= 7
        data.append(value)
    return b64encode(data).decode("ascii")


def pack_loads(
    entries: Iterable[Entries], channels: int, terminals: int, denominator: int, room: int
) -> dict[str, Any]:
    """Return pair loads for a page.

    Parameters
    ----------
    entries : iterable of (channels, destinations, numerators)
        What every source sends, in the order of the sources.
    channels, terminals : int
    denominator : int
    room : int
        Characters that the text may take.

    Returns
    -------
    dict
        `denominator`; `values`, the different numerators; `rows`, for each different row its length and then gaps
        between destinations and numbers of values; `channels`, for every channel its number of rows and then gaps
        between sources and numbers of rows.

    Raises
    ------
    TooLargeError
        If the text takes more room.
    """
    values: dict[int, int] = {}
    rows: dict[bytes, int] = {}
    row_numbers: list[int] = []
    by_channel: list[list[int]] = [[] for _ in range(channels)]
    last = [0] * channels
    seen = size = 0
    for i, (channel, destination, amount) in enumerate(entries):
        seen += len(channel)
        different, place = np.unique(amount, return_inverse=True)
        known = np.array([values.setdefault(int(value), len(values)) for value in different], np.int64)
        index = known[place] if len(different) else place
        starts = np.flatnonzero(np.diff(channel, prepend=-1))
        gaps = np.diff(destination, prepend=0)
        gaps[starts] = destination[starts]
        table = np.stack([gaps, index], axis=1)
        for first, end in zip(starts.tolist(), [*starts[1:].tolist(), len(channel)], strict=True):
            key = table[first:end].tobytes()
            if key not in rows:
                rows[key] = len(rows)
                row_numbers += [end - first, *table[first:end].ravel().tolist()]
            c = int(channel[first])
            by_channel[c] += [i - last[c], rows[key]]
            last[c] = i
        size += 3 * len(starts)
        expected = max(size, size * terminals / (i + 1) / 1.5 if i >= _LOOKED_AT else 0) + 1.3 * len(row_numbers)
        if seen > _MOST_ENTRIES or expected > room:
            raise TooLargeError(f"the loads of pairs take more than {room / 1e6:.2g} MB")
    per_channel = (part for row in by_channel for part in (len(row) // 2, *row))
    packed = {
        "denominator": str(denominator),
        "values": [str(value) for value in values],
        "rows": text_of(row_numbers),
        "channels": text_of(per_channel),
    }
    if len(packed["rows"]) + len(packed["channels"]) > room:
        raise TooLargeError(f"the loads of pairs take more than {room / 1e6:.2g} MB")
    return packed


def flow_entries(flows: Callable[[int], Flow], terminals: int, denominator: int) -> Iterator[Entries]:
    """Yield what the checker finds that every terminal sends, as numerators over a denominator.

    Raises
    ------
    UnevenError
        If a load is not a whole number over it.
    """
    for i in range(terminals):
        flow = flows(i)
        destination = np.searchsorted(flow.ends, np.arange(len(flow.channel)), side="right")
        share, over = np.asarray(flow.amount), np.asarray(flow.whole)[destination]
        if len(share) and int(max(share.max(), 1)) * denominator >= INT64_SAFE:
            share, over = share.astype(object), over.astype(object)
        scaled = share * denominator
        if len(share) and (scaled % over).any():
            raise UnevenError(f"a load is not a whole number over the denominator {denominator}")
        yield _summed(np.asarray(flow.channel), destination, scaled // over)


def weight_entries(loads: PairLoads) -> Iterator[Entries]:
    """Yield the numerators of pair loads, source by source."""
    parts = [loads.weights(channel).spread() for channel in range(loads.topology.channels)]
    channel = np.repeat(np.arange(len(parts)), [len(row) for row, _, _ in parts])
    row, column, weight = (np.concatenate(arrays) if parts else np.zeros(0, np.int64) for arrays in zip(*parts))
    order = np.argsort(row, kind="stable")
    ends = np.searchsorted(row[order], np.arange(loads.terminals + 1))
    for first, end in itertools.pairwise(ends):
        part = order[first:end]
        yield _summed(channel[part], column[part], weight[part])


def _summed(channel: Array, destination: Array, amount: Array) -> Entries:
    """Return entries sorted by channel and destination, of which those of one pair are added up."""
    order = np.lexsort((destination, channel))
    channel, destination, amount = channel[order], destination[order].astype(np.int64), amount[order]
    new = np.ones(len(channel), bool)
    new[1:] = (np.diff(channel) != 0) | (np.diff(destination) != 0)
    first = np.flatnonzero(new)
    if not len(first):
        return channel, destination, amount
    if amount.dtype == object or int(np.abs(amount).max()) * len(amount) >= INT64_SAFE:
        sums = np.add.reduceat(amount.astype(object), first)
        busy = sums != 0
        return channel[first][busy], destination[first][busy], whole(sums[busy].tolist())
    sums = np.add.reduceat(amount.astype(np.int64), first)
    busy = sums != 0
    return channel[first][busy], destination[first][busy], sums[busy]
