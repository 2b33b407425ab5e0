"""Kernels: what is left of the worst loads of tables after cables failed, failure by failure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.routes import RouteArrays
from obliv.kernels import kernel

__all__ = ["FailureSpace", "Intact", "Outcomes", "Sets", "failure_loads", "intact_loads"]


class Intact(NamedTuple):
    """Tables before a failure: who crosses each channel between switches, and the worst loads.

    The entries of channel c, pairs class · endpoints + destination, are ``pair[start[c]:start[c + 1]]``, sorted.

    Parameters
    ----------
    start : int64 array, shape (channels + 1,)
    pair : int array, shape (entries,)
    matched : uint8 array, shape (entries,)
        Whether the entry belongs to the channel's largest matching.
    size : int64 array, shape (classes,)
        The number of sources of every class.
    unit : int64 array, shape (channels,)
        The load that one packet puts on a channel: inversely proportional to its bandwidth.
    load : int64 array, shape (channels,)
        The worst load, in those units.
    order, rank : int64 arrays, shape (channels,)
        The channels by falling load, and the place of every channel among them.
    layer : int32 array, shape (channels,)
        A number that rises along every dependency of the tables, if they have no credit loop.
    first_after, after : int64 arrays
        What some route uses right after channel c is ``after[first_after[c]:first_after[c + 1]]``.
    slot_of, tail_of : int64 arrays, shape (channels,)
        The port where each channel begins, and the node of the fabric.
    """

    start: Array
    pair: Array
    matched: Array
    size: Array
    unit: Array
    load: Array
    order: Array
    rank: Array
    layer: Array
    first_after: Array
    after: Array
    slot_of: Array
    tail_of: Array


class FailureSpace(NamedTuple):
    """Space of :func:`failure_loads`; every array is left as it was found, but for `stamp`.

    Parameters
    ----------
    failed : int32 array, shape (channels,)
        -1, or the number of a failed channel.
    other : int16 array, shape (failed channels, columns)
        -1, or the port that replaces a failed one.
    stamp : int32 array, shape (classes · endpoints,)
        The last failure that concerned a pair.
    less, more : int32 arrays, shape (channels,)
        Pairs that a channel lost, and pairs that came to it.
    first_added : int32 array, shape (channels,)
        -1, or the first pair of a list of those that cross the channel now; ``next_added`` follows it.
    next_added, added : int64 arrays
        As many as may be needed; the kernel stops where they do not suffice.
    touched : int64 array, shape (channels,)
    first_new : int32 array, shape (channels,)
        -1, or the first of a list of channels that come right after the channel now; ``next_new`` follows it.
    next_new, new : int32 arrays
        As long as `added`.
    """

    failed: Array
    other: Array
    stamp: Array
    less: Array
    more: Array
    first_added: Array
    next_added: Array
    added: Array
    touched: Array
    first_new: Array
    next_new: Array
    new: Array


class MatchingSpace(NamedTuple):
    """Space of :func:`matching`."""

    owner: Array  # of every destination: the class that it is matched with, -1
    reached: Array  # of every destination: the class from which the search came, -1
    seen: Array  # destinations
    taken: Array  # of every class: its destinations
    came: Array  # of every class: the destination by which the search came, -1; -2 where it did not
    begin: Array  # of every class: its first entry
    end: Array
    queue: Array  # classes


class Sets(NamedTuple):
    """What fails together: failure f takes the channels ``channel[first[f]:first[f + 1]]``."""

    first: Array
    channel: Array


class Outcomes(NamedTuple):
    """What failures do, one entry for each.

    Parameters
    ----------
    lost : int64 array
        Ordered pairs whose packets no longer arrive.
    load : int64 array
        The largest load of a channel between switches, in the units of :class:`Intact`.
    channel : int64 array
        The first channel that has it, among those that the failure leaves as they were if possible; -1 for none.
    looping : bool array
        Whether the new routes may close a credit loop with the old ones, lost ones included.
    solved : int64 array
        Number of channels that were solved.
    """

    lost: Array
    load: Array
    channel: Array
    looping: Array
    solved: Array


@kernel
def search_space(ends: int, classes: int) -> MatchingSpace:
    """Return the space that :func:`matching` needs."""
    return MatchingSpace(
        np.full(ends, -1, np.int32),
        np.full(ends, -1, np.int32),
        np.zeros(ends, np.int32),
        np.zeros(classes, np.int64),
        np.full(classes, -2, np.int32),
        np.zeros(classes, np.int64),
        np.zeros(classes, np.int64),
        np.zeros(classes, np.int32),
    )


@kernel
def augmented(
    root: int, stamp: int, channel: int, intact: Intact, space: FailureSpace, search: MatchingSpace, seen: int
) -> int:
    """Look for a free destination from class `root`; return the number of destinations seen, negative if one is free.

    What is seen in vain stays marked: no other search gets anywhere from there.
    """
    ends = len(search.owner)
    before = seen
    search.came[root] = -1
    search.queue[0] = root
    filled, at = 1, 0
    while at < filled:
        r = search.queue[at]
        at += 1
        extra = space.first_added[channel] if stamp else -1
        e = search.begin[r]
        while e < search.end[r] or extra >= 0:
            if e < search.end[r]:
                p = int(intact.pair[e])
                e += 1
                if stamp and space.stamp[p] == stamp:
                    continue
            else:
                p = int(space.added[extra])
                extra = int(space.next_added[extra])
                if p // ends != r:
                    continue
            d = p % ends
            if search.reached[d] >= 0:
                continue
            search.reached[d] = r
            search.seen[seen] = d
            seen += 1
            o = search.owner[d]
            if o >= 0:
                if search.came[o] == -2:
                    search.came[o] = d
                    search.queue[filled] = o
                    filled += 1
                continue
            while d >= 0:
                q = search.reached[d]
                search.owner[d] = q
                d = search.came[q]
            search.taken[root] += 1
            for x in range(before, seen):
                search.reached[search.seen[x]] = -1
            for x in range(filled):
                search.came[search.queue[x]] = -2
            return -1 - before
    return seen


@kernel
def class_at(entry: int, guess: int, ends: int) -> int:
    """Return the class of an entry; entries stand by class, so that of the one before mostly saves a division."""
    return guess if 0 <= entry - guess * ends < ends else entry // ends


@kernel
def matching(channel: int, stamp: int, intact: Intact, space: FailureSpace, search: MatchingSpace) -> int:
    """Return the size of a largest matching of a channel, after failure number `stamp`; 0 for before.

    A class is matched with at most as many destinations as it has sources.  The search starts from what is left of the
    matching before the failure; before any failure that is nothing, and the matching found is stored.
    """
    ends = len(search.owner)
    first, last = intact.start[channel], intact.start[channel + 1]
    total, most, r = 0, 0, 0
    for e in range(first, last):
        p = int(intact.pair[e])
        r = class_at(p, r, ends)
        d = p - r * ends
        if search.end[r] == 0:
            search.begin[r] = e
        search.end[r] = e + 1
        if stamp and intact.matched[e] and space.stamp[p] != stamp:
            search.owner[d] = r
            search.taken[r] += 1
            total += 1
        if not stamp and search.owner[d] == -1:
            search.owner[d] = -2  # a destination with an entry
            most += 1
    seen = 0
    e = first
    extra = space.first_added[channel] if stamp else -1
    # every class once; further calls from a class that found nothing end at once
    while (e < last or extra >= 0) and (stamp or total < most):
        if e < last:
            r = int(intact.pair[e]) // ends
            e = search.end[r]
        else:
            r = int(space.added[extra]) // ends
            extra = int(space.next_added[extra])
        while search.taken[r] < intact.size[r] and search.came[r] == -2:
            found = augmented(r, stamp, channel, intact, space, search, seen)
            if found < 0:
                total += 1
            else:
                seen = found
    if not stamp:
        for e in range(first, last):
            p = int(intact.pair[e])
            r = class_at(p, r, ends)
            intact.matched[e] = 1 if search.owner[p - r * ends] == r else 0
    e = first
    extra = space.first_added[channel] if stamp else -1
    while e < last or extra >= 0:
        if e < last:
            p = int(intact.pair[e])
            e += 1
        else:
            p = int(space.added[extra])
            extra = int(space.next_added[extra])
        r = class_at(p, r, ends)
        d = p - r * ends
        search.owner[d] = -1
        search.reached[d] = -1
        search.taken[r] = 0
        search.came[r] = -2
        search.begin[r] = 0
        search.end[r] = 0
    return total


@kernel
def intact_loads(intact: Intact, space: FailureSpace, ends: int) -> None:
    """Store the worst load of every channel before any failure, with its matching."""
    search = search_space(ends, len(intact.size))
    for c in range(len(intact.load)):
        intact.load[c] = matching(c, 0, intact, space, search) * intact.unit[c]


@kernel
def length_from(slot: int, goal: int, k: int, routes: RouteArrays, failed: Array, avoid: bool) -> int:
    """Return how many cables lie ahead from a port to endpoint `goal` for LID number k, 0 where packets get lost.

    With `avoid`, failed channels lose packets.
    """
    n = 1
    v = routes.to[slot]
    while v >= 0:
        if n > len(routes.row) or routes.row[v] < 0 or routes.lid[k] <= 0 or routes.lid[k] >= routes.out.shape[1]:
            return 0
        port = np.int64(routes.out[routes.row[v], routes.lid[k]])
        slot = routes.first[v] + port
        if port == 0 or slot >= routes.first[v + 1]:
            return 0
        c = routes.channel_of[slot]
        if avoid and c >= 0 and failed[c] >= 0:
            return 0
        v = routes.to[slot]
        n += 1
    return n if v == -3 - goal else 0


@kernel
def replace_port(i: int, channel: int, intact: Intact, routes: RouteArrays, space: FailureSpace, uses: Array) -> None:
    """Store in ``space.other[i]`` the ports that replace the one of a failed channel, -1 where no port leads on.

    Ports from where the tables of the other switches deliver without a failed channel come into question; the
    shortest way wins, then the port that the switch uses for the fewest LIDs, then the lowest number.  LIDs come in
    their order, and only those that were delivered before.
    """
    slot = intact.slot_of[channel]
    u = intact.tail_of[channel]
    begin, ports = routes.first[u], routes.first[u + 1] - routes.first[u]
    for q in range(len(uses)):
        uses[q] = 0
    if routes.row[u] < 0:
        return
    table = routes.out[routes.row[u]]
    for d in range(len(routes.first_column) - 1):
        for k in range(routes.first_column[d], routes.first_column[d + 1]):
            if routes.lid[k] <= 0 or routes.lid[k] >= len(table):
                continue
            port = np.int64(table[routes.lid[k]])
            if 0 < port < ports:
                c = routes.channel_of[begin + port]
                if c >= 0 and space.failed[c] >= 0:
                    port = np.int64(space.other[space.failed[c], k])
                if port > 0:
                    uses[port] += 1
    for d in range(len(routes.first_column) - 1):
        for k in range(routes.first_column[d], routes.first_column[d + 1]):
            if routes.lid[k] <= 0 or routes.lid[k] >= len(table) or begin + np.int64(table[routes.lid[k]]) != slot:
                continue
            if length_from(slot, d, k, routes, space.failed, False) == 0:
                continue
            best, shortest = -1, 0
            for q in range(1, ports):
                c = routes.channel_of[begin + q]
                if c < 0 or space.failed[c] >= 0 or (routes.to[begin + q] < 0 and routes.to[begin + q] != -3 - d):
                    continue
                n = length_from(begin + q, d, k, routes, space.failed, True)
                if n and (best < 0 or n < shortest or (n == shortest and uses[q] < uses[best])):
                    best, shortest = q, n
            if best > 0:
                space.other[i, k] = best
                uses[best] += 1


@kernel
def walk(r: int, k: int, changed: bool, routes: RouteArrays, space: FailureSpace, path: Array) -> int:
    """Store the channels of a route between switches; return their number, -1 where a failed one has no replacement."""
    v = routes.node[r]
    n = 0
    while True:
        slot = routes.first[v] + np.int64(routes.out[routes.row[v], routes.lid[k]])
        c = routes.channel_of[slot]
        if changed and space.failed[c] >= 0:
            port = np.int64(space.other[space.failed[c], k])
            if port < 0:
                return -1
            slot = routes.first[v] + port
            c = routes.channel_of[slot]
        v = routes.to[slot]
        if v < 0:
            return n
        path[n] = c
        n += 1


@kernel
def among(c: int, path: Array, n: int) -> bool:
    """Return whether a channel is one of the first n of a path."""
    for x in range(n):  # noqa: SIM110 - kernels have no generators
        if path[x] == c:
            return True
    return False


@kernel
def follows_anew(before: int, after: int, intact: Intact, space: FailureSpace) -> bool:
    """Return whether no route so far uses a channel right after another one."""
    for x in range(intact.first_after[before], intact.first_after[before + 1]):
        if intact.after[x] == after:
            return False
    x = space.first_new[before]
    while x >= 0:
        if space.new[x] == after:
            return False
        x = space.next_new[x]
    return True


@kernel
def closes(intact: Intact, space: FailureSpace) -> bool:
    """Return whether old and new dependencies together have a cycle, when the old ones have none.

    Every cycle contains a dependency against the order of ``layer``, and is met in a search from its head.
    """
    channels = len(space.first_new)
    state = np.zeros(channels, np.int8)  # 1: on the path, 2: done
    old, new = np.zeros(channels, np.int64), np.zeros(channels, np.int64)
    stack = np.empty(channels, np.int64)
    for tail in range(channels):
        turn = space.first_new[tail]
        while turn >= 0:
            root = space.new[turn]
            turn = space.next_new[turn]
            if state[root] or intact.layer[tail] < intact.layer[root]:
                continue
            stack[0], depth = root, 1
            state[root], old[root], new[root] = 1, intact.first_after[root], space.first_new[root]
            while depth:
                c = stack[depth - 1]
                if old[c] < intact.first_after[c + 1]:
                    h = int(intact.after[old[c]])
                    old[c] += 1
                elif new[c] >= 0:
                    h = int(space.new[new[c]])
                    new[c] = space.next_new[new[c]]
                else:
                    state[c] = 2
                    depth -= 1
                    continue
                if state[h] == 1:
                    return True
                if state[h] == 0:
                    stack[depth] = h
                    depth += 1
                    state[h], old[h], new[h] = 1, intact.first_after[h], space.first_new[h]
    return False


class Changed(NamedTuple):
    """What a failure does to routes: lost pairs, how many channels changed, and whether new turns go against `layer`.

    `short` is set where the space did not suffice.
    """

    lost: int
    touched: int
    turned: bool
    short: bool


@kernel
def touch(c: int, touched: int, space: FailureSpace) -> int:
    """List a channel whose routes change, once; return how many are listed."""
    if space.less[c] + space.more[c] == 0:
        space.touched[touched] = c
        return touched + 1
    return touched


@kernel
def change(
    stamp: int, failed: Array, intact: Intact, routes: RouteArrays, space: FailureSpace, paths: Array
) -> Changed:
    """Walk the routes over failed channels before and after, and store by channel those that it loses and gains."""
    ends = len(routes.first_column) - 1
    old, new = paths[0], paths[1]
    lost, listed, touched, news, turned = 0, 0, 0, 0, False
    for c in failed:
        for e in range(intact.start[c], intact.start[c + 1]):
            p = int(intact.pair[e])
            if space.stamp[p] == stamp:
                continue
            space.stamp[p] = stamp
            r, d = p // ends, p % ends
            column = routes.first_column[d]
            k = column + routes.low[r] % (routes.first_column[d + 1] - column)
            a = walk(r, k, False, routes, space, old)
            b = walk(r, k, True, routes, space, new)
            if b < 0:
                lost += intact.size[r] - (1 if routes.class_of[d] == r else 0)
            for x in range(a):
                h = old[x]
                if not among(h, new, b):
                    touched = touch(h, touched, space)
                    space.less[h] += 1
            for x in range(b):
                h = new[x]
                if listed == len(space.added):
                    return Changed(lost, touched, turned, True)
                space.added[listed] = p
                space.next_added[listed] = space.first_added[h]
                space.first_added[h] = listed
                listed += 1
                if x and follows_anew(new[x - 1], h, intact, space):
                    space.new[news] = h
                    space.next_new[news] = space.first_new[new[x - 1]]
                    space.first_new[new[x - 1]] = news
                    news += 1
                    turned = turned or intact.layer[new[x - 1]] >= intact.layer[h]
                if not among(h, old, a):
                    touched = touch(h, touched, space)
                    space.more[h] += 1
    return Changed(lost, touched, turned, False)


@kernel
def loses(c: int, stamp: int, intact: Intact, space: FailureSpace) -> bool:
    """Return whether a failure without replacement takes a route from a channel."""
    for e in range(intact.start[c], intact.start[c + 1]):  # noqa: SIM110 - kernels have no generators
        if space.stamp[intact.pair[e]] == stamp:
            return True
    return False


@kernel
def cut_off(stamp: int, failed: Array, intact: Intact, routes: RouteArrays, space: FailureSpace) -> Changed:
    """Mark the pairs over failed channels, which are lost, and list the channels that a larger load may have left.

    Those are the channels before the first that loses nothing, by falling load: no load grows.
    """
    ends = len(routes.first_column) - 1
    lost, touched = 0, 0
    for c in failed:
        for e in range(intact.start[c], intact.start[c + 1]):
            p = int(intact.pair[e])
            if space.stamp[p] != stamp:
                space.stamp[p] = stamp
                lost += intact.size[p // ends] - (1 if routes.class_of[p % ends] == p // ends else 0)
    for c in intact.order:
        if space.failed[c] < 0:
            if not loses(c, stamp, intact, space):
                break
            touched = touch(c, touched, space)
            space.less[c] += 1
    return Changed(lost, touched, False, False)


@kernel
def solve(stamp: int, touched: int, intact: Intact, space: FailureSpace, search: MatchingSpace) -> tuple[int, int, int]:
    """Return the largest load after a failure, a channel that has it, and how many channels were solved for that."""
    best, hot, solved = 0, -1, 0
    for x in range(len(intact.order)):
        c = intact.order[x]
        if space.less[c] + space.more[c] == 0 and space.failed[c] < 0:
            best = int(intact.load[c])
            hot = int(c) if best else -1
            break
    ranks = np.sort(intact.rank[space.touched[:touched]])
    for x in range(touched):
        c = intact.order[ranks[x]]
        if space.failed[c] >= 0 or intact.load[c] + space.more[c] * intact.unit[c] <= best:
            continue
        solved += 1
        load = matching(c, stamp, intact, space, search) * intact.unit[c]
        if load > best:
            best, hot = int(load), int(c)
    return best, hot, solved


@kernel
def failure_loads(
    sets: Sets,
    failures: Array,
    refill: bool,
    routes: RouteArrays,
    intact: Intact,
    space: FailureSpace,
    outcomes: Outcomes,
) -> int:
    """Store the outcomes of some failures; return how many are done, fewer than all where space does not suffice.

    Only what crosses failed channels is lost, or goes on by another port of the switch that lost one (`refill`): only
    the channels of those routes change, and of these only the ones that can exceed the largest load found so far are
    solved.

    Parameters
    ----------
    sets : Sets
    failures : int64 array
        The numbers of the failures.
    refill : bool
        Whether switches choose another port.
    routes : RouteArrays
        With one route a pair.
    intact : Intact
    space : FailureSpace
    outcomes : Outcomes
    """
    search = search_space(len(routes.first_column) - 1, len(intact.size))
    paths = np.empty((2, len(routes.row) + 2), np.int64)
    uses = np.zeros(256, np.int64)
    for done in range(len(failures)):
        f = failures[done]
        stamp = int(f) + 1
        failed = sets.channel[sets.first[f] : sets.first[f + 1]]
        for i in range(len(failed)):
            space.failed[failed[i]] = i
        if refill:
            for i in range(len(failed)):
                replace_port(i, failed[i], intact, routes, space, uses)
            changed = change(stamp, failed, intact, routes, space, paths)
        else:
            changed = cut_off(stamp, failed, intact, routes, space)
        if not changed.short:
            outcomes.lost[f] = changed.lost
            outcomes.load[f], outcomes.channel[f], outcomes.solved[f] = solve(
                stamp, changed.touched, intact, space, search
            )
            outcomes.looping[f] = changed.turned and closes(intact, space)
        for x in range(changed.touched):
            space.less[space.touched[x]] = 0
            space.more[space.touched[x]] = 0
        for i in range(len(failed)):
            c = failed[i]
            space.failed[c] = -1
            if refill:
                space.other[i] = -1
            if changed.short:
                for e in range(intact.start[c], intact.start[c + 1]):
                    space.stamp[intact.pair[e]] = 0
        if refill:
            space.first_added[:] = -1  # lists of channels that such routes take
            space.first_new[:] = -1
        if changed.short:
            return done
    return len(failures)
