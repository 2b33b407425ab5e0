"""Schedules seen step by step: conflicts, injection apart from delivery, and what packets can know of each other."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from obliv._util.typing import Array
from obliv.results.bufferless.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["injection", "largest_conflict", "links", "off_path", "uninformed"]


def links(instance: Instance, moves: Moves) -> Array:
    """Return the directed link (2e up, 2e + 1 down) of every packet in every step, -1 outside the network.

    Row t is the step from time t to t + 1.
    """
    count = moves.more + 1 if len(moves.more) else np.ones(len(moves.time), np.int64)
    row = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    packet = np.repeat(np.arange(instance.packets), np.diff(moves.start))
    step = moves.time[row] + nth - 1
    link = np.full((int(step.max(initial=-1)) + 1, instance.packets), -1, np.int64)
    down = ~moves.up[row] ^ (nth % 2 == 1)
    link[step, packet[row]] = 2 * moves.edge[row].astype(np.int64) + down
    return link


def nodes(instance: Instance, link: Array) -> Array:
    """Return the node where every packet begins every step, -1 outside the network."""
    low, high = instance.network.edge_ends
    tail = np.where(link % 2 == 1, high[link // 2], low[link // 2])
    return np.where(link < 0, -1, tail)


def injection(instance: Instance, moves: Moves) -> Array:
    """Return the time at which every packet is injected: that before its first step."""
    return np.asarray(moves.time[moves.start[:-1]] - 1, np.int64)


def off_path(instance: Instance, moves: Moves) -> int:
    """Return how many rows of moves are over edges that are not on the packet's preselected path."""
    edges = np.int64(instance.network.edges)
    path = np.repeat(np.arange(instance.packets), instance.length) * edges + instance.edge
    over = np.repeat(np.arange(instance.packets), np.diff(moves.start)) * edges + moves.edge
    return int((~np.isin(over, path)).sum())


def largest_conflict(instance: Instance, moves: Moves) -> int:
    """Return how many packets at one node want one link at the same time, at most.

    A packet wants the first link of its current path p(t), which a deflection makes longer by the link back.

    Examples
    --------
    >>> import obliv
    >>> both = obliv.bufferless.instance("array:4", [[0, 1, 2], [1, 2]])
    >>> largest_conflict(both, obliv.bufferless.schedule(both, "direct").moves)
    1
    """
    taken = links(instance, moves)
    wanted: Counter[tuple[int, int]] = Counter()
    for p, (a, b) in enumerate(pairwise(instance.start.tolist())):
        current = [2 * e for e in reversed(instance.edge[a:b].tolist())]
        for time in np.flatnonzero(taken[:, p] >= 0).tolist():
            wanted[time, current[-1]] += 1
            if taken[time, p] == current[-1]:
                current.pop()
            else:
                current.append(int(taken[time, p]) ^ 1)
    return max(wanted.values(), default=0)


def uninformed(one: Instance, first: Moves, other: Instance, second: Moves, changed: Array) -> tuple[int, float]:
    """Compare two runs that differ in the paths of some packets; count packets that move differently without a cause.

    A packet has a cause if its own path changed, or once it has been at a node, in either run, together with a packet
    that had one.

    Returns
    -------
    tuple
        The number of packets whose moves differ before they have a cause, and the share of packet steps without a
        cause: where that is 0 the runs show nothing.
    """
    taken = [links(one, first), links(other, second)]
    steps = max(len(link) for link in taken)
    taken = [np.pad(link, ((0, steps - len(link)), (0, 0)), constant_values=-1) for link in taken]
    at = np.stack([nodes(instance, link) for instance, link in zip((one, other), taken, strict=True)], axis=1)
    cause = np.zeros(one.packets, bool)
    cause[changed] = True
    odd = np.zeros(one.packets, bool)
    free = 0
    for now in range(steps):
        while True:
            marked = np.zeros(one.network.nodes + 1, bool)  # the last one stands for packets outside the network
            for node in at[now]:
                marked[node[cause]] = True
            marked[-1] = False
            met = marked[at[now]].any(axis=0) & ~cause
            if not met.any():
                break
            cause |= met
        odd |= (taken[0][now] != taken[1][now]) & ~cause
        free += int((at[now, 0][~cause] >= 0).sum())
    return int(odd.sum()), free / max(1, int((at[:, 0] >= 0).sum()))
