"""Kernels: what routes through a fabric put on its channels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["RouteArrays", "bound_channels", "carry", "heaviest", "narrowest", "spread_routes", "sum_channels"]


class RouteArrays(NamedTuple):
    """The routes of sources in classes that share theirs.

    Class r starts at leaf switch number ``leaf[r]``, node ``node[r]``, and uses, of each endpoint's LIDs, the
    `several` ones from offset ``low[r]`` on, again from 0 where an endpoint has fewer.  A class without a switch,
    leaf -1, reaches only the endpoint at the other end of its cable.  LID k, ``lid[k]`` with
    ``first_column[d] <= k < first_column[d + 1]``, belongs to endpoint d, and only where ``code[leaf, k]`` is 0 does
    its route arrive; other routes carry nothing.  ``first``, ``to`` and ``row`` are those of
    :class:`obliv.fabric.kernels.traces.Hops`; ``out[row, lid]`` is a port.
    """

    several: int
    class_of: Array  # of every endpoint
    slot_of: Array  # of every endpoint
    node: Array
    leaf: Array
    low: Array
    first_column: Array
    lid: Array
    code: Array
    first: Array
    to: Array
    row: Array
    out: Array
    channel_of: Array  # of every slot


@kernel
def spread_routes(routes: RouteArrays, fill: bool, last: Array, cursor: Array, pair: Array, times: Array) -> None:
    """Sort the routes of all classes to all endpoints by channel; channels between switches only.

    Pair r · endpoints + d is stored once for each channel, in ``pair[cursor[c]]``; ``times`` says how many of its
    routes cross the channel (no entries: every pair has one route).  Without `fill` they are only counted.  `last`
    must hold -1.
    """
    ends = len(routes.first_column) - 1
    many = len(times) > 0
    for r in range(len(routes.node)):
        if routes.leaf[r] < 0:
            continue
        for d in range(ends):
            begin = routes.first_column[d]
            size = routes.first_column[d + 1] - begin
            for o in range(routes.low[r], routes.low[r] + routes.several):
                k = begin + o % size
                if routes.code[routes.leaf[r], k] != 0:
                    continue
                v = routes.node[r]
                while True:
                    slot = routes.first[v] + np.int64(routes.out[routes.row[v], routes.lid[k]])
                    v = routes.to[slot]
                    if v < 0:
                        break
                    c = routes.channel_of[slot]
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
    """Store each channel's simple bound, min(Σ row maxima · supply, Σ column maxima · demand); rows are classes."""
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
    """Add to `total` how often the routes of all pairs cross each channel; a class counts once for each source."""
    many = len(times) > 0
    for c in range(len(total)):
        for e in range(start[c], start[c + 1]):
            total[c] += size[pair[e] // ends] * (np.int64(times[e]) if many else 1)


@kernel
def carry(source: Array, destination: Array, amount: Array, routes: RouteArrays, total: Array) -> None:
    """Add to each channel the amounts of flows, as often as their routes cross it; destination -1 means no flow."""
    for f in range(len(source)):
        s, d = source[f], destination[f]
        if s == d or d < 0:
            continue
        r = routes.class_of[s]
        begin = routes.first_column[d]
        size = routes.first_column[d + 1] - begin
        for o in range(routes.low[r], routes.low[r] + routes.several):
            k = begin + o % size
            slot = routes.slot_of[s]
            if routes.leaf[r] < 0:
                if routes.to[slot] == -3 - d:
                    total[routes.channel_of[slot]] += amount[f]
                continue
            if routes.code[routes.leaf[r], k] != 0:
                continue
            total[routes.channel_of[slot]] += amount[f]
            v = routes.node[r]
            while v >= 0:
                slot = routes.first[v] + np.int64(routes.out[routes.row[v], routes.lid[k]])
                total[routes.channel_of[slot]] += amount[f]
                v = routes.to[slot]


@kernel
def heaviest(images: Array, most: Array, factor: Array, routes: RouteArrays, total: Array, result: Array) -> None:
    """Store the largest factor · load under each row of `images`: the destination of every source, -1 for no flow.

    A pair sends the smaller of ``most[0, s]`` and ``most[1, d]``.
    """
    every = np.arange(images.shape[1])
    amount = np.zeros(images.shape[1], np.int64)
    for p in range(len(images)):
        total[:] = 0
        for s in range(len(every)):
            amount[s] = min(most[0, s], most[1, images[p, s]])  # -1 is the last, which is not used
        carry(every, images[p], amount, routes, total)
        best = 0
        for c in range(len(total)):
            best = max(best, total[c] * factor[c])
        result[p] = best


@kernel
def narrowest(source: Array, destination: Array, load: Array, routes: RouteArrays, result: Array) -> None:
    """Store the largest load on the routes of each pair, 0 where no route arrives."""
    for f in range(len(source)):
        s, d = source[f], destination[f]
        r = routes.class_of[s]
        begin = routes.first_column[d]
        size = routes.first_column[d + 1] - begin
        best = 0
        for o in range(routes.low[r], routes.low[r] + routes.several):
            k = begin + o % size
            slot = routes.slot_of[s]
            if routes.leaf[r] < 0:
                if routes.to[slot] == -3 - d:
                    best = max(best, load[routes.channel_of[slot]])
                continue
            if routes.code[routes.leaf[r], k] != 0:
                continue
            best = max(best, load[routes.channel_of[slot]])
            v = routes.node[r]
            while v >= 0:
                slot = routes.first[v] + np.int64(routes.out[routes.row[v], routes.lid[k]])
                best = max(best, load[routes.channel_of[slot]])
                v = routes.to[slot]
        result[f] = best
