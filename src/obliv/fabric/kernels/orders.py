"""Kernels: better orders of a job's ranks, by exchanges on the exact loads of all phases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

# Kernels: what routes through a fabric put on its channels


class RouteArrays(NamedTuple):
    """The routes of sources in classes that share theirs.

    Class r starts at leaf switch number ``leaf[r]``, node ``node[r]``, and uses, of each endpoint's LIDs, the
    `several` ones from offset ``low[r]`` on, again from 0 where an endpoint has fewer.  A class without a switch,
    leaf -1, reaches only the endpoint at the other end of its cable.  LID k, ``lid[k]`` with
    ``first_column[d] <= k < first_column[d + 1]``, belongs to endpoint d, and only where ``code[leaf, k]`` is 0 does
    its route arrive; other routes carry nothing.  ``first``, ``to`` and ``row`` are those of
    :class:`obliv.fabric.kernels.lanes.Forwarding`; ``out[row, lid]`` is a port.
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
def follow(routes: RouteArrays, s: int, d: int, o: int, path: Array) -> int:
    """Store the channels of route number `o` from source s to endpoint d; return their number, 0 if it is lost."""
    r = routes.class_of[s]
    slot = routes.slot_of[s]
    path[0] = routes.channel_of[slot]
    if routes.leaf[r] < 0:
        return 1 if routes.to[slot] == -3 - d else 0
    begin = routes.first_column[d]
    k = begin + (routes.low[r] + o) % (routes.first_column[d + 1] - begin)
    if routes.code[routes.leaf[r], k] != 0:
        return 0
    length = 1
    v = routes.node[r]
    while v >= 0:
        slot = routes.first[v] + np.int64(routes.out[routes.row[v], routes.lid[k]])
        path[length] = routes.channel_of[slot]
        length += 1
        v = routes.to[slot]
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


class Sends(NamedTuple):
    """What every rank sends or takes: entries ``first[r]`` to ``first[r + 1]`` are those of rank r.

    Entry e is a message of phase ``phase[e]`` to rank ``other[e]``, or from it where ``taken[e]``; it adds
    ``amount[e]`` times a channel's factor to the load.
    """

    first: Array
    phase: Array
    other: Array
    taken: Array
    amount: Array


class Order(NamedTuple):
    """An order of ranks and its loads.

    Rank r is at slot ``slot_of[r]``, slot t on host ``host[t]``, whose slots are ``slots[seat[h]:seat[h + 1]]``.
    A message from slot t to slot u crosses the channels ``path[start[t * ranks + u]:start[t * ranks + u + 1]]``.
    ``load[p, c]`` is the load of channel c in phase p, ``top[p]`` the largest of them, ``ideal[p]`` what no order is
    below, ``weight[p]`` how much the phase counts; ``factor[c]`` is what a message of 1 adds to a load.
    """

    slot_of: Array
    rank_at: Array
    host: Array
    seat: Array
    slots: Array
    start: Array
    path: Array
    load: Array
    top: Array
    ideal: Array
    weight: Array
    factor: Array


@kernel
def all_paths(rails: Array, host: Array, routes: RouteArrays, start: Array, path: Array) -> None:
    """Store the channels between all pairs of slots, or only where they start if `path` has no entries."""
    slots = len(host)
    channels = np.empty(len(routes.row) + 1, np.int64)
    at = 0
    for t in range(slots):
        for u in range(slots):
            start[t * slots + u] = at
            if host[t] == host[u]:
                continue
            for k in range(rails.shape[1]):
                s = rails[t, k]
                d = rails[u, k]
                if s == d:
                    continue
                for o in range(routes.several):
                    for hop in range(follow(routes, s, d, o, channels)):
                        if len(path) > 0:
                            path[at] = channels[hop]
                        at += 1
    start[slots * slots] = at


@kernel
def put_rank(a: int, besides: int, sign: int, sends: Sends, order: Order, stale: Array) -> float:
    """Add all messages of a rank to the loads, or take them away, except those with rank `besides`.

    Returns by how much Σ weight · excess² grows; `stale` are phases whose largest load may have become smaller.
    """
    ranks = len(order.slot_of)
    here = order.slot_of[a]
    grown = 0.0
    for e in range(sends.first[a], sends.first[a + 1]):
        if sends.other[e] == besides:
            continue
        there = order.slot_of[sends.other[e]]
        pair = there * ranks + here if sends.taken[e] else here * ranks + there
        p = sends.phase[e]
        floor = order.ideal[p]
        change = 0.0
        for k in range(order.start[pair], order.start[pair + 1]):
            c = order.path[k]
            old = order.load[p, c]
            new = old + sign * sends.amount[e] * order.factor[c]
            order.load[p, c] = new
            before = float(max(0, old - floor))
            after = float(max(0, new - floor))
            change += after * after - before * before
            if new > order.top[p]:
                order.top[p] = new
            elif new < old and old == order.top[p]:
                stale[p] = True
        grown += change * float(order.weight[p])
    return grown


@kernel
def exchange(a: int, b: int, sends: Sends, order: Order, stale: Array) -> float:
    """Exchange the slots of two ranks; return by how much Σ weight · excess² grows."""
    grown = put_rank(a, -1, -1, sends, order, stale)
    grown += put_rank(b, a, -1, sends, order, stale)
    x = order.slot_of[a]
    y = order.slot_of[b]
    order.slot_of[a] = y
    order.slot_of[b] = x
    order.rank_at[y] = a
    order.rank_at[x] = b
    grown += put_rank(a, -1, 1, sends, order, stale)
    grown += put_rank(b, a, 1, sends, order, stale)
    return float(grown)


@kernel
def exchange_seats(a: int, b: int, whole: bool, sends: Sends, order: Order, stale: Array) -> float:
    """Exchange two ranks, or all ranks of their hosts where `whole`, place by place."""
    grown = 0.0
    if whole:
        one = order.host[order.slot_of[a]]
        two = order.host[order.slot_of[b]]
        for k in range(min(order.seat[one + 1] - order.seat[one], order.seat[two + 1] - order.seat[two])):
            x = order.rank_at[order.slots[order.seat[one] + k]]
            y = order.rank_at[order.slots[order.seat[two] + k]]
            if x != y:
                grown += exchange(x, y, sends, order, stale)
    else:
        grown += exchange(a, b, sends, order, stale)
    return float(grown)


@kernel
def in_excess(a: int, sends: Sends, order: Order) -> bool:
    """Return whether a rank has a message over a channel whose load is above the phase's ideal."""
    ranks = len(order.slot_of)
    here = order.slot_of[a]
    for e in range(sends.first[a], sends.first[a + 1]):
        p = sends.phase[e]
        if order.top[p] > order.ideal[p]:
            there = order.slot_of[sends.other[e]]
            pair = there * ranks + here if sends.taken[e] else here * ranks + there
            for k in range(order.start[pair], order.start[pair + 1]):
                if order.load[p, order.path[k]] > order.ideal[p]:
                    return True
    return False


@kernel
def improve_order(draws: Array, sends: Sends, order: Order) -> int:
    """Try exchanges and keep those that do not raise Σ weight · largest load, then Σ weight · excess².

    ``draws[t]`` are two ranks, and 1 where all ranks of their hosts are exchanged.  Exchanges of a rank whose messages
    meet no excess are passed over.  Returns the number of exchanges that were tried; `order` holds the result.
    """
    phases = len(order.top)
    stale = np.zeros(phases, np.bool_)
    kept = order.top.copy()
    cost = 0.0
    for p in range(phases):
        cost += float(order.weight[p]) * float(order.top[p])
    tried = 0
    for t in range(len(draws)):
        a = draws[t, 0]
        b = draws[t, 1]
        if a == b or not in_excess(a, sends, order):
            continue
        tried += 1
        whole = draws[t, 2] == 1
        grown = exchange_seats(a, b, whole, sends, order, stale)
        now = 0.0
        for p in range(phases):
            if stale[p]:
                best = 0
                for c in range(order.load.shape[1]):
                    best = max(best, order.load[p, c])
                order.top[p] = best
                stale[p] = False
            now += float(order.weight[p]) * float(order.top[p])
        if now < cost or (now == cost and grown <= 0.0):
            cost = now
            kept[:] = order.top
        else:
            exchange_seats(a, b, whole, sends, order, stale)
            order.top[:] = kept
            stale[:] = False
    return tried
