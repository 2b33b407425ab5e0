"""Effective bisection bandwidth."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress, rising
from obliv._util.rng import Rng, generator, seed_of
from obliv.errors import InputError, Interrupted
from obliv.fabric.analyses.many import factors, mean_of, provenance_of, require_complete, require_samples
from obliv.fabric.arguments import typed
from obliv.fabric.kernels.loads import carry, narrowest
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run
from obliv.results.fabric.worst import Bisection

__all__ = ["bisection"]


@typed
def bisection(
    routing: FabricRouting, samples: int = 1000, rng: Rng = None, *, progress: Progress | None = None
) -> Bisection:
    """Estimate the effective bisection bandwidth: random halves of the hosts, one sending to the other in pairs.

    Parameters
    ----------
    routing : FabricRouting
    samples : int
        Random bisections.
    rng : numpy.random.Generator or int, optional
        Source of the bisections, or its seed; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Bisection
        A pair gets 1 / (largest load on its route), every pair sending at the rate of the fastest host's link; the mean
        over the pairs of a bisection is exact, that over bisections an estimate. Of an odd number of hosts, one is
        left out.

    Raises
    ------
    InputError
        If there is one host.
    Interrupted
        With the result over the bisections finished until then.

    References
    ----------
    [HSL08] T. Hoefler, T. Schneider, A. Lumsdaine, "Multistage switches are not crossbars: effects of static routing in
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
    random, report = generator(rng), rising(progress)
    shares: list[Fraction] = []
    every = np.ones(half, np.int64)
    work = 30.0 * half * routes.denominator * samples

    def one() -> Fraction:
        drawn = random.permutation(n)
        pairs = drawn[:half], drawn[half : 2 * half]
        total, most = np.zeros(topology.channels, np.int64), np.empty(half, np.int64)
        run(carry, work, *pairs, every, routes.arrays, total)
        run(narrowest, work, *pairs, total * factor, routes.arrays, most)
        loads, counts = np.unique(most[most > 0], return_counts=True)
        of_pairs = (Fraction(count * common, load) for load, count in zip(loads.tolist(), counts.tolist(), strict=True))
        return sum(of_pairs, Fraction(0)) / half

    try:
        while len(shares) < samples:
            shares.append(one())
            report("bisections", len(shares) / samples)
    except KeyboardInterrupt:
        if len(shares) < 2:
            raise
    result = Bisection(
        topology.spec,
        routing.spec,
        provenance_of(routing, began, "estimated", seed_of(rng)),
        mean_of(np.array([float(share) for share in shares])),
        min(shares),
        max(shares),
        subject=routing,
    )
    if len(shares) < samples:
        done = f"after {len(shares)} of {samples} samples"
        raise Interrupted(f"{done}; draw the others with another seed to go on", result)
    return result
