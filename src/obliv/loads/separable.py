"""Closed-form loads of phase programs: sums of products of one-dimensional tables.

The coordinates of a program's intermediate are independent of each other, so the chance to cross a channel of
dimension x is, for every route there, a crossing table of x times a presence table of every other dimension.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import combinations, permutations
from math import factorial, gcd, lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, cached_arrays, whole
from obliv._util.progress import Progress
from obliv.errors import TooLargeError
from obliv.loads.base import PackedLoads, PairLoads, Solved, Words
from obliv.loads.separable_blocks import (
    PRIME,
    CoordinateClasses,
    MergedBounds,
    channel_blocks,
    classes_of,
    combined,
    crossing,
    from_axes,
    longest_way,
    merged_first,
    merged_tables,
    presence,
)
from obliv.matching.solve import Rates, Solution, Weights, ship_blocks
from obliv.topologies.axes import Axis
from obliv.topologies.cartesian import Cartesian, keeps_steps, link_map, split_map

if TYPE_CHECKING:
    from obliv.loads.workers import Calls
    from obliv.patterns.base import Traffic


# Phase programs: what a dimension-ordered routing on a Cartesian network does, as data.
#
# A program draws an intermediate coordinate in every dimension, then runs phases.  A phase takes some dimensions, in an
# order drawn uniformly from those it lists, each to its intermediate coordinate or to the destination's.


#: Draw of intermediates: the directions first, then each coordinate uniformly on the minimal way (ends included).
QUADRANT = "quadrant"
#: Draw of intermediates: each coordinate uniformly over its dimension; every segment is minimal on its own.
ANYWHERE = "anywhere"
#: No intermediate, but both ways round a ring.
SPREAD = "spread"

TO_INTERMEDIATE = "I"
TO_DESTINATION = "D"


@dataclass(frozen=True)
class Phase:
    """One phase: where its dimensions go and the orders it may take them in, equally likely.

    `orders` None stands for all orders of all dimensions.
    """

    target: str
    orders: tuple[tuple[int, ...], ...] | None = None

    def each_order(self, dimensions: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield every order with its probability."""
        orders = self.orders
        count = factorial(dimensions) if orders is None else len(orders)
        for order in permutations(range(dimensions)) if orders is None else orders:
            yield Fraction(1, count), order

    def each_turn(self, dimensions: int) -> Iterator[tuple[Fraction, int, frozenset[int]]]:
        """Yield every dimension with the set of those taken before it, and the probability of that."""
        if self.orders is not None:
            for order in self.orders:
                for at, dim in enumerate(order):
                    yield Fraction(1, len(self.orders)), dim, frozenset(order[:at])
            return
        for dim in range(dimensions):
            others = [other for other in range(dimensions) if other != dim]
            for size in range(dimensions):
                chance = Fraction(factorial(size) * factorial(dimensions - 1 - size), factorial(dimensions))
                for before in combinations(others, size):
                    yield chance, dim, frozenset(before)


@dataclass(frozen=True)
class Program:
    """A sequence of phases that is followed with some probability.

    Parameters
    ----------
    probability : Fraction
        Of those pairs that it serves, the share that it serves.
    phases : tuple of Phase
    draw : str
        How intermediate coordinates are drawn.
    when : tuple of (dimension, bool)
        The pairs that it serves: in these dimensions source and destination differ (True) or agree (False).
    spread : tuple of int
        Dimensions that go from source to destination by way of a uniformly random coordinate and leave out what they
        would go twice: round a ring of k upwards over D links with probability (k - D)/k, downwards with D/k.
    """

    probability: Fraction
    phases: tuple[Phase, ...]
    draw: str = QUADRANT
    when: tuple[tuple[int, bool], ...] = ()
    spread: tuple[int, ...] = ()

    def serves(self, start: tuple[int, ...], end: tuple[int, ...]) -> bool:
        """Return whether it serves a pair, given by coordinates."""
        return all((start[dim] != end[dim]) == differ for dim, differ in self.when)

    def draws(self, dimensions: int) -> list[str]:
        """Return how intermediate coordinates are drawn in every dimension; empty where there are none."""
        stopping = {
            dim for phase in self.phases if phase.target == TO_INTERMEDIATE for _, dim, _ in phase.each_turn(dimensions)
        }
        return [self.draw if dim in stopping else SPREAD if dim in self.spread else "" for dim in range(dimensions)]


_CACHE = 1 << 27  # bytes of tables that are kept
_FLOWS = 1 << 12  # of a traffic at a time: their tables stay in the cache
_MANY = 1 << 14  # entries of a channel that is not solved before its load was bounded
_HUBS = 1 << 20  # pairs of nodes from which on a channel is solved in blocks if this saves much
_DIMENSIONS = 12  # with random orders the cases grow as 2 to the number of dimensions

Key = tuple[str, ...]  # the position of every other dimension while x is crossed
# (origin, target) and the chance of that segment, as numerator and denominator: tables are remembered by segments, and
# the hash of a Fraction takes long
Segments = tuple[tuple[str, str, int, int], ...]


class SeparableLoads(PairLoads):
    """Loads of programs on a Cartesian network, a channel at a time, no path enumerated.

    ``groups[dim]`` lists, for the channels along a dimension, where every other coordinate may stand while they are
    crossed, and by which segments.

    Rows (and columns) of a channel that are alike are merged: coordinates whose tables agree in every dimension make
    one class, and a class counts as many terminals as it has members.
    """

    def __init__(self, topology: Cartesian, programs: tuple[Program, ...]) -> None:
        self.topology: Cartesian = topology
        dims = len(topology.axes)
        if dims > _DIMENSIONS and any(phase.orders is None for program in programs for phase in program.phases):
            raise TooLargeError(
                f"a random order of {dims} dimensions has too many cases; up to {_DIMENSIONS} are taken, dor takes any"
            )
        self.groups = [_grouped(programs, dim, dims) for dim in range(dims)]

    @cached_property
    def denominator(self) -> int:  # type: ignore[override]
        """Common denominator of all numerators, computed when it is first needed: it takes the tables."""
        return lcm(*(self._least(dim, key) for dim, groups in enumerate(self.groups) for key in groups))

    @cached_property
    def _classes(self) -> dict[tuple[int, int, int], CoordinateClasses]:
        """Classes by the dimension of channels, a dimension, and the link or coordinate there; filled when needed."""
        return {}

    @cached_property
    def _dtype(self) -> Any:
        # no path crosses a channel more than twice, so that a load is at most twice the denominator
        return np.int64 if 4 * self.denominator < INT64_SAFE else object

    def weights(self, channel: int) -> Weights:
        return combined(self.topology, *self._factors(channel))

    def _factors(self, channel: int) -> tuple[list[list[Array]], list[CoordinateClasses]]:
        """Return the tables of a channel by dimension, and the classes of coordinates that are alike there."""
        topology = self.topology
        dim, link = int(topology.dim_of[channel]), int(topology.link_of[channel])
        at = topology.coordinates(int(topology.tail[channel]))
        tables = self._tables(dim, link, at)
        classes = []
        for j, place in enumerate((*at[:dim], link, *at[dim + 1 :])):
            spot = dim, j, place  # what the tables depend on: many channels share them
            if spot not in self._classes:
                self._classes[spot] = classes_of(tables[j])
            classes.append(self._classes[spot])
        return tables, classes

    def solve(self, channel: int, rates: Rates) -> Solution:
        if self._in_blocks:
            blocks = channel_blocks(self.topology, int(self.topology.dim_of[channel]), *self._factors(channel))
            if blocks is not None:
                return ship_blocks(*blocks, rates, self.terminals)
        return super().solve(channel, rates)

    @property
    def _in_blocks(self) -> bool:
        """Whether channels are solved in blocks where this saves much."""
        topology = self.topology
        line = any(axis.kind == "line" for axis in topology.axes)
        return line and topology.all_terminals and topology.unit_rates and topology.nodes**2 >= _HUBS

    def between(self, channel: int, source: Array, destination: Array) -> Array:
        topology = self.topology
        dim, at = int(topology.dim_of[channel]), topology.coordinates(int(topology.tail[channel]))
        tables = self._tables(dim, int(topology.link_of[channel]), at)
        ends = topology.terminals[source], topology.terminals[destination]
        product: Any = 1
        for own, stride, radix in zip(tables, topology.strides, topology.radices, strict=True):
            start, end = (nodes // stride % radix for nodes in ends)
            product = product * np.stack(own)[:, start, end]
        total: Array = product.sum(axis=0)
        return total

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        large = len(channels) > 1 and self._entries(int(channels[len(channels) // 2])) >= _MANY
        if large and not calls.subject.prices and self.merged.parts:
            return merged_first(self.merged.steps, channels, progress, calls)
        return super().solve_worst(channels, progress, calls)

    @cached_property
    def merged(self) -> MergedBounds:
        """Upper bounds of single channels."""
        return MergedBounds(self)

    def memory(self, channels: Array) -> float:
        count = len(channels)
        if not count or float(self.topology.nodes) ** 2 * count < 1e7:
            return 0.0
        stops = any(position[0] == "Q" for groups in self.groups for key in groups for position in key)
        longest = max(map(longest_way, self.topology.axes))
        wide = stops and 8 * lcm(*range(1, longest + 2)) >= INT64_SAFE
        some = np.unique(channels[:: -(-count // 4)]).tolist()
        return (160.0 if wide else 60.0) * max(self._entries(c, self._in_blocks) for c in some)

    def _entries(self, channel: int, in_blocks: bool = False) -> float:
        """Return the number of entries of a channel, from tables modulo a prime: much smaller than the exact ones.

        In blocks, that of the entries that are solved.
        """
        topology = self.topology
        dim, link = int(topology.dim_of[channel]), int(topology.link_of[channel])
        at = topology.coordinates(int(topology.tail[channel]))
        tables: list[list[Array]] = [[] for _ in at]
        for key, segments in self.groups[dim].items():
            total = np.zeros((1, 1), np.int64)
            for origin, target, share, unit in segments:
                numerators, own = crossing(topology.axes[dim], origin, target, link, True)
                factor = share * pow(own * unit, -1, PRIME) % PRIME
                total = (total + numerators % PRIME * factor) % PRIME
            tables[dim].append(total)
            for j, position in self.positions(dim, key):
                tables[j].append(presence(topology.axes[j], position, at[j], True)[0] % PRIME)
        classes = [classes_of(group) for group in tables]
        if in_blocks:
            blocks = channel_blocks(topology, dim, tables, classes)
            if blocks is not None:
                return float(blocks.blocks.entries() + blocks.blocks.values.size)
        return float(prod(len(side.row) for side in merged_tables(tables, classes, topology.nodes)))

    def totals(self) -> Array:
        topology = self.topology
        if not topology.all_terminals:
            return super().totals()
        places = [topology.tail // stride % k for stride, k in zip(topology.strides, topology.radices, strict=True)]
        sums: Array = np.zeros(topology.channels, object)
        for dim, groups in enumerate(self.groups):
            along = np.flatnonzero(topology.dim_of == dim)
            for key in groups:
                product = self._crossing_sums(dim, key)[topology.link_of[along]]
                for j, position in self.positions(dim, key):
                    product = product * self._presence_sums(j, position)[places[j][along]]
                sums[along] += product
        return whole(sums.tolist())

    def _crossing_sums(self, dim: int, key: Key) -> Array:
        """Return the sum of a group's crossing table for every link; on a ring two links stand for all."""
        axis = self.topology.axes[dim]
        alike = 2 if axis.kind == "ring" else len(axis.links)
        sums = [_sum(self.crossing(dim, key, link)) for link in range(min(alike, len(axis.links)))]
        return np.array([sums[link % alike] for link in range(len(axis.links))], object)

    def _presence_sums(self, dim: int, position: str) -> Array:
        """Return the sum of a position's presence table for every coordinate; on a ring one stands for all."""
        axis = self.topology.axes[dim]
        sums = [_sum(self._presence(dim, position, v)) for v in range(1 if axis.kind == "ring" else axis.radix)]
        return np.array(sums * axis.radix if axis.kind == "ring" else sums, object)

    def words(self, lanes: PackedLoads, factors: list[int]) -> Words:
        by_axes = None if factors or not self.topology.all_terminals else from_axes(self, lanes)
        return super().words(lanes, factors) if by_axes is None else by_axes

    def _carried(self, traffic: Traffic) -> Array:
        bound = 2 * self.denominator * int(traffic.amount.max()) * len(traffic.amount)
        dtype: Any = np.int64 if bound < INT64_SAFE else object
        carried: Array = np.zeros(self.topology.channels, dtype)
        for first in range(0, len(traffic.amount), _FLOWS):
            part = slice(first, first + _FLOWS)
            source, destination = (
                self.topology.terminals[side[part]] for side in (traffic.source, traffic.destination)
            )
            carried += self._carried_by(source, destination, traffic.amount[part].astype(dtype))
        return carried

    def _carried_by(self, source: Array, destination: Array, amount: Array) -> Array:
        """Return Σ amount × numerator for every channel, from flows between nodes."""
        topology, dtype = self.topology, amount.dtype
        carried: Array = np.zeros(topology.channels, dtype)
        spots = [
            (source // stride % k, destination // stride % k)
            for stride, k in zip(topology.strides, topology.radices, strict=True)
        ]
        for dim, groups in enumerate(self.groups):
            of_dim = np.flatnonzero(topology.dim_of == dim)
            stride, k = topology.strides[dim], topology.radices[dim]
            rest = topology.tail[of_dim] % stride + topology.tail[of_dim] // (stride * k) * stride
            for key in groups:
                along = np.stack(
                    [self.crossing(dim, key, e)[spots[dim]] for e in range(len(topology.axes[dim].links))]
                ).astype(dtype)
                across: Array = np.ones((len(source), 1), dtype)
                for j, position in self.positions(dim, key):
                    there = np.stack(
                        [self._presence(j, position, v)[spots[j]] for v in range(topology.radices[j])], axis=1
                    ).astype(dtype)
                    across = (there[:, :, None] * across[:, None, :]).reshape(len(source), -1)
                carried[of_dim] += ((along * amount) @ across)[topology.link_of[of_dim], rest]
        return carried

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        split = split_map(self.topology, node_map)
        if split is None:
            return super()._keeps(node_map, moved, place)
        to_dim, to_coordinate = split
        axes = self.topology.axes
        for dim, groups in enumerate(self.groups):
            image = self.groups[to_dim[dim]]
            if len(image) != len(groups):
                return False
            links = link_map(axes[dim], axes[to_dim[dim]], to_coordinate[dim])
            grid = np.ix_(to_coordinate[dim], to_coordinate[dim])
            alike = keeps_steps(axes[dim], to_coordinate[dim])  # two links, one of each direction, stand for all
            for key in groups:
                image_key = tuple(
                    position for _, position in sorted((to_dim[j], p) for j, p in self.positions(dim, key))
                )
                if image_key not in image:
                    return False
                for link, image_link in enumerate(links[:2] if alike else links):
                    theirs = self.crossing(to_dim[dim], image_key, image_link)
                    if not np.array_equal(theirs[grid], self.crossing(dim, key, link)):
                        return False
        used = {spot for dim, groups in enumerate(self.groups) for key in groups for spot in self.positions(dim, key)}
        for j, position in sorted(used):
            grid = np.ix_(to_coordinate[j], to_coordinate[j])
            for v in range(1 if keeps_steps(axes[j], to_coordinate[j]) else axes[j].radix):
                theirs = self._presence(to_dim[j], position, int(to_coordinate[j][v]))
                if not np.array_equal(theirs[grid], self._presence(j, position, v)):
                    return False
        return True

    def _tables(self, dim: int, link: int, at: tuple[int, ...]) -> list[list[Array]]:
        """Return for every dimension the table of each group."""
        tables: list[list[Array]] = [[] for _ in at]
        for key in self.groups[dim]:
            tables[dim].append(self.crossing(dim, key, link))
            for j, position in self.positions(dim, key):
                tables[j].append(self._presence(j, position, at[j]))
        return tables

    def positions(self, dim: int, key: Key) -> list[tuple[int, str]]:
        """Return the position of a group in every dimension other than that of its channels."""
        return self._positions[dim][key]

    @cached_property
    def _positions(self) -> list[dict[Key, list[tuple[int, str]]]]:
        dims = range(len(self.topology.axes))
        return [
            {key: list(zip((j for j in dims if j != dim), key, strict=True)) for key in groups}
            for dim, groups in enumerate(self.groups)
        ]

    def crossing(self, dim: int, key: Key, link: int) -> Array:
        """Return the crossing table of a group: its products with the presences are over the common denominator."""
        return _scaled(self.topology.axes[dim], self.groups[dim][key], link, self._over[dim][key], self._dtype)

    @cached_property
    def _over(self) -> list[dict[Key, int]]:
        """The denominator of the crossing table of every group."""
        return [
            {key: self.denominator // self._beside(dim, key) for key in groups}
            for dim, groups in enumerate(self.groups)
        ]

    def _presence(self, dim: int, position: str, coordinate: int) -> Array:
        return _present(self.topology.axes[dim], position, coordinate, self._dtype)

    def chances_along(self, dim: int, key: Key, link: int) -> Array:
        """Return the crossing table of a group as floating-point numbers."""
        return _as_floats(self.crossing(dim, key, link), self._over[dim][key])

    def chances_at(self, dim: int, position: str, coordinate: int) -> Array:
        """Return the presence table of a position as floating-point numbers."""
        return _as_floats(
            self._presence(dim, position, coordinate), _presence_denominator(self.topology.axes[dim], position)
        )

    def _beside(self, dim: int, key: Key) -> int:
        """Return the denominator of the presences of a group."""
        return prod(_presence_denominator(self.topology.axes[j], position) for j, position in self.positions(dim, key))

    def _least(self, dim: int, key: Key) -> int:
        """Return the least denominator of the products of a group."""
        axis = self.topology.axes[dim]
        links = range(len(axis.links)) if axis.kind == "line" else range(min(2, len(axis.links)))
        return lcm(*(_summed(axis, self.groups[dim][key], link)[1] for link in links)) * self._beside(dim, key)


def _grouped(programs: tuple[Program, ...], dim: int, dimensions: int) -> dict[Key, Segments]:
    """Return for one dimension where the others stand while it is crossed, and by which segments."""
    groups: dict[Key, dict[tuple[str, str], Fraction]] = {}
    for program in programs:
        position = ["S"] * dimensions
        condition = {x: "!" if differ else "=" for x, differ in program.when}
        for phase in program.phases:
            drawn = "Q" if program.draw == QUADRANT else "A"
            target = "D" if phase.target == TO_DESTINATION else drawn
            for chance, x, before in phase.each_turn(dimensions):
                if x != dim or position[x] == target:
                    continue
                key = tuple(
                    (target if j in before else position[j]) + condition.get(j, "")
                    for j in range(dimensions)
                    if j != dim
                )
                segments = groups.setdefault(key, {})
                direct = position[x] == "S" and target == "D" and x in program.spread
                segment = (position[x] + condition.get(x, ""), "W" if direct else target)
                segments[segment] = segments.get(segment, Fraction(0)) + program.probability * chance
            for _, x, _ in phase.each_turn(dimensions):
                position[x] = target
    return {
        key: tuple((*segment, *chance.as_integer_ratio()) for segment, chance in sorted(segments.items()))
        for key, segments in groups.items()
    }


@cache
def _presence_denominator(axis: Axis, position: str) -> int:
    """Return the least denominator of a position's presence tables."""
    if position[0] in "SD":
        return 1
    places = range(axis.radix) if axis.kind == "line" else (0,)
    return lcm(*(_reduced(*presence(axis, position, v))[1] for v in places))


@lru_cache(maxsize=16)
def _summed(axis: Axis, segments: Segments, link: int) -> tuple[Array, int]:
    """Return the crossing table of several segments together, in lowest terms: much cancels here."""
    parts = [(*crossing(axis, origin, target, link), share, unit) for origin, target, share, unit in segments]
    denominator = lcm(*(own * unit for _, own, _, unit in parts))
    scaled = [(numerators, share * (denominator // (own * unit))) for numerators, own, share, unit in parts]
    small = sum(int(numerators.max()) * factor for numerators, factor in scaled) < INT64_SAFE
    dtype: Any = np.int64 if small else object
    total: Array = np.zeros((axis.radix, axis.radix), dtype)
    for numerators, factor in scaled:
        total = total + numerators.astype(dtype) * factor
    return _reduced(total, denominator)


@cached_arrays(_CACHE)
def _scaled(axis: Axis, segments: Segments, link: int, over: int, dtype: Any) -> Array:
    """Return a crossing table over a given denominator."""
    if axis.kind == "ring" and link > 1:  # the table of the first link in that direction, moved along the ring
        step = axis.links[link][0] - axis.links[link % 2][0]
        return np.roll(_scaled(axis, segments, link % 2, over, dtype), (step, step), (0, 1))
    numerators, denominator = _summed(axis, segments, link)
    factor = over // denominator
    small = int(numerators.max()) * factor < INT64_SAFE
    result: Array = (numerators.astype(np.int64 if small else object) * factor).astype(dtype)
    return result


@cached_arrays(_CACHE)
def _present(axis: Axis, position: str, coordinate: int, dtype: Any) -> Array:
    """Return a presence table over its least denominator."""
    if axis.kind == "ring" and coordinate:  # that of coordinate 0, moved along the ring
        return np.roll(_present(axis, position, 0, dtype), (coordinate, coordinate), (0, 1))
    numerators, denominator = _reduced(*presence(axis, position, coordinate))
    result: Array = (numerators * (_presence_denominator(axis, position) // denominator)).astype(dtype)
    return result


def _as_floats(numerators: Array, denominator: int) -> Array:
    """Return numerators over a denominator, both of any size, as floating-point numbers."""
    table: Array = (numerators / denominator).astype(np.float64)
    return table


def _reduced(numerators: Array, denominator: int) -> tuple[Array, int]:
    """Return the same table in lowest terms."""
    if numerators.dtype == object:
        shared = gcd(denominator, *map(int, set(numerators.ravel().tolist())))
    else:
        shared = gcd(denominator, int(np.gcd.reduce(numerators, axis=None)))
    return numerators // shared, denominator // shared


def _sum(table: Array) -> int:
    """Return the sum of a table, which may leave 64 bits though its entries do not."""
    wide = table.dtype == object or int(table.max()) * table.size >= INT64_SAFE
    return int(table.astype(object).sum() if wide else table.sum())
