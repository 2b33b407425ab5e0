"""What an analysis is asked about: a routing or the pair loads of one; the search for symmetries of networks."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from obliv._util.arrays import Array
from obliv._util.lazy import from_above
from obliv._util.progress import Progress
from obliv.errors import InputError, OblivError
from obliv.loads.base import PairLoads
from obliv.results.base import NOT_VERIFIED, provenance
from obliv.routings.base import Routing, RoutingLike, is_adaptable
from obliv.routings.make import routing
from obliv.topologies.base import Instead, Topology, find, require_pairs
from obliv.topologies.isomorphism import graph_search, undirected

_QUICK = 10_000  # terminals times channels up to which the program of a capacity takes a few seconds at most
_QUICK_SYMMETRIC = 300_000  # the same with symmetries of the topology

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

#: What analyses take: a routing, an object of a user that can be one, or pair loads.
Subject = RoutingLike | PairLoads


class Analysis(Protocol[P, R]):
    """A function of a routing and more, which takes a topology and a routing in place of the routing, too."""

    @overload
    def __call__(self, x: Subject, /, *more: P.args, **named: P.kwargs) -> R: ...

    @overload
    def __call__(self, topology: str | Topology, routing: Any, /, *more: P.args, **named: P.kwargs) -> R: ...


def by_specs(analysis: Callable[Concatenate[Any, P], R]) -> Analysis[P, R]:
    """Let an analysis take a topology and a routing, as specs or objects, in place of a routing (decorator)."""

    @wraps(analysis)
    def analyze(*given: Any, **named: Any) -> R:
        if given and isinstance(given[0], str | Topology):
            if len(given) == 1 and "routing" not in named:
                own = analysis.__name__
                raise InputError(f'{own} needs a routing, or a topology and a routing: {own}("mesh:8x8", "o1turn")')
            place, *more = given
            chosen = named.pop("routing") if not more else more.pop(0)
            given = (routing(chosen, place), *more)
        elif (
            len(given) > 1
            and isinstance(given[1], str)
            and not (isinstance(given[0], PairLoads) or is_adaptable(given[0]))
        ):
            raise InputError(
                f"a {type(given[0]).__name__} is not a topology: make one with obliv.from_networkx or obliv.build"
            )
        return analysis(*given, **named)

    return analyze


def routing_of(x: Any, analysis: str) -> Routing:
    """Return the routing that an argument stands for, an object with paths and a topology included."""
    if isinstance(x, PairLoads):
        raise InputError(f"{analysis} needs a routing: pair loads do not distinguish paths")
    if isinstance(x, Routing) or (is_adaptable(x) and hasattr(x, "topology")):
        chosen = x if isinstance(x, Routing) else routing(x)
        require_pairs(chosen.topology)
        return chosen
    if is_adaptable(x) and not isinstance(x, type):
        raise InputError(f"{analysis}: a {type(x).__name__} has no topology: pass obliv.routing(it, topology)")
    what = f"the spec {x!r:.60}" if isinstance(x, str) else f"a {type(x).__name__}"
    raise InputError(f"{analysis} needs a routing, not {what}: make one with obliv.routing(SPEC, topology)")


def subject_of(x: Any, analysis: str) -> Routing | PairLoads:
    """Return the routing or the pair loads that an argument stands for."""
    if not isinstance(x, PairLoads):
        return routing_of(x, analysis)
    require_pairs(x.topology)
    return x


def loads_of(x: Any, analysis: str, progress: Progress | None = None) -> PairLoads:
    """Return the exact pair loads of an argument."""
    subject = subject_of(x, analysis)
    if isinstance(subject, Routing):
        return subject.pair_loads(progress=progress)
    if subject.samples is not None:
        raise InputError(f"{analysis} needs exact pair loads, these are estimates: leave out the samples of paths")
    return subject


def sampled_of(
    subject: Routing | PairLoads, samples: int, rng: np.random.Generator, progress: Progress | None = None
) -> PairLoads:
    """Return the pair loads of a routing, estimated from random paths."""
    if isinstance(subject, Routing):
        return subject.pair_loads(samples, rng, progress)
    raise InputError("samples need a routing: pair loads that exist already cannot be sampled")


def exactness_of(subject: Routing | PairLoads, samples: int | None) -> str:
    """Return what results say of their numbers where paths may be sampled: exact, or estimated, by which assumption."""
    if samples is None:
        return NOT_VERIFIED if subject.declared else "exact"
    return f"estimated; the routing is {NOT_VERIFIED}" if subject.declared else "estimated"


def identity(
    subject: Routing | PairLoads,
    began: float,
    exactness: str = "",
    seed: int | None = None,
    sources: tuple[tuple[str, str], ...] = (),
    **specs: Any,
) -> dict[str, Any]:
    """Return what all results have: network, routing, and their provenance; `sources` are those of other arguments."""
    names = {"topology": subject.topology.spec, "routing": name_of(subject)}
    read, exactness = (*sources_of(subject), *sources), exactness or exactness_of(subject, None)
    return {**names, "provenance": provenance(names | specs, time.perf_counter() - began, exactness, seed, read)}


def capacity_is_quick(topology: Topology) -> bool:
    """Return whether a linear program of a few seconds may give a capacity that has no closed form."""
    if topology.capacity_load is not None or not topology.unit_rates or find(topology, Instead) is not None:
        return False
    limit = _QUICK_SYMMETRIC if topology.generators or topology.translations else _QUICK
    return len(topology.terminals) > 1 and 0 < len(topology.terminals) * topology.channels <= limit


def with_known_capacity(topology: Topology) -> Topology:
    """Return a topology with the capacity that results state: a closed form, or what a small linear program proves.

    Networks that are too large for that are returned as they are, and so are all where there is no solver or no time.
    """
    if not capacity_is_quick(topology):
        return topology
    try:
        return _with_capacity(topology)
    except OblivError:  # an answer does not depend on what it is compared with
        return topology


@lru_cache(maxsize=16)  # many routings on one network are compared, some of them on copies that are equal
def _with_capacity(topology: Topology) -> Topology:
    known: Topology = from_above("capacity")(topology)
    return known


def name_of(subject: Routing | PairLoads) -> str:
    """Return what results call it: the spec of a routing."""
    return subject.spec if isinstance(subject, Routing) else "pair loads"


def sources_of(subject: Routing | PairLoads) -> tuple[tuple[str, str], ...]:
    """Return the files behind a topology and a routing, with their digests."""
    return subject.topology.sources + (subject.sources if isinstance(subject, Routing) else ())


# A search for symmetries of networks without generators, such as those from files (needs igraph or canonaut).
#
# Automorphisms of the bare graph are seldom ones of the routing.  Channels are therefore colored first by a signature
# of their pair loads that does not depend on the numbering.


_ROUNDS = 3  # of refinement


def automorphisms(loads: PairLoads, seconds: float = 20.0) -> list[Array]:
    """Return generators of a group of node maps that the routing may keep; each still has to be verified.

    Shape: (nodes,).
    """
    topology = loads.topology
    graph = undirected(topology, _node_colors(loads), signatures(loads).tolist())
    generators = graph_search("automorphism_group", [graph], seconds)
    maps = [np.array(g[: topology.nodes]) for g in (generators or [[]])[0]]
    return [g for g in maps if not np.array_equal(g, np.arange(topology.nodes))]


def signatures(loads: PairLoads) -> Array:
    """Return a class number for every channel; channels that a symmetry carries onto each other have the same.

    By one-dimensional Weisfeiler-Leman refinement of each channel's weights between sources and destinations.
    """
    numbers: dict[Any, int] = {}
    classes = []
    n = loads.terminals
    for channel in range(loads.topology.channels):
        row, col, weight = loads.weights(channel).spread()
        values = np.unique(weight, return_inverse=True)[1] if len(weight) else weight
        by_row, by_col = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for _ in range(_ROUNDS):
            by_row, by_col = _refined(row, values, by_col, n), _refined(col, values, by_row, n)
        speed = loads.topology.bandwidth_of(channel)
        key = (speed, tuple(sorted(by_row.tolist())), tuple(sorted(by_col.tolist())), tuple(sorted(map(int, weight))))
        classes.append(numbers.setdefault(hash(key), len(numbers)))
    return np.array(classes, np.int64)


def _refined(index: Array, values: Array, colors: Array, n: int) -> Array:
    """For each row a color that depends on its weights and on the colors across, not on their order."""
    if not len(index):
        return np.zeros(n, np.int64)
    mixed = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= colors[index].astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    total = np.zeros(n, np.uint64)
    np.add.at(total, index, mixed)
    return total.astype(np.int64)


def _node_colors(loads: PairLoads) -> list[int]:
    """Return a color for every node: 0, or from 1 on the rates of a terminal."""
    topology = loads.topology
    colors = [0] * topology.nodes
    numbers: dict[Any, int] = {}
    for node, *rates in zip(topology.terminals.tolist(), *topology.rates(), strict=True):
        colors[node] = numbers.setdefault(tuple(rates), len(numbers) + 1)
    return colors
