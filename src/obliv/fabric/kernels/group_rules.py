"""Kernel: the channels that lead towards a switch, by the fewest hops or up and down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Trunks", "channels_towards"]


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
