"""Kernels: better orders of a job's ranks, by exchanges on the exact loads of all phases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.automaton import RouteArrays, follow
from obliv.kernels import kernel


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
    channels = np.empty(len(routes.hops.row) + 1, np.int64)
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
    """Add all messages of a rank to the loads, or take them away, except those with rank `besides`."""
    # Returns by how much Σ weight · excess² grows; `stale` are phases whose largest load may have become smaller.
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
    """Try exchanges and keep those that do not raise Σ weight · largest load, then Σ weight · excess²."""
    # `draws[t]` are two ranks, and 1 where all ranks of their hosts are exchanged.  Exchanges of a rank whose messages
    # meet no excess are passed over.  Returns the number of exchanges that were tried; `order` holds the result.
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
