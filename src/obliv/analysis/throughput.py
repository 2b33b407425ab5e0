"""Ideal throughput under single traffic patterns."""

from __future__ import annotations

import time
from fractions import Fraction

from obliv._util.cost import announce
from obliv._util.progress import Progress, rising
from obliv._util.rng import Rng, generator, seed_of
from obliv.analysis.locality import traffic_hops
from obliv.analysis.subject import (
    Subject,
    by_specs,
    exactness_of,
    identity,
    loads_of,
    sampled_of,
    subject_of,
    with_known_capacity,
)
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic as traffic_of
from obliv.results import Throughput
from obliv.results.analysis.throughput import PatternThroughput, bottleneck, overload
from obliv.results.numbers import Estimate, capped, inverse, scaled
from obliv.routings.base import Routing

__all__ = ["pattern_throughput", "throughput"]


@by_specs
def throughput(
    x: Subject,
    *traffic: str | Traffic,
    samples: int | None = None,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Throughput:
    """Return the ideal throughput of a routing under traffic patterns.

    Parameters
    ----------
    x : Routing or PairLoads
    *traffic : Traffic or str
        Patterns, or their specs; one that is given twice has one row.
    samples : int, optional
        Estimate the loads from so many random paths per pair, for routings with too many paths to enumerate.
    rng : numpy.random.Generator or int, optional
        Source of the samples, or its seed; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Throughput
        For each pattern the largest channel load γ; the throughput, 1/γ or what the terminals can send and take if
        that is less; γ*/γ, the fraction of capacity, where the capacity is known; and what limits the
        throughput; mean hops of the traffic's packets. Exact, unless `samples` is given.

    Raises
    ------
    TrafficError
        If a pattern does not fit the topology.

    Notes
    -----
    Throughput is the largest factor θ such that the network can carry θ times the traffic: no channel carries more
    than its bandwidth, no terminal sends or takes more than its rates. Where rows of the traffic add up to 1 it is in
    packets per node and cycle. The fraction of capacity compares channels only, as the literature does.

    References
    ----------
    [DT04] W. J. Dally and B. Towles, "Principles and Practices of Interconnection Networks", 2004, section 3.3.1.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform")
    >>> [str(row.fraction_of_capacity) for row in result.patterns]
    ['5/18', '1']
    >>> print(obliv.throughput(obliv.DOR(obliv.mesh(3, 3)), "uniform").patterns[0].limited_by)
    injection at (0,0)
    """
    began = time.perf_counter()
    subject = subject_of(x, "throughput")
    if not traffic:
        raise InputError("the throughput under which traffic? obliv.throughput(routing, 'uniform', 'transpose')")
    random, step = generator(rng), rising(progress)
    loads = loads_of(subject, "throughput", step) if samples is None else sampled_of(subject, samples, random, step)
    topology = loads.topology
    patterns = []
    sources: tuple[tuple[str, str], ...] = ()
    flows: dict[Traffic, None] = dict.fromkeys(traffic_of(given, topology) for given in traffic)  # each once
    for flow in flows:
        sources += flow.sources
        announce(step, f"{flow.spec} on {topology.spec}", loads.carrying(flow))
        patterns.append(pattern_throughput(subject, loads, flow, random))
    exactness, seed = exactness_of(subject, samples), None if samples is None else seed_of(rng)
    return Throughput(
        **identity(subject, began, exactness, seed, sources, traffic=[row.traffic for row in patterns]),
        subject=x,
        capacity=with_known_capacity(topology).capacity,
        patterns=tuple(patterns),
    )


def pattern_throughput(
    subject: Routing | PairLoads, loads: PairLoads, traffic: Traffic, rng: Rng = None
) -> PatternThroughput:
    """Return the throughput of one traffic: the least of what channels and terminals can carry."""
    topology = loads.topology
    under = loads.under(traffic)
    worst = max(range(len(under)), key=under.__getitem__, default=-1)
    load: Fraction | Estimate | None = None if worst < 0 else under[worst]
    if load is not None and loads.samples is not None and isinstance(subject, Routing):
        from obliv.analysis.estimate import largest_load, pair_rates

        load = largest_load(subject, loads.samples, worst, pair_rates(traffic), under[worst], generator(rng))
    through = None if load is None else inverse(load)
    busiest = traffic.busiest_terminal(topology.injection, topology.ejection)
    base = with_known_capacity(topology).capacity_load
    return PatternThroughput(
        traffic=traffic.spec,
        channel_load=load,
        throughput=None if busiest is None else capped(through, 1 / busiest[0]),
        fraction_of_capacity=None if through is None or base is None else scaled(through, base),
        admissible=busiest is None or busiest[0] <= 1,
        overload=overload(topology, busiest),
        limited_by=None if busiest is None else bottleneck(topology, worst, through, busiest),
        hops=traffic_hops(subject, loads, traffic, under),
    )
