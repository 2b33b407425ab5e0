"""The exact worst case of a routing, over all admissible traffic, with a certificate."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import whole
from obliv._util.progress import Progress, rising, within
from obliv.analysis.subject import (
    Subject,
    by_specs,
    exactness_of,
    identity,
    sources_of,
    subject_of,
    with_known_capacity,
)
from obliv.analysis.worst_case.symmetry import orbits, verified
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.loads.search import ChannelSearch, search_channels
from obliv.matching.shipments import Flows
from obliv.results import Channel, Estimate, WorstCase
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from obliv._util.rng import Rng

__all__ = ["named_channel", "solved_worst_case", "worst_case", "worst_load"]


@by_specs
def worst_case(
    x: Subject,
    *,
    symmetry: str = "auto",
    certificate: bool = False,
    samples: int | None = None,
    rng: Rng = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> WorstCase:
    """Return the largest load that any admissible traffic puts on a channel (Towles, section 3).

    Parameters
    ----------
    x : Routing or PairLoads
        What to analyze.
    symmetry : {"auto", "search", "off"}
        ``auto`` uses the topology's own symmetries, ``search`` looks for automorphisms first (needs igraph or
        canonaut), ``off`` solves every channel. Each is used only after it was verified on the pair loads.
    certificate : bool
        Whether to keep what proves the claim for all channels, for :meth:`~obliv.WorstCase.save`.
    samples : int, optional
        Estimate the pair loads from so many random paths per pair, for routings with too many paths to enumerate.
        The result is then an estimate: the traffic found is evaluated again on fresh paths, since a maximum over
        noise is biased upwards; its `interval` holds the worst case in 95 of 100 runs, from 5 samples on.
    rng : numpy.random.Generator or int, optional
        Source of the samples, or its seed; default 0.
    executor : concurrent.futures.Executor, optional
        Solve channels in its workers: processes or threads, Dask, MPI. The result is the same to the bit, certificate
        included, whatever the number of workers; what a worker that dies was working on is computed again. Where
        channels take microseconds each, the calling process solves them all.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    WorstCase
        Exact: integers over a common denominator throughout, no rounding anywhere.

    Raises
    ------
    RoutingError
        If the routing has loops or gaps.
    TooLargeError
        If the pair loads would not fit in memory.

    Notes
    -----
    By Birkhoff's theorem a permutation attains the worst case of a channel, which is a maximum-weight matching of its
    pair loads; where terminals have rates it is a transportation problem and the witness a traffic matrix.

    References
    ----------
    [Tow01] B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_case(obliv.routing("dor", obliv.topology("torus:5x5x5")))
    >>> result.channel_load, result.fraction_of_capacity
    (Fraction(10, 1), Fraction(3, 50))
    """
    return solved_worst_case(
        x,
        symmetry=symmetry,
        certificate=certificate,
        samples=samples,
        rng=rng,
        executor=executor,
        progress=progress,
    )[0]


def solved_worst_case(
    x: Subject,
    *,
    symmetry: str = "auto",
    certificate: bool = False,
    samples: int | None = None,
    rng: Rng = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    inside: bool = False,
    capacity: bool = True,
) -> tuple[WorstCase, ChannelSearch]:
    """Return the worst case as :func:`worst_case`, and the search with the optimum of every channel it solved.

    With `inside` the certificate is part of another one, which has the network; without `capacity`, one that has no
    closed form is left out.
    """
    began = time.perf_counter()
    step = rising(progress)
    if not isinstance(certificate, bool):
        from obliv._util.rationals import boolean  # raises, or takes one of NumPy's

        certificate = boolean(certificate, "certificate")
    if samples is not None and certificate:
        raise InputError("an estimate has no certificate: leave out samples or the certificate")
    random, seed = _chance(samples, rng)
    subject = subject_of(x, "worst_case")
    loads = _loads_of(subject, samples, random, within(step, 0.0, 0.3))
    classes = orbits(loads.topology, verified(loads, symmetry, within(step, 0.3, 0.3)))
    channels = np.unique(classes.focus)
    search = search_channels(loads, channels, prices=certificate, executor=executor, progress=within(step, 0.3, 1.0))
    topology, scale = loads.topology, search.rates.scale
    sources = sources_of(subject)
    claim = _load(loads, search)
    flows, permutation = _traffic(loads, search)
    known = with_known_capacity(topology) if capacity and not inside else topology
    proof = None
    if certificate and search.solution is not None:
        from obliv.analysis.worst_case.certificate import certificate_of

        proof = certificate_of(loads, classes, search.prices, claim, search.worst, permutation or (), sources, inside)
        if known.capacity_proof is not None:
            proof["capacity"] = known.capacity_proof
    load: Fraction | Estimate = claim
    if loads.samples is not None and isinstance(subject, Routing) and search.solution is not None:
        from obliv.analysis.estimate import largest_load

        rates = [(s, d, Fraction(amount, scale)) for s, d, amount in flows]
        load = largest_load(subject, loads.samples, search.worst, rates, claim, random)
    channel, names = named_channel(topology, search.worst)
    result = WorstCase(
        **identity(subject, began, exactness_of(subject, loads.samples), seed),
        subject=x,
        channel_load=load,
        capacity=known.capacity,
        rated=not topology.unit_rates,
        channel=channel,
        permutation=permutation,
        traffic=None if permutation is not None else tuple((s, d, Fraction(amount, scale)) for s, d, amount in flows),
        focus_channels=len(channels),
        certificate=proof,
        names=names,
        terminal_names=_terminal_names(topology),
        crossing=_crossing(loads, search.worst, flows),
    )
    return result, search


def _chance(samples: int | None, rng: Rng) -> tuple[Any, int | None]:
    """Return the generator and, of an estimate, the seed; exact answers draw nothing and load less."""
    if samples is None and rng is None:
        return None, None
    from obliv._util.rng import generator, seed_of

    return generator(rng), None if samples is None else seed_of(rng)


def _loads_of(subject: Routing | PairLoads, samples: int | None, rng: Rng, step: Progress) -> PairLoads:
    if isinstance(subject, Routing):
        return subject.pair_loads(samples, rng, step)
    if samples is not None:
        raise InputError("samples need a routing: pair loads that exist already cannot be sampled")
    if subject.samples is not None:
        raise InputError(
            "these pair loads are estimates: give the routing and samples=, so that fresh paths can be drawn"
        )
    return subject


def worst_load(loads: PairLoads, progress: Progress | None = None) -> Fraction:
    """Return the exact worst channel load of exact pair loads, without the traffic that attains it.

    Parameters
    ----------
    loads : PairLoads
    progress : callable, optional
        Called with what is being done and the share that is done.
    """
    step = rising(progress)
    channels = np.unique(orbits(loads.topology, verified(loads, "auto", step)).focus)
    return _load(loads, search_channels(loads, channels, progress=step))


def _load(loads: PairLoads, search: ChannelSearch) -> Fraction:
    """Return the load of the worst channel."""
    if search.solution is None:
        return Fraction(0)
    units = loads.denominator * search.rates.scale
    return Fraction(search.solution.value, units) / loads.topology.bandwidth_of(search.worst)


def _traffic(loads: PairLoads, search: ChannelSearch) -> tuple[Flows, tuple[int, ...] | None]:
    """Return the worst traffic, also as a permutation where rates are 1."""
    flows = [] if search.solution is None else search.solution.shipments()
    if search.solution is None or search.rates.unit:
        return flows, _completed(flows, loads.terminals)
    return flows, None


def _terminal_names(topology: Topology) -> tuple[str, ...]:
    """Return the names of the terminals, nothing where they are their numbers."""
    names = tuple(topology.name_of(node) for node in topology.terminals.tolist())
    return () if names == tuple(map(str, range(len(names)))) else names


def _crossing(loads: PairLoads, channel: int, flows: Flows) -> tuple[tuple[int, int], ...]:
    """Return the pairs of the worst traffic that cross a channel, those that load it most first."""
    if not flows:
        return ()
    source, destination, amount = (whole(list(column)) for column in zip(*flows, strict=True))
    added = loads.between(channel, source, destination).astype(object) * amount
    pairs = list(zip(source.tolist(), destination.tolist(), added.tolist(), strict=True))
    return tuple((s, d) for s, d, load in sorted(pairs, key=lambda pair: -pair[2]) if load)


def named_channel(topology: Topology, channel: int) -> tuple[Channel | None, tuple[str, str]]:
    """Return a channel with its ends, and their names; None where there is no channel (-1)."""
    if channel < 0:
        return None, ("", "")
    tail, head = int(topology.tail[channel]), int(topology.head[channel])
    return Channel(channel, tail, head), (topology.name_of(tail), topology.name_of(head))


def _completed(flows: Flows, terminals: int) -> tuple[int, ...]:
    """Return the flows as a whole permutation; what they leave open carries nothing and is filled in order."""
    image = [-1] * terminals
    for s, d, _ in flows:
        image[s] = d
    open_ends = iter(sorted(set(range(terminals)) - {d for d in image if d >= 0}))
    return tuple(d if d >= 0 else next(open_ends) for d in image)
