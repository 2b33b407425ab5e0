"""Kernels of the checker: shortest distances under lengths, and dual bounds; they share nothing with the search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

# Kernels that add up shortest distances under lengths that differ from pair to pair


_INFINITE = 2**62


class StateNetwork(NamedTuple):
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


class PairLengths(NamedTuple):
    """Lengths of pairs on some channels: those of source s on channel k are ``start[k, s] .. start[k, s + 1]``."""

    start: Any
    destination: Any
    length: Any


class CarriedLengths(NamedTuple):
    """Where the lengths of each channel come from: another channel, and the terminals there and here."""

    source: Any  # of the lengths, for every channel
    here: Any  # shape (channels, terminals): what a terminal becomes
    there: Any  # the inverse


@kernel
def add_distances(network: StateNetwork, lengths: PairLengths, carried: CarriedLengths, price: int, sums: Any) -> None:
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


# Kernels of the checker: what a source adds to the dual bound of every channel


class SourceFlow(NamedTuple):
    """What a source sends: entries of destination j end at ``ends[j]``, their amounts are over ``whole[j]``."""

    ends: Array
    channel: Array
    amount: Array
    whole: Array


class PriceTable(NamedTuple):
    """The prices of channel c are ``table[:, row[c]]``: terminal after terminal, as flows are."""

    row: Array
    table: Array


class Gains(NamedTuple):
    """What a source gains on channels at most: those that it gains on are ``seen[:size]``, with the gain ``best``.

    `best` and `load` hold zeros before; so does `load` after. Channel c's column maxima stand in ``top[row[c]]``, none
    where that is negative.
    """

    best: Array
    seen: Array
    load: Array
    touched: Array
    row: Array
    top: Array


@kernel
def gains_of(flow: SourceFlow, denominator: int, prices: PriceTable, gains: Gains) -> int:
    """Find max(0, max_j (w_j - v_j)) of every channel for one source; its loads w are numerators over `denominator`.

    Returns how many channels it gains on, or -1 where a load is not an integer over the denominator.
    """
    ends, channel, amount, whole = flow
    best, seen, load, touched, row, top = gains
    size = 0
    begin = 0
    for j in range(len(ends)):
        if begin == ends[j]:
            continue
        q = denominator // whole[j]
        r = denominator % whole[j]
        count = 0
        for e in range(begin, ends[j]):  # entries of one channel are added up
            c = channel[e]
            weight = amount[e] * q
            if r != 0:
                rest = amount[e] * r
                if rest % whole[j] != 0:
                    return -1
                weight += rest // whole[j]
            if weight == 0:
                continue
            if load[c] == 0:
                touched[count] = c
                count += 1
            load[c] += weight
        for k in range(count):
            c = touched[k]
            gain = load[c] - prices.table[j, prices.row[c]]
            if gain > best[c]:
                if best[c] == 0:
                    seen[size] = c
                    size += 1
                best[c] = gain
            if row[c] >= 0 and load[c] > top[row[c], j]:
                top[row[c], j] = load[c]
            load[c] = 0
        begin = ends[j]
    return size


class SumArrays(NamedTuple):
    """Sums of channels and the maxima behind them: `top` holds zeros before and after each call."""

    top: Array
    touched: Array
    total: Array


@kernel
def raise_sums(taken: Array, row: Array, price: Array, sums: SumArrays) -> None:
    """Add max(0, max_k (1 - v_k)) over the paths k of one host to the sum of each channel.

    Channel c has the prices v = ``price[:, row[c]]``; no price is looked up where the row is 0.
    """
    top, touched, total = sums
    size = 0
    for k in range(len(taken)):
        for step in range(taken.shape[1]):
            c = taken[k, step]
            if c < 0:
                continue
            gain = 1
            if row[c] > 0:
                gain -= price[k, row[c]]
            if gain > top[c]:
                if top[c] == 0:
                    touched[size] = c
                    size += 1
                top[c] = gain
    for k in range(size):
        total[touched[k]] += top[touched[k]]
        top[touched[k]] = 0
