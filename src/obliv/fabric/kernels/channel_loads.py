"""Kernels: exact worst loads of channels while tables change entry by entry, and balanced shortest routes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel
from obliv.routings.shortest import distances_to

#: On which side of a switch another one is: its route leads through it, does not, or was not followed yet.
BEHIND, BESIDE, UNKNOWN = 1, 0, -1


class Switches(NamedTuple):
    """Switches, the channels between them sorted by tail, and the hosts beside them."""

    # tail, head: int32, shape (channels,)
    tail: Array
    head: Array
    first: Array  # int32, shape (switches + 1,); the first channel of every switch
    # unit: int64, shape (channels,); the load that one flow puts on a channel: inversely proportional to its bandwidth
    unit: Array
    hosts: Array  # int32, shape (switches,); the number of hosts beside every switch
    home: Array  # int32, shape (destinations,); the switch beside every host


class Scratch(NamedTuple):
    """Space of :func:`load_on`."""

    side: Array
    path: Array
    through: Array
    used: Array
    owner: Array
    via: Array


def scratch(switches: Switches) -> Scratch:
    """Return the space that :func:`load_on` needs."""
    count, hosts = len(switches.hosts), len(switches.home)
    return Scratch(
        side=np.zeros(count, np.int8),
        path=np.zeros(count, np.int32),
        through=np.zeros((hosts, count), np.bool_),
        used=np.zeros(count, np.int32),
        owner=np.zeros(hosts, np.int32),
        via=np.zeros(count, np.int32),
    )


@kernel
def behind(at: int, goal: int, route: Array, head: Array, side: Array, path: Array) -> None:
    """Store in `side` which switches have a route to `goal` that leads through switch `at`."""
    for u in range(len(side)):
        side[u] = BESIDE if route[u] < 0 else UNKNOWN
    side[goal] = BESIDE
    side[at] = BEHIND
    for u in range(len(side)):
        # up to a switch whose side is known, which is that of all on the way
        x = u
        n = 0
        while side[x] == UNKNOWN:
            path[n] = x
            n += 1
            x = head[route[x]]
        found = side[x]
        for i in range(n):
            side[path[i]] = found


@kernel
def load_on(c: int, enough: int, switches: Switches, routes: Array, space: Scratch) -> int:
    """Return the largest load of a channel under any permutation of the hosts, or a bound where that is small."""
    # It is the size of a largest matching between hosts that send over the channel and destinations that are reached
    # over it, times the channel's unit.  Each destination takes a sender behind the channel, and each switch has as
    # many senders as hosts: augmenting paths are searched over switches.  Where the load of all destinations that are
    # reached over the channel is at most `enough`, that is returned.
    head, hosts, home = switches.head, switches.hosts, switches.home
    side, path, through, used, owner, via = space
    at = switches.tail[c]
    count = len(hosts)
    # all destinations that are reached over the channel
    most = 0
    for d in range(len(home)):
        if routes[d, at] == c:
            most += 1
    if most * switches.unit[c] <= enough:
        return int(most * switches.unit[c])
    for u in range(count):
        used[u] = 0
    n = 0  # destinations that have a sender
    for d in range(len(home)):
        if routes[d, at] != c:
            continue
        # the switches from which destination n can be sent to
        behind(at, home[d], routes[d], head, side, path)
        end = 0
        for u in range(count):
            through[n, u] = side[u] == BEHIND and hosts[u] > 0 and used[u] <= hosts[u]
            via[u] = -1
            if through[n, u]:
                via[u] = n
                path[end] = u
                end += 1
        # breadth first, by switches: one with a sender that is free, or whose senders' destinations have other ones
        begin = 0
        free = -1
        while begin < end and free < 0:
            u = path[begin]
            begin += 1
            if used[u] < hosts[u]:
                free = u
            else:
                for e in range(n):
                    if owner[e] == u:
                        for x in range(count):
                            if via[x] < 0 and through[e, x]:
                                via[x] = e
                                path[end] = x
                                end += 1
        # along the way back every destination takes the sender that the next one leaves
        if free >= 0:
            owner[n] = -1
            used[free] += 1
            e = -1
            while e != n:
                e = via[free]
                last = owner[e]
                owner[e] = free
                free = last
            n += 1
        else:  # no later search finds a sender in here: all are taken, and their destinations have no other ones
            for i in range(end):
                used[path[i]] = hosts[path[i]] + 1
    return int(n * switches.unit[c])


@kernel
def bounds_on_all(switches: Switches, routes: Array, seen: Array, bound: Array) -> None:
    """Store an upper bound of the load of every channel: its destinations, or the hosts that send over it."""
    # `seen`, shape (channels, switches), is false at first, then true for the switches whose routes use a channel.
    head, hosts, home, unit = switches.head, switches.hosts, switches.home, switches.unit
    count, channels = len(hosts), len(bound)
    senders = np.zeros(channels, np.int64)
    last = np.full(channels, -1, np.int64)
    bound[:] = 0
    # along every route: destinations of channels, and hosts that send over them
    for d in range(len(home)):
        for u in range(count):
            if hosts[u] == 0:
                continue
            at = u
            while at != home[d] and routes[d, at] >= 0:
                c = routes[d, at]
                if last[c] != d:
                    last[c] = d
                    bound[c] += 1
                if not seen[c, u]:
                    seen[c, u] = True
                    senders[c] += hosts[u]
                at = head[c]
    for c in range(channels):
        bound[c] = min(bound[c], senders[c]) * unit[c]


@kernel
def loads_from(order: Array, margin: int, switches: Switches, routes: Array, space: Scratch, load: Array) -> int:
    """Replace upper bounds by the largest loads, as far as they may be near the largest of all; return how many."""
    # Channels come in `order`, by falling bound; bounds that are `margin` or more below the largest load stay.
    top = 0
    for i in range(len(order)):
        c = order[i]
        if load[c] <= top - margin:
            return i
        load[c] = load_on(c, -1, switches, routes, space)
        top = max(top, load[c])
    return len(order)


# Kernel: shortest routes that use channels about equally often


@kernel
def shortest_routes(order: Array, switches: Switches, routes: Array) -> None:
    """Store shortest routes to destinations, taken in order; -1 where no path leads there, and at their switches."""
    # Each switch takes the channel that the fewest hosts have used so far, switches far from the destination first.
    head, first, hosts, home = switches.head, switches.first, switches.hosts, switches.home
    count = len(hosts)
    far = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    sent = np.empty(count, np.int64)
    use = np.zeros(len(head), np.int64)
    for i in range(len(order)):
        d = order[i]
        distances_to(home[d : d + 1], first, head, far, queue)
        # the switches that reach the destination, nearest first in the queue
        reached = 0
        for u in range(count):
            sent[u] = hosts[u]
            routes[d, u] = -1
            if far[u] >= 0:
                reached += 1
        # the farthest first: what it sends is then known
        for j in range(reached - 1, 0, -1):
            u = queue[j]
            best = -1
            for c in range(first[u], first[u + 1]):
                if far[head[c]] == far[u] - 1 and (best < 0 or use[c] < use[best]):
                    best = c
            routes[d, u] = best
            use[best] += sent[u]
            sent[head[best]] += sent[u]
