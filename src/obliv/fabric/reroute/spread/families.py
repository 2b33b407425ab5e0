"""Sets of trees of routes to choose from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from obliv.fabric.reroute.spread.plans import Plan
from obliv.topologies.cartesian import Cartesian

__all__ = ["minimal_sets", "two_turn_pool", "two_turn_sets"]

_SHORT = 4  # coordinates of a ring in which only two opposite links are left out


def minimal_sets(shape: Cartesian) -> Iterator[list[Plan]]:
    """Yield sets of shortest routes: in one order of the dimensions or in several ones, one way or both ways halfway.

    One order takes half of the lanes that several take.
    """
    count = len(shape.axes)
    start = tuple(-1 if _ring(shape, i) else 0 for i in range(count))
    halves = (0, 1) if any(_ring(shape, i) and shape.axes[i].radix % 2 == 0 for i in range(count)) else (0,)
    for orders in range(1, count + 1):
        turned = [tuple((first + i) % count for i in range(count)) for first in range(orders)]
        for ways in dict.fromkeys(((0,), halves)):
            yield [Plan(order, (-1,) * count, start, odd) for odd in ways for order in turned]


def two_turn_pool(shape: Cartesian) -> list[Plan]:
    """Return trees by all columns, and in meshes those in dimension order."""
    pool = [
        _plan(shape, order, column, end, side)
        for order in _orders(shape)
        for column in _columns(shape, order)
        for side in ((0, 1) if any(_ring(shape, i) and shape.axes[i].radix % 2 == 0 for i in order[:-1]) else (0,))
        for end in _ends(shape, order[-1], every=True)
    ]
    if len(shape.axes) == 2 and all(axis.kind == "line" for axis in shape.axes):
        pool += [Plan(order, (-1, -1), (0, 0)) for order in ((0, 1), (1, 0))]
    return pool


def two_turn_sets(shape: Cartesian, size: int) -> Iterator[list[Plan]]:
    """Yield sets of at most some size whose columns are used as evenly as possible, of one order or of two."""
    orders = _orders(shape)
    for order in orders:
        yield from _even(shape, order, size)
    if len(orders) > 1 and size > 1:
        for one, two in zip(*(_even(shape, order, size // 2) for order in orders), strict=False):
            yield one + two


def _even(shape: Cartesian, order: tuple[int, ...], size: int) -> Iterator[list[Plan]]:
    """Yield sets of trees of one order: all ends of routes in as many columns as possible, then one in each column."""
    columns, ends = _columns(shape, order), _ends(shape, order[-1])
    for many in dict.fromkeys((min(len(ends), size), 1)):
        wide = min(len(columns), size // many)
        yield [
            _plan(shape, order, columns[k * len(columns) // wide], ends[(k + e) % len(ends)])
            for k in range(wide)
            for e in range(many)
        ]


def _orders(shape: Cartesian) -> list[tuple[int, ...]]:
    """Return orders of the dimensions: the longest one last, since columns there take two trees in any case."""
    order = tuple(sorted(range(len(shape.axes)), key=lambda i: shape.axes[i].radix))
    return [order, order[::-1]] if len(order) == 2 else [order]


def _columns(shape: Cartesian, order: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the coordinates of all columns in all dimensions but the last."""
    return [*product(*(range(shape.axes[i].radix) for i in order[:-1]))]


def _ends(shape: Cartesian, last: int, every: bool = False) -> list[tuple[int, int]]:
    """Return centers and starts of the last dimension: in rings two opposite starts, or every one."""
    axis = shape.axes[last]
    if axis.kind == "clique":
        return [(center, 0) for center in range(axis.radix)]
    if not _ring(shape, last):
        return [(-1, 0)]
    return [(-1, start) for start in (range(axis.radix) if every and axis.radix > _SHORT else (0, axis.radix // 2))]


def _plan(
    shape: Cartesian, order: tuple[int, ...], column: tuple[int, ...], end: tuple[int, int], side: int = 0
) -> Plan:
    """Return the tree through a column; rings are left open opposite the column, even ones on one of two sides."""
    center, start = [-1] * len(order), [0] * len(order)
    center[order[-1]], start[order[-1]] = end
    for i, c in zip(order, column, strict=False):
        center[i] = c
        radix = shape.axes[i].radix
        start[i] = (c - radix // 2 + side * (1 - radix % 2)) % radix if _ring(shape, i) else 0
    return Plan(order, tuple(center), tuple(start))


def _ring(shape: Cartesian, i: int) -> bool:
    """Return whether a dimension is a ring of three or more."""
    return shape.axes[i].kind == "ring" and shape.axes[i].radix > 2
