"""Kernels: what ways through a fabric put on its channels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from obliv.kernels import kernel

__all__ = ["Ways", "bound_channels", "carry", "heaviest", "narrowest", "spread_ways", "sum_channels"]

Array = Any


class Ways(NamedTuple):
    """Who takes which way: sources in classes that share theirs, LIDs, cables and tables.

    Class r starts at the switch ``node[r]``, leaf number ``leaf[r]``, and uses of every endpoint's LIDs those with the
    offsets ``low[r] .. high[r] - 1``, again from 0 where an endpoint has fewer.  A class without a switch, leaf -1,
    sends to the endpoint at the other end of its cable only.  LID k, ``lid[k]`` with
    ``first_column[d] <= k < first_column[d + 1]``, belongs to endpoint d, and only where ``code[leaf, k]`` is 0 does
    its way arrive; the others carry nothing.  ``first``, ``to`` and ``row`` are those of
    :mod:`obliv.fabric.kernels.traces`; ``out[row, lid]`` is a port.
    """

    class_of: Array  # of every endpoint
    slot_of: Array  # of every endpoint
    node: Array
    leaf: Array
    low: Array
    high: Array
    first_column: Array
    lid: Array
    code: Array
    first: Array
    to: Array
    row: Array
    out: Array
    channel_of: Array  # of every slot


@kernel
def spread_ways(
    ways: Ways,
    fill: bool,
    last: Array,
    cursor: Array,
    pair: Array,
    times: Array,
) -> None:
    """Sort the ways of all classes to all endpoints by channel; those between switches only.

    Pair r · endpoints + d stands once at a channel, in ``pair[cursor[c]]``, and ``times`` says how many of its ways
    cross it (no entries: every pair has one way).  Without `fill` they are only counted.  `last` must hold -1.
    """
    ends = len(ways.first_column) - 1
    many = len(times) > 0
    for r in range(len(ways.node)):
        if ways.leaf[r] < 0:
            continue
        for d in range(ends):
            begin = ways.first_column[d]
            size = ways.first_column[d + 1] - begin
            for o in range(ways.low[r], ways.high[r]):
                k = begin + o % size
                if ways.code[ways.leaf[r], k] != 0:
                    continue
                v = ways.node[r]
                while True:
                    slot = ways.first[v] + np.int64(ways.out[ways.row[v], ways.lid[k]])
                    v = ways.to[slot]
                    if v < 0:
                        break
                    c = ways.channel_of[slot]
                    here = r * ends + d
                    if last[c] != here:
                        last[c] = here
                        if fill:
                            pair[cursor[c]] = here
                            if many:
                                times[cursor[c]] = 1
                        cursor[c] += 1
                    elif fill and many:
                        times[cursor[c] - 1] += 1


@kernel
def bound_channels(
    start: Array, pair: Array, times: Array, ends: int, supply: Array, demand: Array, bound: Array
) -> None:
    """The simple bound of every channel, min(Σ row maxima · supply, Σ column maxima · demand); rows are classes."""
    top = np.zeros(ends, np.int64)
    many = len(times) > 0
    for c in range(len(bound)):
        by_row = 0
        by_column = 0
        before = -1
        best = 0
        for e in range(start[c], start[c + 1]):
            r = pair[e] // ends
            d = pair[e] - r * ends
            weight = np.int64(times[e]) if many else np.int64(1)
            if r != before:
                if before >= 0:
                    by_row += best * supply[before]
                before = r
                best = 0
            if weight > best:
                best = int(weight)
            if weight > top[d]:
                by_column += (weight - top[d]) * demand[d]
                top[d] = weight
        if before >= 0:
            by_row += best * supply[before]
        for e in range(start[c], start[c + 1]):
            top[pair[e] % ends] = 0
        bound[c] = min(by_row, by_column)


@kernel
def sum_channels(start: Array, pair: Array, times: Array, ends: int, size: Array, total: Array) -> None:
    """How often the ways of all pairs cross every channel; a class counts for as many sources as it has."""
    many = len(times) > 0
    for c in range(len(total)):
        for e in range(start[c], start[c + 1]):
            total[c] += size[pair[e] // ends] * (np.int64(times[e]) if many else 1)


@kernel
def carry(
    source: Array,
    destination: Array,
    amount: Array,
    ways: Ways,
    total: Array,
) -> None:
    """Add to every channel the amounts of flows, as often as a way of theirs crosses it; to -1 nothing flows."""
    for f in range(len(source)):
        s, d = source[f], destination[f]
        if s == d or d < 0:
            continue
        r = ways.class_of[s]
        begin = ways.first_column[d]
        size = ways.first_column[d + 1] - begin
        for o in range(ways.low[r], ways.high[r]):
            k = begin + o % size
            slot = ways.slot_of[s]
            if ways.leaf[r] < 0:
                if ways.to[slot] == -3 - d:
                    total[ways.channel_of[slot]] += amount[f]
                continue
            if ways.code[ways.leaf[r], k] != 0:
                continue
            total[ways.channel_of[slot]] += amount[f]
            v = ways.node[r]
            while v >= 0:
                slot = ways.first[v] + np.int64(ways.out[ways.row[v], ways.lid[k]])
                total[ways.channel_of[slot]] += amount[f]
                v = ways.to[slot]


@kernel
def heaviest(
    images: Array,
    most: Array,
    factor: Array,
    ways: Ways,
    total: Array,
    result: Array,
) -> None:
    """The largest factor · load of each row of `images`, what every source sends to; -1 for nothing.

    A pair sends the smaller of what ``most[0, s]`` and ``most[1, d]`` allow.
    """
    every = np.arange(images.shape[1])
    amount = np.zeros(images.shape[1], np.int64)
    for p in range(len(images)):
        total[:] = 0
        for s in range(len(every)):
            amount[s] = min(most[0, s], most[1, images[p, s]])  # -1 is the last, which is not used
        carry(every, images[p], amount, ways, total)
        best = 0
        for c in range(len(total)):
            best = max(best, total[c] * factor[c])
        result[p] = best


@kernel
def narrowest(
    source: Array,
    destination: Array,
    load: Array,
    ways: Ways,
    result: Array,
) -> None:
    """The largest load on the ways of each pair, 0 where none of them arrives."""
    for f in range(len(source)):
        s, d = source[f], destination[f]
        r = ways.class_of[s]
        begin = ways.first_column[d]
        size = ways.first_column[d + 1] - begin
        best = 0
        for o in range(ways.low[r], ways.high[r]):
            k = begin + o % size
            slot = ways.slot_of[s]
            if ways.leaf[r] < 0:
                if ways.to[slot] == -3 - d:
                    best = max(best, load[ways.channel_of[slot]])
                continue
            if ways.code[ways.leaf[r], k] != 0:
                continue
            best = max(best, load[ways.channel_of[slot]])
            v = ways.node[r]
            while v >= 0:
                slot = ways.first[v] + np.int64(ways.out[ways.row[v], ways.lid[k]])
                best = max(best, load[ways.channel_of[slot]])
                v = ways.to[slot]
        result[f] = best
