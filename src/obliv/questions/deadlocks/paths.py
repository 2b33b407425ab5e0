"""Dependencies of routings: by next hops, many destinations at a time, or by their paths, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise, product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import Progress, require_memory
from obliv.errors import RoutingError, SpecError, TooLargeError
from obliv.kernels import run
from obliv.loads.separable import Program
from obliv.loads.stored import Hops, joined
from obliv.questions.deadlocks.graph import (
    COORDINATES,
    PHASES,
    PLANE,
    PROGRAMS,
    Dependencies,
    Move,
    Scheme,
    bits_of,
    directions,
    find,
)
from obliv.questions.deadlocks.programs import segments, sequences
from obliv.questions.kernels.deadlocks import HopsTowards, Spread, Turns, count_along, spread
from obliv.routings.base import Routing
from obliv.routings.descriptions import NextHops, Programs, TwoPhases
from obliv.routings.dimension_ordered import require_grid
from obliv.routings.paths import checked_paths, require_all
from obliv.topologies.base import Topology
from obliv.topologies.base import find as description
from obliv.topologies.cartesian import Cartesian, directions_of

_TOGETHER = 64  # destinations whose next hops are held at a time


class Ends(NamedTuple):
    """The channels that a path may begin with, and those that it may end with."""

    begins: Array
    arrives: Array


def follow_hops(
    routing: NextHops, scheme: Scheme, dependencies: Dependencies, progress: Progress, starts: Array
) -> Ends:
    """Add the dependencies of next hops of the packets from some nodes, for a scheme that only counts turns."""
    held = _Held(routing.topology, scheme, 1)
    ends = Ends(np.zeros(routing.topology.channels, bool), np.zeros(routing.topology.channels, bool))
    done = 0
    for block, sources in _blocks(routing, starts):
        _count(routing, block, sources)
        while not run(spread, 20.0 * len(block.channel), done, block, sources, held.turns, held.state, *ends):
            held.add_to(dependencies)
            held = _Held(routing.topology, scheme, 2 * held.turns.classes)
        done += len(block.targets)
        progress("dependencies", done / len(routing.topology.terminals))
    held.add_to(dependencies)
    return ends


def count_paths(routing: NextHops) -> float:
    """Return the number of paths along the next hops, between all terminals together."""
    return sum(_count(routing, block, sources) for block, sources in _blocks(routing, routing.topology.terminals))


class _Held:
    """The channels that packets hold with a virtual channel, up to some number of turns, and what follows them."""

    def __init__(self, topology: Topology, scheme: Scheme, classes: int) -> None:
        if scheme.turned is None:
            raise RoutingError(f"scheme {scheme.name} depends on more than turns: paths must be followed one by one")
        where = directions(topology, scheme)
        (dim, step), kind = np.unique(np.stack([where.dim, where.step]), axis=1, return_inverse=True)
        shape = len(dim), len(dim)
        turned = np.broadcast_to(scheme.turned(dim[:, None], step[:, None], dim, step), shape).astype(bool)
        same = np.equal.outer(np.arange(len(dim)), np.arange(len(dim)))
        bits = 2 if scheme.dateline else 1
        first = np.searchsorted(topology.tail, np.arange(topology.nodes + 1))
        self.turns = Turns(
            head=topology.head.astype(np.int64),
            first=first,
            kind=kind.reshape(-1),
            turned=turned,
            straight=same & ~turned & scheme.dateline,
            wraps=where.wraps,
            classes=classes,
            bits=bits,
        )
        states, width = topology.channels * classes * bits, -(-int(np.diff(first).max(initial=1)) // 8)
        require_memory((14.0 + width) * states, "the channel dependency graph")
        self.state = Spread(np.zeros(states, np.int32), np.zeros(states, bool), np.zeros((states, width), np.uint8))

    def add_to(self, dependencies: Dependencies) -> None:
        """Add what packets hold, and what follows it."""
        turns, state = self.turns, self.state
        held = turns.classes * turns.bits
        offset = [dependencies.label((k // turns.bits, k % turns.bits)) * len(turns.head) for k in range(held)]
        numbers = np.array(offset, np.int64)
        channel, virtual = np.divmod(np.flatnonzero(state.used), held)
        dependencies.use(channel + numbers[virtual])
        before, byte = np.nonzero(state.follows)
        one, bit = np.nonzero(np.unpackbits(state.follows[before, byte][:, None], axis=1, bitorder="little"))
        channel, virtual = np.divmod(before[one], held)
        after = turns.first[turns.head[channel]] + 8 * byte[one] + bit
        pair = turns.kind[channel], turns.kind[after]
        dateline = turns.straight[pair] & ((virtual % turns.bits > 0) | turns.wraps[channel])
        then = (virtual // turns.bits + turns.turned[pair]) * turns.bits + dateline
        dependencies.follow(channel + numbers[virtual], after + numbers[then])


def follow_two_phases(base: NextHops, scheme: Scheme, dependencies: Dependencies, progress: Progress) -> None:
    """Add the dependencies of two phases by the same next hops, for a scheme that depends on the phase only."""
    topology = base.topology
    alone = Dependencies(topology.channels)
    ends = follow_hops(base, find("none"), alone, progress, topology.terminals)
    graph = alone.graph()
    tail, head = graph.channel[np.repeat(np.arange(len(graph.channel)), np.diff(graph.ptr))], graph.channel[graph.head]
    first, second = (
        dependencies.label((label, 0)) * topology.channels for label in scheme.labels([Move(0, 0, 0), Move(0, 0, 1)])
    )
    for start in (first, second):
        dependencies.use(graph.channel + start)
        dependencies.follow(tail + start, head + start)
    begins = np.flatnonzero(ends.begins)
    ptr = np.searchsorted(topology.tail[begins], np.arange(topology.nodes + 1))
    for c in np.flatnonzero(ends.arrives).tolist():
        node = int(topology.head[c])
        dependencies.follow(np.array(c + first), begins[ptr[node] : ptr[node + 1]] + second)


def _blocks(routing: NextHops, starts: Array) -> Iterator[tuple[HopsTowards, Array]]:
    """Yield the next hops towards all terminals, some at a time, and the places where packets from `starts` begin."""
    topology = routing.topology
    terminals = topology.terminals.astype(np.int64)
    for first in range(0, len(terminals), _TOGETHER):
        targets = terminals[first : first + _TOGETHER]
        places = (np.arange(len(targets))[:, None] * topology.nodes + starts).ravel()
        places = places[targets[places // topology.nodes] != places % topology.nodes]
        yield HopsTowards(topology.nodes, targets, *_hops_to(routing, targets)), places


def _hops_to(routing: NextHops, targets: Array) -> tuple[Array, Array]:
    """Return the next hops towards some terminals, one after another: where those of each node begin, and channels."""
    nodes = routing.topology.nodes
    if routing.next_channels is None:
        hops = joined([routing.hops_to(target) for target in targets.tolist()])
        return hops.ptr, hops.channel.astype(np.int64)
    node, target = np.tile(np.arange(nodes), len(targets)), np.repeat(targets, nodes)
    channel = np.where(node == target, -1, routing.next_channels(node, target))
    return starts(channel >= 0), channel[channel >= 0]


def _count(routing: NextHops, block: HopsTowards, sources: Array) -> float:
    """Return the number of paths; RoutingError if next hops end before the destination or form a loop."""
    head = routing.topology.head.astype(np.int64)
    counted = run(count_along, 20.0 * len(block.channel), block, sources, head)
    if counted.place >= 0:
        name = routing.topology.name_of
        here, end = name(counted.place % block.nodes), name(int(block.targets[counted.place // block.nodes]))
        if counted.loops:
            raise RoutingError(f"{routing.spec}: the next hops towards {end} form a loop through {here}")
        raise RoutingError(f"{routing.spec}: {here} has no next hop towards {end}")
    return float(counted.paths)


# Dependencies of routings by their paths, one after the other, each with its phases and orders


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
    hops_of = description(routing, NextHops)
    if hops_of is not None and (count := count_paths(hops_of)) > _PATHS:
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
    lacking = COORDINATES in rule.needs and directions_of(topology) is None
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
    for given in routing.describe():
        if isinstance(given, Programs):
            return partial(_of_programs, require_grid(routing.topology, routing.spec), given.programs)
        if isinstance(given, TwoPhases):
            return partial(_of_two_phases, given.base)
        if isinstance(given, NextHops):
            return partial(_of_hops, routing.topology, lru_cache(maxsize=1)(given.hops_to))
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
