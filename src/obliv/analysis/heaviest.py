"""The heaviest permutation in a traffic matrix: the step of Towles' Theorem 1."""

from __future__ import annotations

import time
from fractions import Fraction

from obliv._util.progress import Progress
from obliv.analysis.subject import Subject, by_specs, identity, loads_of, subject_of
from obliv.errors import InputError
from obliv.patterns.base import Traffic
from obliv.patterns.doubly_stochastic import birkhoff
from obliv.patterns.make import traffic as traffic_of
from obliv.results import Channel, HeaviestPermutation

__all__ = ["heaviest_permutation"]


@by_specs
def heaviest_permutation(
    x: Subject, traffic: str | Traffic, *, progress: Progress | None = None
) -> HeaviestPermutation:
    """Return the permutation of a traffic matrix that loads the matrix's worst channel most.

    Parameters
    ----------
    x : Routing or PairLoads
    traffic : Traffic or str
        Row and column sums at most 1.
    progress : callable, optional
        Called with what is being done and the share that is done, from 0 to 1.

    Returns
    -------
    HeaviestPermutation
        Exact. Its load is at least that of the traffic: no traffic is worse than every permutation (Theorem 1).

    Raises
    ------
    TrafficError
        If a row or column of the traffic adds up to more than 1.
    InputError
        If the network has no channels, or its terminals have rates.

    References
    ----------
    [Tow01] B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001,
    Theorem 1.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.heaviest_permutation(obliv.DOR(obliv.mesh(3, 3)), "uniform")
    >>> result.channel_load, result.traffic_load
    (Fraction(1, 1), Fraction(2, 3))
    """
    began = time.perf_counter()
    subject = subject_of(x, "heaviest_permutation")
    loads = loads_of(subject, "heaviest_permutation", progress)
    topology = loads.topology
    if not topology.unit_rates:
        raise InputError(f"{topology.spec}: permutations need terminals of rate 1")
    flow = traffic_of(traffic, topology)
    under = loads.under(flow)
    if not under:
        raise InputError(f"{topology.spec} has no channels")
    worst = max(range(len(under)), key=under.__getitem__)
    source, destination, numerator = loads.weights(worst).spread()
    crossing = dict(zip(zip(source.tolist(), destination.tolist(), strict=True), numerator.tolist(), strict=True))
    heaviest, weight, image = max(
        (sum(crossing.get(pair, 0) for pair in enumerate(image)), weight, image) for weight, image in birkhoff(flow)
    )
    load = Fraction(heaviest, loads.denominator) / topology.bandwidth_of(worst)
    return HeaviestPermutation(
        **identity(subject, began, sources=flow.sources, traffic=flow.spec),
        subject=x,
        traffic=flow.spec,
        channel=Channel(worst, int(topology.tail[worst]), int(topology.head[worst])),
        name=topology.channel_name(worst),
        channel_load=load,
        traffic_load=under[worst],
        weight=weight,
        permutation=image,
    )
