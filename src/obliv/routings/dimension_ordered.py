"""Dimension-ordered routings on Cartesian networks, as phase programs, and the lengths of their paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, silent
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.separable import (
    ANYWHERE,
    QUADRANT,
    SPREAD,
    TO_DESTINATION,
    TO_INTERMEDIATE,
    Phase,
    Program,
    SeparableLoads,
)
from obliv.routings.base import Routing, require_topology
from obliv.routings.paths import Crossed, Lengths, Path, add, merged
from obliv.specs.registry import register_routing
from obliv.topologies.axes import Axis
from obliv.topologies.base import Topology, require_nodes
from obliv.topologies.cartesian import Cartesian

Coordinates = tuple[int, ...]
Segment = tuple[int, ...]  # links of one axis
Stops = tuple[int | None, Segment, Segment]  # intermediate coordinate, links to it, links from it (or all the way)


class ProgramRouting(Routing):
    """A routing that follows phase programs."""

    topology: Cartesian

    def __init__(self, topology: Topology, programs: tuple[Program, ...], spec: str) -> None:
        super().__init__(require_grid(topology, spec), spec)
        self._programs = programs

    @property
    def programs(self) -> tuple[Program, ...]:  # type: ignore[override]
        return self._programs

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        """Return every path once; ROMM and Valiant draw them in many ways (orders² × intermediates)."""
        require_nodes(self.topology, source, destination)
        return merged(self._drawn_paths(source, destination))

    def _drawn_paths(self, source: int, destination: int) -> Iterator[Path]:
        """Yield the path of every draw; several draws may give one path."""
        start, end, serving = self._serving(source, destination)
        for program in serving:
            drawn = self._drawn(program, start, end)
            orders = [list(phase.each_order(len(start))) for phase in program.phases]
            for stops in product(*drawn):
                chance = program.probability
                for share, _ in stops:
                    chance *= share
                for choice in product(*orders):
                    likely = chance
                    for share, _ in choice:
                        likely *= share
                    yield self._channels(source, program, [s for _, s in stops], [order for _, order in choice]), likely

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        start, end, serving = self._serving(source, destination)
        program = serving[int(rng.choice(len(serving), p=np.array([float(p.probability) for p in serving])))]
        stops = []
        for choices in self._drawn(program, start, end):
            k = rng.choice(len(choices), p=np.array([float(share) for share, _ in choices]))
            stops.append(choices[int(k)][1])
        orders = []
        for phase in program.phases:
            if phase.orders is None:
                orders.append(tuple(rng.permutation(len(start)).tolist()))
            else:
                orders.append(phase.orders[int(rng.integers(len(phase.orders)))])
        return self._channels(source, program, stops, orders)

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        start, end, serving = self._serving(source, destination)
        counts = rng.multinomial(packets, np.array([float(program.probability) for program in serving]))
        crossed: Crossed = Counter()
        for program, count in zip(serving, counts.tolist(), strict=True):
            drawn = self._drawn(program, start, end)
            columns = [rng.choice(len(stops), count, p=np.array([float(p) for p, _ in stops])) for stops in drawn]
            orders = [phase.orders or tuple(permutations(range(len(start)))) for phase in program.phases]
            columns += [rng.integers(len(choices), size=count) for choices in orders]
            choices, times = np.unique(np.column_stack(columns), axis=0, return_counts=True)
            for choice, packets_alike in zip(choices.tolist(), times.tolist(), strict=True):
                stops = [of_dim[k][1] for of_dim, k in zip(drawn, choice, strict=False)]
                order = [of_phase[k] for of_phase, k in zip(orders, choice[len(drawn) :], strict=True)]
                for crossing in Counter(self._channels(source, program, stops, order)).items():
                    crossed[crossing] += packets_alike
        return crossed

    def symmetries(self) -> list[Array]:
        loads = self._loads(silent)  # a closed form: no path is listed
        return [g for g in self.topology.generators if loads.keeps(g)]

    def path_lengths(self, progress: Progress) -> Lengths:
        if not self.topology.all_terminals:
            return super().path_lengths(progress)
        total: Lengths = {}
        for program in self.programs:
            add(total, of_program(self.topology, program))
        return total

    def _loads(self, progress: Progress) -> PairLoads:
        return SeparableLoads(self.topology, self.programs)

    def _serving(self, source: int, destination: int) -> tuple[Coordinates, Coordinates, list[Program]]:
        """Return the coordinates of a pair, and the programs that serve it."""
        start, end = self.topology.coordinates(source), self.topology.coordinates(destination)
        return start, end, [program for program in self._programs if program.serves(start, end)]

    def _drawn(self, program: Program, start: Coordinates, end: Coordinates) -> list[list[tuple[Fraction, Stops]]]:
        """Return the possible draws of every dimension with their probabilities."""
        draws = program.draws(len(start))
        return [self._stops(dim, start[dim], end[dim], draw) for dim, draw in enumerate(draws)]

    def _stops(self, dim: int, start: int, end: int, draw: str) -> list[tuple[Fraction, Stops]]:
        along = self.topology.axes[dim]
        stops: list[tuple[Fraction, Stops]] = []
        if draw == ANYWHERE:
            for middle in range(along.radix):
                for there in along.ways(start, middle):
                    for on in along.ways(middle, end):
                        chance = there.probability * on.probability / along.radix
                        stops.append((chance, (middle, there.links, on.links)))
            return stops
        for way in along.spread_ways(start, end) if draw == SPREAD else along.ways(start, end):
            if draw == QUADRANT:
                share = way.probability / len(way.coordinates)
                for t, middle in enumerate(way.coordinates):
                    stops.append((share, (middle, way.links[:t], way.links[t:])))
            else:
                stops.append((way.probability, (None, (), way.links)))
        return stops

    def _channels(
        self, source: int, program: Program, stops: list[Stops], orders: list[tuple[int, ...]]
    ) -> tuple[int, ...]:
        topology, at = self.topology, source
        channels = []
        for phase, order in zip(program.phases, orders, strict=True):
            for dim in order:
                _, to_middle, onward = stops[dim]
                for link in to_middle if phase.target == TO_INTERMEDIATE else onward:
                    channel = int(topology.link_zero[dim][at]) + link
                    channels.append(channel)
                    at = int(topology.head[channel])
        return tuple(channels)


@register_routing("dor", aliases=("dim-order", "dim_order", "xy", "e-cube"), example="dor:yx")
class DOR(ProgramRouting):
    """Dimension-order routing: minimal in each dimension, the first dimension first.

    Parameters
    ----------
    topology : Cartesian
    order : str
        Another order: letters as in ``yx``, or numbers as in ``2-0-1``.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.DOR(obliv.mesh(8, 8))).channel_load
    Fraction(7, 1)
    """

    def __init__(self, topology: Topology, order: str | None = None) -> None:
        dims = len(require_grid(topology, "dor").axes)
        chosen = _order(order, dims, topology.spec)
        plain = chosen == tuple(range(dims))
        text = "".join("xyz"[dim] for dim in chosen) if dims <= 3 else "order=" + "-".join(map(str, chosen))
        phases = (Phase(TO_DESTINATION, (chosen,)),)
        super().__init__(topology, (Program(Fraction(1), phases),), "dor" if plain else f"dor:{text}")


@register_routing("o1turn", aliases=("xy-yx", "xy_yx"))
class O1TURN(ProgramRouting):
    """O1TURN: dimension order in a uniformly random order (XY or YX in two dimensions).

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.O1TURN(obliv.mesh(8, 8))).channel_load
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology, (Program(Fraction(1), (Phase(TO_DESTINATION),)),), "o1turn")


@register_routing("romm", example="romm:xy")
class ROMM(ProgramRouting):
    """ROMM: through a random node of the minimal quadrant, in two phases of dimension order in random orders.

    Parameters
    ----------
    topology : Cartesian
    order : str
        ``xy`` (or another order, as for dor) takes that order in both phases instead.

    Notes
    -----
    On a tie of directions (even torus, offset k/2) the direction is drawn first, 1/2 each, then the intermediate
    coordinate uniformly on that way, ends included (Nesson and Johnsson; Towles section 5).

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.ROMM(obliv.torus(9, 9))).channel_load
    Fraction(32, 5)
    """

    def __init__(self, topology: Topology, order: str | None = None) -> None:
        spec = "romm" if order is None else f"romm:{order.lower()}"
        dims = len(require_grid(topology, spec).axes)
        orders = None if order is None else (_order(order, dims, topology.spec),)
        phases = (Phase(TO_INTERMEDIATE, orders), Phase(TO_DESTINATION, orders))
        super().__init__(topology, (Program(Fraction(1), phases),), spec)


@register_routing("valiant", aliases=("val",))
def valiant(topology: Topology) -> Routing:
    """Valiant: through a uniformly random terminal, for every pair; dor (or shortest) in both phases.

    Parameters
    ----------
    topology : Topology
        Any connected network.

    Returns
    -------
    Routing

    Raises
    ------
    RoutingError
        If a pair of terminals is not connected; raised when its paths are computed.

    References
    ----------
    [VB81] L. G. Valiant and G. J. Brebner, "Universal schemes for parallel communication", STOC 1981.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(valiant(obliv.torus(4, 4))).channel_load
    Fraction(1, 1)
    """
    require_topology(topology, "valiant")
    grid = isinstance(topology, Cartesian)
    if not grid or not topology.all_terminals:
        from obliv.routings.mixes import TwoPhase
        from obliv.routings.shortest import Shortest

        return TwoPhase(DOR(topology) if grid else Shortest(topology), "valiant")
    orders = (tuple(range(len(topology.radices))),)
    phases = (Phase(TO_INTERMEDIATE, orders), Phase(TO_DESTINATION, orders))
    return ProgramRouting(topology, (Program(Fraction(1), phases, ANYWHERE),), "valiant")


def require_grid(topology: Topology, spec: str) -> Cartesian:
    """Return a topology that has coordinates; refuse any other one."""
    require_topology(topology, spec)
    if not isinstance(topology, Cartesian):
        raise RoutingError(
            f"{spec} needs a mesh, torus, hypercube or hyperx; {topology.spec} has no coordinates: "
            "shortest, ecmp and valiant fit any network"
        )
    return topology


def _order(text: str | None, dims: int, spec: str) -> tuple[int, ...]:
    if text is None:
        return tuple(range(dims))
    letters = "xyzwvu"
    parts: list[Any] = (
        text.split("-") if "-" in text or text.isdigit() else [letters.find(letter) for letter in text.lower()]
    )
    try:
        order = tuple(int(part) for part in parts)
    except ValueError:
        order = ()
    if sorted(order) != list(range(dims)):
        sample = "-".join(str(dim) for dim in reversed(range(dims)))
        letters_sample = " or " + letters[:dims][::-1] if dims <= 3 else ""
        raise RoutingError(
            f"{text!r} is not an order of the {dims} dimensions of {spec}: write order={sample}{letters_sample}"
        )
    return order


# Path lengths of phase programs, dimension by dimension


def of_program(topology: Cartesian, program: Program) -> Lengths:
    """Return the lengths of the paths of a program, added up over the pairs that it serves, times its probability.

    Given a pair, the draws of the dimensions are independent of each other: the lengths are a product over dimensions.
    """
    condition = dict(program.when)
    whole: Array = np.ones(1, object)
    for dim, draw in enumerate(program.draws(len(topology.axes))):
        whole = np.convolve(whole, _along(topology.axes[dim], draw, condition.get(dim)))
    share = program.probability / prod(topology.radices)
    return {h: share * int(count) for h, count in enumerate(whole) if count}


@cache
def _along(axis: Axis, draw: str, differ: bool | None) -> Array:
    """Return the lengths along one dimension, times its radix, over its ordered pairs that agree or differ."""
    k, far = axis.radix, axis.distances
    same, every = np.zeros(2 * k, np.int64), np.zeros(2 * k, np.int64)
    if draw == ANYWHERE:
        same += np.bincount((far + far.T).ravel(), minlength=2 * k)
        for middle in range(k):
            there, on = np.bincount(far[:, middle], minlength=k), np.bincount(far[middle], minlength=k)
            every[:-1] += np.convolve(there, on)
    elif draw == SPREAD:
        same[0] = k * k
        for start, end in product(range(k), repeat=2):
            for way in axis.spread_ways(start, end):
                every[len(way.links)] += int(way.probability * k)
    else:  # an intermediate on the minimal way lengthens nothing
        same[0] = k * k
        every += k * np.bincount(far.ravel(), minlength=2 * k)
    chosen = every if differ is None else every - same if differ else same
    result: Array = np.trim_zeros(chosen, "b").astype(object) if chosen.any() else np.zeros(1, object)
    return result
