"""Loads of many patterns on a fabric: effective bisection bandwidth, averages over random permutations, all shifts."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from math import lcm, sqrt

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.progress import Progress, rising
from obliv._util.rationals import integer
from obliv._util.rng import Rng, generator, seed_of
from obliv.errors import InputError, Interrupted
from obliv.fabric.kernels.automaton import carry, heaviest, narrowest
from obliv.fabric.model import typed
from obliv.fabric.results.worst import Bisection, Shifts
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run
from obliv.questions.average import Average, infinite_but, threads
from obliv.results.base import Provenance, provenance
from obliv.results.numbers import Estimate, inverse, scaled
from obliv.topologies.base import require_pairs

BLOCK = 1 << 19  #: Flows that are followed between two checks for an interrupt.
_WAITING = 4  # blocks that are computed ahead


def largest(
    routing: FabricRouting,
    blocks: Iterable[Array],
    count: int,
    *,
    what: str,
    jobs: int | None,
    progress: Progress,
    keep: int = 0,
) -> tuple[Array, Fraction]:
    """Return the largest channel load under each of many permutations; shapes `blocks` (some, terminals)."""
    require_complete(routing)
    topology, routes = routing.topology, routing.routes
    n = len(topology.terminals)
    injection, ejection = topology.rates()
    scale = lcm(*{rate.denominator for rate in (*injection, *ejection)})
    factor, common = factors(routing, n * scale)
    most = np.array([[int(rate * scale) for rate in side] for side in (injection, ejection)], np.int64)
    work = 30.0 * n * count * routes.denominator

    def solve(images: Array) -> Array:
        result = np.empty(len(images), np.int64)
        total = np.zeros(topology.channels, np.int64)
        run(heaviest, work, images, most, factor, routes.arrays, total, result)
        return result

    parts: list[Array] = []
    with ThreadPoolExecutor(threads(jobs)) as pool:
        waiting: deque[Future[Array]] = deque()

        def take() -> None:
            parts.append(waiting.popleft().result())
            progress(what, sum(map(len, parts)) / count)

        try:
            for images in blocks:
                waiting.append(pool.submit(solve, images))
                if len(waiting) > _WAITING:
                    take()
            while waiting:
                take()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            if not keep or sum(map(len, parts)) < keep:
                raise
    return np.concatenate(parts), Fraction(1, scale * common)


def factors(routing: FabricRouting, flows: int) -> tuple[Array, int]:
    """Return integer factors that scale loads of channels of unequal speeds to one unit, and the unit's denominator."""
    # Shape: (channels,).
    topology, routes = routing.topology, routing.routes.denominator
    common = lcm(*{speed.numerator for speed in topology.bandwidth}) if topology.bandwidth else 1
    factor = [int(common / speed) for speed in topology.bandwidth] or [1] * topology.channels
    if flows * routes * max(factor) >= INT64_SAFE:
        raise InputError(f"{topology.spec}: links differ in speed by ratios too fine for 64 bits")
    return np.array(factor, np.int64), common * routes


def require_complete(routing: FabricRouting) -> None:
    """Refuse tables that lose a pair's packets, unless such pairs are left out."""
    if not routing.skip:
        routing.require_all()


def require_samples(samples: int) -> None:
    """Refuse fewer samples than a standard error needs."""
    if integer(samples, "samples") < 2:
        raise InputError(f"{samples} samples: at least 2 are needed for a standard error")


def require_count(hottest: int) -> None:
    """Refuse what is not a number of cables to name."""
    if integer(hottest, "hottest") < 0:
        raise InputError.naming("{hottest}={0}: the number of cables to name must be 0 or more", hottest)


def mean_of(values: Array) -> Estimate:
    """Return the mean of samples with its standard error."""
    return Estimate(float(values.mean()), float(values.std(ddof=1) / sqrt(len(values))), len(values))


def provenance_of(
    routing: FabricRouting, began: float, exactness: str = "exact", seed: int | None = None
) -> Provenance:
    """Return the provenance of a result about a fabric's routing; `began` is the time at its start."""
    specs = {"topology": routing.topology.spec, "routing": routing.spec}
    sources = routing.topology.sources + routing.sources
    return provenance(specs, time.perf_counter() - began, exactness, seed, sources)


# Effective bisection bandwidth


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
    >>> from obliv.fabric.generate import from_routing
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


# The average over random permutations of the hosts


@typed
def average(
    routing: FabricRouting,
    samples: int = 1000,
    rng: Rng = None,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Average:
    """Estimate the average throughput over random permutations, as :func:`obliv.average_case`, for fabrics of any size.

    Parameters
    ----------
    routing : FabricRouting
        Of hosts with equal links.
    samples : int
        At least 2.
    rng : numpy.random.Generator or int, optional
        Source of the permutations, or its seed; default 0.
    jobs : int, optional
        Threads; default the number of cores.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Average
        Every load is exact, their mean an estimate.

    Raises
    ------
    InputError
        If links of hosts differ in speed.
    Interrupted
        With the result over the permutations finished until then.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_routing
    >>> average(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))), 200).channel_load.samples
    200
    """
    began = time.perf_counter()
    topology = routing.topology
    require_pairs(topology)
    n = len(topology.terminals)
    if not topology.unit_rates:
        raise InputError(f"{topology.spec}: random permutations need hosts with equal links")
    require_samples(samples)
    step = max(1, BLOCK // n)
    random = generator(rng)
    blocks = (
        random.permuted(np.tile(np.arange(n), (min(step, samples - first), 1)), axis=1)
        for first in range(0, samples, step)
    )
    load, unit = largest(routing, blocks, samples, what="permutations", jobs=jobs, progress=rising(progress), keep=2)
    mean = mean_of(load * float(unit))
    through, base = inverse(mean), topology.capacity_load
    idle = bool((load == 0).any())
    result = Average(
        topology.spec,
        routing.spec,
        provenance_of(routing, began, "estimated", seed_of(rng)),
        samples=len(load),
        channel_load=mean,
        throughput=through,
        fraction_of_capacity=None if base is None or through is None else scaled(through, base),
        capacity=None if base is None else 1 / base,
        mean_throughput_reason=infinite_but(None if idle else mean_of(1 / (load * float(unit)))),
        subject=routing,
    )
    if len(load) < samples:
        raise Interrupted(f"after {len(load)} of {samples} samples; draw the others with another seed to go on", result)
    return result


# The largest loads of all shifts of the hosts


@typed
def shifts(
    routing: FabricRouting,
    *,
    order: Sequence[int] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Shifts:
    """Return the largest channel loads of all shifts except that by 0: the worst and the mean, exact.

    Parameters
    ----------
    routing : FabricRouting
        Where links of hosts differ, a pair sends what the slower of its two ends can.
    order : sequence of int, optional
        The terminals in the order in which they are shifted; default their own, that of the file.
    jobs : int, optional
        Threads; default the number of cores.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Shifts

    Raises
    ------
    InputError
        If there is one host, or the order does not name every terminal once.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_routing
    >>> shifts(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,3")))).worst_load
    Fraction(1, 1)
    """
    began = time.perf_counter()
    n = len(routing.topology.terminals)
    if n < 2:
        raise InputError(f"{routing.topology.spec} has one host: shifts need two")
    place = np.arange(n) if order is None else np.asarray(order)
    if sorted(place.tolist()) != list(range(n)):
        raise InputError(f"the order must name every terminal from 0 to {n - 1} exactly once")
    images = shift_images(n, place)
    load, unit = largest(routing, images, n - 1, what="shifts", jobs=jobs, progress=rising(progress))
    worst = int(load.argmax())
    return Shifts(
        routing.topology.spec,
        routing.spec,
        provenance_of(routing, began),
        n - 1,
        int(load[worst]) * unit,
        worst + 1,
        Fraction(sum(load.tolist()), n - 1) * unit,
        None if order is None else tuple(place.tolist()),
        subject=routing,
    )


def shift_images(hosts: int, place: Array | None = None) -> Iterator[Array]:
    """Yield the destinations of every source under all shifts but that by 0, some shifts at a time."""
    place = np.arange(hosts) if place is None else place
    step = max(1, BLOCK // hosts)
    for first in range(1, hosts, step):
        by = np.arange(first, min(hosts, first + step))[:, None]
        image = np.empty((len(by), hosts), np.int64)
        image[:, place] = place[(np.arange(hosts) + by) % hosts]
        yield image
