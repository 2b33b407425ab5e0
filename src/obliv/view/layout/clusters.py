"""Switches on a grid or spread by their distances, with their hosts around them."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.base import Topology
from obliv.topologies.layout_hint import LayoutHint
from obliv.topologies.recognise.grid import Grid, grid_of
from obliv.view.layout.base import Layout, Points
from obliv.view.layout.fan import fan
from obliv.view.layout.stress import stressed

__all__ = ["clusters"]

_MOST_SWITCHES = 1200  # beyond that the layout is slow and unreadable
_NEAR = 1.35  # between switches of a grid with few hosts, which lie in the four corners
_NAMED = 60  # nodes; networks up to this size have names beside the nodes
_NAMED_GAP, _BARE_GAP = 0.62, 0.42  # between hosts
_FREE = 0.45  # between the hosts of different switches
_CROSS = (0.0, np.pi / 2, np.pi, -np.pi / 2)  # directions of the links of a switch on a grid


def clusters(topology: Topology, hint: LayoutHint) -> Layout | None:
    """Return a layout with the hosts of each switch around it; None where a spring layout is better."""
    hosts = hint.hosts
    switches = topology.nodes - hosts
    home = topology.head[topology.first_channel[:hosts]] - hosts
    if (home < 0).any() or not 0 < switches <= _MOST_SWITCHES:
        return None
    inner = (topology.tail >= hosts) & (topology.head >= hosts)
    pairs = np.column_stack([topology.tail[inner], topology.head[inner]]).astype(np.int64) - hosts
    grid = grid_of(switches, pairs)
    core = stressed(switches, pairs) if grid is None else _grid_points(grid, pairs)
    gap = _NAMED_GAP if topology.nodes <= _NAMED else _BARE_GAP
    offset = _host_offsets(core, pairs, home, hint.order, gap, grid is not None)
    if grid is None:
        core = core * _scale(core, 2.0 * float(np.hypot(*offset.T).max()) + _FREE)
    else:
        core = core * max(_NEAR, 2.0 * float(np.abs(offset).max()) + _FREE)
    return Layout(np.vstack([core[home] + offset, core]), hosts, grid)


def _grid_points(grid: Grid, pairs: Array) -> Points:
    """Return positions of the switches, one apart; a switch without a place lies amid its neighbors."""
    points = np.asarray(grid.shape.positions, float)[grid.number]
    for node in np.flatnonzero(grid.number < 0).tolist():
        near = pairs[pairs[:, 0] == node, 1]
        near = near[grid.number[near] >= 0]
        points[node] = points[near].mean(axis=0) + 0.3 if len(near) else points.max(axis=0) + 1.0
    return points


def _host_offsets(core: Points, pairs: Array, home: Array, order: Array, gap: float, on_grid: bool) -> Points:
    """Return the offset of every host from its switch."""
    order = np.lexsort((order, home))
    offset = np.zeros((len(home), 2))
    for hosts in np.split(order, np.flatnonzero(np.diff(home[order])) + 1):
        switch = int(home[hosts[0]])
        links = core[pairs[pairs[:, 0] == switch, 1]] - core[switch]
        taken = _CROSS if on_grid else np.unique(np.round(np.arctan2(links[:, 1], links[:, 0]), 6)).tolist()
        offset[hosts] = fan(taken, len(hosts), gap)
    return offset


def _scale(core: Points, gap: float) -> float:
    """Return the factor that separates the hosts of most switches."""
    if len(core) < 2:
        return 1.0
    distance = np.hypot(*np.moveaxis(core[:, None] - core[None], 2, 0))
    np.fill_diagonal(distance, np.inf)
    return float(gap / max(np.quantile(distance.min(axis=1), 0.2), 0.05))
