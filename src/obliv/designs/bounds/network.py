"""What no routing can beat on a network, and what one attains."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.codec import pack
from obliv._util.progress import Progress, silent, within
from obliv._util.typing import Array
from obliv.designs.bounds.capacity import capacity_of
from obliv.designs.bounds.congestion import distance_under, least_congestion
from obliv.designs.bounds.cut import cut_load, narrow_bisection
from obliv.designs.minimal import require_connected
from obliv.designs.optimize import design
from obliv.designs.saved import packed
from obliv.errors import InputError, TooLargeError
from obliv.matching.solve import maximum_weight
from obliv.matching.weights import from_entries
from obliv.results import Bounds, NetworkBounds, provenance
from obliv.results.numbers import float_bounds
from obliv.topologies.base import Topology
from obliv.topologies.carried import carried
from obliv.topologies.make import topology as topology_of

__all__ = ["bounds", "matching_bound"]

_ROUNDS = 6  # of the search for a bad permutation
_COLUMNS = 400_000  # of the largest program for one permutation


def bounds(topology: Topology | str, *, gap: float = 1e-3, progress: Progress | None = None) -> NetworkBounds:
    """Return proved bounds of the least channel loads: capacity, oblivious and adaptive worst case, bisection.

    Parameters
    ----------
    topology : Topology or str
    gap : float
        Relative distance of the bounds of the oblivious worst case at which its search may end.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    NetworkBounds
        Every number is exact, or a proved lower bound beside a load that is attained.

    Raises
    ------
    MissingExtraError
        If the solver (highspy) is not installed.
    TooLargeError
        If a linear program would not fit in memory, and terminals have rates. Without them the matching bound is
        returned, and what else can be computed.

    Notes
    -----
    The capacity is a flow of uniform traffic, bounded by lengths of channels. The oblivious worst case is that of
    :func:`obliv.design`. For adaptive routing the upper bound is the oblivious one, and the lower one the least load of
    a permutation: one far apart under some lengths, whose best flow gives new lengths, and so on. With unit lengths
    this is the matching bound, whose permutation is an exact assignment. A bisection is found by spectra and exchanges;
    no bisection is narrower than uniform traffic at capacity allows.

    References
    ----------
    P. Namyar et al., "A throughput-centric view of the performance of datacenter topologies".

    Examples
    --------
    >>> import obliv
    >>> limits = obliv.bounds("mesh:4x4")
    >>> limits.capacity, limits.oblivious, limits.bisection
    (Fraction(1, 1), Fraction(2, 1), Fraction(2, 1))
    """
    began = time.perf_counter()
    network, step = topology_of(topology), progress or silent
    require_connected(network)
    if not 0 < gap < 1:
        raise InputError(f"a gap of {gap:g}: choose a number between 0 and 1, such as 1e-3")
    matching, farthest = matching_bound(network) if network.unit_rates else (None, None)
    best, capacity, certificate = None, None, dict[str, Any]()
    try:
        best = design(network, then=None, gap=gap, progress=within(step, 0.0, 0.5))
        certificate["oblivious"] = replace(best, provenance=replace(best.provenance, wall_seconds=0.0)).to_dict()
    except TooLargeError:
        if matching is None:
            raise
        inside = carried(network)
        certificate |= {} if inside is None else {"network": inside, "channels": network.channels}
    terminals = len(network.terminals)
    if best is not None or terminals * network.channels <= _COLUMNS:
        step("capacity", 0.5)
        least, uniform = capacity_of(network, step)
        capacity = float_bounds(least.lower, uniform.load)
        certificate["capacity_lengths"] = pack(least.length)
        certificate["capacity_paths"] = packed(uniform.paths._replace(whole=uniform.paths.whole // terminals))
    step("adaptive routing", 0.7)
    half = narrow_bisection(network)
    oblivious, adaptive, permutation = None, None, None
    crossing_limits = []
    if best is not None:
        upper = _upper(best.channel_load)
        oblivious = best.channel_load
        crossing_limits.append(upper)
        if network.unit_rates:
            lower, permutation, lengths = _bad_permutation(network, half, within(step, 0.7, 1.0))
            adaptive = float_bounds(lower, upper)
            oblivious = adaptive if lower > _lower(oblivious) else oblivious
            certificate["adaptive_lengths"] = pack(lengths)
    if capacity is not None and network.unit_rates:
        crossing_limits.append(Fraction(terminals, -(-terminals // 2)) * _upper(capacity))
    return NetworkBounds(
        topology=network.spec,
        routing="any",
        provenance=provenance(
            {"topology": network.spec}, time.perf_counter() - began, "bounded", sources=network.sources
        ),
        subject=None if best is None else best.subject,
        capacity=capacity,
        oblivious=oblivious,
        adaptive=adaptive,
        bisection=float_bounds(cut_load(network, half), min(crossing_limits)) if crossing_limits else None,
        matching_bound=matching,
        permutation=permutation,
        matching_permutation=farthest,
        half=tuple(np.flatnonzero(half).tolist()) if crossing_limits else (),
        certificate=certificate,
    )


def _lower(load: Fraction | Bounds) -> Fraction:
    return load.lower if isinstance(load, Bounds) else load


def _upper(load: Fraction | Bounds) -> Fraction:
    return load.upper if isinstance(load, Bounds) else load


def matching_bound(topology: Topology) -> tuple[Fraction, tuple[int, ...]]:
    """Return the largest Σ distance of a permutation over Σ bandwidth, which no routing beats, and the permutation.

    Packets of a permutation cross at least as many channels as its distances add up to (Namyar et al., TUB).

    Examples
    --------
    >>> import obliv
    >>> matching_bound(obliv.topology("ring:5"))[0]
    Fraction(1, 1)
    """
    hops = np.ones(topology.channels, np.int64)
    image = _farthest(distance_under(topology, hops))
    return _load_of(topology, image, hops), image


def _bad_permutation(topology: Topology, half: Array, progress: Progress) -> tuple[Fraction, tuple[int, ...], Array]:
    """Return the best proved load of a permutation that was found, the permutation, and the lengths that prove it."""
    n, lengths = len(topology.terminals), np.ones(topology.channels, np.int64)
    across = half[topology.tail] != half[topology.head]
    best: tuple[Fraction, tuple[int, ...], Array] | None = None
    for start in (lengths, across.astype(np.int64)):
        lengths = start
        for turn in range(_ROUNDS):
            image = _farthest(distance_under(topology, lengths))
            load = _load_of(topology, image, lengths)
            if best is not None and load <= best[0]:
                break
            best = (load, image, lengths)
            if n * topology.channels > _COLUMNS:
                break
            traffic = np.zeros((n, n), np.int64)
            traffic[np.arange(n), image] = 1
            least = least_congestion(topology, traffic, 1)
            if least.lower > best[0]:
                best = (least.lower, image, least.length)
            lengths = least.length
            progress("adaptive routing", (turn + 1) / _ROUNDS)
    if best is None:
        raise InputError("a network without channels has no bounds")
    return best


def _farthest(distance: Array) -> tuple[int, ...]:
    """Return the permutation with the largest sum of distances."""
    source, destination = np.nonzero(distance)
    n = len(distance)
    matching = maximum_weight(from_entries(source, destination, distance[source, destination]))
    image, taken = [-1] * n, [False] * n
    for s, d in zip(*_pairs(matching, source, destination), strict=True):
        image[s], taken[d] = d, True
    free = iter([d for d in range(n) if not taken[d]])
    return tuple(d if d >= 0 else next(free) for d in image)


def _pairs(matching: Any, source: Array, destination: Array) -> tuple[list[int], list[int]]:
    used = matching.flow > 0
    return source[used].tolist(), destination[used].tolist()


def _load_of(topology: Topology, image: tuple[int, ...], lengths: Array) -> Fraction:
    """Return the load of a permutation that lengths prove."""
    between = distance_under(topology, lengths)
    spent = sum((topology.bandwidth_of(c) * int(x) for c, x in enumerate(lengths.tolist()) if x), Fraction(0))
    return Fraction(int(between[np.arange(len(image)), list(image)].sum())) / spent if spent else Fraction(0)
