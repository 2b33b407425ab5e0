"""Kernels: what tables do after changes of cables, switches or entries, from what they did before, change by change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.automaton import ARRIVES, FIRST_END, LOOPS, RouteArrays, walk
from obliv.kernels import kernel

# Tallies of a change: ordered pairs that are lost, lengths of lists, whether new turns go against `layer`, whether
# space did not suffice; the number of the change, and of the last count of senders and receivers
PAIRS, ADDED, TOUCHED, NEW, TURNED, SHORT, STAMP, TICK = range(8)


class Intact(NamedTuple):
    """Tables before a change: who crosses each channel between switches, and the worst loads.

    The entries of channel c, pairs class · endpoints + destination, are ``pair[start[c]:start[c + 1]]``, sorted.
    """

    start: Array  # int64, shape (channels + 1,)
    pair: Array  # int, shape (entries,)
    matched: Array  # uint8, shape (entries,); whether the entry belongs to the channel's largest matching
    size: Array  # int64, shape (classes,); the number of sources of every class
    # unit: int64, shape (channels,); the load that one packet puts on a channel: inversely proportional to its
    # bandwidth
    unit: Array
    load: Array  # int64, shape (channels,); the worst load, in those units
    # order, rank: int64, shape (channels,); the channels by falling load, and the place of every channel among them
    order: Array
    rank: Array
    # layer: int32, shape (channels,); A number that rises along every dependency of the tables, if they have no credit
    # loop
    layer: Array
    # first_after, after: int64; what some route uses right after channel c is ``after[first_after[c]:first_after[c +
    # 1]]``
    first_after: Array
    after: Array
    # slot_of, tail_of: int64, shape (channels,); the port where each channel begins, and the node of the fabric
    slot_of: Array
    tail_of: Array
    leaf: Array  # int; the switches with terminals
    alone: Array  # int, shape (endpoints,); the switch where no other terminal is, -1 for terminals beside others


class ChangeSpace(NamedTuple):
    """Space of the kernels below; every array is left as it was found, but for stamps and tallies."""

    tally: Array  # int64; tallies, see above
    # gone, nothing: uint8, shape (channels,); whether a channel cannot be taken; zeros
    gone: Array
    nothing: Array
    stamp: Array  # int32, shape (classes · endpoints,); the last change that concerned a pair
    # less, more: int32, shape (channels,); pairs that a channel lost, and pairs that came to it
    less: Array
    more: Array
    # first_added: int32, shape (channels,); -1, or the first of a list of pairs with new routes that cross the channel
    # now; ``next_added`` follows it
    first_added: Array
    # next_added, added, fresh: such pairs, and whether they did not cross the channel before. As many as may be needed;
    # the kernel stops where they do not suffice.
    next_added: Array
    added: Array
    fresh: Array
    touched: Array  # int64, shape (channels,); channels with other pairs than before
    # first_new: int32, shape (channels,); -1, or the first of a list of channels that come right after the channel now;
    # ``next_new`` follows it
    first_new: Array
    # next_new, new: int32; as long as `added`
    next_new: Array
    new: Array
    # sender, receiver: int64, shapes (classes,) and (endpoints,); the last count in which they were
    sender: Array
    receiver: Array
    refilled: Array  # uint8, shape (columns,); LIDs with entries that were replaced
    path: Array  # int64, shape (3, nodes + 2)


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


class ChangeSets(NamedTuple):
    """What goes, and whose routes change: change f takes ``channel[first[f]:first[f + 1]]``, and nodes likewise.

    Routes to the LIDs of `columns` may be other ones after every change.
    """

    first: Array
    channel: Array
    first_node: Array
    node: Array
    columns: Array


class ChangeWork(NamedTuple):
    """Changes of tables, all that they are answered from, and space."""

    follow: bool  # whether all routes that may change are walked; else those over what fails are lost
    refill: bool  # whether switches that lost a port choose another one; then all routes are walked, too
    sets: ChangeSets
    # before, after: with one route a pair; `after` has a copy of the tables, and the entries and cables that are new
    before: RouteArrays
    after: RouteArrays
    intact: Intact
    space: ChangeSpace


class Outcomes(NamedTuple):
    """What changes do, one entry for each."""

    lost: Array  # int64; ordered pairs whose packets no longer arrive, less those whose packets do now
    load: Array  # int64; the largest load of a channel between switches, in the units of :class:`Intact`
    # channel: int64; the first channel that has it, among those that the change leaves as they were if possible; -1 for
    # none
    channel: Array
    looping: Array  # bool; whether the new routes may close a credit loop with the old ones, lost ones included
    # touched, solved: int64; numbers of channels whose pairs change, and of those that were solved
    touched: Array
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
    root: int, stamp: int, channel: int, intact: Intact, space: ChangeSpace, search: MatchingSpace, seen: int
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
def matching(channel: int, stamp: int, intact: Intact, space: ChangeSpace, search: MatchingSpace) -> int:
    """Return the size of a largest matching of a channel, after change number `stamp`; 0 for before."""
    # A class is matched with at most as many destinations as it has sources.  The search starts from what is left of
    # the matching before the change; before any change that is nothing, and the matching found is stored.
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
def intact_loads(intact: Intact, space: ChangeSpace, ends: int) -> None:
    """Store the worst load of every channel before any change, with its matching."""
    search = search_space(ends, len(intact.size))
    for c in range(len(intact.load)):
        intact.load[c] = matching(c, 0, intact, space, search) * intact.unit[c]


@kernel
def length_from(slot: int, goal: int, k: int, routes: RouteArrays, gone: Array, path: Array) -> int:
    """Return how many cables lie ahead from a port to endpoint `goal` for LID number k, 0 where packets get lost."""
    v = int(routes.hops.to[slot])
    if v < 0:
        return 1 if v == FIRST_END - goal else 0
    n, ending = walk(v, k, goal, routes, gone, path)
    return n + 2 if ending == ARRIVES else 0


@kernel
def replace_port(
    slot: int,
    u: int,
    before: RouteArrays,
    after: RouteArrays,
    gone: Array,
    nothing: Array,
    refilled: Array,
    path: Array,
) -> None:
    """Replace a port of switch u that is gone in its table of `after` where another port leads on."""
    # Ports from where the tables of the other switches deliver without a channel that is gone come into question; the
    # shortest way wins, then the port that the switch uses for the fewest LIDs, then the lowest number.  LIDs come in
    # their order, and only those that were delivered before.
    first, to, row = before.hops.first, before.hops.to, before.hops.row
    begin, ports = first[u], first[u + 1] - first[u]
    if row[u] < 0:
        return
    uses = np.zeros(256, np.int64)
    was, table = before.hops.out[:, row[u]], after.hops.out[:, row[u]]
    # how many LIDs of hosts use each port that is left
    for k in range(len(before.lid)):
        if before.lid[k] <= 0 or before.lid[k] >= len(table):
            continue
        port = np.int64(table[before.lid[k]])
        if 0 < port < ports:
            c = before.channel_of[begin + port]
            if c < 0 or not gone[c]:
                uses[port] += 1
    for d in range(len(before.first_column) - 1):
        for k in range(before.first_column[d], before.first_column[d + 1]):
            lid = before.lid[k]
            if lid <= 0 or lid >= len(table) or begin + np.int64(was[lid]) != slot:
                continue
            if length_from(slot, d, k, before, nothing, path) == 0:
                continue
            best, shortest = -1, 0
            for q in range(1, ports):
                c = before.channel_of[begin + q]
                if c < 0 or gone[c] or (to[begin + q] < 0 and to[begin + q] != FIRST_END - d):
                    continue
                n = length_from(begin + q, d, k, before, gone, path)
                if n and (best < 0 or n < shortest or (n == shortest and uses[q] < uses[best])):
                    best, shortest = q, n
            if best > 0:
                table[lid] = best
                refilled[k] = 1
                uses[best] += 1


@kernel
def among(c: int, path: Array, n: int) -> bool:
    """Return whether a channel is one of the first n of a path."""
    for x in range(n):  # noqa: SIM110 - kernels have no generators
        if path[x] == c:
            return True
    return False


@kernel
def follows_anew(before: int, after: int, intact: Intact, space: ChangeSpace) -> bool:
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
def closes(intact: Intact, space: ChangeSpace) -> bool:
    """Return whether old and new dependencies together have a cycle, when the old ones have none."""
    # Every cycle contains a dependency against the order of `layer`, and is met in a search from its head.
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


@kernel
def touch(c: int, space: ChangeSpace) -> None:
    """List a channel whose pairs change, once."""
    if space.less[c] + space.more[c] == 0:
        space.touched[space.tally[TOUCHED]] = c
        space.tally[TOUCHED] += 1


@kernel
def follow_on(path: Array, n: int, intact: Intact, space: ChangeSpace) -> None:
    """Store which channels a new route uses right after others where no route did so far."""
    tally = space.tally
    for x in range(1, n):
        tail, head = path[x - 1], path[x]
        if follows_anew(tail, head, intact, space):
            if tally[NEW] == len(space.new):
                tally[SHORT] = 1
                return
            space.new[tally[NEW]] = head
            space.next_new[tally[NEW]] = space.first_new[tail]
            space.first_new[tail] = tally[NEW]
            tally[NEW] += 1
            if intact.layer[tail] >= intact.layer[head]:
                tally[TURNED] = 1


@kernel
def follow_to(k: int, goal: int, after: RouteArrays, intact: Intact, space: ChangeSpace) -> None:
    """Store what follows what on the new routes to a LID, used or not, from all switches where others send to it."""
    new = space.path[1]
    for v in intact.leaf:
        if v != intact.alone[goal]:
            n, ending = walk(v, k, goal, after, space.gone, new)
            if ending != LOOPS:
                follow_on(new, n, intact, space)


@kernel
def move(p: int, before: RouteArrays, after: RouteArrays, intact: Intact, space: ChangeSpace) -> None:
    """Walk the route of a pair before and after a change; store which channels lose it and which ones it comes to."""
    ends = len(before.first_column) - 1
    tally, old, new = space.tally, space.path[0], space.path[1]
    r, d = p // ends, p % ends
    weight = intact.size[r] - (1 if before.class_of[d] == r else 0)
    if space.stamp[p] == tally[STAMP] or weight == 0:
        return
    space.stamp[p] = tally[STAMP]
    column = before.first_column[d]
    k = column + before.low[r] % (before.first_column[d + 1] - column)
    a, was = walk(before.node[r], k, d, before, space.nothing, old)
    b, now = walk(before.node[r], k, d, after, space.gone, new)
    if now != LOOPS:  # such packets never release their channels, which is another fault
        follow_on(new, b, intact, space)
    # what does not arrive loads nothing
    if was == ARRIVES:
        tally[PAIRS] += weight
    else:
        a = 0
    if now == ARRIVES:
        tally[PAIRS] -= weight
    else:
        b = 0
    if tally[ADDED] + b > len(space.added):
        tally[SHORT] = 1
        return
    for x in range(a):
        if not among(old[x], new, b):
            touch(old[x], space)
            space.less[old[x]] += 1
    for x in range(b):
        h, listed = new[x], tally[ADDED]
        space.added[listed] = p
        space.fresh[listed] = 0
        space.next_added[listed] = space.first_added[h]
        space.first_added[h] = listed
        tally[ADDED] += 1
        if not among(h, old, a):
            touch(h, space)
            space.more[h] += 1
            space.fresh[listed] = 1


@kernel
def reroute(failed: Array, nodes: Array, work: ChangeWork) -> None:
    """Walk all routes that may change: over what goes, to LIDs with other entries, from switches that fail."""
    before, after, intact, space = work.before, work.after, work.intact, work.space
    ends, switches = len(before.first_column) - 1, len(before.node)
    for c in failed:
        for e in range(intact.start[c], intact.start[c + 1]):
            move(int(intact.pair[e]), before, after, intact, space)
            if space.tally[SHORT]:
                return
    for k in work.sets.columns:
        d = np.searchsorted(before.first_column, k, "right") - 1
        for r in range(switches):
            offset = before.low[r] % (before.first_column[d + 1] - before.first_column[d])
            if before.node[r] >= 0 and before.first_column[d] + offset == k:
                move(r * ends + d, before, after, intact, space)
        follow_to(k, d, after, intact, space)
        if space.tally[SHORT]:
            return
    for r in range(switches if len(nodes) else 0):
        if among(before.node[r], nodes, len(nodes)):
            for d in range(ends):
                move(r * ends + d, before, after, intact, space)
    if len(before.lid) > ends:  # routes to LIDs that are replaced, though no host uses them
        for d in range(ends):
            for k in range(before.first_column[d], before.first_column[d + 1]):
                if space.refilled[k]:
                    follow_to(k, d, after, intact, space)


@kernel
def loses(c: int, intact: Intact, space: ChangeSpace) -> bool:
    """Return whether a failure without replacement takes a route from a channel."""
    for e in range(intact.start[c], intact.start[c + 1]):  # noqa: SIM110 - kernels have no generators
        if space.stamp[intact.pair[e]] == space.tally[STAMP]:
            return True
    return False


@kernel
def cut_off(failed: Array, nodes: Array, before: RouteArrays, intact: Intact, space: ChangeSpace) -> None:
    """Mark the pairs over channels that go, which are lost, and list the channels that a larger load may have left."""
    # Those are the channels before the first that loses nothing, by falling load: no load grows.
    ends, tally = len(before.first_column) - 1, space.tally
    for c in failed:
        for e in range(intact.start[c], intact.start[c + 1]):
            p = int(intact.pair[e])
            if space.stamp[p] != tally[STAMP]:
                space.stamp[p] = tally[STAMP]
                tally[PAIRS] += intact.size[p // ends] - (1 if before.class_of[p % ends] == p // ends else 0)
    # hosts at a switch that fails lose those beside them too, whom they reach without other channels
    for r in range(len(before.node) if len(nodes) else 0):
        if among(before.node[r], nodes, len(nodes)):
            for d in range(ends):
                weight = intact.size[r] - (1 if before.class_of[d] == r else 0)
                if weight and space.stamp[r * ends + d] != tally[STAMP]:
                    column = before.first_column[d]
                    k = column + before.low[r] % (before.first_column[d + 1] - column)
                    _, was = walk(before.node[r], k, d, before, space.nothing, space.path[0])
                    if was == ARRIVES:
                        space.stamp[r * ends + d] = tally[STAMP]
                        tally[PAIRS] += weight
    for c in intact.order:
        if not space.gone[c]:
            if not loses(c, intact, space):
                break
            touch(c, space)
            space.less[c] += 1


@kernel
def begin(failed: Array, space: ChangeSpace) -> None:
    """Begin with a change that takes some channels: none is counted yet."""
    for x in range(STAMP):
        space.tally[x] = 0
    space.tally[STAMP] += 1
    for c in failed:
        space.gone[c] = 1


@kernel
def end(failed: Array, space: ChangeSpace) -> None:
    """Leave what :func:`begin`, and what counts pairs, changed."""
    for x in range(space.tally[TOUCHED]):
        space.less[space.touched[x]] = 0
        space.more[space.touched[x]] = 0
    for c in failed:
        space.gone[c] = 0


@kernel
def cut(f: int, sets: ChangeSets, before: RouteArrays, intact: Intact, space: ChangeSpace) -> None:
    """Store in the space what change number f takes, where no route is replaced, until :func:`end`."""
    failed = sets.channel[sets.first[f] : sets.first[f + 1]]
    begin(failed, space)
    cut_off(failed, sets.node[sets.first_node[f] : sets.first_node[f + 1]], before, intact, space)


@kernel
def mark(f: int, work: ChangeWork) -> None:
    """Store in the space and in the tables what change number f does, until :func:`unmark`."""
    sets, before, after, intact, space = work.sets, work.before, work.after, work.intact, work.space
    failed = sets.channel[sets.first[f] : sets.first[f + 1]]
    nodes = sets.node[sets.first_node[f] : sets.first_node[f + 1]]
    begin(failed, space)
    for v in nodes:
        after.hops.row[v] = -1
    if work.refill:
        for c in failed:
            u = intact.tail_of[c]
            slot, path = intact.slot_of[c], space.path[2]
            replace_port(slot, u, before, after, space.gone, space.nothing, space.refilled, path)
    reroute(failed, nodes, work)


@kernel
def unmark(f: int, work: ChangeWork) -> None:
    """Leave space and tables as :func:`mark` found them."""
    sets, before, after, intact, space = work.sets, work.before, work.after, work.intact, work.space
    failed = sets.channel[sets.first[f] : sets.first[f + 1]]
    end(failed, space)
    for c in failed:
        row = before.hops.row[intact.tail_of[c]]
        if work.refill and row >= 0:
            for lid in range(len(before.hops.out)):
                after.hops.out[lid, row] = before.hops.out[lid, row]
    for v in sets.node[sets.first_node[f] : sets.first_node[f + 1]]:
        after.hops.row[v] = before.hops.row[v]
    space.first_added.fill(-1)
    space.first_new.fill(-1)
    space.refilled.fill(0)


@kernel
def come(c: int, ends: int, intact: Intact, space: ChangeSpace) -> int:
    """Return how many packets more can cross a channel at most by the pairs that came to it."""
    tally = space.tally
    tally[TICK] += 1
    sent, taken = 0, 0
    x = int(space.first_added[c])
    while x >= 0:
        r, d = int(space.added[x]) // ends, int(space.added[x]) % ends
        if space.fresh[x] and space.sender[r] != tally[TICK]:
            space.sender[r] = tally[TICK]
            sent += intact.size[r]
        if space.fresh[x] and space.receiver[d] != tally[TICK]:
            space.receiver[d] = tally[TICK]
            taken += 1
        x = int(space.next_added[x])
    return min(sent, taken)


@kernel
def crossing(c: int, intact: Intact, space: ChangeSpace, found: Array) -> int:
    """Store the pairs that cross a channel after a change that is marked; return their number."""
    n = 0
    if space.gone[c]:
        return 0
    for e in range(intact.start[c], intact.start[c + 1]):
        if space.stamp[intact.pair[e]] != space.tally[STAMP]:
            found[n] = intact.pair[e]
            n += 1
    x = space.first_added[c]
    while x >= 0:
        found[n] = space.added[x]
        n += 1
        x = space.next_added[x]
    return n


@kernel
def solve(intact: Intact, space: ChangeSpace, search: MatchingSpace) -> tuple[int, int, int]:
    """Return the largest load after a change, a channel that has it, and how many channels were solved for that."""
    best, hot, solved, stamp = 0, -1, 0, int(space.tally[STAMP])
    # the first channel that is as before, by falling load
    for c in intact.order:
        if space.less[c] + space.more[c] == 0 and not space.gone[c]:
            best = int(intact.load[c])
            hot = int(c) if best else -1
            break
    # channels that change may exceed it: by falling load before, so that bounds exclude many
    ranks = np.sort(intact.rank[space.touched[: space.tally[TOUCHED]]])
    for x in range(len(ranks)):
        c = intact.order[ranks[x]]
        bound = intact.load[c]
        if space.gone[c] or bound + space.more[c] * intact.unit[c] <= best:
            continue
        if space.more[c] and bound + come(c, len(search.owner), intact, space) * intact.unit[c] <= best:
            continue
        solved += 1
        load = matching(c, stamp, intact, space, search) * intact.unit[c]
        if load > best:
            best, hot = int(load), int(c)
    return best, hot, solved


@kernel
def cut_loads(
    numbers: Array, sets: ChangeSets, before: RouteArrays, intact: Intact, space: ChangeSpace, outcomes: Outcomes
) -> int:
    """Store the outcomes of some changes after which no route is replaced; return how many those are."""
    # What is left of the routes has no credit loop that was not there before.
    search = search_space(len(before.first_column) - 1, len(intact.size))
    for f in numbers:
        cut(f, sets, before, intact, space)
        outcomes.lost[f], outcomes.touched[f] = space.tally[PAIRS], space.tally[TOUCHED]
        outcomes.load[f], outcomes.channel[f], outcomes.solved[f] = solve(intact, space, search)
        end(sets.channel[sets.first[f] : sets.first[f + 1]], space)
    return len(numbers)


@kernel
def change_loads(numbers: Array, work: ChangeWork, outcomes: Outcomes) -> int:
    """Store the outcomes of some changes; return how many are done, fewer than all where space does not suffice."""
    # Only routes over what goes, to LIDs with new entries and from switches that fail change, and of the channels of
    # these only the ones that can exceed the largest load found so far are solved.
    intact, space = work.intact, work.space
    search = search_space(len(work.before.first_column) - 1, len(intact.size))
    for done in range(len(numbers)):
        f = numbers[done]
        mark(f, work)
        short = space.tally[SHORT] > 0
        if not short:
            outcomes.lost[f], outcomes.touched[f] = space.tally[PAIRS], space.tally[TOUCHED]
            outcomes.load[f], outcomes.channel[f], outcomes.solved[f] = solve(intact, space, search)
            outcomes.looping[f] = space.tally[TURNED] > 0 and closes(intact, space)
        unmark(f, work)
        if short:
            return done
    return len(numbers)
