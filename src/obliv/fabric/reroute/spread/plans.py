"""Trees of routes to every place of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import Array
from obliv.topologies.cartesian import Cartesian


@dataclass(frozen=True)
class RouteTree:
    """A tree of routes to every place.

    Routes correct the dimensions in an order, but where a dimension has a center, they go there first and are
    corrected in it only once all later dimensions are: in two dimensions, along the row to the column of the center,
    in the column to the destination's row, in the row to the destination.
    """

    order: tuple[int, ...]  # all dimensions
    # center: the coordinate of the center in each dimension, -1 without one. In a clique all routes lead through the
    # center.
    center: tuple[int, ...]
    # start: the coordinate behind the link of a ring that no route takes, -1 where routes take the shorter way; 0 in
    # lines and cliques
    start: tuple[int, ...]
    odd: int = 0  # which places halfway round a ring go up, where routes take the shorter way: even or odd ones


def coordinates_of(shape: Cartesian) -> Array:
    """Return the coordinates of all places, shape (places, dimensions)."""
    radices = np.array([axis.radix for axis in shape.axes])
    return np.asarray(np.arange(shape.nodes)[:, None] // np.array(shape.strides) % radices)


def next_places(shape: Cartesian, plan: RouteTree) -> Array:
    """Return the place after each one on the way to every destination, -1 at it, shape (destinations, places)."""
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


def _along(shape: Cartesian, plan: RouteTree, i: int, x: Array, target: Array) -> Array:
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


# The lanes of channels on trees of routes, and their service levels


_FEWEST = 4  # coordinates of a ring where the shorter ways close a cycle
_FIRST_STEP = 4  # up to so many, lines without opposite links close none, but for the first step of each packet


@dataclass(frozen=True, eq=False)
class PlanLanes:
    """The lanes of some plans on a grid."""

    # first: the first service level of every plan. The others stand for the datelines that a packet crosses.
    first: tuple[int, ...]
    # datelines: the dimensions where a service level says whether a packet crosses the dateline, for all plans alike
    datelines: tuple[int, ...]
    # lane: uint8, shape (2, service levels, channels); the lane of each channel of the grid: for packets that come in
    # by another dimension, and by the same one
    lane: Array

    @property
    def levels(self) -> int:
        """The number of service levels."""
        return int(self.lane.shape[1])

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return int(self.lane.max(initial=0)) + 1


def lanes_for(shape: Cartesian, plans: Sequence[RouteTree]) -> PlanLanes:
    """Return lanes on which no packets of some plans wait for each other in a cycle."""
    ladder = min(_ladders(shape, plans), key=lambda ladder: max(map(max, ladder)))
    minimal = any(-1 in plan.start for plan in plans)
    rings = [i for i, axis in enumerate(shape.axes) if axis.kind == "ring" and axis.radix > 2]
    datelines = tuple(i for i in rings if minimal and shape.axes[i].radix >= _FEWEST)
    last = plans[0].order[-1]
    by_step = not minimal and last in rings and shape.axes[last].radix <= _FIRST_STEP
    by_step = by_step and all(plan.order[-1] == last for plan in plans)
    free = last if by_step else -1
    numbers: dict[tuple[object, ...], int] = {}
    first, groups = [], []
    for plan, visits in zip(plans, ladder, strict=True):
        start = tuple(-1 if i == free else x for i, x in enumerate(plan.start))
        key = (visits, plan.center, start)
        if key not in numbers:
            numbers[key] = len(numbers) << len(datelines)
            groups.append(_lanes_of(shape, plan, visits, rings, datelines, free))
        first.append(numbers[key])
    return PlanLanes(tuple(first), datelines, np.concatenate(groups, axis=1))


def _ladders(shape: Cartesian, plans: Sequence[RouteTree]) -> list[list[tuple[int, ...]]]:
    """Return for some ladders the visits of every plan: of each dimension the first one, then of each the last one."""
    count = len(shape.axes)
    around = plans[0].order + plans[0].order[::-1]
    ladders = []
    for ladder in (tuple(range(count)) * (2 * count), around):
        visits = [_visits(ladder, shape, plan) for plan in plans]
        if all(found is not None for found in visits):
            ladders.append([found for found in visits if found is not None])
    return ladders


def _visits(ladder: tuple[int, ...], shape: Cartesian, plan: RouteTree) -> tuple[int, ...] | None:
    """Return the visits of a plan in a ladder, None where it does not contain the plan's sequence."""
    back = [i for i in plan.order[::-1] if plan.center[i] >= 0]
    if back and back[0] == plan.order[-1] and shape.axes[back[0]].kind != "clique":
        back = back[1:]
    count = len(plan.order)
    found = [-1] * (2 * count)
    place = -1
    for n, i in enumerate((*plan.order, *back)):
        try:
            place = ladder.index(i, place + 1)
        except ValueError:
            return None
        visit = ladder[:place].count(i)
        if n < count:
            found[i] = visit
        found[count + i] = visit
    return tuple(found)


def _lanes_of(
    shape: Cartesian, plan: RouteTree, visits: tuple[int, ...], rings: list[int], datelines: tuple[int, ...], free: int
) -> Array:
    """Return the lanes of a plan's service levels, as :attr:`PlanLanes.lane` has them."""
    at = coordinates_of(shape)
    tail, head = at[shape.tail], at[shape.head]
    count = len(shape.axes)
    lane = np.zeros((2, 1 << len(datelines), len(tail)), np.uint8)
    level = np.arange(1 << len(datelines))[:, None]
    for i, axis in enumerate(shape.axes):
        along = tail[:, i] != head[:, i]
        x, y, center, radix = tail[along, i], head[along, i], plan.center[i], axis.radix
        start = max(plan.start[i], 0)
        if axis.kind == "clique":
            away = (center >= 0) & (y != center)
        else:
            far = [np.abs((z - start) % radix - (center - start) % radix) for z in (x, y)]
            away = (center >= 0) & (far[1] > far[0])
        group = np.where(away, visits[count + i], visits[i])
        behind: Array = np.zeros((2, 1, len(x)), np.int64)
        if i in datelines:
            behind = (level >> datelines.index(i) & 1)[None]
        elif i == free:
            behind = np.array([0, 1])[:, None, None]
        elif i in rings and plan.start[i] >= 0:
            behind = np.where((y - x) % radix == 1, x < start, x >= start)[None, None]
        wide = 2 if i in rings and (i in datelines or i == free or plan.start[i] >= 0) else 1
        lane[:, :, along] = group * wide + behind
    return lane
