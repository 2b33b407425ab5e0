"""Focus sets: one channel for every class that symmetries carry onto each other (Towles, section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["channel_between", "focus_of"]


def focus_of(topology: Any, node_maps: Iterable[Any]) -> list[int]:
    """Return for every channel the lowest channel onto which combinations of the node maps carry it.

    Parameters
    ----------
    topology : Topology
        Without parallel channels, so that its ends name a channel.
    node_maps : iterable of integer arrays
        Automorphisms: the image of every node.
    """
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    number = {pair: c for c, pair in enumerate(ends)}
    focus = list(range(len(ends)))

    def root(c: int) -> int:
        while focus[c] != c:
            c = focus[c]
        return c

    for g in node_maps:
        for c, (tail, head) in enumerate(ends):
            low, high = sorted((root(c), root(number[int(g[tail]), int(g[head])])))
            focus[high] = low
    return [root(c) for c in range(len(ends))]


def channel_between(topology: Any, tail: int, head: int) -> int:
    """Return the number of the channel from one node to another."""
    first = topology.first_channel
    return next(c for c in range(int(first[tail]), int(first[tail + 1])) if int(topology.head[c]) == head)
