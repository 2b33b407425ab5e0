"""Dependencies of routings by their paths, one after the other, each with its phases and orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from numbers import Integral
from typing import Any

import numpy as np

from obliv.analysis._deadlock_axis import segments
from obliv.analysis._deadlock_graph import Dependencies
from obliv.analysis._deadlock_programs import draw_of, sequences
from obliv.analysis._deadlock_schemes import Move, Scheme, bits_of, lanes
from obliv.errors import RoutingError, SpecError, TooLargeError
from obliv.routing.cartesian import ProgramRouting
from obliv.routing.routing import Routing, TwoPhase, check_path

__all__ = ["OwnScheme", "follow_paths"]

OwnScheme = Callable[[Routing, tuple[int, ...]], Sequence[int]]

Phase = tuple[int, tuple[int, ...], int]  # number, order, first dimension of the program: the last fields of a move
Traced = tuple[tuple[int, ...], tuple[Phase, ...]]  # channels, and the phase of each

_HOPS = 10_000_000  # hops of all paths together


def follow_paths(
    routing: Routing, scheme: Scheme | OwnScheme, found: Dependencies, progress: Callable[[float], None]
) -> None:
    """Add the dependencies of all paths of all pairs of terminals; a user's own scheme is a function."""
    topology, where = routing.topology, lanes(routing.topology)
    dims, steps, wraps = where.dim.tolist(), where.step.tolist(), where.wraps.tolist()
    nodes = topology.terminals.tolist()
    vertices: set[int] = set()
    follows: set[tuple[int, int]] = set()
    hops = 0
    for done, (s, d) in enumerate(product(nodes, repeat=2)):
        for channels, phases in _traced(routing, s, d) if isinstance(scheme, Scheme) else _listed(routing, s, d):
            hops += len(channels)
            if hops > _HOPS:
                raise TooLargeError(
                    f"the paths of {routing.spec} on {topology.spec} have more than {_HOPS:,} hops, too many to go "
                    "through: choose a smaller network, or a scheme that only counts turns"
                )
            if isinstance(scheme, Scheme):
                moves = [Move(dims[c], steps[c], *phase) for c, phase in zip(channels, phases, strict=True)]
                labels = scheme.labels(moves)
                bits = bits_of(moves, labels, [scheme.dateline and wraps[c] for c in channels])
                names: list[Any] = list(zip(labels, bits, strict=True))
            else:
                names = _own(scheme, routing, channels)
            path = [c + found.label(name) * topology.channels for c, name in zip(channels, names, strict=True)]
            vertices.update(path)
            follows.update(pairwise(path))
        progress((done + 1) / len(nodes) ** 2)
    found.use(np.array(sorted(vertices), np.int64))
    pairs = np.array(sorted(follows), np.int64).reshape(-1, 2)
    found.follow(pairs[:, 0], pairs[:, 1])


def _own(scheme: OwnScheme, routing: Routing, channels: tuple[int, ...]) -> list[int]:
    """What a user's own scheme says about a path, checked."""
    name = getattr(scheme, "__name__", "the scheme")
    said: Any = scheme(routing, channels)
    try:
        numbers = list(said)
    except TypeError:
        raise SpecError(f"{name} must return a virtual channel for each hop, not {said!r}") from None
    if len(numbers) != len(channels):
        raise SpecError(f"{name} returned {len(numbers)} virtual channels for a path of {len(channels)} hops")
    for number in numbers:
        if not isinstance(number, Integral) or isinstance(number, bool) or int(number) < 0:
            raise SpecError(f"{name} returned {number!r} for a virtual channel: they are whole numbers from 0")
    return [int(number) for number in numbers]


def _traced(routing: Routing, source: int, destination: int) -> Iterator[Traced]:
    if isinstance(routing, ProgramRouting):
        return _of_programs(routing, source, destination)
    if isinstance(routing, TwoPhase):
        return _of_two_phases(routing, source, destination)
    return _listed(routing, source, destination)


def _listed(routing: Routing, source: int, destination: int) -> Iterator[Traced]:
    """The paths that a routing lists, checked; all of one phase."""
    total = Fraction(0)
    for channels, chance in routing.paths(source, destination):
        total += chance
        if chance:
            check_path(routing, channels, source, destination)
            yield channels, ((0, (), 0),) * len(channels)
    if total != 1 and not (source == destination and total == 0):
        here, there = routing.topology.name_of(source), routing.topology.name_of(destination)
        raise RoutingError(f"{routing.spec}: the paths from {here} to {there} have total probability {total}, not 1")


def _of_two_phases(routing: TwoPhase, source: int, destination: int) -> Iterator[Traced]:
    for middle in routing.topology.terminals.tolist():
        onward = list(_listed(routing.base, middle, destination))
        for first, phases in _listed(routing.base, source, middle):
            for second, _ in onward:
                yield (*first, *second), phases + ((1, (), 0),) * len(second)


def _of_programs(routing: ProgramRouting, source: int, destination: int) -> Iterator[Traced]:
    """The paths of phase programs; the same channels in other phases or orders are another path here."""
    topology = routing.topology
    start, end = topology.coordinates(source), topology.coordinates(destination)
    for program in routing.programs:
        if not program.probability or not program.serves(start, end):
            continue
        each = [
            list(segments(along, draw_of(program, dim, len(start)), start[dim], end[dim]))
            for dim, along in enumerate(topology.axes)
        ]
        for slots in sequences(program, len(start)):
            for drawn in product(*each):
                at, channels, phases = source, [], []
                for slot in slots:
                    for link in drawn[slot.dim][slot.part].links:
                        channels.append(topology.channel(at, slot.dim, link))
                        phases.append((slot.phase, slot.order, slot.first))
                        at = int(topology.head[channels[-1]])
                yield tuple(channels), tuple(phases)
