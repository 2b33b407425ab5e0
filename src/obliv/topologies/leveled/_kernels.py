"""Kernels: how many paths use every edge, and lower bounds of schedules."""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["count", "first_break", "prefixes", "repeated"]


@kernel
def count(edge: Array, users: Array) -> None:
    """Count how often every edge occurs; `users` starts at zero."""
    for at in range(len(edge)):
        users[edge[at]] += 1


@kernel
def repeated(node: Array, seen: Array) -> bool:
    """Return whether a node occurs twice; `seen` starts at zero."""
    for p in range(len(node)):
        if seen[node[p]]:
            return True
        seen[node[p]] = 1
    return False


@kernel
def prefixes(
    start: Array, edge: Array, users: Array, least: int, chosen: Array, slot: Array, before: Array, after: Array
) -> None:
    """Find the fewest edges that paths have before and after the edges `chosen`, which have `least` users or more.

    Where `slot` is not empty, it gives the index in `chosen` of every edge.
    """
    direct = len(slot) > 0
    for p in range(len(start) - 1):
        first = start[p]
        last = start[p + 1] - 1
        for at in range(first, last + 1):
            e = edge[at]
            if users[e] < least:
                continue
            k = 0
            if direct:
                k = slot[e]
            else:
                end = len(chosen)
                while end - k > 1:
                    middle = (k + end) // 2
                    if chosen[middle] <= e:
                        k = middle
                    else:
                        end = middle
            before[k] = min(before[k], at - first)
            after[k] = min(after[k], last - at)


@kernel
def first_break(start: Array, edge: Array, low: Array, high: Array) -> int:
    """Return where in `edge` the first path breaks; -1 if every path holds together."""
    for p in range(len(start) - 1):
        for at in range(start[p], start[p + 1] - 1):
            if high[edge[at]] != low[edge[at + 1]]:
                return at
    return -1
