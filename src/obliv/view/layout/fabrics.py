"""Where the nodes of a fabric stand: on the levels of its tree, else hosts round switches on a grid or spread out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from obliv._util.typing import Array
from obliv.topologies.base import Topology
from obliv.topologies.recognise.grid import Grid, grid_of
from obliv.view.layout.fan import fan
from obliv.view.layout.levels import tree_points
from obliv.view.layout.stress import stressed

if TYPE_CHECKING:
    from obliv.fabric.topology import FabricTopology

__all__ = ["Plan", "fabric_plan"]

Points = npt.NDArray[np.float64]

_MOST = 1200  # switches; for more the layout takes long and shows nothing
_NEAR = 1.35  # between switches of a grid with few hosts, in whose four corners these stand
_NAMED = 60  # nodes; so few have their names beside them
_NAMED_GAP, _BARE_GAP = 0.62, 0.42  # from host to host
_FREE = 0.45  # between the hosts of different switches
_CROSS = (0.0, np.pi / 2, np.pi, -np.pi / 2)  # where the cables of a switch on a grid leave it


@dataclass(frozen=True, eq=False)
class Plan:
    """Points of all nodes; where the switches, from node `hosts` on, are on a grid, that grid."""

    points: Points
    hosts: int
    grid: Grid | None = None


_made: WeakKeyDictionary[Topology, Plan | None] = WeakKeyDictionary()


def fabric_plan(topology: Topology) -> Plan | None:
    """Where to draw the nodes of a fabric; None for other topologies, and where springs are all that is known."""
    if getattr(topology, "fabric", None) is None:
        return None
    if topology not in _made:
        fabric: Any = topology
        points = tree_points(fabric)
        _made[topology] = _spread(fabric) if points is None else Plan(points, len(fabric.fabric.endpoints))
    return _made[topology]


def _spread(topology: FabricTopology) -> Plan | None:
    hosts = len(topology.fabric.endpoints)
    switches = topology.nodes - hosts
    home = topology.head[topology.first_channel[:hosts]] - hosts
    if (home < 0).any() or not 0 < switches <= _MOST:
        return None
    inner = (topology.tail >= hosts) & (topology.head >= hosts)
    pairs = np.column_stack([topology.tail[inner], topology.head[inner]]).astype(np.int64) - hosts
    grid = grid_of(switches, pairs)
    core = stressed(switches, pairs) if grid is None else _on_grid(grid, pairs)
    aside = _aside(core, pairs, home, topology, grid is not None)
    if grid is None:
        core = core * _scale(core, 2.0 * float(np.hypot(*aside.T).max()) + _FREE)
    else:
        core = core * max(_NEAR, 2.0 * float(np.abs(aside).max()) + _FREE)
    return Plan(np.vstack([core[home] + aside, core]), hosts, grid)


def _on_grid(grid: Grid, pairs: Array) -> Points:
    """Places of the switches, one apart; those without a place stand amid the switches that they are cabled to."""
    assert grid.shape.positions is not None
    points = np.asarray(grid.shape.positions, float)[grid.number]
    for node in np.flatnonzero(grid.number < 0).tolist():
        near = pairs[pairs[:, 0] == node, 1]
        near = near[grid.number[near] >= 0]
        points[node] = points[near].mean(axis=0) + 0.3 if len(near) else points.max(axis=0) + 1.0
    return points


def _aside(core: Points, pairs: Array, home: Array, topology: FabricTopology, on_grid: bool) -> Points:
    """How far every host stands from its switch; those of a switch follow the order of its ports."""
    fabric = topology.fabric
    order = np.lexsort((fabric.peer[fabric.endpoints], home))
    found = np.zeros((len(home), 2))
    gap = _NAMED_GAP if topology.nodes <= _NAMED else _BARE_GAP
    for own in np.split(order, np.flatnonzero(np.diff(home[order])) + 1):
        switch = int(home[own[0]])
        ways = core[pairs[pairs[:, 0] == switch, 1]] - core[switch]
        taken = _CROSS if on_grid else np.unique(np.round(np.arctan2(ways[:, 1], ways[:, 0]), 6)).tolist()
        found[own] = fan(taken, len(own), gap)
    return found


def _scale(core: Points, gap: float) -> float:
    """What sets switches so far apart that the hosts of most do not meet."""
    if len(core) < 2:
        return 1.0
    far = np.hypot(*np.moveaxis(core[:, None] - core[None], 2, 0))
    np.fill_diagonal(far, np.inf)
    return float(gap / max(np.quantile(far.min(axis=1), 0.2), 0.05))
