"""The performance ratio of a routing under single traffic patterns, and its mean over random placements."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from obliv._util.arrays import addable
from obliv._util.progress import Progress, silent
from obliv._util.rationals import integer
from obliv._util.rng import Rng, drawn_seed
from obliv.analysis.ratios.optimum import require_base_load
from obliv.analysis.subject import Subject, by_specs, loads_of, name_of, sources_of, subject_of
from obliv.errors import InputError, TrafficError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic as traffic_of
from obliv.results import Estimate, provenance
from obliv.results.ratio import PatternRatio, TrafficRatio
from obliv.specs.registry import PATTERNS
from obliv.topologies.base import Topology

__all__ = ["base_load", "max_link_load", "optimal_load", "performance", "traffic_ratio"]


def base_load(traffic: Traffic) -> Fraction:
    """Return the most that a terminal sends to others, or takes: what its own link carries under any routing."""
    n = traffic.terminals
    leaving = traffic.source != traffic.destination
    amount = addable(traffic.amount[leaving])
    largest = 0
    for side in (traffic.source, traffic.destination):
        sums = np.zeros(n, amount.dtype)
        np.add.at(sums, side[leaving], amount)
        largest = max(largest, int(sums.max(initial=0)))
    return Fraction(largest, traffic.denominator) + (traffic.uniform * Fraction(n - 1, n) if n else 0)


def max_link_load(loads: PairLoads, traffic: Traffic) -> Fraction:
    """Return the largest link load of a routing under a traffic (Yuan et al., MLOAD); self-traffic counts for nothing.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> max_link_load(obliv.DModK(tree).pair_loads(), obliv.traffic("ring", tree))
    Fraction(3, 1)
    """
    return loads.without_self().largest_under(traffic)


def optimal_load(topology: Topology, traffic: Traffic) -> Fraction:
    """Return the least largest link load of any routing under a traffic (Yuan et al., OPTU), which is its base load.

    Raises
    ------
    InputError
        If the best routing of every traffic is not known on the topology.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> optimal_load(tree, obliv.traffic("ring", tree))
    Fraction(1, 1)
    """
    require_base_load(topology)
    return base_load(traffic)


def performance(loads: PairLoads, traffic: Traffic) -> Fraction:
    """Return the largest link load of a routing under a traffic over that of the best routing (Yuan et al., PERF).

    Raises
    ------
    InputError
        If the best routing of every traffic is not known on the topology.
    TrafficError
        If no terminal sends to another one.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> performance(obliv.DModK(tree).pair_loads(), obliv.traffic("ring", tree))
    Fraction(3, 1)
    """
    return _measured(loads, traffic).ratio


@dataclass(frozen=True)
class _Exact:
    """The largest link load of a routing and of the best one."""

    load: Fraction
    optimal: Fraction

    @property
    def ratio(self) -> Fraction:
        return self.load / self.optimal


def _measured(loads: PairLoads, traffic: Traffic) -> _Exact:
    optimal = optimal_load(loads.topology, traffic)
    if not optimal:
        raise TrafficError(f"{traffic.spec}: no terminal sends to another one, so that no routing loads anything")
    return _Exact(max_link_load(loads, traffic), optimal)


def _mean(values: list[Fraction]) -> Estimate:
    """Return the mean over instances with its standard error."""
    floats = [float(value) for value in values]
    mean = sum(floats) / len(floats)
    error = sqrt(sum((value - mean) ** 2 for value in floats) / (len(floats) - 1) / len(floats))
    return Estimate(mean, error, len(floats))


@by_specs
def traffic_ratio(
    x: Subject,
    *traffic: str | Traffic,
    instances: int = 0,
    rng: Rng = None,
    progress: Progress | None = None,
) -> TrafficRatio:
    """Return the performance ratio under each traffic, or its mean over random placements.

    Parameters
    ----------
    x : Routing or PairLoads
        On a fat tree on which the best routing of every traffic is known.
    *traffic : Traffic or str
        Patterns, or their specs.
    instances : int
        Make each spec that has a ``seed`` so many times, with seeds of their own, and average; 0 takes each once.
    rng : numpy.random.Generator or int, optional
        Source of the first seed, or the seed itself; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    TrafficRatio
        Exact for single patterns; an estimate with its standard error over placements.

    Raises
    ------
    InputError
        If no traffic is given, or one that nothing is random about is to be placed again and again.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("dmodk", obliv.topology("fattree:4,2"))
    >>> [str(row.ratio) for row in traffic_ratio(routing, "shift:1", "random-permutation").patterns]
    ['1', '2']
    """
    began = time.perf_counter()
    step = progress or silent
    if not traffic:
        raise InputError("the ratio under which traffic? for example 'torus3d' or a Traffic")
    instances = integer(instances, "instances")
    if instances < 0 or instances == 1:
        raise InputError(
            f"{instances} instances: at least 2 are needed for a standard error, 0 takes the traffic as it is"
        )
    subject = subject_of(x, "traffic_ratio")
    topology = require_base_load(subject.topology)
    loads = loads_of(subject, "traffic_ratio", step).without_self()
    seed = drawn_seed(rng, below=2**31)
    rows: list[PatternRatio] = []
    sources = sources_of(subject)
    for at, given in enumerate(traffic):
        flow: Traffic = traffic_of(given, topology)
        sources += flow.sources
        if not instances:
            exact = _measured(loads, flow)
            rows.append(PatternRatio(flow.spec, exact.ratio, exact.load, exact.optimal))
            continue
        placements = []
        for k in range(instances):
            placements.append(_measured(loads, traffic_of(_placed(given, seed * instances + k), topology)))
            step(str(given), (at + (k + 1) / instances) / len(traffic))
        columns = [
            [row.ratio for row in placements],
            [row.load for row in placements],
            [row.optimal for row in placements],
        ]
        rows.append(PatternRatio(str(given), *map(_mean, columns)))
    routing = name_of(subject)
    return TrafficRatio(
        topology=topology.spec,
        routing=routing,
        provenance=provenance(
            {"topology": topology.spec, "routing": routing, "traffic": [row.traffic for row in rows]},
            time.perf_counter() - began,
            "estimated" if instances else "exact",
            seed if instances else None,
            sources,
        ),
        subject=x,
        patterns=tuple(rows),
    )


def _placed(spec: Any, seed: int) -> str:
    """Return the spec with a seed of its own."""
    name = spec.partition(":")[0] if isinstance(spec, str) else ""
    if not name or name not in PATTERNS or "seed" not in PATTERNS.find(name).parameters:
        raise InputError(f"nothing is random about {spec}: leave out the instances, or take a job such as torus3d")
    if "seed=" in spec:
        raise InputError(f"{spec} has a seed already: leave it out, instances have seeds of their own")
    return f"{spec}{',' if ':' in spec else ':'}seed={seed}"
