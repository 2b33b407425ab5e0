"""Kernels: what packets put on the channels if switches split them evenly, or choose as they like.

Every LID has its states in order, each after all states that packets can come to from there, and for every state the
least common denominator of the shares that go on from it. With `any_choice` a packet counts in full on every channel
that it can take; then all denominators are 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.automaton import Automaton
from obliv.kernels import kernel


class DestinationClasses(NamedTuple):
    """Classes of destinations that all switches but their own treat alike, and classes of sources.

    The LIDs of class g are numbers ``ptr[g] <= q < ptr[g + 1]``: LID ``lid[q]`` stands for those of all members, its
    states are ``order[first[q]:first[q + 1]]`` with denominators `multiple`. Sources of class r begin in state
    ``start[r]`` and send ``times[r, q]`` of their routes to LID q, 0 where packets are left out.
    """

    ptr: Array
    lid: Array
    first: Array
    order: Array
    multiple: Array
    start: Array
    times: Array


class Split(NamedTuple):
    """How packets split: into classes, by the choices of switches, evenly or with any choice.

    ``channel[slot]`` is the number of each channel between switches, -1 for other slots.
    """

    classes: DestinationClasses
    hops: Automaton
    any_choice: bool
    channel: Array


class SplitSpace(NamedTuple):
    """Space for a packet's shares, by state and by channel; zeros but for `touched`."""

    mass: Array
    carried: Array
    touched: Array


class ShareSums(NamedTuple):
    """By channel: Σ over classes of the largest share of a source, largest shares of every source, and the total."""

    columns: Array
    rows: Array
    total: Array


@kernel
def _common_multiple(one: int, two: int, limit: int) -> int:
    """Return the least common multiple, -1 if it exceeds the limit."""
    a, b = one, two
    while b != 0:
        a, b = b, a % b
    if one // a > limit // two:
        return -1
    return one // a * two


@kernel
def denominators(classes: DestinationClasses, hops: Automaton, limit: int) -> int:
    """Store the denominators of even splits of all states; return that of all sources, -1 if one exceeds the limit."""
    first, to, row, out, ptr, ports = hops
    _, lid, begin, order, multiple, start, times = classes
    own = np.zeros(len(row), np.int64)
    common = 1
    for q in range(len(lid)):
        for at in range(begin[q], begin[q + 1]):
            v = order[at]
            n = out[lid[q], row[v]]
            least = 1
            for e in range(ptr[n], ptr[n + 1]):
                w = to[first[v] + np.int64(ports[e])]
                if w >= 0:
                    least = _common_multiple(least, own[w], limit)
                    if least < 0:
                        return -1
            size = int(ptr[n + 1] - ptr[n])
            if least > limit // size:
                return -1
            least *= size
            own[v] = least
            multiple[at] = least
        for r in range(len(start)):
            if times[r, q] > 0:
                common = _common_multiple(common, own[start[r]], limit)
                if common < 0:
                    return -1
    return common


@kernel
def send(r: int, g: int, amount: int, split: Split, space: SplitSpace) -> int:
    """Add what a source of class r sends to a destination of class g to `carried`; list and count the channels."""
    # Each route sends `amount`. `mass` holds zeros before and after, `carried` before.
    classes, any_choice, channel = split.classes, split.any_choice, split.channel
    first, to, row, out, ptr, ports = split.hops
    mass, carried, touched = space
    count = 0
    for q in range(classes.ptr[g], classes.ptr[g + 1]):
        if classes.times[r, q] == 0:
            continue
        mass[classes.start[r]] = amount * int(classes.times[r, q])
        # every state after those that send to it
        for at in range(classes.first[q + 1] - 1, classes.first[q] - 1, -1):
            v = classes.order[at]
            if mass[v] == 0:
                continue
            n = out[classes.lid[q], row[v]]
            unit = mass[v] if any_choice else mass[v] // int(ptr[n + 1] - ptr[n])
            mass[v] = 0
            for e in range(ptr[n], ptr[n + 1]):
                slot = first[v] + np.int64(ports[e])
                w, c = to[slot], channel[slot]
                if w >= 0:
                    mass[w] = unit if any_choice else mass[w] + unit
                if c >= 0:
                    if carried[c] == 0:
                        touched[count] = c
                        count += 1
                    carried[c] += unit
    return count


@kernel
def sum_shares(denominator: int, demand: Array, supply: Array, split: Split, sums: ShareSums) -> None:
    """Add what all sources send to all destinations, by channel between switches; a route carries the denominator."""
    # `demand[0]` is what the members of a class of destinations take, `demand[1]` how many they are; `supply` is what
    # those of a class of sources send.
    channels = len(sums.columns)
    carried, touched = np.zeros(channels, np.int64), np.empty(channels, np.int64)
    space = SplitSpace(np.zeros(len(split.hops.row), np.int64), carried, touched)
    top, seen = np.zeros(channels, np.int64), np.empty(channels, np.int64)
    for g in range(len(split.classes.ptr) - 1):
        met = 0
        for r in range(len(split.classes.start)):
            largest = sums.rows[r]
            count = send(r, g, denominator, split, space)
            for k in range(count):
                c = touched[k]
                weight = carried[c]
                carried[c] = 0
                sums.total[c] += weight * supply[r] * demand[1, g]
                if weight > largest[c]:
                    largest[c] = weight
                if weight > top[c]:
                    if top[c] == 0:
                        seen[met] = c
                        met += 1
                    sums.columns[c] += (weight - top[c]) * demand[0, g]
                    top[c] = weight
        for k in range(met):
            top[seen[k]] = 0


@kernel
def carry_shares(source: Array, destination: Array, amount: Array, split: Split, total: Array) -> None:
    """Add flows to the channels between switches: classes of sources and of destinations, and what a route carries."""
    channels = len(total)
    carried, touched = np.zeros(channels, np.int64), np.empty(channels, np.int64)
    space = SplitSpace(np.zeros(len(split.hops.row), np.int64), carried, touched)
    for f in range(len(source)):
        count = send(source[f], destination[f], amount[f], split, space)
        for k in range(count):
            total[touched[k]] += carried[touched[k]]
            carried[touched[k]] = 0


@kernel
def shares_on(v: int, port: int, denominator: int, split: Split, share: Array) -> None:
    """Add the shares of all classes of sources and destinations on the channel that leaves state v by a port."""
    # The shares, zeros of shape (classes of sources, classes of destinations), are computed backwards from the channel.
    classes, any_choice = split.classes, split.any_choice
    first, to, row, out, ptr, ports = split.hops
    sent = np.zeros(len(row), np.int64)  # of what a state sends, over its denominator
    unit_of = np.ones(len(row), np.int64)
    for g in range(len(classes.ptr) - 1):
        for q in range(classes.ptr[g], classes.ptr[g + 1]):
            lid = classes.lid[q]
            n = out[lid, row[v]]
            used = False
            for e in range(ptr[n], ptr[n + 1]):
                used = used or ports[e] == port
            if not used:
                continue
            found = False
            for k in range(classes.first[q], classes.first[q + 1]):
                u = classes.order[k]
                m = out[lid, row[u]]
                multiple = classes.multiple[k]
                least = 1 if any_choice else multiple // int(ptr[m + 1] - ptr[m])
                unit_of[u] = multiple
                if u == v:
                    sent[u] = least
                    found = True
                elif found:
                    total = 0
                    for e in range(ptr[m], ptr[m + 1]):
                        w = to[first[u] + np.int64(ports[e])]
                        if w >= 0 and sent[w] > 0:
                            total = 1 if any_choice else total + sent[w] * (least // unit_of[w])
                    sent[u] = total
            for r in range(len(classes.start)):
                if classes.times[r, q] > 0 and sent[classes.start[r]] > 0:
                    start = classes.start[r]
                    share[r, g] += sent[start] * (denominator // unit_of[start]) * int(classes.times[r, q])
            for k in range(classes.first[q], classes.first[q + 1]):
                sent[classes.order[k]] = 0
