"""Kernel: service levels of pairs, stored as masks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel


class Merged(NamedTuple):
    """What rows did not go in: for LIDs without an endpoint, with the first of them; and those that added an SL."""

    unknown: int
    first_unknown: int
    several: int
    first_several: int


@kernel
def merge(source: Array, lid: Array, mask: Array, column: Array, levels: Array) -> Merged:
    """Add the SLs of rows to those of their pairs, and count rows that do not fit; a row of source -1 is left out.

    A LID's column is -1 where it belongs to no endpoint, -2 where it belongs to another port.
    """
    unknown, first_unknown, several, first_several = 0, -1, 0, -1
    for k in range(len(source)):
        c = column[lid[k]] if 0 <= lid[k] < len(column) else -1
        if c == -1:
            unknown += 1
            if first_unknown < 0:
                first_unknown = k
        if c < 0 or source[k] < 0:
            continue
        before = int(levels[source[k], c])
        after = before | int(mask[k])
        if before != 0 and after != before:
            several += 1
            if first_several < 0:
                first_several = k
        levels[source[k], c] = after
    return Merged(unknown, first_unknown, several, first_several)


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
    """Mark the channels by which packets for a row leave the others.

    Without ranks these are all that lead closer to it. With ranks, those that lead down and closer, where a path of
    channels down exists; else those up, with the fewest hops from there on.
    """
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
