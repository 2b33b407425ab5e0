"""Kernels of the design: shortest paths under lengths of each pair, and the decomposition of flows into paths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from obliv.kernels import kernel

__all__ = ["Arcs", "ChannelsByTail", "distances", "pair_distances", "sift_down", "sift_up", "widest_paths"]

_INFINITE = 2**62


class ChannelsByTail(NamedTuple):
    """The channels of a network, sorted by tail."""

    first: Any  # of every node, and the number of channels
    head: Any


class Arcs(NamedTuple):
    """The arcs of a network of states, sorted by tail."""

    first: Any  # of every state, and the number of arcs
    head: Any
    channel: Any  # of every arc
    node: Any  # of every state


@kernel
def sift_up(key: Any, item: Any, at: int) -> None:
    """Move an entry of a binary heap up to its place; the smallest key stands first."""
    while at > 0:
        parent = (at - 1) // 2
        if key[parent] <= key[at]:
            return
        key[parent], key[at] = key[at], key[parent]
        item[parent], item[at] = item[at], item[parent]
        at = parent


@kernel
def sift_down(key: Any, item: Any, count: int) -> None:
    """Move the first entry of a binary heap down to its place."""
    at = 0
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and key[child + 1] < key[child]:
            child += 1
        if key[at] <= key[child]:
            return
        key[child], key[at] = key[at], key[child]
        item[child], item[at] = item[at], item[child]
        at = child


@kernel
def pair_distances(network: Arcs, sources: Any, ends: Any, column: Any, flow: Any, length: Any, distance: Any) -> None:
    """Compute the shortest distance of every pair, where each pair has its own lengths (Dijkstra).

    Channel c of pair (s, d) has length ``length[flow[s, d, c]]``; arcs a with ``column[s, d, a]`` −1 are closed. The
    distance of a terminal to itself is 0, and −1 stands for "no path".
    """
    states = len(network.first) - 1
    best = np.empty(states, np.int64)
    key = np.empty(len(network.head) + 1, np.int64)
    item = np.empty(len(network.head) + 1, np.int64)
    for s in range(len(sources)):
        for d in range(len(ends)):
            if sources[s] == ends[d]:
                distance[s, d] = 0
                continue
            best[:] = _INFINITE
            best[sources[s]] = 0
            key[0], item[0], count = 0, sources[s], 1
            distance[s, d] = -1
            while count > 0:
                reached, state = key[0], item[0]
                count -= 1
                key[0], item[0] = key[count], item[count]
                sift_down(key, item, count)
                if network.node[state] == ends[d]:
                    distance[s, d] = reached
                    break
                if reached > best[state]:
                    continue
                for a in range(network.first[state], network.first[state + 1]):
                    if column[s, d, a] < 0:
                        continue
                    longer = reached + length[flow[s, d, network.channel[a]]]
                    head = network.head[a]
                    if longer < best[head]:
                        best[head] = longer
                        key[count], item[count] = longer, head
                        sift_up(key, item, count)
                        count += 1


@kernel
def distances(network: ChannelsByTail, terminals: Any, length: Any, between: Any) -> None:
    """Compute the shortest distances between terminals (Dijkstra); −1 where there is no path."""
    nodes = len(network.first) - 1
    best = np.empty(nodes, np.int64)
    key = np.empty(len(network.head) + 1, np.int64)
    item = np.empty(len(network.head) + 1, np.int64)
    for s in range(len(terminals)):
        best[:] = _INFINITE
        best[terminals[s]] = 0
        key[0], item[0], count = 0, terminals[s], 1
        while count > 0:
            reached, node = key[0], item[0]
            count -= 1
            key[0], item[0] = key[count], item[count]
            sift_down(key, item, count)
            if reached > best[node]:
                continue
            for c in range(network.first[node], network.first[node + 1]):
                longer = reached + length[c]
                head = network.head[c]
                if longer < best[head]:
                    best[head] = longer
                    key[count], item[count] = longer, head
                    sift_up(key, item, count)
                    count += 1
        for d in range(len(terminals)):
            between[s, d] = best[terminals[d]] if best[terminals[d]] < _INFINITE else -1


@kernel
def widest_paths(network: Arcs, source: int, end: int, capacity: Any, whole: int, paths: Any) -> int:
    """Decompose a flow into paths, the widest first; return how many.

    Parameters
    ----------
    network : Arcs
    source, end : int
        The start state, and the node to which paths lead.
    capacity : int64 array, shape (arcs,)
        The flow of every arc; used up.
    whole : int
        What the paths' amounts add up to at most.
    paths : Paths
        Filled from the start: path k takes ``channel[start[k] : start[k + 1]]`` and carries ``amount[k]``.
    """
    states = len(network.first) - 1
    width = np.empty(states, np.int64)
    via = np.empty(states, np.int64)
    before = np.empty(states, np.int64)
    key = np.empty(len(network.head) + 1, np.int64)
    item = np.empty(len(network.head) + 1, np.int64)
    left, number = whole, 0
    paths.start[0] = 0
    while left > 0:
        width[:] = 0
        width[source] = left
        key[0], item[0], count = -left, source, 1
        last = -1
        while count > 0:
            reached, state = -key[0], item[0]
            count -= 1
            key[0], item[0] = key[count], item[count]
            sift_down(key, item, count)
            if network.node[state] == end:
                last = state
                break
            if reached < width[state]:
                continue
            for a in range(network.first[state], network.first[state + 1]):
                through = min(reached, capacity[a])
                head = network.head[a]
                if through > width[head]:
                    width[head], via[head], before[head] = through, a, state
                    key[count], item[count] = -through, head
                    sift_up(key, item, count)
                    count += 1
        if last < 0:
            return number
        amount = width[last]
        hops, state = 0, last
        while state != source:
            state = before[state]
            hops += 1
        place = paths.start[number] + hops
        paths.start[number + 1] = place
        state = last
        while state != source:
            place -= 1
            paths.channel[place] = network.channel[via[state]]
            capacity[via[state]] -= amount
            state = before[state]
        paths.amount[number] = amount
        left -= amount
        number += 1
    return number
