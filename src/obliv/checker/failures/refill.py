"""The rule of ``refill``: which ports replace those that a switch lost."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.checker.failures.hops import NextHops

__all__ = ["refilled"]


def refilled(hops: NextHops, gone: Array, lost: Array) -> dict[int, Array]:
    """Return the switches that lost a channel, with their channels for all terminals afterwards.

    For each terminal in order that a lost channel delivered to, a switch takes of its other channels from where the
    next hops of the other switches lead there: those with the shortest way, of these the least used, then the first.

    Parameters
    ----------
    hops : NextHops
    gone : bool array, shape (channels,)
        Channels that packets cannot take.
    lost : int array
        The channels that are to be replaced, in order.
    """
    topology = hops.topology
    nothing = np.zeros(topology.channels, np.bool_)
    rows: dict[int, Array] = {}
    for channel in lost.tolist():
        node = int(topology.tail[channel])
        before = hops.channel[hops.place[node]]
        row = rows.setdefault(node, before.astype(np.int64))
        wanted = np.flatnonzero(before == channel)
        wanted = wanted[hops.routes(np.full(len(wanted), node), wanted, nothing)[1]]
        first, last = topology.first_channel[node : node + 2].tolist()
        ways = _lengths(hops, np.arange(first, last), wanted, gone)
        in_use = row[row >= 0]
        uses = np.bincount(in_use[~gone[in_use]] - first, minlength=last - first).tolist()
        shortest = np.where(ways > 0, ways, topology.nodes + 1).min(axis=0)
        at, leads = np.nonzero(((ways > 0) & (ways == shortest)).T)
        ends = np.searchsorted(at, np.arange(len(wanted) + 1)).tolist()
        channels = leads.tolist()
        for terminal, begin, end in zip(wanted.tolist(), ends, ends[1:], strict=False):
            if begin < end:
                best = min(channels[begin:end], key=lambda c: (uses[c], c))
                row[terminal] = first + best
                uses[best] += 1
    return rows


def _lengths(hops: NextHops, channels: Array, wanted: Array, gone: Array) -> Array:
    """Return the number of channels of the ways to terminals that begin with channels, 0 where none leads there."""
    topology = hops.topology
    channel, terminal = np.repeat(channels, len(wanted)), np.tile(wanted, len(channels))
    head = topology.head[channel].astype(np.int64)
    there = head == topology.terminals[terminal]
    inner = np.flatnonzero(topology.number_of[head] < 0)
    routes, arrived = hops.routes(head[inner], terminal[inner], gone)
    length = there.astype(np.int64)
    length[inner] = np.where(arrived, 1 + (routes >= 0).sum(axis=1), 0)
    length[gone[channel]] = 0
    return np.reshape(length, (len(channels), len(wanted)))
