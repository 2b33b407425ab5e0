"""A channel of separable loads as blocks by places in the other dimensions; such loads for many permutations.

On a mesh, the chance to cross a channel depends on where the ends lie along the channel's own dimension only if one of
them lies in the channel's own line.  All other blocks have one load throughout.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from functools import lru_cache
from math import lcm, prod
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.progress import Progress, require_memory
from obliv.loads.base import PackedLoads, Problem, Solved, Words, solved_channel
from obliv.loads.workers import Call, Calls
from obliv.matching.solve import Blocks, Weights, from_entries, gains, maximum_weight_of_blocks, members_of
from obliv.topologies.axes import Axis
from obliv.topologies.cartesian import Cartesian

# What one dimension contributes to a separable load, exact tables over (start, end) coordinates, and their products.
#
# Positions along a program are S (the source's coordinate), D (the destination's), Q (an intermediate drawn on the
# minimal way) and A (one drawn anywhere).  Tables hold numerators; the common denominator is returned beside them.


#: A prime: tables modulo it are small numbers, equal and zero where the exact ones are (and hardly ever elsewhere).
PRIME = 2**31 - 1


def crossing(axis: Axis, origin: str, target: str, link: int, modular: bool = False) -> tuple[Array, int]:
    """Probability that a segment from position `origin` to `target` runs along a link.

    A position may carry a condition: ``S=`` where source and destination agree in this dimension, ``S!`` where they
    differ.

    Shape: (radix, radix).
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


class CoordinateClasses(NamedTuple):
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


def classes_of(tables: list[Array]) -> CoordinateClasses:
    """Return the classes of the coordinates of one dimension, from the tables of all groups."""
    stack = np.stack(tables)
    return CoordinateClasses(*_alike(stack.transpose(1, 0, 2)), *_alike(stack.transpose(2, 0, 1)))


def merged_tables(tables: list[list[Array]], classes: list[CoordinateClasses], nodes: int) -> list[_Merged]:
    """Return the tables of every dimension between classes of coordinates, or single ones where few are alike."""
    if prod(len(own.rows) * len(own.columns) for own in classes) > nodes**2 // 16:
        single = [np.arange(len(group[0])) for group in tables]
        classes = [CoordinateClasses(each, each, each, each) for each in single]
    sides = []
    for group, (rows, row_of, columns, column_of) in zip(tables, classes, strict=True):
        least = np.stack([table[rows[:, None], columns] for table in group])
        sides.append(_Merged(least, row_of, column_of, *np.nonzero((least != 0).any(axis=0))))
    return sides


def combined(topology: Cartesian, tables: list[list[Array]], classes: list[CoordinateClasses]) -> Weights:
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


_FEWER = 4  # how many times fewer entries are worth hubs


class ChannelBlocks(NamedTuple):
    """The loads of a channel in blocks, and the nodes that each row and column stands for."""

    blocks: Blocks
    row_members: tuple[Array, Array]
    column_members: tuple[Array, Array]


def channel_blocks(
    topology: Cartesian, dim: int, tables: list[list[Array]], classes: list[CoordinateClasses]
) -> ChannelBlocks | None:
    """Return a channel of a dimension in blocks, from its tables; None where this does not save much."""
    if topology.axes[dim].kind != "line" or len(topology.axes) < 2:
        return None
    sides = merged_tables(tables, classes, topology.nodes)
    own = sides[dim]
    rows, columns = np.unique(own.row), np.unique(own.column)
    along = own.tables[:, rows[:, None], columns]
    across: Array = np.ones((len(along), 1, 1), along.dtype)
    row_place, column_place = np.zeros((2, topology.nodes), np.int64)
    numbers = np.arange(topology.nodes)
    for j, (side, stride, radix) in enumerate(zip(sides, topology.strides, topology.radices, strict=True)):
        if j != dim:
            place = numbers // stride % radix
            row_place += side.row_of[place] * across.shape[1]
            column_place += side.column_of[place] * across.shape[2]
            product = side.tables[:, :, None, :, None] * across[:, None, :, None, :]
            across = product.reshape(len(along), -1, product.shape[3] * product.shape[4])
    entries = float(len(own.row)) * int((across != 0).any(axis=0).sum())
    factors, kind = distinct(across.reshape(len(along), -1))
    require_memory(50.0 * factors.shape[1] * along[0].size, f"the loads of one channel of {topology.spec}")
    values = np.stack([_total(factor, along) for factor in factors.T])
    at = numbers // topology.strides[dim] % topology.radices[dim]
    members = [
        members_of(np.where(own_of[at] >= 0, where * many + own_of[at], -1), np.arange(count * many))
        for own_of, where, many, count in (
            (_numbered(own.row_of, rows), row_place, len(rows), across.shape[1]),
            (_numbered(own.column_of, columns), column_place, len(columns), across.shape[2]),
        )
    ]
    supply, demand = (np.diff(ptr) for ptr, _ in members)
    blocks = Blocks(
        kind.reshape(across.shape[1:]), values, supply.reshape(-1, len(rows)), demand.reshape(-1, len(columns))
    )
    return ChannelBlocks(blocks, *members) if _FEWER * blocks.entries() < entries else None


def _total(factor: Array, along: Array) -> Array:
    """Return the sum of the groups' tables, each times a factor."""
    total: Array = np.zeros_like(along[0])
    for share, table in zip(factor, along, strict=True):
        if share:
            total = total + table * share
    return total


def _numbered(class_of: Array, used: Array) -> Array:
    """Return the number of each coordinate's class among those used, -1 for the others."""
    number: Array = np.full(int(class_of.max()) + 1, -1, np.int64)
    number[used] = np.arange(len(used))
    return number[class_of]


def distinct(table: Array) -> tuple[Array, Array]:
    """Return the different columns of a table, and the number of each column among them."""
    numbers: dict[tuple[int, ...], int] = {}
    number = [numbers.setdefault(column, len(numbers)) for column in zip(*table.tolist(), strict=True)]
    columns: Array = np.array(list(numbers), table.dtype).T
    return columns, np.array(number)


# Upper bounds of separable loads: positions along a channel's own dimension are merged into a few intervals.
#
# Sources whose coordinates along the channel's dimension lie in one interval, and whose others agree, are merged, and
# so are destinations; each pair of merged ones has the largest load of its members. The transport between them is worth
# at least as much as any traffic, and is far smaller than that between all nodes.
#
# Any prices of the merged destinations bound a channel as well. Those of a channel not far away, moved along with the
# channel, are nearly as good as its own, and cost no search at all.


#: A bound of a channel: a function of the problem, the channel and a number of intervals, and this number.
Step = tuple["Callable[[Problem, int, int], int]", int]

_SCALE = 2**40
_MARGIN = 1 + 2.0**-36  # covers the rounding of sums of products of non-negative numbers
_PARTS = (1, 4, 16, 32)  # intervals
_SIZE = 1 << 11  # merged sources for which the transport is small
_SIZE_ON_LINES = 1 << 13  # the same where most blocks have one load
_AREAS = 8  # along a line, whose channels share prices


class MergedBounds:
    """Upper bounds of the load of single channels, for separable loads between all nodes at rate 1."""

    def __init__(self, loads: Any) -> None:
        topology = loads.topology
        others = max(topology.nodes // radix for radix in topology.radices)
        unit = topology.all_terminals and topology.unit_rates and not topology.bandwidth
        self._lines = all(axis.kind == "line" for axis in topology.axes)
        most = _SIZE_ON_LINES if self._lines else _SIZE
        #: Numbers of intervals that are worth trying before a channel is solved.
        self.parts = tuple(
            parts for parts in _PARTS if unit and parts * others <= most and 2 * parts <= min(topology.radices)
        )
        self._loads = loads
        self._across = lru_cache(maxsize=256)(self._across_at)
        self._along = lru_cache(maxsize=512)(self._along_link)
        self._solved = lru_cache(maxsize=1024)(self._solved_at)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The bounds of a channel: each is better than those before and takes longer."""
        first: Step = (_near_bound, self.parts[1]) if len(self.parts) > 1 else (_merged_bound, self.parts[0])
        return first, *((_merged_bound, parts) for parts in self.parts[1:])

    def bound(self, channel: int, parts: int) -> int:
        """Return an upper bound of a channel's load, in numerators, from a number of intervals."""
        return self._numerators(self._solved(*self._place(channel), parts)[0])

    def near_bound(self, channel: int, parts: int) -> int:
        """Return an upper bound as :meth:`bound`, from the prices of a channel not far away: without a transport."""
        dim, link, at = self._place(channel)
        base_link, base = self._base(dim, link, at)
        prices = self._solved(dim, base_link, base, parts)[1]
        axes = self._others(dim)
        moved = prices.T.reshape(-1, *(axis.radix for axis in reversed(axes)))
        for j, (axis, here, there) in enumerate(zip(axes, at, base, strict=True)):
            spot = np.arange(axis.radix) + (there - here)
            spot = spot % axis.radix if axis.kind == "ring" else spot.clip(0, axis.radix - 1)
            moved = moved.take(spot, axis=len(axes) - j)
        blocks = self._merged(dim, link, at, parts)
        intervals = np.minimum(np.arange(blocks.demand.shape[1]), len(moved) - 1)
        price = moved.reshape(len(moved), -1).T[:, intervals]
        gain = gains(blocks, price)
        return self._numerators(int((blocks.supply * gain).sum()) + int((blocks.demand * price).sum()))

    def _numerators(self, value: int) -> int:
        units: int = -(-value * self._loads.denominator // _SCALE)
        return units

    def _place(self, channel: int) -> tuple[int, int, tuple[int, ...]]:
        """Return the dimension of a channel, its link there, and its other coordinates."""
        topology = self._loads.topology
        dim, at = int(topology.dim_of[channel]), topology.coordinates(int(topology.tail[channel]))
        return dim, int(topology.link_of[channel]), at[:dim] + at[dim + 1 :]

    def _others(self, dim: int) -> list[Axis]:
        return [axis for j, axis in enumerate(self._loads.topology.axes) if j != dim]

    def _base(self, dim: int, link: int, at: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Return the place of the channel whose prices bound one: in the middle of an area of the network."""
        axis = self._loads.topology.axes[dim]
        tail, head = axis.links[link]
        if axis.kind == "line":
            first = _middle(min(tail, head), axis.radix - 1)
            link = axis.links.index((first, first + 1) if head > tail else (first + 1, first))
        base = []
        for other, coordinate in zip(self._others(dim), at, strict=True):
            alone = coordinate if other.kind == "clique" else 0
            base.append(_middle(coordinate, other.radix) if other.kind == "line" else alone)
        return link, tuple(base)

    def _solved_at(self, dim: int, link: int, at: tuple[int, ...], parts: int) -> tuple[int, Array]:
        """Return the value of the transport between merged nodes, and the prices of merged destinations."""
        matching = maximum_weight_of_blocks(self._merged(dim, link, at, parts))
        return matching.value, matching.prices

    def _merged(self, dim: int, link: int, at: tuple[int, ...], parts: int) -> Blocks:
        """Return the loads between merged nodes, rounded up."""
        across, kind = self._across(dim, at)
        different, rows, columns = self._along(dim, link, parts)
        shares, first = different
        total = across[0][:, None] * shares[0]
        for chance, share in zip(across[1:], shares[1:], strict=True):
            total += chance[:, None] * share
        largest = np.maximum.reduceat(total, first, axis=1).reshape(-1, len(rows), len(columns))
        values = np.ceil(largest * (_SCALE * _MARGIN)).astype(np.int64)
        return Blocks(kind, values, np.tile(rows, (len(kind), 1)), np.tile(columns, (len(kind), 1)))

    def _along_link(self, dim: int, link: int, parts: int) -> tuple[tuple[Array, Array], Array, Array]:
        """Return for pairs of intervals the groups' chances to cross a link that count, and the intervals' sizes.

        The chances of all pairs stand side by side, with the first column of each pair.
        """
        loads = self._loads
        along = np.stack([loads.chances_along(dim, key, link) for key in loads.groups[dim]])
        used = (along != 0).any(axis=0)
        places = (np.flatnonzero(used.any(axis=axis)) for axis in (1, 0))
        rows, columns = (np.array_split(side, min(parts, len(side))) for side in places)
        shares = [_largest(along[:, row][:, :, column].reshape(len(along), -1)) for row in rows for column in columns]
        different = np.concatenate(shares, axis=1), starts(np.array([share.shape[1] for share in shares]))[:-1]
        return different, np.array([len(row) for row in rows]), np.array([len(column) for column in columns])

    def _across_at(self, dim: int, at: tuple[int, ...]) -> tuple[Array, Array]:
        """Return the different columns of the groups' loads across a channel, and which one each pair has."""
        tables = []
        for key in self._loads.groups[dim]:
            product: Array = np.ones((1, 1))
            for (j, position), coordinate in zip(self._loads.positions(dim, key), at, strict=True):
                product = np.kron(self._loads.chances_at(j, position, coordinate), product)
            tables.append(product)
        different, which = np.unique(np.reshape(tables, (len(tables), -1)), axis=1, return_inverse=True)
        return different, which.reshape(tables[0].shape)


def _middle(coordinate: int, places: int) -> int:
    """Return the middle of the area of a coordinate along a line."""
    area = max(1, places // _AREAS)
    return min(coordinate // area * area + area // 2, places - 1)


def _largest(columns: Array) -> Array:
    """Return those columns that no other column exceeds everywhere."""
    left = columns[:, np.argsort(-columns.sum(axis=0), kind="stable")]
    kept: list[Array] = []
    while left.shape[1]:
        kept.append(left[:, 0])
        left = left[:, (left > left[:, :1]).any(axis=0)]
    return np.array(kept).T


def _merged_bound(problem: Problem, channel: int, parts: int) -> int:
    merged: MergedBounds = problem.loads.merged  # type: ignore[attr-defined]
    return merged.bound(channel, parts)


def _near_bound(problem: Problem, channel: int, parts: int) -> int:
    merged: MergedBounds = problem.loads.merged  # type: ignore[attr-defined]
    return merged.near_bound(channel, parts)


def merged_first(steps: tuple[Step, ...], channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve channels by falling upper bound, which is refined before a channel is solved.

    All channels whose bound is not below the largest load are solved, so that the lowest of those with this load is
    found, whatever the bounds are.
    """

    def next_call(entry: tuple[int, int, int]) -> Call:
        _, channel, level = entry
        return (steps[level][0], channel, steps[level][1]) if level < len(steps) else (solved_channel, channel)

    def likely() -> Iterator[Call]:
        for entry in heapq.nsmallest(4 * calls.width, queue):
            if -entry[0] >= best:
                yield next_call(entry)

    queue: list[tuple[int, int, int]] = []
    best = -1
    calls.plan((steps[0][0], channel, steps[0][1]) for channel in channels.tolist())
    for done, channel in enumerate(channels.tolist(), 1):
        queue.append((-calls.result(steps[0][0], channel, steps[0][1]), channel, 1))
        progress("bounds of channels", done / len(channels))
    heapq.heapify(queue)
    while queue and -queue[0][0] >= best:
        calls.plan(likely())
        entry = heapq.heappop(queue)
        _, channel, level = entry
        found = calls.result(*next_call(entry))
        if level < len(steps):
            heapq.heappush(queue, (-min(found, -entry[0]), channel, level + 1))
            continue
        best = max(best, found.value)
        yield [(channel, found)]
        progress("channels", 1 - sum(-bound >= best for bound, *_ in queue) / len(channels))


# Separable loads laid out for many permutations, axis by axis


_WordBlocks = dict[tuple[int, tuple[int, ...]], int]  # (dimension, other dimensions that index its words) -> first word


def from_axes(loads: Any, lanes: PackedLoads) -> Words | None:
    """Lay out the links of each axis side by side; None where an intermediate spreads over several coordinates.

    Words that depend on one end only are the same for every permutation.
    """
    topology = loads.topology
    keys = [(dim, key) for dim, groups in enumerate(loads.groups) for key in groups]
    if any(position[0] == "Q" for _, key in keys for position in key):
        return None
    n, radices, strides = topology.nodes, topology.radices, topology.strides
    require_memory(60.0 * n * n * len(radices), f"the pairs of {topology.spec}")
    source, destination = np.divmod(np.arange(n * n), n)
    at = [(source // stride % k, destination // stride % k) for stride, k in zip(strides, radices, strict=True)]
    sides = [_sides(along) for along in topology.axes]
    width = [lanes.words(side) for side in sides]
    blocks: _WordBlocks = {}
    size = 0
    for dim, key in keys:
        indexed = _indexed(loads.positions(dim, key))
        if (dim, indexed) not in blocks:
            blocks[dim, indexed] = size
            size += prod(radices[j] for j in indexed) * width[dim]
    base = np.zeros(size, np.int64)
    entries: list[tuple[Array, Array, Array]] = []
    for dim, key in keys:
        positions = loads.positions(dim, key)
        links = range(len(topology.axes[dim].links))
        table = lanes.packed(np.stack([loads.crossing(dim, key, link) for link in links], axis=-1), sides[dim])
        words = table.reshape(radices[dim] ** 2, -1)[at[dim][0] * radices[dim] + at[dim][1]]
        served, place = _placed(positions, at, radices)
        first = blocks[dim, _indexed(positions)] + place * width[dim]
        end = _only_end(table, [position[0] for _, position in positions])
        if end is not None:  # added once per terminal for every permutation; subtracted for pairs that are not served
            once = np.arange(n) * (n if end == 0 else 1)
            np.add.at(base, first[once, None] + np.arange(width[dim]), words[once])
            served, words = ~served, -words
        used = np.flatnonzero(served)
        entries += [(used, first[used] + w, words[used, w]) for w in range(width[dim])]
    pair, word, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    return Words(base, pair, word, value, _groups(blocks, radices, width))


def _indexed(positions: list[tuple[int, str]]) -> tuple[int, ...]:
    """Return the dimensions in which words depend on the source or the destination."""
    return tuple(j for j, position in positions if position[0] in "SD")


def _placed(
    positions: list[tuple[int, str]], at: list[tuple[Array, Array]], radices: tuple[int, ...]
) -> tuple[Array, Array]:
    """Return which pairs a group serves, and the number of every pair in its block."""
    served, place = np.ones(len(at[0][0]), np.bool_), np.zeros(len(at[0][0]), np.int64)
    step = 1
    for j, position in positions:
        if len(position) > 1:
            served &= (at[j][0] == at[j][1]) == (position[1] == "=")
        if position[0] in "SD":
            place += at[j]["SD".index(position[0])] * step
            step *= radices[j]
    return served, place


def _groups(blocks: _WordBlocks, radices: tuple[int, ...], width: list[int]) -> list[list[int]]:
    """Return the words whose sum holds the loads of the channels of each line of the network."""
    groups = []
    for dim in range(len(radices)):
        own = [(indexed, first) for (d, indexed), first in blocks.items() if d == dim]
        for spot in np.ndindex(*(1 if j == dim else k for j, k in enumerate(radices))):
            starts = []
            for indexed, first in own:
                place, step = 0, 1
                for j in indexed:
                    place += spot[j] * step
                    step *= radices[j]
                starts.append(first + place * width[dim])
            groups += [[start + w for start in starts] for w in range(width[dim])]
    return groups


def _sides(axis: Axis) -> list[list[int]]:
    """Return the links of an axis by direction."""
    if axis.kind == "clique":
        return [list(range(len(axis.links)))]
    ring = axis.kind == "ring"
    up = [e for e, (tail, head) in enumerate(axis.links) if (e % 2 == 0 if ring else head > tail)]
    return [up, [link for link in range(len(axis.links)) if link not in up]]


def _only_end(table: Array, positions: list[str]) -> int | None:
    """Return 0 or 1 where a group depends on the source or on the destination alone, None where on both."""
    if "D" not in positions and np.array_equal(table, np.broadcast_to(table[:, :1], table.shape)):
        return 0
    if "S" not in positions and np.array_equal(table, np.broadcast_to(table[:1], table.shape)):
        return 1
    return None
