"""Kernels: routes that climb and then descend over ranked switches, and the channels that lead towards a switch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.kernels import kernel

__all__ = ["Digits", "Ranks", "even_out", "fill_by_digits", "fill_evenly"]


class Ranks(NamedTuple):
    """A strict order of the switches, so that routes that climb and then descend end."""

    order: Array  # int32, shape (switches,); switches, highest first
    rises: Array  # bool, shape (channels,); whether a channel leads to a higher switch


class Digits(NamedTuple):
    """The channels upwards of a fat tree by number, and the numbers that destinations want."""

    # channel: int32, shape (switches, most); by number: parent by parent, and then again for parallel cables; -1 where
    # it is missing
    channel: Array
    # size, parents: int32, shape (switches,); how many numbers there are, 0 for roots and switches without a place; how
    # many of them before parents repeat
    size: Array
    parents: Array
    # level, shift: int32, shape (switches,); the level in the tree, 0 for a leaf: the row of `up` and `down`; what the
    # switch adds to the wanted number
    level: Array
    shift: Array
    # up, down: int32, shape (levels, columns); the number that routes to each destination want on the way up, and that
    # of the channel whose opposite they take on the way down to a switch of the level
    up: Array
    down: Array


@kernel
def reach(goal: int, switches: Switches, ranks: Ranks, near: Array, hops: Array, queue: Array) -> int:
    """Store the fewest hops of routes down to a switch, -1 for no route, and of those that climb before."""
    # Switches from which a route leads there are listed in `queue`, the nearest first; returns their number. A route
    # descends as soon as it can: from switch v it takes a channel that rises if near[v] is -1, else one that falls, to
    # a switch with one hop less, by `hops` or by `near`. Kernels write this test out, for the sake of speed.
    first, head, rises = switches.first, switches.head, ranks.rises
    for v in range(len(near)):
        near[v] = -1
    near[goal] = 0
    queue[0] = goal
    n = 1
    i = 0
    while i < n:
        v = queue[i]
        i += 1
        for c in range(first[v], first[v + 1]):
            if rises[c] and near[head[c]] < 0:
                near[head[c]] = near[v] + 1
                queue[n] = head[c]
                n += 1
    for v in ranks.order:
        hops[v] = near[v]
        if near[v] < 0:
            for c in range(first[v], first[v + 1]):
                far = hops[head[c]]
                if rises[c] and far >= 0 and (hops[v] < 0 or far + 1 < hops[v]):
                    hops[v] = far + 1
    # a counting sort by hops
    count = np.zeros(len(hops) + 1, np.int32)
    for v in range(len(hops)):
        if hops[v] >= 0:
            count[hops[v] + 1] += 1
    for k in range(len(hops)):
        count[k + 1] += count[k]
    n = int(count[len(hops)])
    for v in range(len(hops)):
        if hops[v] >= 0:
            queue[count[hops[v]]] = v
            count[hops[v]] += 1
    return n


@kernel
def fill_by_digits(switches: Switches, ranks: Ranks, digits: Digits, step: int, routes: Array) -> None:
    """Store the channels by which all switches forward packets for all destinations, as the digits of a tree say."""
    # Upwards a switch takes the channel of the wanted number; where it is missing, one `step` further, or with step 0
    # the one used least.  Downwards packets go back along the way that the numbers lead up from the destination, where
    # they are on it, and along the parallel cable that this way takes.
    first, head, rises = switches.first, switches.head, ranks.rises
    level, size = digits.level, digits.size
    count = len(switches.hosts)
    near = np.full(count, -1, np.int32)
    hops = np.full(count, -1, np.int32)
    queue = np.empty(count, np.int32)
    fitting = np.empty(len(head), np.int32)
    used = np.zeros(len(head), np.int64)
    chain = np.empty(count, np.int32)
    before = -1
    reached = 0
    for column in range(len(switches.home)):
        goal = switches.home[column]
        if goal != before:
            before = goal
            reached = reach(goal, switches, ranks, near, hops, queue)
        for v in range(count):
            routes[column, v] = -1
        # the way up from the destination by its digits
        links = 0
        v = goal
        while v >= 0:
            chain[links] = v
            links += 1
            c = digits.channel[v, digits.down[level[v], column] % size[v]] if size[v] > 0 else -1
            v = head[c] if c >= 0 else -1
        for i in range(1, reached):
            v = queue[i]
            best = -1
            up = near[v] < 0
            far = hops if up else near
            if up:
                # the channel upwards of the number, or, if that is missing, some steps further
                number = digits.up[level[v], column] + digits.shift[v]
                for _ in range(size[v]):
                    c = digits.channel[v, number % size[v]]
                    if c >= 0 and rises[c] and hops[head[c]] == hops[v] - 1:
                        best = c
                    if best >= 0 or step == 0:
                        break
                    number += step
            else:
                # the channels down that lead on, those back along the chain alone if there are any
                link = chain[near[v] - 1] if near[v] <= links else -1
                fits = 0
                on_chain = False
                for c in range(first[v], first[v + 1]):
                    if not rises[c] and near[head[c]] == near[v] - 1:
                        if head[c] == link and not on_chain:
                            on_chain = True
                            fits = 0
                        if head[c] == link or not on_chain:
                            fitting[fits] = c
                            fits += 1
                # the parallel cable of the number below; where cables are missing, the one used least without a step
                w = head[fitting[0]]
                number = digits.down[level[w], column]
                whole = 1
                if size[w] > 0:
                    whole = size[w] // digits.parents[w]
                    number = number % size[w] // digits.parents[w]
                if fits == whole or step != 0:
                    best = fitting[number % fits]
                elif on_chain:
                    best = fitting[0]
                    for k in range(1, fits):
                        if used[fitting[k]] < used[best]:
                            best = fitting[k]
            if best < 0:  # the channel used least among those that lead on
                for c in range(first[v], first[v + 1]):
                    if rises[c] == up and far[head[c]] == far[v] - 1 and (best < 0 or used[c] < used[best]):
                        best = c
            used[best] += 1
            routes[column, v] = best


@kernel
def fill_evenly(order: Array, switches: Switches, ranks: Ranks, load: Array, routes: Array) -> None:
    """Store shortest routes that climb and then descend, each over the channels that carry least so far."""
    # `load` is what channels carry if every host sends to every destination; the routes to the columns in `order` are
    # added.
    first, head, rises, hosts = switches.first, switches.head, ranks.rises, switches.hosts
    count = len(hosts)
    near = np.full(count, -1, np.int32)
    hops = np.full(count, -1, np.int32)
    queue = np.empty(count, np.int32)
    sent = np.zeros(count, np.int64)
    cost = np.zeros(count, np.int64)
    for column in order:
        goal = switches.home[column]
        reached = reach(goal, switches, ranks, near, hops, queue)
        route = routes[column]
        for v in range(count):
            route[v] = -1
            sent[v] = hosts[v]
        cost[goal] = 0
        for i in range(1, reached):
            v = queue[i]
            best = -1
            up = near[v] < 0
            far = hops if up else near
            for c in range(first[v], first[v + 1]):
                if rises[c] == up and far[head[c]] == far[v] - 1:
                    new = load[c] + cost[head[c]]
                    if best < 0 or new < cost[v] or (new == cost[v] and load[c] < load[best]):
                        best = c
                        cost[v] = new
            route[v] = best
        for i in range(reached - 1, 0, -1):
            v = queue[i]
            load[route[v]] += sent[v] * switches.unit[route[v]]
            sent[head[route[v]]] += sent[v]


@kernel
def even_out(columns: Array, switches: Switches, ranks: Ranks, load: Array, routes: Array) -> int:
    """Change shortest routes that climb and then descend where this lowers the sum of bandwidth times load squared."""
    # The `load` of channels, as of :func:`fill_evenly`, changes with the routes; the number of changes is returned.
    first, head, rises, hosts, unit = switches.first, switches.head, ranks.rises, switches.hosts, switches.unit
    count = len(hosts)
    near = np.full(count, -1, np.int32)
    hops = np.full(count, -1, np.int32)
    queue = np.empty(count, np.int32)
    sent = np.zeros(count, np.int64)
    cost = np.zeros(count, np.int64)
    changes = 0
    for column in columns:
        goal = switches.home[column]
        reached = reach(goal, switches, ranks, near, hops, queue)
        route = routes[column]
        # switches that no packet passes take the channels on which one more costs least: some may be sent there
        for v in range(count):
            sent[v] = hosts[v]
        for i in range(reached - 1, 0, -1):
            sent[head[route[queue[i]]]] += sent[queue[i]]
        cost[goal] = 0
        for i in range(1, reached):
            v = queue[i]
            best = route[v]
            cost[v] = 2 * load[best] + unit[best] + cost[head[best]]
            if sent[v] == 0:
                up = near[v] < 0
                far = hops if up else near
                for c in range(first[v], first[v + 1]):
                    if rises[c] == up and far[head[c]] == far[v] - 1:
                        new = 2 * load[c] + unit[c] + cost[head[c]]
                        if new < cost[v]:
                            cost[v] = new
                            best = c
                route[v] = best
        # the others, from afar: a channel is replaced where the loads of the two routes then have smaller squares
        for v in range(count):
            sent[v] = hosts[v]
        for i in range(reached - 1, 0, -1):
            v = queue[i]
            flow = sent[v]
            if flow > 0:
                old = route[v]
                best = old
                gain = 0
                up = near[v] < 0
                far = hops if up else near
                for c in range(first[v], first[v + 1]):
                    if c != old and rises[c] == up and far[head[c]] == far[v] - 1:
                        # both routes have the same number of hops: compare them until they meet
                        less = more = 0
                        a, b = old, c
                        while True:
                            less += flow * (2 * load[a] - flow * unit[a])
                            more += flow * (2 * load[b] + flow * unit[b])
                            if head[a] == head[b]:
                                break
                            a, b = route[head[a]], route[head[b]]
                        if less - more > gain:
                            gain = less - more
                            best = c
                if best != old:
                    changes += 1
                    a, b = old, best
                    while True:
                        load[a] -= flow * unit[a]
                        load[b] += flow * unit[b]
                        if head[a] == head[b]:
                            break
                        a, b = route[head[a]], route[head[b]]
                    route[v] = best
            sent[head[route[v]]] += flow
    return changes


# Kernel: the channels that lead towards a switch, by the fewest hops or up and down


class Trunks(NamedTuple):
    """Channels between switches: those from row v are ``first[v] .. first[v + 1]``, to ``head``; whether they lead up.

    `order` has the rows from the highest on; without rows, channels lead neither up nor down.
    """

    first: Array
    head: Array
    up: Array
    order: Array


@kernel
def channels_towards(goal: int, trunks: Trunks, used: Array) -> None:
    """Mark the channels by which packets for a row leave the others."""
    # Without ranks these are all that lead closer to it. With ranks, those that lead down and closer, where a path of
    # channels down exists; else those up, with the fewest hops from there on.
    first, head, up, order = trunks
    rows = len(first) - 1
    ranked = len(order) > 0
    hops = np.full(rows, -1, np.int64)
    queue = np.empty(rows, np.int64)
    hops[goal] = 0
    queue[0] = goal
    done, count = 0, 1
    while done < count:  # along cables, backwards: up where packets go down
        v = queue[done]
        done += 1
        for c in range(first[v], first[v + 1]):
            if hops[head[c]] < 0 and (up[c] or not ranked):
                hops[head[c]] = hops[v] + 1
                queue[count] = head[c]
                count += 1
    down = hops >= 0
    for v in order:
        if not down[v]:
            for c in range(first[v], first[v + 1]):
                if up[c] and hops[head[c]] >= 0 and (hops[v] < 0 or hops[head[c]] + 1 < hops[v]):
                    hops[v] = hops[head[c]] + 1
    for v in range(rows):
        for c in range(first[v], first[v + 1]):
            w = head[c]
            if not ranked:
                used[c] = hops[v] > 0 and hops[w] == hops[v] - 1
            elif down[v]:
                used[c] = not up[c] and down[w] and hops[w] == hops[v] - 1
            else:
                used[c] = up[c] and hops[v] > 0 and hops[w] == hops[v] - 1
