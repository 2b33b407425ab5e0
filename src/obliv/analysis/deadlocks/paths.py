"""Dependencies of routings by their paths, one after the other, each with its phases and orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise, product
from numbers import Integral
from typing import Any

import numpy as np

from obliv._util.progress import Progress
from obliv.analysis.deadlocks.axis import segments
from obliv.analysis.deadlocks.graph import Dependencies
from obliv.analysis.deadlocks.hops import count_paths
from obliv.analysis.deadlocks.programs import sequences
from obliv.analysis.deadlocks.schemes import (
    COORDINATES,
    PHASES,
    PLANE,
    PROGRAMS,
    Move,
    Scheme,
    bits_of,
    directions,
    find,
)
from obliv.errors import RoutingError, SpecError, TooLargeError
from obliv.loads.hops import Hops
from obliv.loads.programs import Program
from obliv.routings.base import Routing
from obliv.routings.cartesian.dimension_ordered import require_grid
from obliv.routings.checks import checked_paths, require_all
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Cartesian

__all__ = ["OwnScheme", "follow_paths", "lanes_of"]

OwnScheme = Callable[[Routing, tuple[int, ...]], Sequence[int]]

Phase = tuple[int, tuple[int, ...], int]  # number, order, first dimension of the program: the last fields of a move
Traced = tuple[tuple[int, ...], tuple[Phase, ...]]  # channels, and the phase of each

_PATHS = 500_000  # paths of a routing by next hops, which can be counted beforehand
_HOPS = 10_000_000  # hops of all paths together


def follow_paths(routing: Routing, scheme: Scheme | OwnScheme, dependencies: Dependencies, progress: Progress) -> None:
    """Add the dependencies of all paths of all pairs of terminals; a user's own scheme is a function."""
    topology = routing.topology
    where = directions(topology, scheme if isinstance(scheme, Scheme) else None)
    dims, steps, wraps = where.dim.tolist(), where.step.tolist(), where.wraps.tolist()
    nodes = topology.terminals.tolist()
    if routing.by_hops is not None and (count := count_paths(routing.by_hops)) > _PATHS:
        raise _too_many(routing, f"{count:.3g} paths")
    vertices: set[int] = set()
    follows: set[tuple[int, int]] = set()
    hops = 0
    traced = _tracer(routing) if isinstance(scheme, Scheme) else partial(_listed, routing)
    for done, (d, s) in enumerate(product(nodes, repeat=2)):
        for channels, phases in traced(s, d):
            hops += len(channels)
            if hops > _HOPS:
                raise _too_many(routing, f"paths with more than {_HOPS:,} hops")
            if isinstance(scheme, Scheme):
                moves = [Move(dims[c], steps[c], *phase) for c, phase in zip(channels, phases, strict=True)]
                labels = scheme.labels(moves)
                bits = bits_of(moves, labels, [scheme.dateline and wraps[c] for c in channels])
                names: list[Any] = list(zip(labels, bits, strict=True))
            else:
                names = _own(scheme, routing, channels)
            path = [c + dependencies.label(name) * topology.channels for c, name in zip(channels, names, strict=True)]
            vertices.update(path)
            follows.update(pairwise(path))
        progress("dependencies", (done + 1) / len(nodes) ** 2)
    dependencies.use(np.array(sorted(vertices), np.int64))
    pairs = np.array(sorted(follows), np.int64).reshape(-1, 2)
    dependencies.follow(pairs[:, 0], pairs[:, 1])


def lanes_of(topology: Topology, scheme: str) -> Callable[[tuple[int, ...]], list[int]]:
    """Return the function that gives every channel of a path its virtual channel, by a scheme that sees paths alone.

    Parameters
    ----------
    topology : Topology
    scheme : str
        One of :func:`obliv.deadlock` that needs neither phases nor phase programs of the routing.

    Returns
    -------
    callable
        From the channels of a path to whole numbers from 0.

    Raises
    ------
    RoutingError
        If the scheme needs phases, or coordinates that the network does not have.
    SpecError
        If there is no such scheme.

    Examples
    --------
    >>> import obliv
    >>> mesh = obliv.mesh(3, 3)
    >>> path = tuple(mesh.channel(a, b) for a, b in [((0, 0), (0, 1)), ((0, 1), (1, 1)), ((1, 1), (1, 2))])
    >>> lanes_of(mesh, "turn")(path)  # Y, then X is a turn back
    [0, 1, 1]
    """
    rule = find(scheme)
    if {PHASES, PROGRAMS} & set(rule.needs):
        raise RoutingError(f"scheme {scheme} needs the phases of a routing; paths alone do not show them")
    lacking = COORDINATES in rule.needs and topology.directions is None
    if lacking or (PLANE in rule.needs and len(topology.radices) != 2):
        what = PLANE if PLANE in rule.needs else COORDINATES
        raise RoutingError(f"scheme {scheme} needs {what}, which {topology.spec} does not have")
    where = directions(topology, rule)
    dims, steps, wraps = where.dim.tolist(), where.step.tolist(), where.wraps.tolist()

    def lanes(channels: tuple[int, ...]) -> list[int]:
        moves = [Move(dims[c], steps[c]) for c in channels]
        labels = rule.labels(moves)
        if not rule.dateline:
            return [int(label) for label in labels]
        bits = bits_of(moves, labels, [wraps[c] for c in channels])
        return [2 * int(label) + bit for label, bit in zip(labels, bits, strict=True)]

    return lanes


def _too_many(routing: Routing, what: str) -> TooLargeError:
    return TooLargeError(
        f"{routing.spec} on {routing.topology.spec} has {what}, too many to go through: choose a smaller network, or a "
        "scheme that looks from hop to hop only, such as none or turn"
    )


def _own(scheme: OwnScheme, routing: Routing, channels: tuple[int, ...]) -> list[int]:
    """Return the virtual channels that a user's own scheme gives a path, checked."""
    name = getattr(scheme, "__name__", "the scheme")
    answer: Any = scheme(routing, channels)
    try:
        numbers = list(answer)
    except TypeError:
        raise SpecError(f"{name} must return a virtual channel for each hop, not {answer!r}") from None
    if len(numbers) != len(channels):
        raise SpecError(f"{name} returned {len(numbers)} virtual channels for a path of {len(channels)} hops")
    for number in numbers:
        if not isinstance(number, Integral) or isinstance(number, bool) or not 0 <= int(number) < 2**31:
            raise SpecError(f"{name} returned {number!r} for a virtual channel: they are whole numbers from 0")
    return [int(number) for number in numbers]


def _tracer(routing: Routing) -> Callable[[int, int], Iterator[Traced]]:
    """Return the function that gives the paths of a pair of nodes."""
    if routing.programs:
        return partial(_of_programs, require_grid(routing.topology, routing.spec), routing.programs)
    if routing.phase_routing is not None:
        return partial(_of_two_phases, routing.phase_routing)
    if routing.by_hops is not None:
        return partial(_of_hops, routing.topology, lru_cache(maxsize=1)(routing.by_hops.hops_to))
    return partial(_listed, routing)


def _listed(routing: Routing, source: int, destination: int) -> Iterator[Traced]:
    """Yield the paths that a routing lists, checked; all of one phase."""
    total = Fraction(0)
    for channels, chance in checked_paths(routing, source, destination):
        total += chance
        if chance:
            yield channels, ((0, (), 0),) * len(channels)
    require_all(routing, source, destination, total)


def _of_two_phases(base: Routing, source: int, destination: int) -> Iterator[Traced]:
    for middle in base.topology.terminals.tolist():
        onward = list(_listed(base, middle, destination))
        for first, phases in _listed(base, source, middle):
            for second, _ in onward:
                yield (*first, *second), phases + ((1, (), 0),) * len(second)


def _of_hops(topology: Topology, hops_to: Callable[[int], Hops], source: int, destination: int) -> Iterator[Traced]:
    """Yield the paths along next hops that are known to lead there."""
    hops = hops_to(destination)
    trail: list[tuple[int, tuple[int, ...]]] = [(source, ())]
    while trail:
        node, channels = trail.pop()
        if node == destination:
            yield channels, ((0, (), 0),) * len(channels)
            continue
        for c in hops.channel[hops.ptr[node] : hops.ptr[node + 1]].tolist():
            trail.append((int(topology.head[c]), (*channels, c)))


def _of_programs(topology: Cartesian, programs: tuple[Program, ...], source: int, destination: int) -> Iterator[Traced]:
    """Yield the paths of phase programs; the same channels in other phases or orders are another path here."""
    start, end = topology.coordinates(source), topology.coordinates(destination)
    for program in programs:
        if not program.probability or not program.serves(start, end):
            continue
        choices = [
            list(segments(along, draw, start[dim], end[dim]))
            for dim, (along, draw) in enumerate(zip(topology.axes, program.draws(len(start)), strict=True))
        ]
        for slots in sequences(program, len(start)):
            for drawn in product(*choices):
                at, channels, phases = source, [], []
                for slot in slots:
                    for link in drawn[slot.dim][slot.part].links:
                        channels.append(int(topology.link_zero[slot.dim][at]) + link)
                        phases.append((slot.phase, slot.order, slot.first))
                        at = int(topology.head[channels[-1]])
                yield tuple(channels), tuple(phases)
