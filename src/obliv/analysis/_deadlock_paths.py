"""Dependencies of routings by their paths, one after the other, each with its phases and orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from obliv.analysis._deadlock_axis import FIRST, segments
from obliv.analysis._deadlock_graph import Dependencies
from obliv.analysis._deadlock_programs import draw_of, sequences
from obliv.analysis._deadlock_schemes import Label, Move, Scheme, bits_of, lanes
from obliv.errors import RoutingError, SpecError, TooLargeError
from obliv.routing.cartesian import ProgramRouting
from obliv.routing.routing import Routing, TwoPhase, check_path

__all__ = ["OwnScheme", "follow_paths"]

OwnScheme = Callable[[Routing, tuple[int, ...]], Sequence[int]]

_HOPS = 10_000_000  # hops of all paths together


class _Traced(NamedTuple):
    """A path: its channels, for each the phase, the phase's order and the program's first dimension; its probability."""

    channels: tuple[int, ...]
    phases: tuple[tuple[int, tuple[int, ...], int], ...]
    chance: Fraction


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
    for done, s in enumerate(nodes):
        for d in nodes:
            total = Fraction(0)
            for channels, phases, chance in _traced(routing, s, d):
                total += chance
                if not chance:
                    continue
                check_path(routing, channels, s, d)
                hops += len(channels)
                if hops > _HOPS:
                    raise TooLargeError(
                        f"the paths of {routing.spec} on {topology.spec} have more than {_HOPS:,} hops: too many to go "
                        "through; choose a smaller network, or a scheme that needs no whole paths, such as none or turn"
                    )
                if isinstance(scheme, Scheme):
                    moves = [Move(dims[c], steps[c], *phase) for c, phase in zip(channels, phases, strict=True)]
                    labels: list[Label] = scheme.labels(moves)
                    passed = [wraps[c] for c in channels]
                    bits = bits_of(moves, labels, passed) if scheme.dateline else [0] * len(labels)
                    names: list[Any] = list(zip(labels, bits, strict=True))
                else:
                    names = _own(scheme, routing, channels)
                path = [c + found.label(name) * topology.channels for c, name in zip(channels, names, strict=True)]
                vertices.update(path)
                follows.update(pairwise(path))
            if total != 1 and not (s == d and total == 0):
                here, there = topology.name_of(s), topology.name_of(d)
                raise RoutingError(
                    f"{routing.spec}: the paths from {here} to {there} have total probability {total}, not 1"
                )
        progress((done + 1) / len(nodes))
    found.use(np.array(sorted(vertices), np.int64))
    pairs = np.array(sorted(follows), np.int64).reshape(-1, 2)
    found.follow(pairs[:, 0], pairs[:, 1])


def _own(scheme: OwnScheme, routing: Routing, channels: tuple[int, ...]) -> list[int]:
    """What a user's own scheme says about a path, checked."""
    name = getattr(scheme, "__name__", "the scheme")
    said = scheme(routing, channels)
    try:
        found = list(said)
    except TypeError:
        raise SpecError(f"{name} must return a virtual channel for each hop, not {said!r}") from None
    if len(found) != len(channels):
        raise SpecError(f"{name} returned {len(found)} virtual channels for a path of {len(channels)} hops")
    for number in found:
        if not isinstance(number, Integral) or isinstance(number, bool) or int(number) < 0:
            raise SpecError(f"{name} returned the virtual channel {number!r}: they are whole numbers from 0")
    return [int(number) for number in found]


def _traced(routing: Routing, source: int, destination: int) -> Iterator[_Traced]:
    if isinstance(routing, ProgramRouting):
        yield from _of_programs(routing, source, destination)
    elif isinstance(routing, TwoPhase):
        yield from _of_two_phases(routing, source, destination)
    else:
        for channels, chance in routing.paths(source, destination):
            yield _Traced(tuple(channels), ((0, (), 0),) * len(channels), Fraction(chance))


def _of_two_phases(routing: TwoPhase, source: int, destination: int) -> Iterator[_Traced]:
    terminals = routing.topology.terminals.tolist()
    for middle in terminals:
        onward = list(routing.base.paths(middle, destination))
        for first, chance in routing.base.paths(source, middle):
            for second, other in onward:
                phases = ((0, (), 0),) * len(first) + ((1, (), 0),) * len(second)
                yield _Traced((*first, *second), phases, chance * other / len(terminals))


def _of_programs(routing: ProgramRouting, source: int, destination: int) -> Iterator[_Traced]:
    """The paths of phase programs; equal channels with other phases are other paths here."""
    topology = routing.topology
    start, end = topology.coordinates(source), topology.coordinates(destination)
    dims = range(len(start))
    for program in routing.programs:
        if not program.probability or not program.serves(start, end):
            continue
        draws = [segments(topology.axes[x], draw_of(program, x, len(start)), start[x], end[x]) for x in dims]
        for drawn in product(*map(list, draws)):
            ...
