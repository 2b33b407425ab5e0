"""Effective bisection bandwidth."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from obliv.errors import InputError, Interrupted
from obliv.fabric.analyses.many import Progress, factors, made_by, mean_of, require_complete, require_samples
from obliv.fabric.kernels.loads import carry, narrowest
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run
from obliv.results.fabric import Bisection

__all__ = ["bisection"]


def bisection(
    routing: FabricRouting, samples: int = 1000, seed: int = 0, *, progress: Progress | None = None
) -> Bisection:
    """Effective bisection bandwidth: hosts are split into halves at random, one half sends to the other in pairs.

    Parameters
    ----------
    routing : FabricRouting
    samples : int
        Random bisections.
    seed : int
    progress : callable, optional

    Returns
    -------
    Bisection
        A pair gets 1 / (largest load on its way), every pair sending at the rate of the fastest host's link; the mean
        over the pairs of a bisection is exact, that over bisections an estimate. Of an odd number of hosts one rests.

    Raises
    ------
    InputError
        If there is one host.
    Interrupted
        With what was found until then.

    References
    ----------
    T. Hoefler, T. Schneider, A. Lumsdaine, "Multistage switches are not crossbars: effects of static routing in
    high-performance networks", IEEE Cluster 2008.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_routing
    >>> bisection(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))), 200).largest
    Fraction(1, 1)
    """
    began = time.perf_counter()
    topology, routes = routing.topology, routing.routes
    n = len(topology.terminals)
    half = n // 2
    if not half:
        raise InputError(f"{topology.spec} has one host: a bisection needs two")
    require_samples(samples)
    require_complete(routing)
    factor, common = factors(routing, n)
    rng = np.random.default_rng(seed)
    found: list[Fraction] = []
    every = np.ones(half, np.int64)
    work = 30.0 * half * routes.denominator * samples

    def one() -> Fraction:
        drawn = rng.permutation(n)
        pairs = drawn[:half], drawn[half : 2 * half]
        total, most = np.zeros(topology.channels, np.int64), np.empty(half, np.int64)
        run(carry, work, *pairs, every, routes.arrays, total)
        run(narrowest, work, *pairs, total * factor, routes.arrays, most)
        loads, counts = np.unique(most[most > 0], return_counts=True)
        shares = (Fraction(count * common, load) for load, count in zip(loads.tolist(), counts.tolist(), strict=True))
        return sum(shares, Fraction(0)) / half

    try:
        while len(found) < samples:
            found.append(one())
            if progress is not None:
                progress(len(found) / samples)
    except KeyboardInterrupt:
        if len(found) < 2:
            raise
    mean = mean_of(np.array([float(each) for each in found]))
    made = made_by(routing, began, seed)
    result = Bisection(topology.spec, routing.spec, made, mean, min(found), max(found), subject=routing)
    if len(found) < samples:
        raise Interrupted(f"after {len(found)} of {samples} samples", result)
    return result
