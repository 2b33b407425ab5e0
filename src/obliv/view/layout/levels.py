"""Fat trees drawn level above level, the hosts in their order below; also those recognised in a fabric."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from obliv.view.layout.fan import fan

if TYPE_CHECKING:
    from obliv.fabric.shape.tree import Shape
    from obliv.fabric.topology import FabricTopology

__all__ = ["apart", "tree_points"]

Points = npt.NDArray[np.float64]

_GAP = 0.41  # between neighbours on a level: their discs do not touch
_TALL = 0.34  # of the width, where levels are few
_ROOMY = 1.5  # so much more than even shares of the picture, where nodes are few


def tree_points(topology: FabricTopology) -> Points | None:
    """Where the nodes of a fabric stand that is a fat tree or nearly one, be it a single switch; None for others.

    Places without a host or a switch stay empty; what has no place stands near what it is cabled to.
    """
    from obliv.fabric.shape.tree import recognise

    fabric = topology.fabric
    shape = recognise(fabric)
    if shape is None:
        return None
    wide = prod(shape.children)
    sizes = [prod(shape.children[low:]) * prod(shape.parents[:low]) for low in range(shape.levels + 1)]
    level = np.concatenate([np.where(shape.place >= 0, 0, -1), shape.level[fabric.switches]])
    number = shape.number[fabric.switches]
    x = np.concatenate([_host_places(shape), (number + 0.5) * wide / np.array(sizes)[level[len(shape.place) :]]])
    points = apart(x, level)
    if level.min() < 0:
        _strays(points, level >= 0, topology)
    return points


def apart(x: Points, level: npt.NDArray[np.int64]) -> Points:
    """Points at `x` on levels, at such a scale that neighbours do not touch; what has no level, -1, does not count."""
    held, levels = x[level >= 0], int(level.max())
    width = float(np.ptp(held))
    height = max(width * max(levels / 8, _TALL), 1.0)
    unit = max((width * height / len(x)) ** 0.5, max(width, height) / len(x))
    steps = np.concatenate([np.diff(np.sort(x[level == each])) for each in range(levels + 1)])
    least = float(steps[steps > 1e-9].min(initial=unit))
    made: Points = np.column_stack([x - held.min(), level * height / max(levels, 1)])
    made *= max(_ROOMY / unit, _GAP / least)
    return made


def _host_places(shape: Shape) -> Points:
    """How far to the right hosts stand; those of a leaf with too many of them stand closer."""
    room = shape.children[0]
    held = np.bincount(shape.leaf[shape.leaf >= 0], minlength=1)
    many = np.maximum(held[np.maximum(shape.leaf, 0)], room)
    made: Points = shape.leaf * room + (shape.place + 0.5) * room / many
    return made


def _strays(points: Points, placed: npt.NDArray[np.bool_], topology: FabricTopology) -> None:
    """Set what has no place in the tree: switches to the right of it, hosts round the switch that has them."""
    hosts = len(topology.fabric.endpoints)
    home = topology.head[topology.first_channel[:hosts]]
    lone = np.flatnonzero(~placed[:hosts])
    right = float(points[placed, 0].max())
    for node in np.flatnonzero(~placed).tolist():
        if node < hosts and home[node] >= hosts:
            continue
        near = topology.head[topology.tail == node]
        high = points[near[placed[near]], 1]
        own = lone[home[lone] == node] if node >= hosts else lone[:0]
        aside = fan([np.pi], len(own)) if len(own) else np.zeros((0, 2))
        reach = float(np.abs(aside).max(initial=0.0)) + 1.2 * _GAP
        points[node] = right + reach, float(high.mean()) if len(high) else 0.0
        points[own] = points[node] + aside
        right += 2.0 * reach
    for switch in np.unique(home[lone]).tolist():
        own = lone[home[lone] == switch]
        if switch >= hosts and placed[switch]:
            points[own] = points[switch] + fan([-np.pi / 2], len(own))
