"""Fat trees drawn level above level, with the hosts in their order at the bottom."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.base import Topology
from obliv.topologies.layout_hint import LayoutHint
from obliv.view.layout.base import Points
from obliv.view.layout.fan import fan

__all__ = ["tree_points"]

_GAP = 0.41  # between neighbors on a level, so that their discs do not touch
_TALL = 0.34  # height over width, where there are few levels
_ROOMY = 1.5  # scale of pictures with few nodes


def tree_points(topology: Topology, hint: LayoutHint) -> Points:
    """Return the positions of the nodes of a tree, or of a network that is nearly one.

    A place without a host or a switch stays empty; a node without a place lies near its neighbors.
    """
    if hint.level is None or hint.across is None:
        raise ValueError(f"{topology.spec}: the layout hint has no levels")
    points = _separated(hint.across, hint.level)
    if hint.level.min() < 0:
        _place_strays(points, hint.level >= 0, topology, hint.hosts)
    return points


def _separated(across: Array, level: Array) -> Points:
    """Return points on levels, scaled so that neighbors do not touch; level -1 does not count."""
    x, levels = across[level >= 0], int(level.max())
    width = float(np.ptp(x))
    height = max(width * max(levels / 8, _TALL), 1.0)
    unit = max((width * height / len(across)) ** 0.5, max(width, height) / len(across))
    steps = np.concatenate([np.diff(np.sort(across[level == number])) for number in range(levels + 1)])
    least = float(steps[steps > 1e-9].min(initial=unit))
    points: Points = np.column_stack([across - x.min(), level * height / max(levels, 1)])
    points *= max(_ROOMY / unit, _GAP / least)
    return points


def _place_strays(points: Points, placed: Array, topology: Topology, hosts: int) -> None:
    """Place the nodes that are not in the tree: switches to the right of it, hosts around their switch."""
    home = topology.head[topology.first_channel[:hosts]]
    stray = np.flatnonzero(~placed[:hosts])
    right = float(points[placed, 0].max())
    for node in np.flatnonzero(~placed).tolist():
        if node < hosts and home[node] >= hosts:
            continue
        near = topology.head[topology.tail == node]
        heights = points[near[placed[near]], 1]
        own = stray[home[stray] == node] if node >= hosts else stray[:0]
        offset = fan([np.pi], len(own)) if len(own) else np.zeros((0, 2))
        reach = float(np.abs(offset).max(initial=0.0)) + 1.2 * _GAP
        points[node] = right + reach, float(heights.mean()) if len(heights) else 0.0
        points[own] = points[node] + offset
        right += 2.0 * reach
    for switch in np.unique(home[stray]).tolist():
        own = stray[home[stray] == switch]
        if switch >= hosts and placed[switch]:
            points[own] = points[switch] + fan([-np.pi / 2], len(own))
