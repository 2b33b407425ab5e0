"""Ideal throughput under single traffic patterns."""

from __future__ import annotations

import time

from obliv.analysis.subject import Subject, loads_of, name_of, sources_of, subject_of
from obliv.errors import InputError
from obliv.patterns.base import Traffic, require_rows
from obliv.patterns.make import traffic as traffic_of
from obliv.results import Throughput, provenance
from obliv.results.throughput import PatternThroughput

__all__ = ["throughput"]


def throughput(x: Subject, *traffic: str | Traffic) -> Throughput:
    """Return the ideal throughput of a routing under traffic patterns.

    Parameters
    ----------
    x : Routing or PairLoads
    *traffic : Traffic or str
        Patterns, or their specs.

    Returns
    -------
    Throughput
        For each pattern the largest channel load γ (exact), the throughput 1/γ in packets per node and cycle, and
        γ*/γ, the fraction of capacity, where the capacity has a closed form.

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
    loads = loads_of(subject, "throughput")
    injection, ejection = loads.topology.rates()
    topology = loads.topology
    base = topology.capacity_load
    patterns = []
    sources = sources_of(subject)
    for given in traffic:
        flow: Traffic = traffic_of(given, topology)
        require_rows(flow, injection)
        sources += flow.sources
        load = max(loads.under(flow), default=None)
        patterns.append(
            PatternThroughput(
                traffic=flow.spec,
                channel_load=load,
                throughput=1 / load if load else None,
                fraction_of_capacity=base / load if load and base is not None else None,
                admissible=flow.fits(ejection),
            )
        )
    routing = name_of(subject)
    specs = {"topology": topology.spec, "routing": routing, "traffic": [row.traffic for row in patterns]}
    return Throughput(
        topology=topology.spec,
        routing=routing,
        provenance=provenance(specs, time.perf_counter() - began, sources=sources),
        subject=x,
        capacity=None if base is None else 1 / base,
        patterns=tuple(patterns),
    )
