"""Ideal throughput under single traffic patterns."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress
from obliv._util.rng import Rng, generator, seed_of
from obliv.analysis.subject import Subject, loads_of, name_of, sampled_of, sources_of, subject_of
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic, require_rows
from obliv.patterns.make import traffic as traffic_of
from obliv.results import Throughput, provenance
from obliv.results.numbers import Estimate, inverse, scaled
from obliv.results.throughput import PatternThroughput
from obliv.routings.base import Routing

__all__ = ["throughput"]


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
        Patterns, or their specs.
    samples : int, optional
        Estimate the loads from so many random paths per pair, for routings with too many paths to enumerate.
    rng : numpy.random.Generator or int, optional
        Source of the samples, or its seed; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Throughput
        For each pattern the largest channel load γ, the throughput 1/γ in packets per node and cycle, and γ*/γ, the
        fraction of capacity, where the capacity has a closed form. Exact, unless `samples` is given.

    Raises
    ------
    TrafficError
        If a pattern does not fit the topology, or sends more than a terminal can.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform")
    >>> [str(row.fraction_of_capacity) for row in result.patterns]
    ['5/18', '1']
    """
    began = time.perf_counter()
    subject = subject_of(x, "throughput")
    if not traffic:
        raise InputError("the throughput under which traffic? obliv.throughput(routing, 'uniform', 'transpose')")
    random = generator(rng)
    loads = (
        loads_of(subject, "throughput", progress) if samples is None else sampled_of(subject, samples, random, progress)
    )
    injection, ejection = loads.topology.rates()
    topology = loads.topology
    base = topology.capacity_load
    patterns = []
    sources = sources_of(subject)
    for given in traffic:
        flow: Traffic = traffic_of(given, topology)
        require_rows(flow, injection)
        sources += flow.sources
        load = _largest(subject, loads, flow, random)
        patterns.append(
            PatternThroughput(
                traffic=flow.spec,
                channel_load=load,
                throughput=None if load is None else inverse(load),
                fraction_of_capacity=_of_capacity(load, base),
                admissible=flow.fits(ejection),
            )
        )
    routing = name_of(subject)
    specs = {"topology": topology.spec, "routing": routing, "traffic": [row.traffic for row in patterns]}
    return Throughput(
        topology=topology.spec,
        routing=routing,
        provenance=provenance(
            specs,
            time.perf_counter() - began,
            "exact" if samples is None else "estimated",
            None if samples is None else seed_of(rng),
            sources,
        ),
        subject=x,
        capacity=None if base is None else 1 / base,
        patterns=tuple(patterns),
    )


def _largest(
    subject: Routing | PairLoads, loads: PairLoads, traffic: Traffic, rng: np.random.Generator
) -> Fraction | Estimate | None:
    """Return the largest channel load under a traffic; None where the network has no channels."""
    under = loads.under(traffic)
    if not under or loads.samples is None or not isinstance(subject, Routing):
        return max(under, default=None)
    from obliv.analysis.estimate import largest_load, pair_rates

    worst = max(range(len(under)), key=under.__getitem__)
    return largest_load(subject, loads.samples, worst, pair_rates(traffic), under[worst], rng)


def _of_capacity(load: Fraction | Estimate | None, capacity_load: Fraction | None) -> Fraction | Estimate | None:
    through = None if load is None else inverse(load)
    return None if through is None or capacity_load is None else scaled(through, capacity_load)
