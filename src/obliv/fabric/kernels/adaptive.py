"""Kernels: what packets put on the channels if switches split them evenly, or choose as they like.

Every LID has its rows in order, each after all rows that packets can come to from there, and for every row the least
common denominator of the shares that go on from it. With `any_choice` a packet counts in full on every channel that it
can take; then all denominators are 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

# Kernels: where packets can come if every switch may choose among the ports of a set


_LOOP, _NO_LID = 6, 7


class Choices(NamedTuple):
    """The ports among which switches may choose, and where cables lead.

    For LID l, the switch of row v has the set of ports number ``choice[l, v]``. Set n is ``port[ptr[n]:ptr[n + 1]]``;
    set 0 is empty. The slots of row v are ``first[v] <= slot < end[v]``, its port p has slot ``first[v] + p``.
    ``to[slot]`` is the row of the switch at the other end, -1 for no cable, -3 - e for end e of those between which
    packets travel, -2 for anything else.
    """

    ptr: Array
    port: Array
    choice: Array
    first: Array
    end: Array
    to: Array


@kernel
def _ending(choices: Choices, v: int, port: int, goal: int) -> int:
    """Return how a packet for an end fares by one port of a row: an ending, or -1 where it comes to a switch."""
    if port == 0:
        return 5
    slot = choices.first[v] + port
    if slot >= choices.end[v]:
        return 3
    to = choices.to[slot]
    if to >= 0:
        return -1
    if to == -1:
        return 4
    return 0 if to == -3 - goal else 5


@kernel
def trace_choices(
    leaf: Array, lid: Array, goal: Array, choices: Choices, tables: Array, code: Array, at: Array
) -> None:
    """Store in `code` how packets from every leaf to every LID can fare: 0 only if they arrive by all choices.

    Otherwise it is how they end by some choice, a loop before everything else that is met at the same switch. Numbers
    are those of :class:`obliv.fabric.routes.trace.Ending`.

    Parameters
    ----------
    leaf : int array, shape (leaves,)
        Rows where packets begin.
    lid, goal : int arrays, shape (columns,)
        A LID, and the end that owns it.
    choices : Choices
    tables : bool array, shape (rows,)
        Whether a switch has a table.
    code : uint8 array, shape (leaves, columns)
    at : int32 array, shape (leaves, columns) or (0, 0)
        The row where they end; of a loop one of its rows.
    """
    rows = len(choices.first)
    seen = np.full(rows, -1, np.int32)  # the column for which a row was opened
    done = np.full(rows, -1, np.int32)  # and the one for which its outcome is known
    ending, place = np.zeros(rows, np.uint8), np.zeros(rows, np.int32)
    stack, cursor = np.empty(rows, np.int32), np.empty(rows, np.int64)
    ptr, ports, choice, first, _, to = choices
    for k in range(len(lid)):
        inside = 0 < lid[k] < len(choice)
        for i in range(len(leaf)):
            start = leaf[i]
            if done[start] != k:
                depth = 0
                stack[0] = start
                seen[start] = k
                ending[start], place[start] = 0, start
                cursor[start] = ptr[choice[lid[k], start]] if inside else 0
                while depth >= 0:
                    v = stack[depth]
                    n = choice[lid[k], v] if inside else 0
                    if cursor[v] == (ptr[n] if inside else 0):  # the first visit
                        if lid[k] <= 0:
                            ending[v] = _NO_LID
                        elif not tables[v]:
                            ending[v] = 1
                        elif ptr[n] == ptr[n + 1]:
                            ending[v] = 2
                    if not inside or cursor[v] == ptr[n + 1]:
                        done[v] = k
                        depth -= 1
                        if depth >= 0 and ending[v] != 0:
                            u = stack[depth]
                            if ending[u] == 0 or (ending[u] != _LOOP and ending[v] == _LOOP):
                                ending[u], place[u] = ending[v], place[v]
                        continue
                    port = np.int64(ports[cursor[v]])
                    cursor[v] += 1
                    result = _ending(choices, v, port, goal[k])
                    w, where = v, v
                    if result < 0:
                        w = to[first[v] + port]
                        if done[w] == k:
                            result, where = np.int64(ending[w]), np.int64(place[w])
                        elif seen[w] == k:
                            result, where = _LOOP, w
                        else:
                            seen[w] = k
                            ending[w], place[w] = 0, w
                            cursor[w] = ptr[choice[lid[k], w]]
                            depth += 1
                            stack[depth] = w
                            continue
                    if result != 0 and (ending[v] == 0 or (ending[v] != _LOOP and result == _LOOP)):
                        ending[v], place[v] = result, where
            code[i, k] = ending[start]
            if len(at):
                at[i, k] = place[start]


@kernel
def order_rows(lid: int, start: Array, choices: Choices, seen: Array, order: Array, scratch: Array) -> int:
    """List the rows that packets for a LID can come to, each after all rows that they can come to from there.

    Parameters
    ----------
    lid : int
    start : int array
        Rows where packets begin, and from which all choices lead to the end.
    choices : Choices
    seen : bool array, shape (rows,)
        False; True for the listed rows on return.
    order : int array, shape (rows,)
    scratch : int64 array, shape (2, rows)

    Returns
    -------
    int
        How many rows are listed.
    """
    ptr, ports, choice, first, _, to = choices
    stack, cursor = scratch[0], scratch[1]
    count = 0
    for i in range(len(start)):
        if seen[start[i]]:
            continue
        depth = 0
        stack[0] = start[i]
        seen[start[i]] = True
        cursor[start[i]] = ptr[choice[lid, start[i]]]
        while depth >= 0:
            v = stack[depth]
            if cursor[v] == ptr[choice[lid, v] + 1]:
                order[count] = v
                count += 1
                depth -= 1
                continue
            w = to[first[v] + np.int64(ports[cursor[v]])]
            cursor[v] += 1
            if w >= 0 and not seen[w]:
                seen[w] = True
                cursor[w] = ptr[choice[lid, w]]
                depth += 1
                stack[depth] = w
    return count


@kernel
def followed_by(
    lid: Array, leaf: Array, code: Array, choices: Choices, channel: Array, index: Array, follows: Array
) -> None:
    """Mark ``follows[c, g]`` where packets take channel c between two switches and then choose from set number g.

    Parameters
    ----------
    lid : int array, shape (columns,)
    leaf : int array, shape (leaves,)
        Rows where packets begin.
    code : uint8 array, shape (leaves, columns)
        How they can fare; where they can go round in circles, they are left out.
    choices : Choices
    channel : int64 array, shape (slots,)
        The number of each channel between switches, -1 for other slots.
    index : int array, shape (sets, rows)
        The number of a set among those of a row.
    follows : bool array, shape (channels between switches, sets of a row)
    """
    ptr, ports, choice, first, end, to = choices
    rows = len(first)
    seen = np.full(rows, -1, np.int32)
    stack = np.empty(rows, np.int32)
    for k in range(len(lid)):
        if lid[k] <= 0 or lid[k] >= len(choice):
            continue
        depth = 0
        for i in range(len(leaf)):
            if code[i, k] != _LOOP and seen[leaf[i]] != k:
                seen[leaf[i]] = k
                stack[depth] = leaf[i]
                depth += 1
        while depth > 0:
            depth -= 1
            v = stack[depth]
            n = choice[lid[k], v]
            for at in range(ptr[n], ptr[n + 1]):
                slot = first[v] + np.int64(ports[at])
                if ports[at] == 0 or slot >= end[v] or channel[slot] < 0:
                    continue
                w = to[slot]
                follows[channel[slot], index[choice[lid[k], w], w]] = True
                if seen[w] != k:
                    seen[w] = k
                    stack[depth] = w
                    depth += 1


class DestinationClasses(NamedTuple):
    """Classes of destinations that all switches but their own treat alike, and classes of sources.

    The LIDs of class g are numbers ``ptr[g] <= q < ptr[g + 1]``: LID ``lid[q]`` stands for those of all members, its
    rows are ``order[first[q]:first[q + 1]]`` with denominators `multiple`. Sources of class r begin at row ``row[r]``
    and send ``times[r, q]`` of their routes to LID q, 0 where packets are left out.
    """

    ptr: Array
    lid: Array
    first: Array
    order: Array
    multiple: Array
    row: Array
    times: Array


class Split(NamedTuple):
    """How packets split: into classes, by the choices of switches, evenly or with any choice.

    ``channel[slot]`` is the number of each channel between switches, -1 for other slots.
    """

    classes: DestinationClasses
    choices: Choices
    any_choice: bool
    channel: Array


class SplitSpace(NamedTuple):
    """Space for a packet's shares, by row and by place in a class's order, and by channel; zeros but for `touched`."""

    mass: Array
    share: Array
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
def denominators(classes: DestinationClasses, choices: Choices, limit: int) -> int:
    """Store the denominators of even splits of all rows; return that of all sources, -1 where one exceeds the limit."""
    ptr, ports, choice, first, _, to = choices
    _, lid, begin, order, multiple, row, times = classes
    own = np.zeros(len(first), np.int64)
    common = 1
    for q in range(len(lid)):
        for at in range(begin[q], begin[q + 1]):
            v = order[at]
            n = choice[lid[q], v]
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
        for r in range(len(row)):
            if times[r, q] > 0:
                common = _common_multiple(common, own[row[r]], limit)
                if common < 0:
                    return -1
    return common


@kernel
def send(q: int, start: int, amount: int, split: Split, mass: Array, share: Array) -> None:
    """Send an amount from a row to a class; store what every row of the class passes on by each of its ports.

    ``share[at]`` is that of the row in place `at` of the class's order; `mass` holds zeros before and after.
    """
    classes, any_choice = split.classes, split.any_choice
    ptr, ports, choice, first, _, to = split.choices
    lid, begin, order = classes.lid[q], classes.first[q], classes.order
    mass[start] = amount
    for at in range(classes.first[q + 1] - 1, begin - 1, -1):
        v = order[at]
        share[at - begin] = 0
        if mass[v] == 0:
            continue
        n = choice[lid, v]
        unit = mass[v] if any_choice else mass[v] // int(ptr[n + 1] - ptr[n])
        share[at - begin] = unit
        mass[v] = 0
        for e in range(ptr[n], ptr[n + 1]):
            w = to[first[v] + np.int64(ports[e])]
            if w >= 0:
                mass[w] = unit if any_choice else mass[w] + unit


@kernel
def _gather(r: int, g: int, amount: int, split: Split, space: SplitSpace) -> int:
    """Add what a source sends to a destination to `carried`, by channel; list and count the channels.

    The source is of class r, the destination of class g, and `amount` is sent by each route. `carried` holds zeros.
    """
    classes, channel = split.classes, split.channel
    ptr, ports, choice, first, _, _ = split.choices
    mass, share, carried, touched = space
    count = 0
    for q in range(classes.ptr[g], classes.ptr[g + 1]):
        if classes.times[r, q] == 0:
            continue
        lid, start = classes.lid[q], classes.first[q]
        whole = amount * int(classes.times[r, q])
        send(q, classes.row[r], whole, split, mass, share)
        for at in range(start, classes.first[q + 1]):
            unit = share[at - start]
            if unit == 0:
                continue
            v = classes.order[at]
            n = choice[lid, v]
            for e in range(ptr[n], ptr[n + 1]):
                c = channel[first[v] + np.int64(ports[e])]
                if c >= 0:
                    if carried[c] == 0:
                        touched[count] = c
                        count += 1
                    carried[c] += unit
    return count


@kernel
def sum_shares(denominator: int, demand: Array, supply: Array, split: Split, sums: ShareSums) -> None:
    """Add what all sources send to all destinations, by channel between switches.

    Parameters
    ----------
    denominator : int
        What a route carries.
    demand : int64 array, shape (2, classes of destinations)
        What the members of a class take, and how many they are.
    supply : int64 array, shape (classes of sources,)
        What the members of a class send.
    split : Split
    sums : ShareSums
        Added to; the rows have shape (classes of sources, channels).
    """
    rows, channels = len(split.choices.first), len(sums.columns)
    carried, touched = np.zeros(channels, np.int64), np.empty(channels, np.int64)
    space = SplitSpace(np.zeros(rows, np.int64), np.zeros(rows, np.int64), carried, touched)
    top, seen = np.zeros(channels, np.int64), np.empty(channels, np.int64)
    for g in range(len(split.classes.ptr) - 1):
        met = 0
        for r in range(len(split.classes.row)):
            largest = sums.rows[r]
            count = _gather(r, g, denominator, split, space)
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
    rows, channels = len(split.choices.first), len(total)
    carried, touched = np.zeros(channels, np.int64), np.empty(channels, np.int64)
    space = SplitSpace(np.zeros(rows, np.int64), np.zeros(rows, np.int64), carried, touched)
    for f in range(len(source)):
        count = _gather(source[f], destination[f], amount[f], split, space)
        for k in range(count):
            total[touched[k]] += carried[touched[k]]
            carried[touched[k]] = 0


@kernel
def shares_on(v: int, port: int, denominator: int, split: Split, share: Array) -> None:
    """Add what every class of sources puts on the channel that leaves row v by a port, for every class of destinations.

    The shares, zeros of shape (classes of sources, classes of destinations), are computed backwards from the channel.
    """
    classes, any_choice = split.classes, split.any_choice
    ptr, ports, choice, first, _, to = split.choices
    part = np.zeros(len(first), np.int64)  # of what a row sends, over its denominator
    own = np.ones(len(first), np.int64)
    for g in range(len(classes.ptr) - 1):
        for q in range(classes.ptr[g], classes.ptr[g + 1]):
            lid = classes.lid[q]
            n = choice[lid, v]
            used = False
            for e in range(ptr[n], ptr[n + 1]):
                used = used or ports[e] == port
            if not used:
                continue
            found = False
            for at in range(classes.first[q], classes.first[q + 1]):
                u = classes.order[at]
                m = choice[lid, u]
                multiple = classes.multiple[at]
                least = 1 if any_choice else multiple // int(ptr[m + 1] - ptr[m])
                own[u] = multiple
                if u == v:
                    part[u] = least
                    found = True
                elif found:
                    total = 0
                    for e in range(ptr[m], ptr[m + 1]):
                        w = to[first[u] + np.int64(ports[e])]
                        if w >= 0 and part[w] > 0:
                            total = 1 if any_choice else total + part[w] * (least // own[w])
                    part[u] = total
            for r in range(len(classes.row)):
                if classes.times[r, q] > 0 and part[classes.row[r]] > 0:
                    start = classes.row[r]
                    share[r, g] += part[start] * (denominator // own[start]) * int(classes.times[r, q])
            for at in range(classes.first[q], classes.first[q + 1]):
                part[classes.order[at]] = 0
