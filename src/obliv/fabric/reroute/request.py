"""What new forwarding tables are computed for, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliv._util.progress import Progress
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.bound import single_path_bound
from obliv.fabric.reroute.network import SwitchNetwork, switch_network
from obliv.fabric.reroute.parts import pairs_apart
from obliv.fabric.reroute.standing import key_by
from obliv.fabric.reroute.tiers import Tiers, tiers_of
from obliv.fabric.shape.tree import Shape
from obliv.fabric.topology import FabricTopology, network
from obliv.results.fabric.route import Standing
from obliv.topologies.recognise.grid import Grid
from obliv.topologies.recognise.nearest import nearest_grid

__all__ = ["Request"]


@dataclass(frozen=True, eq=False)
class Request:
    """What new tables are computed for.

    Parameters
    ----------
    fabric : Fabric
    engine : str
        A name, or ``auto``.
    shape : Shape or None
        The fat tree of at least two levels that the fabric is, or nearly is.
    most_lmc, lanes : int
        At most.
    lane_tables : bool
        Whether switches can take SL-to-VL tables; ``auto`` selects none that need them otherwise.
    effort : float
        Multiplies the moves and rounds of searches.
    seed : int
    optimum : int
        A lower bound of the worst load of single paths, 0 where none is known.
    by : str
        The figure by which tables are chosen.
    progress : callable
    """

    fabric: Fabric
    engine: str
    shape: Shape | None
    most_lmc: int
    lanes: int
    lane_tables: bool
    effort: float
    seed: int
    optimum: int
    by: str
    progress: Progress

    @cached_property
    def grid(self) -> Grid | None:
        """The grid that the switches form, or nearly form."""
        self.progress("the grid that the switches form", 0.0)
        tail, head, _ = self.fabric.trunks
        return nearest_grid(len(self.fabric.switches), np.stack([tail, head], axis=1))

    @cached_property
    def switches(self) -> SwitchNetwork:
        """The switches and the channels between them."""
        return switch_network(self.fabric)

    @cached_property
    def tiers(self) -> Tiers | None:
        """The levels of the switches, if they form a tree."""
        return tiers_of(self.switches, self.shape)

    @cached_property
    def topology(self) -> FabricTopology:
        """The topology of the fabric with its own LIDs."""
        return network(self.fabric)

    @cached_property
    def apart(self) -> tuple[int, int]:
        """The number of ordered pairs of endpoints that no cables connect, and of parts of the fabric."""
        return pairs_apart(self.fabric)

    def key(self, standing: Standing, brief: bool = False) -> tuple[Any, ...]:
        """Return what tables are compared by, the smaller, the better."""
        return key_by(self.by, brief)(standing)

    def lost(self, standing: Standing) -> int:
        """Return the number of pairs that cables connect and tables do not."""
        return standing.missing - self.apart[0]

    @cached_property
    def single_lid_optimum(self) -> int:
        """A lower bound of the worst load with one LID a host, 0 where none is known."""
        return (single_path_bound(self.fabric, self.shape, 0) or (0, ""))[0]

    def attained_by(self, standing: Standing) -> bool:
        """Return whether tables serve all pairs with a worst load that no single paths are below."""
        return standing.worst <= self.optimum and not self.lost(standing)
