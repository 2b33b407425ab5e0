"""Kernels: what routes through a fabric put on its channels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.automaton import DELIVERED, FIRST_END, Automaton
from obliv.kernels import kernel


class RouteArrays(NamedTuple):
    """The routes of sources in classes that share theirs.

    Class r starts at leaf switch number ``leaf[r]``, node ``node[r]``, and uses, of each endpoint's LIDs, the
    `several` ones from offset ``low[r]`` on, again from 0 where an endpoint has fewer.  A class without a switch,
    leaf -1, reaches only the endpoint at the other end of its cable.  LID k, ``lid[k]`` with
    ``first_column[d] <= k < first_column[d + 1]``, belongs to endpoint d, and only where ``code[leaf, k]`` is 0 does
    its route arrive; other routes carry nothing.  `hops` is the automaton of forwarding tables; ``first``, ``to`` and
    ``row`` are its own, and ``out[row, lid]`` is a port.
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
    hops: Automaton
    first: Array
    to: Array
    row: Array
    out: Array
    channel_of: Array  # of every slot


@kernel
def follow(routes: RouteArrays, s: int, d: int, o: int, path: Array) -> int:
    """Store the channels of route number `o` from source s to endpoint d; return their number, 0 if it is lost."""
    r = routes.class_of[s]
    path[0] = routes.channel_of[routes.slot_of[s]]
    if routes.leaf[r] < 0:
        return 1 if routes.to[routes.slot_of[s]] == FIRST_END - d else 0
    begin = routes.first_column[d]
    k = begin + (routes.low[r] + o) % (routes.first_column[d + 1] - begin)
    if routes.code[routes.leaf[r], k] != DELIVERED:
        return 0
    # no call of another kernel: it would count references to every array, route by route
    first, to, row, out, ptr, port = routes.hops
    length, lid = 1, routes.lid[k]
    v = np.int64(routes.node[r])
    while v >= 0:
        slot = first[v] + np.int64(port[ptr[out[lid, row[v]]]])
        path[length] = routes.channel_of[slot]
        length += 1
        v = np.int64(to[slot])
    return length


@kernel
def spread_routes(routes: RouteArrays, fill: bool, last: Array, cursor: Array, pair: Array, times: Array) -> None:
    """Sort the routes of all classes to all endpoints by channel; channels between switches only.

    Pair r · endpoints + d is stored once for each channel, in ``pair[cursor[c]]``; ``times`` is how many of its
    routes cross the channel (no entries: every pair has one route).  Without `fill` they are only counted.  `last`
    must hold -1.
    """
    ends = len(routes.first_column) - 1
    many = len(times) > 0
    path = np.empty(len(routes.row) + 1, np.int64)
    member = np.empty(len(routes.node), np.int64)  # a source of every class
    for s in range(len(routes.class_of)):
        member[routes.class_of[s]] = s
    for x in range(len(routes.node) * ends):
        # entries are stored by class; counting by destination stays within a column of the tables
        r, d = (x // ends, x % ends) if fill else (x % len(routes.node), x // len(routes.node))
        here = r * ends + d
        for o in range(routes.several):
            for hop in range(1, follow(routes, member[r], d, o, path) - 1):
                c = path[hop]
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
def sum_channels(routes: RouteArrays, supply: Array, total: Array) -> None:
    """Add to each channel between switches the supply of all classes, as often as their routes to all ends cross it."""
    path = np.empty(len(routes.row) + 1, np.int64)
    member = np.empty(len(routes.node), np.int64)  # a source of every class
    for s in range(len(routes.class_of)):
        member[routes.class_of[s]] = s
    for r in range(len(routes.node)):
        for d in range(len(routes.first_column) - 1):
            for o in range(routes.several):
                for hop in range(1, follow(routes, member[r], d, o, path) - 1):
                    total[path[hop]] += supply[r]


@kernel
def carry(source: Array, destination: Array, amount: Array, routes: RouteArrays, total: Array) -> None:
    """Add to each channel the amounts of flows, as often as their routes cross it; destination -1 means no flow."""
    path = np.empty(len(routes.row) + 1, np.int64)
    for f in range(len(source)):
        if source[f] != destination[f] and destination[f] >= 0:
            for o in range(routes.several):
                for hop in range(follow(routes, source[f], destination[f], o, path)):
                    total[path[hop]] += amount[f]


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
    path = np.empty(len(routes.row) + 1, np.int64)
    for f in range(len(source)):
        best = 0
        for o in range(routes.several):
            for hop in range(follow(routes, source[f], destination[f], o, path)):
                best = max(best, load[path[hop]])
        result[f] = best
