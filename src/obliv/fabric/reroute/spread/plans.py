"""Trees of routes to every place of a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.cartesian import Cartesian

__all__ = ["Plan", "coordinates_of", "next_places"]


@dataclass(frozen=True)
class Plan:
    """A tree of routes to every place.

    Routes correct the dimensions in an order, but where a dimension has a center, they go there first and are
    corrected in it only once all later dimensions are: in two dimensions, along the row to the column of the center,
    in the column to the destination's row, in the row to the destination.

    Parameters
    ----------
    order : tuple of int
        All dimensions.
    center : tuple of int
        The coordinate of the center in each dimension, -1 without one. In a clique all routes lead through the center.
    start : tuple of int
        The coordinate behind the link of a ring that no route takes, -1 where routes take the shorter way; 0 in lines
        and cliques.
    odd : int
        Which places halfway round a ring go up, where routes take the shorter way: even or odd ones.
    """

    order: tuple[int, ...]
    center: tuple[int, ...]
    start: tuple[int, ...]
    odd: int = 0


def coordinates_of(shape: Cartesian) -> Array:
    """Return the coordinates of all places, shape (places, dimensions)."""
    radices = np.array([axis.radix for axis in shape.axes])
    return np.asarray(np.arange(shape.nodes)[:, None] // np.array(shape.strides) % radices)


def next_places(shape: Cartesian, plan: Plan) -> Array:
    """Return the place after each one on the way to every destination, -1 at it, shape (destinations, places).

    Examples
    --------
    >>> import obliv
    >>> next_places(obliv.topology("mesh:3x2"), Plan((0, 1), (2, -1), (0, 0)))[3].tolist()
    [1, 2, 5, -1, 3, 4]
    """
    at = coordinates_of(shape)
    size = len(at)
    after = np.full((size, size), -1, np.int64)
    undecided = ~np.eye(size, dtype=bool)
    for j, i in enumerate(plan.order):
        x, goal = at[None, :, i], at[:, None, i]
        rest = list(plan.order[j + 1 :])
        corrected = (at[:, None, rest] == at[None, :, rest]).all(axis=2)
        center = plan.center[i]
        target = np.where(corrected | (center < 0) | (not rest), goal, center)
        here = undecided & (x != target)
        place = np.arange(size)[None, :] + (_along(shape, plan, i, x, target) - x) * shape.strides[i]
        after[here] = place[here]
        undecided &= ~here
    return after


def _along(shape: Cartesian, plan: Plan, i: int, x: Array, target: Array) -> Array:
    """Return the coordinate after x on the way to another one."""
    axis, start, center = shape.axes[i], plan.start[i], plan.center[i]
    radix = axis.radix
    if axis.kind == "clique":
        through = (center >= 0) & (x != center)
        return np.where(through, center, target)
    if start < 0:
        ahead = (target - x) % radix
        up = (2 * ahead < radix) | ((2 * ahead == radix) & (x % 2 == plan.odd))
    else:
        up = (target - start) % radix > (x - start) % radix
    return np.asarray((x + np.where(up, 1, -1)) % radix)
