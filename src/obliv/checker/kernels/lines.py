"""Kernels that add up shortest distances under lengths that differ from pair to pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from obliv.kernels import kernel

__all__ = ["Carried", "Lengths", "Network", "add_distances"]

_INFINITE = 2**62


class Network(NamedTuple):
    """Channels sorted by tail, the nodes of the terminals, and hops between nodes where paths must be shortest."""

    first: Any
    tail: Any
    head: Any
    terminals: Any
    hops: Any  # shape (nodes, nodes); (0, 0) where all paths are allowed


class Lengths(NamedTuple):
    """Lengths of pairs on some channels: those of source s on channel k are ``start[k, s] .. start[k, s + 1]``."""

    start: Any
    destination: Any
    length: Any


class Carried(NamedTuple):
    """Where the lengths of each channel come from: another channel, and the terminals there and here."""

    source: Any  # of the lengths, for every channel
    here: Any  # shape (channels, terminals): what a terminal becomes
    there: Any  # the inverse


@kernel
def add_distances(network: Network, lengths: Lengths, carried: Carried, price: int, sums: Any) -> None:
    """Add up, for every source, its shortest distances to all terminals; −1 where one cannot be reached.

    The length of channel c for a pair is the price and what the lengths say of the pair that is carried onto it.
    Labels are corrected until none changes, node by node in a queue.
    """
    nodes, channels, terminals = len(network.first) - 1, len(network.head), len(network.terminals)
    cost = np.empty((terminals, channels), np.int64)
    best = np.empty(nodes, np.int64)
    queue = np.empty(nodes + 1, np.int64)
    waiting = np.zeros(nodes, np.uint8)
    for s in range(terminals):
        cost[:, :] = price
        for c in range(channels):
            there = carried.there[c, s]
            k = carried.source[c]
            for e in range(lengths.start[k, there], lengths.start[k, there + 1]):
                cost[carried.here[c, lengths.destination[e]], c] += lengths.length[e]
        sums[s] = 0
        source = network.terminals[s]
        for d in range(terminals):
            if d == s:
                continue
            best[:] = _INFINITE
            best[source] = 0
            queue[0] = source
            front, back = 0, 1
            while front != back:
                node = queue[front]
                front = (front + 1) % (nodes + 1)
                waiting[node] = 0
                for c in range(network.first[node], network.first[node + 1]):
                    if len(network.hops) > 0:
                        target = network.terminals[d]
                        through = network.hops[source, node] + 1 + network.hops[network.head[c], target]
                        if through != network.hops[source, target]:
                            continue
                    longer = best[node] + cost[d, c]
                    head = network.head[c]
                    if longer < best[head]:
                        best[head] = longer
                        if waiting[head] == 0:
                            waiting[head] = 1
                            queue[back] = head
                            back = (back + 1) % (nodes + 1)
            distance = best[network.terminals[d]]
            if distance == _INFINITE:
                sums[s] = -1
                break
            sums[s] += distance
