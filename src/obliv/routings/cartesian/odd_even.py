"""The odd-even turn model on meshes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.loads.hops import from_hop_groups
from obliv.routings.base import Crossed, Path, Routing
from obliv.routings.cartesian.turns import TurnHops, minimal_lengths, require_mesh
from obliv.routings.hops import HopRouting
from obliv.routings.lengths import Lengths
from obliv.specs.registry import register_routing
from obliv.topologies.axes import Directions
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Cartesian

__all__ = ["OddEven"]


class _FromColumn(TurnHops):
    """Next hops of the packets whose sources are in one column."""

    def __init__(self, topology: Topology, column: int) -> None:
        super().__init__(topology, "odd-even")
        self.column = column

    def allowed(self, offset: Array, where: Directions) -> Array:
        x = self._place[0, self.topology.tail]
        (dx, dy), odd = offset, x % 2 == 1
        east = ~((dx == 1) & odd & (dy != 0))  # no turn off the east in an even column: not even in the destination's
        turning = np.where(dx > 0, odd | (x == self.column), ~odd)
        allowed: Array = np.where(where.dim == 0, east, (dx == 0) | turning)
        return allowed


@register_routing("odd-even")
class OddEven(Routing):
    """Odd-even: minimal, no turn off the east in even columns, none into the west in odd columns.

    Notes
    -----
    The turns EN and ES are forbidden in columns of even x, NW and SW in those of odd x (Chiu 2000); x counts from 0.
    At every node the packet takes each direction with equal probability that leads closer, is an allowed turn, and
    leaves a way to the destination, as in the paper's function ROUTE; meshes of two dimensions.

    References
    ----------
    [Chi00] G.-M. Chiu, "The odd-even turn model for adaptive routing", IEEE Transactions on Parallel and Distributed
    Systems 11(7), 2000.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.OddEven(obliv.mesh(8, 8))).acyclic
    True
    """

    topology: Cartesian

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "odd-even", 2), "odd-even")

    @property
    def hop_groups(self) -> Sequence[tuple[Array, HopRouting]]:
        terminals = self.topology.terminals
        column = terminals % self.topology.radices[0]
        return [(terminals[column == x], _FromColumn(self.topology, x)) for x in np.unique(column).tolist()]

    def _from(self, source: int) -> HopRouting:
        return _FromColumn(self.topology, source % self.topology.radices[0])

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        return self._from(source).paths(source, destination)

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        return self._from(source).sample(source, destination, rng)

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        return self._from(source).crossings(source, destination, packets, rng)

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        return minimal_lengths(self.topology, progress)

    def _loads(self, progress: Progress) -> PairLoads:
        groups = [(sources, part.hops_to) for sources, part in self.hop_groups]
        return from_hop_groups(self.topology, groups, self.spec, progress)
