"""Turn models and odd-even on meshes, routings with at most two turns, and their best one on square tori."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import permutations

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress
from obliv._util.rationals import boolean
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.separable import ANYWHERE, TO_DESTINATION, TO_INTERMEDIATE, Phase, Program
from obliv.loads.stored import Hops, from_hop_groups
from obliv.routings.base import Routing
from obliv.routings.descriptions import Description, HopGroups, hop_groups
from obliv.routings.dimension_ordered import ProgramRouting, require_grid
from obliv.routings.hops import HopRouting, hops_of
from obliv.routings.paths import Crossed, Lengths, Path
from obliv.routings.shortest import Recent
from obliv.specs.registry import register_routing
from obliv.topologies.axes import Directions
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Cartesian, coordinate


class TurnHops(HopRouting):
    """Next hops on a mesh: all channels that a turn model allows, with equal probability."""

    topology: Cartesian

    def allowed(self, offset: Array, where: Directions) -> Array:
        """Return which of the channels that lead closer are allowed.

        Shapes: `offset` (dimensions, channels); returned (channels,).
        """
        raise NotImplementedError

    @cached_property
    def _place(self) -> Array:
        """The coordinates of every node, shape (dimensions, nodes)."""
        radices = self.topology.radices
        return np.array([coordinate(radices, dim) for dim in range(len(radices))])

    @cached_property
    def _recent(self) -> Recent[Hops]:
        return Recent()

    def hops_to(self, destination: int) -> Hops:
        return self._recent.get(destination, self._hops_to)

    def _hops_to(self, destination: int) -> Hops:
        topology, where = self.topology, self.topology.directions
        offset = (self._place[:, destination, None] - self._place)[:, topology.tail]
        ahead = offset[where.dim, np.arange(topology.channels)] * where.step > 0
        channel = np.flatnonzero(ahead & self.allowed(offset, where))
        return Hops.even(channel, topology)

    def next_hops(self, node: int, destination: int) -> list[int]:
        hops = self.hops_to(destination)
        channels: list[int] = hops.channel[hops.ptr[node] : hops.ptr[node + 1]].tolist()
        return channels

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        return minimal_lengths(self.topology, progress)


@register_routing("negative-first")
class NegativeFirst(TurnHops):
    """Negative-first: minimal, all hops in negative directions before those in positive directions.

    Notes
    -----
    A packet may not turn from a positive direction into a negative one (Glass and Ni 1992). Every allowed direction is
    taken with equal probability; meshes and hypercubes of any number of dimensions.

    References
    ----------
    [GN92] C. J. Glass and L. M. Ni, "The turn model for adaptive routing", ISCA 1992.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.NegativeFirst(obliv.mesh(4, 4, 4))).acyclic
    True
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "negative-first"), "negative-first")

    def allowed(self, offset: Array, where: Directions) -> Array:
        allowed: Array = (where.step < 0) | (offset >= 0).all(axis=0)
        return allowed


@register_routing("west-first")
class WestFirst(TurnHops):
    """West-first: minimal, all hops to the west (-x) before any other hop.

    Notes
    -----
    A packet may not turn into the west (Glass and Ni 1992): it goes west alone as long as it must, and otherwise in
    every direction that leads closer with equal probability; meshes of two dimensions.

    References
    ----------
    [GN92] C. J. Glass and L. M. Ni, "The turn model for adaptive routing", ISCA 1992.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.WestFirst(obliv.mesh(8, 8))).acyclic
    True
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "west-first", 2), "west-first")

    def allowed(self, offset: Array, where: Directions) -> Array:
        allowed: Array = (where.dim == 0) | (offset[0] >= 0)
        return allowed


@register_routing("north-last")
class NorthLast(TurnHops):
    """North-last: minimal, all hops to the north (+y) after any other hop.

    Notes
    -----
    A packet may not turn out of the north (Glass and Ni 1992): it goes north only once no other direction leads closer,
    and otherwise in every direction that does with equal probability; meshes of two dimensions.

    References
    ----------
    [GN92] C. J. Glass and L. M. Ni, "The turn model for adaptive routing", ISCA 1992.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.NorthLast(obliv.mesh(8, 8))).acyclic
    True
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "north-last", 2), "north-last")

    def allowed(self, offset: Array, where: Directions) -> Array:
        allowed: Array = (where.dim == 0) | (where.step < 0) | (offset[0] == 0)
        return allowed


def require_mesh(topology: Topology, spec: str, dimensions: int | None = None) -> Cartesian:
    """Return a topology that is a mesh or a hypercube; refuse any other one, or another number of dimensions."""
    grid = require_grid(topology, spec)
    if any(along.kind != "line" for along in grid.axes):
        raise RoutingError(f"{spec} needs a mesh or a hypercube, {grid.spec} is neither: dor and ecmp fit it")
    if dimensions not in (None, len(grid.axes)):
        raise RoutingError(
            f"{spec} needs {dimensions} dimensions, {grid.spec} has {len(grid.axes)}; negative-first fits any"
        )
    return grid


def minimal_lengths(grid: Cartesian, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
    """Yield every ordered pair of terminals of a mesh with its distance, which every packet travels."""
    place = np.array([grid.coordinates(node) for node in grid.terminals.tolist()])
    for j, destination in enumerate(place):
        for i, hops in enumerate(abs(place - destination).sum(axis=1).tolist()):
            yield i, j, {hops: Fraction(1)}
        progress("path lengths", (j + 1) / len(place))


# Routings with at most two turns: XYX, YXY, U2TURN, and loop-removed Valiant


Order = tuple[int, ...]


@register_routing("xyx")
class XYX(ProgramRouting):
    """X to a uniformly random column, Y, then X; directly in X where source and destination share a row.

    Notes
    -----
    Every segment is minimal (U2TURN paper, section III-A); two dimensions.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.XYX(obliv.mesh(4, 8))).channel_load
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology) -> None:
        _require_plane(topology, "xyx")
        super().__init__(topology, _there_and_back((0, 1), Fraction(1)), "xyx")


@register_routing("yxy")
class YXY(ProgramRouting):
    """Y to a uniformly random row, X, then Y; directly in Y where source and destination share a column.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.YXY(obliv.mesh(8, 4))).channel_load
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology) -> None:
        _require_plane(topology, "yxy")
        super().__init__(topology, _there_and_back((1, 0), Fraction(1)), "yxy")


@register_routing("u2turn")
class U2TURN(ProgramRouting):
    """U2TURN: XYX or YXY, 1/2 each; on kx > ky YXY only, on kx < ky XYX only.

    Parameters
    ----------
    topology : Cartesian
    shortcut : bool
        Whether a packet goes directly where only its first dimension differs (the paper's degenerate case); without, it
        goes by a random coordinate there too, and back over the same links.

    Notes
    -----
    In other than two dimensions: draw an order of the dimensions uniformly, go in its first to a uniformly random
    coordinate, in order through the others, and back in the first; directly where no other dimension differs.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.U2TURN(obliv.mesh(8, 8))).channel_load
    Fraction(4, 1)
    >>> [obliv.throughput(obliv.U2TURN(obliv.mesh(3, 3), shortcut), "uniform").patterns[0].fraction_of_capacity
    ...  for shortcut in (True, False)]
    [Fraction(3, 4), Fraction(18, 25)]
    """

    def __init__(self, topology: Topology, shortcut: bool = True) -> None:
        shortcut = boolean(shortcut, "shortcut")
        spec = "u2turn" if shortcut else "u2turn:shortcut=no"
        orders = _orders(topology, spec)
        if len(orders) == 2:
            kx, ky = topology.radices
            if kx != ky:
                orders = [(1, 0)] if kx > ky else [(0, 1)]
        share = Fraction(1, len(orders))
        programs = tuple(p for order in orders for p in _there_and_back(order, share, shortcut))
        super().__init__(topology, programs, spec)


@register_routing("u2turn-a", example="u2turn-a:p=1/3")
class U2TURNA(ProgramRouting):
    """U2TURN-A: XYX with probability p (default 1/2), otherwise YXY, on every shape.

    Parameters
    ----------
    topology : Cartesian
    p : Fraction
        Share of XYX, from 0 to 1; two dimensions.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.U2TURNA(obliv.mesh(8, 8))).channel_load
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology, p: Fraction = Fraction(1, 2)) -> None:
        spec = "u2turn-a" if p == Fraction(1, 2) else f"u2turn-a:p={p}"
        if not 0 <= p <= 1:
            raise RoutingError(f"{spec}: p is a probability, from 0 to 1")
        orders = _orders(topology, spec)
        shares = [Fraction(1, len(orders))] * len(orders)
        if p != Fraction(1, 2):
            _require_plane(topology, spec)
            shares = [p, 1 - p]
        programs = [
            program
            for order, share in zip(orders, shares, strict=True)
            if share
            for program in _there_and_back(order, share)
        ]
        super().__init__(topology, tuple(programs), spec)


@register_routing("ival")
class IVAL(ProgramRouting):
    """IVAL: Valiant with the dimensions of the second phase in reverse order and loops removed.

    Notes
    -----
    Orders are drawn uniformly.  The path crosses the last dimension of an order in which source and destination differ
    once, round a ring upwards over D links with probability (k - D)/k. In the dimensions before it, it goes to their
    intermediate coordinates first and returns in reverse order; in those after it, it does not move.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.IVAL(obliv.torus(8, 8))).channel_load
    Fraction(2, 1)
    """

    def __init__(self, topology: Topology) -> None:
        orders = _orders(topology, "ival")
        share = Fraction(1, len(orders))
        super().__init__(topology, tuple(p for order in orders for p in _without_loops(order, share)), "ival")


@register_routing("i2turn")
class I2TURN(ProgramRouting):
    """I2TURN: XYX or YXY, 1/2 each; the middle segment takes D links of a ring of k with probability (k - D)/k.

    Notes
    -----
    Its path distributions are those of IVAL in two dimensions.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.I2TURN(obliv.torus(8, 8))).channel_load
    Fraction(2, 1)
    """

    def __init__(self, topology: Topology) -> None:
        _require_plane(topology, "i2turn")
        programs = tuple(p for order in _orders(topology, "i2turn") for p in _without_loops(order, Fraction(1, 2)))
        super().__init__(topology, programs, "i2turn")


def _orders(topology: Topology, spec: str) -> list[Order]:
    """Return all orders of the dimensions."""
    return list(permutations(range(len(require_grid(topology, spec).axes))))


def _there_and_back(order: Order, share: Fraction, shortcut: bool = True) -> tuple[Program, ...]:
    """Return programs by the first of the other dimensions that differs: out in `order[0]`, the others, and back."""
    first, others = order[0], order[1:]
    out, rest = Phase(TO_INTERMEDIATE, ((first,),)), Phase(TO_DESTINATION, ((*others, first),))
    deciding = others if shortcut else (*others, first)
    programs = [
        Program(share, (out, rest), ANYWHERE, (*((y, False) for y in deciding[:at]), (x, True)))
        for at, x in enumerate(deciding)
    ]
    direct = Program(share, (Phase(TO_DESTINATION, ((first,),)),), ANYWHERE, tuple((y, False) for y in deciding))
    return (*programs, direct)


def _without_loops(order: Order, share: Fraction) -> tuple[Program, ...]:
    """Return programs by the last dimension that differs: Valiant in an order, then in reverse, without loops."""
    programs = []
    for at, x in enumerate(order):
        before, after = order[:at], order[at + 1 :]
        phases = [Phase(TO_INTERMEDIATE, (before,))] if before else []
        phases.append(Phase(TO_DESTINATION, ((x, *reversed(before)),)))
        when = ((x, True), *((y, False) for y in after))
        programs.append(Program(share, tuple(phases), ANYWHERE, when, (x,)))
    nowhere = Program(share, (), ANYWHERE, tuple((x, False) for x in order))
    return (*programs, nowhere)


def _require_plane(topology: Topology, spec: str) -> None:
    dimensions = len(require_grid(topology, spec).axes)
    if dimensions != 2:
        raise RoutingError(f"{spec} needs two dimensions, {topology.spec} has {dimensions}; u2turn fits any")


# A closed form of the best routing within two turns on square tori


_Runs = tuple[int, ...]  # signed hops along a dimension, the other one, and so on in turn
_Ways = list[tuple[int, Fraction]]  # signed hops along a ring, with their probabilities


@register_routing("weighted-2turn", example="weighted-2turn")
class WeightedTwoTurn(Routing):
    """Weighted paths of at most two turns on square tori: half of capacity, with the hops of 2TURN where compared.

    Notes
    -----
    A packet takes an XYX path or a YXY path, 1/2 each: out to a random column, along it, and back. The weights of
    columns and ways depend on the offset; ``docs/explanation/papers/beyond-routings.md`` lists them, with the proof
    that the worst case is half of capacity for every radix. The hops are those of 2TURN for odd radices up to 9 and for
    radix 8 (proved by ``obliv design --max-turns 2``), and within 0.01 % up to 12; at radix 4 and 6 they are up to
    2 % more. Ramanujam and Lin's W2TURN, whose weights obliv does not know, is said to have as many at odd radix.

    Raises
    ------
    RoutingError
        If the topology is not a square torus of two dimensions and radix 3 or more.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("weighted-2turn", obliv.torus(5, 5))
    >>> obliv.worst_case(routing).fraction_of_capacity, obliv.locality(routing).hops
    (Fraction(1, 2), Fraction(2368, 625))
    """

    relative = _by_offset = True

    def __init__(self, topology: Topology, spec: str = "weighted-2turn") -> None:
        grid = require_grid(topology, spec)
        k = grid.radices[0]
        if [along.kind for along in grid.axes] != ["ring", "ring"] or grid.radices != (k, k) or k < 3:
            raise RoutingError(
                f"{spec} needs a square torus of two dimensions and radix 3 or more, not {topology.spec}; try 2turn"
            )
        super().__init__(topology, spec)
        self.radix = k
        places = zip(topology.tail.tolist(), grid.directions.dim.tolist(), grid.directions.step.tolist(), strict=True)
        self._channel = {place: channel for channel, place in enumerate(places)}

    def paths(self, source: int, destination: int) -> list[Path]:
        if source == destination:
            return [((), Fraction(1))]
        k, chances = self.radix, defaultdict[tuple[int, ...], Fraction](Fraction)
        dx, dy = (destination % k - source % k) % k, (destination // k - source // k) % k
        runs_of = _odd if k % 2 else _even
        for first, offset in enumerate(((dx, dy), (dy, dx))):
            for runs, chance in runs_of(k, *offset):
                if chance:
                    chances[self._along(source, runs, first)] += chance / 2
        return list(chances.items())

    def _along(self, node: int, runs: _Runs, first: int) -> tuple[int, ...]:
        """Return the channels of runs from a node, the first one along a dimension."""
        path = []
        for number, run in enumerate(runs):
            for _ in range(abs(run)):
                path.append(self._channel[node, (first + number) % 2, 1 if run > 0 else -1])
                node = int(self.topology.head[path[-1]])
        return tuple(path)


def _odd(k: int, dx: int, dy: int) -> Iterator[tuple[_Runs, Fraction]]:
    """Yield the XYX paths to an offset as signed hops, with their probabilities, for odd radix."""
    half = k // 2
    if dy == 0:
        yield from (((run,), chance) for run, chance in _ways(k, dx, Fraction(_apart(k, dx), k)))
        return
    for column in range(k):
        (out,), (back,) = _short(k, column), _short(k, dx - column)
        beside = dx != 0 and column in (0, dx) and _apart(k, dy) < half
        along = _ways(k, dy, Fraction(0 if beside else _apart(k, dy), k))
        for (there, again), share in _around(k, (out, back), half, Fraction(_apart(k, dx), k)):
            for run, chance in along:
                yield (there, run, again), share * chance / k


def _even(k: int, dx: int, dy: int) -> Iterator[tuple[_Runs, Fraction]]:
    """Yield the XYX paths to an offset as signed hops, with their probabilities, for even radix."""
    half, far = k // 2, _apart(k, dy)
    if dy == 0:
        yield from (((run,), chance) for run, chance in _ways(k, dx, Fraction(_apart(k, dx) + 1, k + 2)))
        return
    for column in range(k):
        weight, long = Fraction(k - 2, k * (k - 1)), Fraction(far - 1, k - 2)
        if column in (0, dx):
            weight = Fraction(3 * k - 4, 2 * k * (k - 1)) if dx else Fraction(2, k)
            long = (
                Fraction(far + 1, k + 2) if dx == 0 else Fraction(k - 2, 3 * k - 4) if far == half - 1 else Fraction(0)
            )
        runs = [(out, back) for out in _short(k, column) for back in _short(k, dx - column)]
        if dx and column not in (0, dx):  # of two ways to the farthest column, the one that does not turn back
            runs = [(out, back) for out, back in runs if len(runs) == 1 or out * back > 0]
        elif column == half and not dx:
            runs = [(out, back) for out, back in runs if out == -back]
        for pair in runs:
            for (there, again), share in _around(k, pair, half - 1, Fraction(_apart(k, dx), max(k - 2, 1))):
                for run, chance in _ways(k, dy, long):
                    yield (there, run, again), weight * share * chance / len(runs)


def _around(k: int, runs: tuple[int, int], farthest: int, share: Fraction) -> list[tuple[tuple[int, int], Fraction]]:
    """Return the ways out to a column and back: where a farthest column would need to turn back, a share goes round."""
    out, back = runs
    if out * back >= 0 or out == -back or farthest not in (abs(out), abs(back)):
        return [(runs, Fraction(1))]
    other = (_reverse(k, out), back) if abs(out) == farthest else (out, _reverse(k, back))
    return [(runs, 1 - share), (other, share)]


def _ways(k: int, ahead: int, long: Fraction) -> _Ways:
    """Return the ways along a ring to an offset: the long one with a probability; of two equal ones, 1/2 each."""
    short = _short(k, ahead)
    if len(short) == 2 or not ahead:
        return [(run, Fraction(1, len(short))) for run in short]
    return [(short[0], 1 - long), (_reverse(k, short[0]), long)]


def _apart(k: int, ahead: int) -> int:
    return min(ahead % k, -ahead % k)


def _short(k: int, ahead: int) -> list[int]:
    """Return the signed hops of the shortest ways along a ring to an offset."""
    apart = _apart(k, ahead)
    return [run for run in dict.fromkeys((apart, -apart)) if (run - ahead) % k == 0]


def _reverse(k: int, run: int) -> int:
    return run - k if run > 0 else run + k


# The odd-even turn model on meshes


class _FromColumn(TurnHops):
    """Next hops of the packets whose sources are in one column."""

    def __init__(self, topology: Topology, column: int) -> None:
        super().__init__(topology, "odd-even")
        self.column = column

    def allowed(self, offset: Array, where: Directions) -> Array:
        x = self._place[0, self.topology.tail]
        (dx, dy), odd = offset, x % 2 == 1
        east = ~((dx == 1) & odd & (dy != 0))  # no turn off the east in an even column: not even in the destination's
        turning = np.where(dx > 0, odd | (x == self.column), ~odd)
        allowed: Array = np.where(where.dim == 0, east, (dx == 0) | turning)
        return allowed


@register_routing("odd-even")
class OddEven(Routing):
    """Odd-even: minimal, no turn off the east in even columns, none into the west in odd columns.

    Notes
    -----
    The turns EN and ES are forbidden in columns of even x, NW and SW in those of odd x (Chiu 2000); x counts from 0.
    At every node the packet takes each direction with equal probability that leads closer, is an allowed turn, and
    leaves a way to the destination, as in the paper's function ROUTE; meshes of two dimensions.

    References
    ----------
    [Chi00] G.-M. Chiu, "The odd-even turn model for adaptive routing", IEEE Transactions on Parallel and Distributed
    Systems 11(7), 2000.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.OddEven(obliv.mesh(8, 8))).acyclic
    True
    """

    topology: Cartesian

    def __init__(self, topology: Topology) -> None:
        super().__init__(require_mesh(topology, "odd-even", 2), "odd-even")

    def describe(self) -> tuple[Description, ...]:
        terminals = self.topology.terminals
        column = terminals % self.topology.radices[0]
        groups = [(terminals[column == x], _FromColumn(self.topology, x)) for x in np.unique(column).tolist()]
        return (HopGroups([(sources, hops_of(part)) for sources, part in groups]),)

    def _from(self, source: int) -> HopRouting:
        return _FromColumn(self.topology, source % self.topology.radices[0])

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        return self._from(source).paths(source, destination)

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        return self._from(source).sample(source, destination, rng)

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        return self._from(source).crossings(source, destination, packets, rng)

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        return minimal_lengths(self.topology, progress)

    def _loads(self, progress: Progress) -> PairLoads:
        groups = [(sources, part.hops_to) for sources, part in hop_groups(self, self.topology.terminals)]
        return from_hop_groups(self.topology, groups, self.spec, progress)
