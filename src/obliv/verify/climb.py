"""Sums of one path a pair on a fat tree: the same as :mod:`obliv.verify.sums`, in memory for the channels alone.

Column maxima take a second walk, destination by destination, instead of a table of channels by terminals.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.routing.routing import Routing
from obliv.routing.tree import TreeRouting
from obliv.topology.tree import Tree
from obliv.verify._climb_kernels import climb, raise_sums

__all__ = ["numbered", "row_sums", "walk", "witness_load"]

Array = npt.NDArray[Any]


def numbered(routing: Routing) -> TypeGuard[TreeRouting]:
    """Whether a routing gives each pair of a fat tree one path, by its number."""
    return isinstance(routing, TreeRouting) and routing.spread == 1 and type(routing).paths is TreeRouting.paths


def walk(routing: TreeRouting, source: Array | int, destination: Array | int) -> Array:
    """The channels of the paths of pairs of terminals, shape (pairs, 2 · levels), -1 for none."""
    tree: Tree = routing.topology
    hosts = tree.terminals.astype(np.int64)
    source, destination = (np.array(side) for side in np.broadcast_arrays(hosts[source], hosts[destination]))
    number = routing.ways(source, destination)[..., 0]
    taken = np.empty((len(number), 2 * tree.levels), np.int64)
    form = tuple(np.array(each, np.int64) for each in (tree.below, tree.width, tree.children, tree.parents))
    links = np.asarray(tree.first_channel, np.int64), tree.head
    work = 8.0 * taken.size * len(hosts)  # as one host's paths are seldom the only ones
    lost = run(climb, work, source, destination, number.astype(np.int64), *form, *links, taken)
    if lost >= 0:
        pair = f"node {source[lost]} to node {destination[lost]}"
        raise RoutingError(f"{routing.spec}: the path from {pair} does not end there")
    return taken


def row_sums(
    routing: TreeRouting, row: Array, price: Array, by: str, look: Callable[[], None], progress: Callable[[float], None]
) -> Array:
    """Every channel's Σ max(0, max (1 - v)): the outer sum over one end of the pairs, the maximum over the other.

    Parameters
    ----------
    routing : TreeRouting
    row, price : ndarray
        Channel c has the prices ``price[row[c]]``, none where the row is 0.
    by : "source" or "destination"
        Which end the outer sum runs over.
    look : callable
        Called before each host; it may raise.
    progress : callable
        Called with the share that is done.
    """
    tree = routing.topology
    hosts = np.arange(len(tree.terminals))
    top, touched = np.zeros(tree.channels, np.int64), np.empty(tree.channels, np.int64)
    total = np.zeros(tree.channels, np.int64)
    work = 8.0 * tree.levels * len(hosts) ** 2
    for host in hosts.tolist():
        look()
        taken = walk(routing, host, hosts) if by == "source" else walk(routing, hosts, host)
        run(raise_sums, work, taken, row, price, top, touched, total)
        progress((host + 1) / len(hosts))
    return total


def witness_load(routing: TreeRouting, channel: int, rows: list[tuple[int, int, Fraction]]) -> Fraction:
    """What a traffic, as rows of source, destination and amount, puts on a channel."""
    taken = walk(routing, np.array([s for s, _, _ in rows], int), np.array([d for _, d, _ in rows], int))
    crosses = (taken == channel).any(axis=1).tolist()
    return sum((share for (_, _, share), over in zip(rows, crosses, strict=True) if over), Fraction(0))
