"""Kernels that add up shortest distances under lengths that differ from pair to pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from obliv.kernels import kernel

__all__ = ["Carried", "Lengths", "Network", "add_distances"]

_INFINITE = 2**62


class Network(NamedTuple):
    """Arcs between states sorted by tail, the nodes of the terminals, hops where paths must be shortest, and channels.

    ``legal[d, c]`` is whether channel c leads towards terminal d, where that is limited.
    """

    first: Any
    head: Any
    channel: Any
    node: Any  # of every state; that of a node's start is the node itself
    terminals: Any
    there: Any  # from terminals to states, shape (terminals, states); (0, 0) where all paths are allowed
    back: Any  # from states to terminals
    legal: Any  # shape (terminals, channels); (0, 0) where all channels are allowed


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
    states, channels, terminals = len(network.first) - 1, len(carried.source), len(network.terminals)
    cost = np.empty((terminals, channels), np.int64)
    best = np.empty(states, np.int64)
    queue = np.empty(states + 1, np.int64)
    waiting = np.zeros(states, np.uint8)
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
            distance = _INFINITE
            while front != back:
                state = queue[front]
                front = (front + 1) % (states + 1)
                waiting[state] = 0
                if network.node[state] == network.terminals[d]:
                    distance = min(distance, best[state])
                for a in range(network.first[state], network.first[state + 1]):
                    head = network.head[a]
                    if len(network.legal) > 0 and not network.legal[d, network.channel[a]]:
                        continue
                    if len(network.there) > 0:
                        through = network.there[s, state] + 1 + network.back[d, head]
                        if network.back[d, head] < 0 or through != network.back[d, source]:
                            continue
                    longer = best[state] + cost[d, network.channel[a]]
                    if longer < best[head]:
                        best[head] = longer
                        if waiting[head] == 0:
                            waiting[head] = 1
                            queue[back] = head
                            back = (back + 1) % (states + 1)
            if distance == _INFINITE:
                sums[s] = -1
                break
            sums[s] += distance
