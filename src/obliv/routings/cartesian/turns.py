"""Turn models on meshes: minimal routings that forbid some turns, uniform among the directions that are left."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.hops import Hops
from obliv.routings.cartesian.dimension_ordered import require_grid
from obliv.routings.graphs.distances import Recent
from obliv.routings.hops import HopRouting
from obliv.routings.lengths import Lengths
from obliv.specs.registry import register_routing
from obliv.topologies.axes import Directions
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Cartesian, coordinate

__all__ = ["NegativeFirst", "NorthLast", "TurnHops", "WestFirst", "minimal_lengths", "require_mesh"]


class TurnHops(HopRouting):
    """Next hops on a mesh: all channels that a turn model allows, with equal probability."""

    topology: Cartesian

    def allowed(self, offset: Array, where: Directions) -> Array:
        """Return which of the channels that lead closer are allowed.

        Parameters
        ----------
        offset : integer array, shape (dimensions, channels)
            How far the destination is from the tail of every channel.
        where : Directions
            Dimension and direction of every channel.

        Returns
        -------
        bool array, shape (channels,)
        """
        raise NotImplementedError

    @cached_property
    def _place(self) -> Array:
        """The coordinates of every node, shape (dimensions, nodes)."""
        radices = self.topology.radices
        return np.array([coordinate(radices, dim) for dim in range(len(radices))])

    @cached_property
    def _recent(self) -> Recent[Hops]:
        return Recent()

    def hops_to(self, destination: int) -> Hops:
        return self._recent.get(destination, self._hops_to)

    def _hops_to(self, destination: int) -> Hops:
        topology, where = self.topology, self.topology.directions
        offset = (self._place[:, destination, None] - self._place)[:, topology.tail]
        ahead = offset[where.dim, np.arange(topology.channels)] * where.step > 0
        channel = np.flatnonzero(ahead & self.allowed(offset, where))
        return Hops.even(channel, topology)

    def next_hops(self, node: int, destination: int) -> list[int]:
        hops = self.hops_to(destination)
        channels: list[int] = hops.channel[hops.ptr[node] : hops.ptr[node + 1]].tolist()
        return channels

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        return minimal_lengths(self.topology, progress)


@register_routing("negative-first")
class NegativeFirst(TurnHops):
    """Negative-first: minimal, all hops in negative directions before those in positive directions.

    Notes
    -----
    A packet may not turn from a positive direction into a negative one (Glass and Ni 1992). Every allowed direction is
    taken with equal probability; meshes and hypercubes of any number of dimensions.

    References
    ----------
    [GN92] C. J. Glass and L. M. Ni, "The turn model for adaptive routing", ISCA 1992.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.NegativeFirst(obliv.mesh(4, 4, 4))).acyclic
    True
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "negative-first"), "negative-first")

    def allowed(self, offset: Array, where: Directions) -> Array:
        allowed: Array = (where.step < 0) | (offset >= 0).all(axis=0)
        return allowed


@register_routing("west-first")
class WestFirst(TurnHops):
    """West-first: minimal, all hops to the west (-x) before any other hop.

    Notes
    -----
    A packet may not turn into the west (Glass and Ni 1992): it goes west alone as long as it must, and otherwise in
    every direction that leads closer with equal probability; meshes of two dimensions.

    References
    ----------
    [GN92] C. J. Glass and L. M. Ni, "The turn model for adaptive routing", ISCA 1992.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.WestFirst(obliv.mesh(8, 8))).acyclic
    True
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "west-first", 2), "west-first")

    def allowed(self, offset: Array, where: Directions) -> Array:
        allowed: Array = (where.dim == 0) | (offset[0] >= 0)
        return allowed


@register_routing("north-last")
class NorthLast(TurnHops):
    """North-last: minimal, all hops to the north (+y) after any other hop.

    Notes
    -----
    A packet may not turn out of the north (Glass and Ni 1992): it goes north only once no other direction leads closer,
    and otherwise in every direction that does with equal probability; meshes of two dimensions.

    References
    ----------
    [GN92] C. J. Glass and L. M. Ni, "The turn model for adaptive routing", ISCA 1992.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.NorthLast(obliv.mesh(8, 8))).acyclic
    True
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "north-last", 2), "north-last")

    def allowed(self, offset: Array, where: Directions) -> Array:
        allowed: Array = (where.dim == 0) | (where.step < 0) | (offset[0] == 0)
        return allowed


def require_mesh(topology: Topology, spec: str, dimensions: int | None = None) -> Cartesian:
    """Return a topology that is a mesh or a hypercube; refuse any other one, or another number of dimensions."""
    grid = require_grid(topology, spec)
    if any(along.kind != "line" for along in grid.axes):
        raise RoutingError(f"{spec} needs a mesh or a hypercube, {grid.spec} is neither: dor and ecmp fit it")
    if dimensions not in (None, len(grid.axes)):
        raise RoutingError(
            f"{spec} needs {dimensions} dimensions, {grid.spec} has {len(grid.axes)}; negative-first fits any"
        )
    return grid


def minimal_lengths(grid: Cartesian, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
    """Yield every ordered pair of terminals of a mesh with its distance, which every packet travels."""
    place = np.array([grid.coordinates(node) for node in grid.terminals.tolist()])
    for j, destination in enumerate(place):
        for i, hops in enumerate(abs(place - destination).sum(axis=1).tolist()):
            yield i, j, {hops: Fraction(1)}
        progress("path lengths", (j + 1) / len(place))
