"""Paths of pairs, asked of a routing whose switches may forward the packets of two sources in two ways."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.checker.claims import MalformedError
from obliv.checker.failures.hops import NextHops, next_hops_of, own_channels
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

__all__ = ["Hops", "PathHops", "hops_of"]


@dataclass(frozen=True, eq=False)
class PathHops:
    """The path of every pair of terminals.

    Parameters
    ----------
    topology : Topology
    own : int array, shape (terminals,)
        The channel that leaves each terminal.
    leaf, row : int arrays, shape (terminals,)
        The node at the other end of it, and the number of the terminal itself, since no two terminals send alike.
    paths : int32 array, shape (terminals**2, hops)
        Channels behind the leaf, then -1, of pair source · terminals + destination.
    """

    topology: Topology
    own: Array
    leaf: Array
    row: Array
    paths: Array

    @property
    def tables(self) -> NextHops:
        """Next hops by destination, which there are not."""
        raise MalformedError(f"{self.topology.spec}: packets are not forwarded by their destination alone")

    def between(self, row: Array, terminal: Array, gone: Array) -> tuple[Array, Array]:
        """Return the channels of paths up to the first that is gone, and which paths have none of those.

        Parameters
        ----------
        row, terminal : int arrays
            Sources and destinations.
        gone : bool array, shape (channels,)
        """
        paths = self.paths[row * len(self.own) + terminal].astype(np.int64)
        lost = (paths >= 0) & gone[paths]
        whole = np.cumsum(lost, axis=1) == 0
        return np.where(whole, paths, -1), ~lost.any(axis=1) & (paths >= 0).any(axis=1)


Hops = NextHops | PathHops


def hops_of(routing: Routing) -> Hops:
    """Return the next hops of a routing, or its paths where they depend on the source.

    Raises
    ------
    MalformedError
        If a pair has no path or several, or a terminal has several cables.
    """
    if routing.by_next_channel is not None:
        return next_hops_of(routing)
    topology = routing.topology
    own, leaf = own_channels(topology)
    require_memory(400.0 * len(own) ** 2, f"the paths of {topology.spec}")
    terminals = topology.terminals.tolist()
    found = [_path(routing, s, d, first) for s, first in zip(terminals, own.tolist(), strict=True) for d in terminals]
    paths = np.full((len(found), max(map(len, found), default=0)), -1, np.int32)
    for pair, channels in enumerate(found):
        paths[pair, : len(channels)] = channels
    return PathHops(topology, own, leaf, np.arange(len(own)), paths)


def _path(routing: Routing, source: int, destination: int, first: int) -> tuple[int, ...]:
    """Return the channels of a pair behind the first one; none from a terminal to itself."""
    if source == destination:
        return ()
    topology = routing.topology
    ways = [channels for channels, chance in routing.paths(source, destination) if chance]
    pair = f"from {topology.name_of(source)} to {topology.name_of(destination)}"
    if len(ways) != 1:
        raise MalformedError(f"{routing.spec} has {len(ways)} paths {pair}")
    path = tuple(int(c) for c in ways[0])
    inside = bool(path) and min(path) >= 0 and max(path) < topology.channels
    if not inside or path[0] != first or int(topology.head[path[-1]]) != destination:
        raise MalformedError(f"{routing.spec}: the path {pair} does not lead there")
    if any(topology.head[here] != topology.tail[ahead] for here, ahead in pairwise(path)):
        raise MalformedError(f"{routing.spec}: the path {pair} has a gap")
    return path[1:]
