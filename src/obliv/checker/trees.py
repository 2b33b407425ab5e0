"""Sums of routings with one path per pair: as :mod:`obliv.checker.sums`, but without storing loads of pairs.

Paths are walked by their numbers on fat trees, and elsewhere hop by hop, where a routing gives many next hops at once.
Column maxima take a second walk, destination by destination, instead of a table of channels by terminals.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from obliv._util.typing import Array
from obliv.checker.kernels.trees import Form, Sums, climb, raise_sums
from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.routings.base import Routing

__all__ = ["row_sums", "single", "walk", "witness_load"]


def single(routing: Routing) -> bool:
    """Whether there is one path per pair that :func:`walk` can follow."""
    return routing.by_number is not None or routing.by_next_channel is not None


def walk(routing: Routing, source: Array | int, destination: Array | int) -> Array:
    """Return the channels of the paths of pairs of terminals, one row per pair, filled up with -1."""
    by_number = routing.by_number
    if by_number is None:
        if routing.by_next_channel is None:
            raise RoutingError(f"{routing.spec}: there are several paths per pair")
        return _follow(routing, routing.by_next_channel, source, destination)
    tree = by_number.topology
    hosts = tree.terminals.astype(np.int64)
    source, destination = (np.array(side) for side in np.broadcast_arrays(hosts[source], hosts[destination]))
    number = by_number.ways(source, destination)[..., 0]
    taken = np.empty((len(number), 2 * tree.levels), np.int64)
    form = Form(
        below=np.array(tree.below, np.int64),
        width=np.array(tree.width, np.int64),
        children=np.array(tree.children, np.int64),
        parents=np.array(tree.parents, np.int64),
        first=np.asarray(tree.first_channel, np.int64),
        head=tree.head,
    )
    work = 8.0 * taken.size * len(hosts)  # as one host's paths are seldom the only ones
    lost = run(climb, work, source, destination, number.astype(np.int64), form, taken)
    if lost >= 0:
        pair = f"node {source[lost]} to node {destination[lost]}"
        raise RoutingError(f"{routing.spec}: the path from {pair} does not end there")
    return taken


def _follow(
    routing: Routing, next_channels: Callable[[Array, Array], Array], source: Array | int, destination: Array | int
) -> Array:
    """Return the channels of paths, next hop by next hop."""
    topology = routing.topology
    at, end = (np.array(side) for side in np.broadcast_arrays(source, destination))
    node, goal = topology.terminals[at].astype(np.int64), topology.terminals[end].astype(np.int64)
    steps = []
    for _ in range(topology.nodes):
        going = np.flatnonzero(node != goal)
        if not len(going):
            break
        channel = np.asarray(next_channels(node[going], goal[going]), np.int64)
        wrong = (channel < 0) | (channel >= topology.channels)
        wrong[~wrong] = topology.tail[channel[~wrong]] != node[going[~wrong]]
        if wrong.any():
            lost = going[int(np.argmax(wrong))]
            raise RoutingError(f"{routing.spec}: node {node[lost]} has no next hop towards node {goal[lost]}")
        taken = np.full(len(node), -1, np.int64)
        taken[going] = channel
        node[going] = topology.head[channel]
        steps.append(taken)
    else:
        raise RoutingError(f"{routing.spec}: the next hops towards node {goal[np.argmax(node != goal)]} form a loop")
    return np.stack(steps, axis=1) if steps else np.full((len(node), 1), -1, np.int64)


def row_sums(
    routing: Routing,
    row: Array,
    price: Array,
    by: str,
    check_time: Callable[[], None],
    progress: Callable[[float], None],
) -> Array:
    """Return every channel's Σ max(0, max (1 - v)): the sum over one end of the pairs, the maximum over the other.

    Parameters
    ----------
    routing : Routing
        With single paths, see :func:`single`.
    row, price : ndarray
        Channel c has the prices ``price[row[c]]``, or no prices where the row is 0.
    by : "source" or "destination"
        The end that the sum runs over.
    check_time : callable
        Called before each host; it may raise.
    progress : callable
        Called with the share that is done.
    """
    channels = routing.topology.channels
    hosts = np.arange(len(routing.topology.terminals))
    sums = Sums(np.zeros(channels, np.int64), np.empty(channels, np.int64), np.zeros(channels, np.int64))
    work = 20.0 * len(hosts) ** 2
    for host in hosts.tolist():
        check_time()
        taken = walk(routing, host, hosts) if by == "source" else walk(routing, hosts, host)
        run(raise_sums, work, taken, row, price, sums)
        progress((host + 1) / len(hosts))
    return sums.total


def witness_load(routing: Routing, channel: int, rows: list[tuple[int, int, Fraction]]) -> Fraction:
    """Return the load on a channel of a traffic, given as rows of source, destination and amount."""
    taken = walk(routing, np.array([s for s, _, _ in rows], int), np.array([d for _, d, _ in rows], int))
    crosses = (taken == channel).any(axis=1).tolist()
    return sum((share for (_, _, share), over in zip(rows, crosses, strict=True) if over), Fraction(0))
