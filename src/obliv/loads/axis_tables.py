"""What one dimension contributes to a separable load, exact tables over (start, end) coordinates, and their products.

Positions along a program are S (the source's coordinate), D (the destination's), Q (an intermediate drawn on the
minimal way) and A (one drawn anywhere).  Tables hold numerators; the common denominator is returned beside them.
"""

from __future__ import annotations

from math import lcm, prod
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.matching.weights import Weights, from_entries, members_of
from obliv.topologies.axes import Axis
from obliv.topologies.cartesian import Cartesian

__all__ = ["PRIME", "Classes", "classes_of", "combined", "crossing", "longest_way", "merged_tables", "presence"]


#: A prime: tables modulo it are small numbers, equal and zero where the exact ones are (and hardly ever elsewhere).
PRIME = 2**31 - 1


def crossing(axis: Axis, origin: str, target: str, link: int, modular: bool = False) -> tuple[Array, int]:
    """Probability that a segment from position `origin` to `target` runs along a link.

    A position may carry a condition: ``S=`` where source and destination agree in this dimension, ``S!`` where they
    differ.

    Parameters
    ----------
    axis : Axis
    origin, target : str
        Positions: S to Q, D or A; Q to D; A to D; S to W, the destination by both ways round in proportion.
    link : int
        Link of the axis.
    modular : bool
        Whether numerators are wanted modulo `PRIME` only.

    Returns
    -------
    array, shape (radix, radix)
        Numerators by start and end coordinate.
    int
        Denominator.
    """
    if len(origin) > 1:
        table, whole = crossing(axis, origin[0], target, link, modular)
        return np.where(_holds(axis, origin[1]), table, 0), whole
    k = axis.radix
    if (origin, target) == ("S", "W") and axis.kind == "ring":
        step = 1 if link % 2 == 0 else -1
        start, end = np.arange(k)[:, None], np.arange(k)[None, :]
        far = (end - start) * step % k
        past = (axis.links[link][0] - start) * step % k
        return np.where(past < far, k - far, 0), k
    chance, far, past = _directed(axis, link)
    runs = (past >= 0) & (past < far)
    if (origin, target) in (("S", "D"), ("S", "W")):
        return np.where(runs, chance, 0), 2
    if (origin, target) == ("S", "Q"):
        whole, share = _per_stop(axis, far, modular)
        return np.where(runs, chance * (far - past) * share, 0), 2 * whole
    if (origin, target) == ("Q", "D"):
        whole, share = _per_stop(axis, far, modular)
        return np.where(runs, chance * (past + 1) * share, 0), 2 * whole
    direct = np.where(runs, chance, 0)
    if (origin, target) == ("S", "A"):
        return np.repeat(direct.sum(axis=1)[:, None], k, axis=1), 2 * k
    if (origin, target) == ("A", "D"):
        return np.repeat(direct.sum(axis=0)[None, :], k, axis=0), 2 * k
    raise ValueError(f"no segment leads from {origin} to {target}")


def presence(axis: Axis, position: str, coordinate: int, modular: bool = False) -> tuple[Array, int]:
    """Probability that a position is at a coordinate, as :func:`crossing`."""
    if len(position) > 1:
        table, whole = presence(axis, position[0], coordinate, modular)
        return np.where(_holds(axis, position[1]), table, 0), whole
    k = axis.radix
    start, end = np.arange(k)[:, None], np.arange(k)[None, :]
    if position == "S":
        return np.broadcast_to(start == coordinate, (k, k)).astype(np.int64), 1
    if position == "D":
        return np.broadcast_to(end == coordinate, (k, k)).astype(np.int64), 1
    if position == "A":
        return np.ones((k, k), np.int64), k
    total: Array = np.zeros((k, k), np.int64)
    for step in (1, -1) if axis.kind != "clique" else (0,):
        chance, far = _direction(axis, step)
        past = _offset(axis, step, start, coordinate)
        whole, share = _per_stop(axis, far, modular)
        on = (past >= 0) & (past <= far)
        total = total + np.where(on, chance * share, 0)
    return total, 2 * whole


def _holds(axis: Axis, condition: str) -> Array:
    """Return where source and destination agree (=) or differ (!)."""
    same: Array = np.eye(axis.radix, dtype=bool)
    return same if condition == "=" else ~same


def _directed(axis: Axis, link: int) -> tuple[Array, Array, Array]:
    """Twice the chance to go the link's way round, the length of that way, and how far along it the link stands."""
    k = axis.radix
    tail, head = axis.links[link]
    start, end = np.arange(k)[:, None], np.arange(k)[None, :]
    if axis.kind == "clique":
        chance, far = _direction(axis, 0)
        return chance, far, np.where((start == tail) & (end == head), 0, -1)
    step = (1 if link % 2 == 0 else -1) if axis.kind == "ring" else head - tail
    chance, far = _direction(axis, step)
    return chance, far, np.broadcast_to(_offset(axis, step, start, tail), (k, k))


def _direction(axis: Axis, step: int) -> tuple[Array, Array]:
    """Twice the chance that a minimal way goes in direction `step`, and its length; a way of length 0 counts once."""
    k = axis.radix
    start, end = np.arange(k)[:, None], np.arange(k)[None, :]
    if axis.kind == "clique":
        return np.full((k, k), 2), (start != end).astype(np.int64)
    if axis.kind == "line":
        far = (end - start) * step
        return np.where(far > 0, 2, np.where((far == 0) & (step > 0), 2, 0)), far
    far = (end - start) * step % k
    chance = np.where(2 * far < k, 2, np.where(2 * far == k, 1, 0))
    return np.where((far == 0) & (step < 0), 0, chance), far


def _offset(axis: Axis, step: int, start: Array, coordinate: int) -> Array:
    """How far along the way from `start` in direction `step` a coordinate stands; for a clique 0 and 1 are the ends."""
    if axis.kind == "ring":
        return (coordinate - start) * step % axis.radix
    if axis.kind == "line":
        return (coordinate - start) * step
    k = axis.radix
    end = np.arange(k)[None, :]
    return np.where(start == coordinate, 0, np.where(end == coordinate, 1, -1))


def longest_way(axis: Axis) -> int:
    """Return the length of the longest minimal way."""
    return {"clique": 1, "ring": axis.radix // 2, "line": axis.radix - 1}[axis.kind]


def _per_stop(axis: Axis, far: Array, modular: bool) -> tuple[int, Array]:
    """Return a common denominator of 1/(length + 1), and those shares over it."""
    longest = longest_way(axis)
    inside = (far >= 0) & (far <= longest)
    if modular:
        inverses = np.array([pow(length, -1, PRIME) for length in range(1, longest + 2)], np.int64)
        return 1, np.where(inside, inverses[np.where(inside, far, 0)], 0)
    whole = lcm(*range(1, longest + 2))
    shares = np.array([0, *(whole // length for length in range(1, longest + 2))], object)
    if 4 * whole * (longest + 1) < INT64_SAFE:
        shares = shares.astype(np.int64)
    share: Array = shares[np.where(inside, far + 1, 0)]
    return whole, share


class Classes(NamedTuple):
    """The coordinates of one dimension whose tables are alike: one of each class, and the class of each coordinate."""

    rows: Array
    row_of: Array
    columns: Array
    column_of: Array


class _Merged(NamedTuple):
    """The tables of one dimension between classes of coordinates that are alike.

    `row_of` and `column_of` are the classes of coordinates; in the cells (`row`, `column`) some table is not zero.
    """

    tables: Array
    row_of: Array
    column_of: Array
    row: Array
    column: Array


def classes_of(tables: list[Array]) -> Classes:
    """Return the classes of the coordinates of one dimension, from the tables of all groups."""
    stack = np.stack(tables)
    return Classes(*_alike(stack.transpose(1, 0, 2)), *_alike(stack.transpose(2, 0, 1)))


def merged_tables(tables: list[list[Array]], classes: list[Classes], nodes: int) -> list[_Merged]:
    """Return the tables of every dimension between classes of coordinates, or single ones where few are alike."""
    if prod(len(own.rows) * len(own.columns) for own in classes) > nodes**2 // 16:
        single = [np.arange(len(group[0])) for group in tables]
        classes = [Classes(each, each, each, each) for each in single]
    sides = []
    for group, (rows, row_of, columns, column_of) in zip(tables, classes, strict=True):
        least = np.stack([table[rows[:, None], columns] for table in group])
        sides.append(_Merged(least, row_of, column_of, *np.nonzero((least != 0).any(axis=0))))
    return sides


def combined(topology: Cartesian, tables: list[list[Array]], classes: list[Classes]) -> Weights:
    """Return the sum over groups of the products over dimensions, between classes of terminals that are alike."""
    sides = merged_tables(tables, classes, topology.nodes)
    size = prod(len(side.row) for side in sides)
    require_memory(40.0 * size, f"the loads of one channel of {topology.spec}")
    row_class, row_size = np.zeros(topology.nodes, np.int64), 1
    col_class, col_size = np.zeros(topology.nodes, np.int64), 1
    row = col = np.zeros(1, np.int64)
    groups, wide = len(tables[0]), tables[0][0].dtype == object
    weight: Array = np.ones((groups, 1), tables[0][0].dtype)
    number: Array = np.zeros(1, np.int64)  # of the value of each entry, where values are Python integers
    numbers = np.arange(topology.nodes)
    for side, stride, radix in zip(sides, topology.strides, topology.radices, strict=True):
        place = numbers // stride % radix
        row_class += side.row_of[place] * row_size
        col_class += side.column_of[place] * col_size
        row = (row[None, :] + side.row[:, None] * row_size).ravel()
        col = (col[None, :] + side.column[:, None] * col_size).ravel()
        row_size *= side.tables.shape[1]
        col_size *= side.tables.shape[2]
        last = stride * radix == topology.nodes
        cells = side.tables[:, side.row, side.column]
        if wide:
            weight, row_of = _distinct(weight)
            cells, own = _distinct(cells)
            number = (row_of[number] + own[:, None] * weight.shape[1]).ravel()
        weight = (
            _products_summed(weight, cells) if last else (cells[:, :, None] * weight[:, None, :]).reshape(groups, -1)
        )
    used = np.flatnonzero((weight != 0)[number] if wide else weight)
    weights = from_entries(row[used], col[used], number[used] if wide else weight[used], weight if wide else None)
    members = Weights(
        weights.ptr,
        weights.col,
        weights.weight,
        members_of(row_class, weights.row_members[1]),
        members_of(col_class, weights.column_members[1]),
        weights.distinct,
    )
    if topology.all_terminals:
        return members
    index = topology.number_of
    source, destination, numerators = members.spread()
    inside = (index[source] >= 0) & (index[destination] >= 0)
    return from_entries(index[source[inside]], index[destination[inside]], numerators[inside])


def _distinct(table: Array) -> tuple[Array, Array]:
    """Return the different columns of a table, and the number of each column among them."""
    numbers: dict[tuple[Any, ...], int] = {}
    number = [numbers.setdefault(column, len(numbers)) for column in zip(*table.tolist(), strict=True)]
    columns: Array = np.array(list(numbers), object).T
    return columns, np.array(number)


def _products_summed(one: Array, two: Array) -> Array:
    """Return Σ over groups of the outer products, flattened; the new dimension runs slowest."""
    total = two[0][:, None] * one[0][None, :]
    for a, b in zip(one[1:], two[1:], strict=True):
        total += b[:, None] * a[None, :]
    flat: Array = total.ravel()
    return flat


def _alike(tables: Array) -> tuple[Array, Array]:
    """Return representatives of equal coordinates, and the class of each coordinate."""
    numbers: dict[Any, int] = {}
    firsts: list[int] = []
    classes = []
    for at, table in enumerate(tables):
        key = tuple(table.ravel().tolist()) if table.dtype == object else table.tobytes()
        if key not in numbers:
            numbers[key] = len(firsts)
            firsts.append(at)
        classes.append(numbers[key])
    return np.array(firsts), np.array(classes)
