"""Locality: how far packets go, against the least that they could.

The lengths of paths are found without enumerating pairs or paths wherever their structure allows.  A polynomial stands
for a distribution of lengths, the chance of h hops at power h: independent lengths add up as polynomials multiply.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError, RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.programs import ANYWHERE, TO_INTERMEDIATE, Program
from obliv.results import provenance
from obliv.results.locality import Locality
from obliv.routings.base import HopRouting, Mix, Routing, TwoPhase, checked_paths
from obliv.routings.cartesian import SPREAD
from obliv.routings.distances import Distances
from obliv.routings.graph import MinimalRouting
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Axis, Cartesian

__all__ = ["locality", "minimal_hops"]

Lengths = dict[int, Fraction]  # polynomial: power and coefficient
Step = Callable[[str, float], None]


def locality(x: Any, *, progress: Step | None = None) -> Locality:
    """Mean hops over all ordered pairs, self-pairs included, against the least, and how long the paths are.

    Parameters
    ----------
    x : Routing or PairLoads
        Pair loads give the mean only: they do not tell paths apart.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Locality
        Exact.

    Raises
    ------
    RoutingError
        If the routing has loops or gaps.
    InputError
        If the pair loads are estimates, or a terminal cannot be reached.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.locality(obliv.routing("u2turn", obliv.mesh(3, 3)))
    >>> result.hops, result.hops_over_minimal
    (Fraction(64, 27), Fraction(4, 3))
    >>> [str(share) for share in result.lengths]
    ['1/9', '16/81', '56/243', '56/243', '4/27', '16/243', '4/243']
    """
    began = time.perf_counter()
    if isinstance(x, PairLoads) and x.samples is not None:
        raise InputError("locality needs exact pair loads: leave out the samples of paths")
    topology: Topology = x.topology
    pairs = len(topology.terminals) ** 2
    lengths: tuple[Fraction, ...] | None = None
    if isinstance(x, PairLoads):
        hops = x.hops()
    else:
        found = _lengths(x, progress or (lambda what, share: None))
        lengths = tuple(found.get(h, Fraction(0)) / pairs for h in range(max(found) + 1))
        hops = sum((h * share for h, share in enumerate(lengths)), Fraction(0))
    routing = x.spec if isinstance(x, Routing) else "pair loads"
    return Locality(
        topology=topology.spec,
        routing=routing,
        provenance=provenance(
            {"topology": topology.spec, "routing": routing},
            time.perf_counter() - began,
            sources=topology.sources + (x.sources if isinstance(x, Routing) else ()),
        ),
        subject=x,
        hops=hops,
        minimal_hops=minimal_hops(topology),
        lengths=lengths,
    )


def minimal_hops(topology: Topology) -> Fraction:
    """The least mean hops of any routing: the mean distance over all ordered pairs of terminals, self-pairs included.

    Examples
    --------
    >>> import obliv
    >>> minimal_hops(obliv.torus(9, 9))
    Fraction(40, 9)
    """
    if isinstance(topology, Cartesian) and topology.all_terminals:  # distances add up over the dimensions
        return sum((Fraction(int(_far(along).sum()), along.radix**2) for along in topology.axes), Fraction(0))
    total = sum(int(far.sum()) for far in _distances(topology))
    return Fraction(total, len(topology.terminals) ** 2)


def _distances(topology: Topology) -> Iterator[Array]:
    """To every terminal in turn the distances from all terminals."""
    far = Distances(topology.nodes, topology.tail, topology.head, len(topology.terminals))
    for destination in topology.terminals.tolist():
        reached = far([destination])[topology.terminals]
        if (reached < 0).any():
            lost = topology.name_of(int(topology.terminals[int(np.argmin(reached))]))
            raise InputError(f"{topology.spec}: {topology.name_of(destination)} cannot be reached from {lost}")
        yield reached


def _lengths(routing: Routing, step: Step) -> Lengths:
    """The sum of the polynomials of all ordered pairs."""
    topology = routing.topology
    total: Lengths = {}
    if isinstance(routing, Mix):
        for weight, part in routing._whole.parts:
            _add(total, _lengths(part, step), weight)
    elif isinstance(topology, Cartesian) and routing.programs and topology.all_terminals:
        for program in routing.programs:
            _add(total, _of_program(topology, program))
    elif isinstance(routing, TwoPhase):
        into: list[Lengths] = [{} for _ in topology.terminals]
        out: list[Lengths] = [{} for _ in topology.terminals]
        for i, j, lengths in _pairs(routing.base, step):
            _add(out[i], lengths)
            _add(into[j], lengths)
        for middle, first in enumerate(into):  # the two phases are independent once the intermediate is drawn
            _add(total, _times(first, out[middle]), Fraction(1, len(into)))
    elif isinstance(routing, MinimalRouting):
        for reached in _distances(topology):
            for h, count in enumerate(np.bincount(reached).tolist()):
                total[h] = total.get(h, Fraction(0)) + count
    else:
        for _, _, lengths in _pairs(routing, step):
            _add(total, lengths)
    return total


def _of_program(topology: Cartesian, program: Program) -> Lengths:
    """The product over dimensions of what each adds: given a pair, their draws are independent of each other."""
    condition = dict(program.when)
    stopping = {
        dim
        for phase in program.phases
        if phase.target == TO_INTERMEDIATE
        for _, dim, _ in phase.each_turn(len(topology.axes))
    }
    whole: Array = np.ones(1, object)
    for dim, along in enumerate(topology.axes):
        draw = program.draw if dim in stopping else SPREAD if dim in program.spread else ""
        whole = np.convolve(whole, _along(along, draw, condition.get(dim)))
    share = program.probability / prod(topology.radices)
    return {h: share * int(count) for h, count in enumerate(whole) if count}


@cache
def _along(axis: Axis, draw: str, differ: bool | None) -> Array:
    """The lengths along one dimension, summed over its ordered pairs that agree or differ; over a denominator radix."""
    k, far = axis.radix, _far(axis)
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


@cache
def _far(axis: Axis) -> Array:
    """Distances along one dimension."""
    k = axis.radix
    start, end = np.arange(k)[:, None], np.arange(k)[None, :]
    apart: Array = abs(start - end)
    if axis.kind == "clique":
        apart = (apart > 0).astype(np.int64)
    elif axis.kind == "ring":
        apart = np.minimum(apart, k - apart)
    return apart


def _pairs(routing: Routing, step: Step) -> Iterator[tuple[int, int, Lengths]]:
    """Every ordered pair of terminals with the lengths of its paths."""
    terminals = routing.topology.terminals.tolist()
    for j, destination in enumerate(terminals):
        if isinstance(routing, HopRouting):
            left = _hops_left(routing, destination)
            yield from ((i, j, left[source]) for i, source in enumerate(terminals))
        else:
            yield from ((i, j, _of_paths(routing, source, destination)) for i, source in enumerate(terminals))
        step("path lengths", (j + 1) / len(terminals))


def _of_paths(routing: Routing, source: int, destination: int) -> Lengths:
    lengths: Lengths = {}
    for channels, chance in checked_paths(routing, source, destination):
        lengths[len(channels)] = lengths.get(len(channels), Fraction(0)) + chance
    total = sum(lengths.values(), Fraction(0))
    if source == destination and total == 0:  # nothing is sent out
        return {0: Fraction(1)}
    if total != 1:
        here, there = routing.topology.name_of(source), routing.topology.name_of(destination)
        raise RoutingError(f"{routing.spec}: the paths from {here} to {there} have total probability {total}, not 1")
    return lengths


def _hops_left(routing: HopRouting, destination: int) -> dict[int, Lengths]:
    """The lengths from every node that a packet for a destination may meet; each from those of its next nodes."""
    topology = routing.topology
    found: dict[int, Lengths] = {destination: {0: Fraction(1)}}
    ahead: dict[int, list[tuple[int, Fraction]]] = {}
    for source in topology.terminals.tolist():
        trail = [source]
        while trail:
            node = trail[-1]
            if node in found:
                trail.pop()
                continue
            known = node in ahead
            if not known:
                ahead[node] = [(int(topology.head[c]), chance) for c, chance in routing.chances(node, destination)]
                if not ahead[node]:
                    here, there = topology.name_of(node), topology.name_of(destination)
                    raise RoutingError(f"{routing.spec}: {here} has no next hop towards {there}")
            missing = [head for head, _ in ahead[node] if head not in found]
            if missing and known:
                here, there = topology.name_of(node), topology.name_of(destination)
                raise RoutingError(f"{routing.spec}: the next hops towards {there} form a loop through {here}")
            if missing:
                trail += missing
                continue
            lengths: Lengths = {}
            for head, chance in ahead[node]:
                for h, share in found[head].items():
                    lengths[h + 1] = lengths.get(h + 1, Fraction(0)) + chance * share
            found[node] = lengths
            trail.pop()
    return found


def _add(total: Lengths, more: Lengths, weight: Fraction = Fraction(1)) -> None:
    for h, share in more.items():
        total[h] = total.get(h, Fraction(0)) + weight * share


def _times(one: Lengths, two: Lengths) -> Lengths:
    found: Lengths = {}
    for g, first in one.items():
        for h, second in two.items():
            found[g + h] = found.get(g + h, Fraction(0)) + first * second
    return found
