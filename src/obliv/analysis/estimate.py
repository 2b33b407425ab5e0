"""Channel loads estimated from random paths, with an error that holds for the largest of many."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import hypot, sqrt

import numpy as np

from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.matrices import permutation
from obliv.results.numbers import Estimate
from obliv.routings.base import Routing
from obliv.routings.representatives import class_of_pair
from obliv.routings.sampling import PathSampler

__all__ = ["average_largest", "largest_load", "pair_rates"]

#: Within so many standard errors on either side in 95 of 100 cases.
_SPREAD = 1.96

#: Random paths per pair from which on the intervals hold what they should in 95 of 100 cases.
_ENOUGH = 5

#: Random permutations on which samples of paths are compared, and into how many batches fresh paths are divided.
_PERMUTATIONS, _BATCHES = 50, 8

#: By how much a standard error from so few batches has to be enlarged: Student's t with 7 degrees of freedom over 1.96.
_FEW = 2.365 / 1.96


def pair_rates(traffic: Traffic) -> list[tuple[int, int, Fraction]]:
    """Return a traffic as flows between terminals, every pair at most once."""
    if traffic.uniform:
        rates = traffic.to_matrix()
        return [(s, d, rate) for s, row in enumerate(rates) for d, rate in enumerate(row) if rate]
    columns = (traffic.source.tolist(), traffic.destination.tolist(), traffic.amount.tolist())
    return [(s, d, Fraction(amount, traffic.denominator)) for s, d, amount in zip(*columns, strict=True)]


def largest_load(
    routing: Routing,
    samples: int,
    channel: int,
    flows: Iterable[tuple[int, int, Fraction]],
    seen: Fraction,
    rng: np.random.Generator,
) -> Estimate:
    """Estimate a largest load: that of the traffic and channel that are worst by a sample of paths.

    Parameters
    ----------
    routing : Routing
    samples : int
        Random packets a pair.
    channel : int
        The channel that is worst by the sample.
    flows : iterable of (source, destination, rate)
        The traffic, by terminals; every pair at most once.
    seen : Fraction
        Its load in the sample.
    rng : numpy.random.Generator
        Source of fresh paths.

    Returns
    -------
    Estimate
        With an interval that holds the largest load in 95 of 100 cases; the value is its middle, and 1.96 times
        `stderr` reach its ends.

    Notes
    -----
    The load in the sample is a maximum over noise, and therefore biased upwards. The load of the same traffic on fresh
    paths is biased downwards. The interval reaches from the second minus its noise to the first plus its noise. Pairs
    of one class under the symmetries of the routing share their paths in the sample, so their noise is added in full.

    A path that is rare may not have been drawn at all. The noise of a pair is therefore never zero: its variance is at
    least that of a share with two more packets on either side (Agresti and Coull).
    """
    topology = routing.topology
    nodes, n = topology.terminals.tolist(), len(topology.terminals)
    group = class_of_pair(routing)
    fresh = fresh_variance = 0.0
    shared: dict[int, float] = {}
    for s, d, amount in flows:
        rate, mean, square = float(amount), 0.0, 0.0
        for (c, times), packets in routing.crossings(nodes[s], nodes[d], samples, rng).items():
            if c == channel:
                mean += times * packets / samples
                square += times**2 * packets / samples
        share = (min(mean, 1.0) * samples + 2) / (samples + 4)
        variance = rate**2 * max((square - mean**2) / (samples - 1), share * (1 - share) / (samples + 4))
        fresh += rate * mean
        fresh_variance += variance
        of = int(group[s * n + d])
        shared[of] = shared.get(of, 0.0) + sqrt(variance)
    speed = float(topology.bandwidth_of(channel))
    low = fresh / speed - _SPREAD * sqrt(fresh_variance) / speed
    high = max(float(seen) + _SPREAD * sqrt(sum(noise**2 for noise in shared.values())) / speed, low)
    return _in_between(low, high, samples, samples)


def average_largest(routing: Routing, load: Estimate, drawn: PairLoads, rng: np.random.Generator) -> Estimate:
    """Widen an average of largest loads for the paths having been sampled.

    Parameters
    ----------
    routing : Routing
    load : Estimate
        The average over random permutations of the largest load under sampled pair loads.
    drawn : PairLoads
        Those pair loads.
    rng : numpy.random.Generator
        Source of fresh paths and permutations.

    Returns
    -------
    Estimate
        With an interval that holds the average in 95 of 100 cases; the value is its middle, and 1.96 times `stderr`
        reach its ends.

    Notes
    -----
    `load` averages maxima over noise: it is too large, but for the noise common to all permutations. The loads of the
    same channels on fresh paths average to too little, but for theirs. Batches of fresh paths tell how large both are.
    """
    samples = max(2, -(-(drawn.samples or 0) // _BATCHES))
    worst, seen = [], 0.0
    for _ in range(_PERMUTATIONS):
        traffic = permutation(rng.permutation(drawn.terminals).tolist())
        loads = drawn.under(traffic)
        channel = max(range(len(loads)), key=loads.__getitem__)
        worst.append((traffic, channel))
        seen += float(loads[channel]) / _PERMUTATIONS
    fresh = []
    sampler = PathSampler(routing)
    for _ in range(_BATCHES):
        batch = sampler.loads(samples, rng)
        fresh.append(float(np.mean([float(batch.load_under(traffic, channel)) for traffic, channel in worst])))
    bias = max(seen - float(np.mean(fresh)), 0.0)
    unseen = sqrt(2.0 * drawn.terminals) / (_BATCHES * samples + 4)  # as in largest_load: paths that were never drawn
    noise = max(_FEW * float(np.std(fresh, ddof=1)) / sqrt(_BATCHES), unseen)
    middle, width = load.value - bias / 2, bias / 2 + _SPREAD * hypot(load.stderr, noise)
    return _in_between(middle - width, middle + width, load.samples, drawn.samples or 0)


def _in_between(low: float, high: float, samples: int, paths: int) -> Estimate:
    """Return the estimate in the middle of an interval, from so many paths per pair."""
    interval = (max(low, 0.0), high) if paths >= _ENOUGH else None
    return Estimate((low + high) / 2, (high - low) / (2 * _SPREAD), samples, interval, interval is not None)
