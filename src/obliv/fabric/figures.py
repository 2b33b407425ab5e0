"""Figures of forwarding tables over many patterns: all shifts, random permutations, random bisections."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import lcm, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.errors import InputError
from obliv.fabric._loads_kernels import carry, heaviest, narrowest
from obliv.fabric.routing import FabricRouting
from obliv.kernels import run
from obliv.results import Average, Estimate, provenance
from obliv.results.fabric import Bisection, Shifts
from obliv.results.numbers import inverse, scaled

__all__ = ["average", "bisection", "shifts"]

Array = npt.NDArray[Any]
Progress = Callable[[float], None]

_BLOCK = 1 << 19  # flows that are followed between two looks at the keyboard


def shifts(
    routing: FabricRouting, *, order: Any = None, jobs: int | None = None, progress: Progress | None = None
) -> Shifts:
    """The largest channel load of every shift: the worst, and the mean over all shifts but that by 0, exact.

    Parameters
    ----------
    routing : FabricRouting
        Where links of hosts differ, a pair sends what the slower of its two ends can.
    order : sequence of int, optional
        The terminals in the order in which they are shifted; default their own, that of the file.
    jobs : int, optional
        Threads; default the number of cores.
    progress : callable, optional

    Returns
    -------
    Shifts

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology, tables_of
    >>> from obliv.fabric.network import network
    >>> from obliv.fabric.routing import fabric_routing
    >>> tree = obliv.topology("fattree:8,3")
    >>> fabric = from_topology(tree)
    >>> shifts(fabric_routing(network(fabric), tables_of(obliv.routing("dmodk", tree), fabric))).worst_load
    Fraction(1, 1)
    """
    began = time.perf_counter()
    n = len(routing.topology.terminals)
    if n < 2:
        raise InputError(f"{routing.topology.spec} has one host: shifts need two")
    place = np.arange(n) if order is None else np.asarray(order)
    if sorted(place.tolist()) != list(range(n)):
        raise InputError(f"the order names every terminal from 0 to {n - 1} once")
    step = max(1, _BLOCK // n)

    def images() -> Iterator[Array]:
        for first in range(1, n, step):
            by = np.arange(first, min(n, first + step))[:, None]
            image = np.empty((len(by), n), np.int64)
            image[:, place] = place[(np.arange(n) + by) % n]
            yield image

    load, unit = _largest(routing, images(), n - 1, jobs, progress)
    worst = int(load.argmax())
    return Shifts(
        routing.topology.spec,
        routing.spec,
        _provenance(routing, began),
        n - 1,
        int(load[worst]) * unit,
        worst + 1,
        Fraction(sum(load.tolist()), n - 1) * unit,
        subject=routing,
    )


def average(
    routing: FabricRouting,
    samples: int = 1000,
    seed: int = 0,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Average:
    """Average throughput over random permutations, as :func:`obliv.average_case` has it, for fabrics of any size.

    Parameters
    ----------
    routing : FabricRouting
        Of hosts with equal links.
    samples : int
    seed : int
    jobs : int, optional
    progress : callable, optional
    """
    began = time.perf_counter()
    topology = routing.topology
    n = len(topology.terminals)
    if not topology.unit_rates:
        raise InputError(f"{topology.spec}: random permutations need hosts with equal links")
    _require_samples(samples)
    step = max(1, _BLOCK // n)
    rng = np.random.default_rng(seed)
    blocks = (
        rng.permuted(np.tile(np.arange(n), (min(step, samples - first), 1)), axis=1)
        for first in range(0, samples, step)
    )
    load, unit = _largest(routing, blocks, samples, jobs, progress)
    mean = _mean(load * float(unit))
    through, base = inverse(mean), topology.capacity_load
    idle = bool((load == 0).any())
    return Average(
        topology.spec,
        routing.spec,
        _provenance(routing, began, seed),
        samples=samples,
        channel_load=mean,
        throughput=through,
        fraction_of_capacity=None if base is None or through is None else scaled(through, base),
        capacity=None if base is None else 1 / base,
        mean_throughput_reason="infinite over all permutations, since the identity loads no channel; of those drawn: "
        + ("infinite too" if idle else str(_mean(1 / (load * float(unit))))),
        subject=routing,
    )


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

    References
    ----------
    T. Hoefler, T. Schneider, A. Lumsdaine, "Multistage switches are not crossbars: effects of static routing in
    high-performance networks", IEEE Cluster 2008.
    """
    began = time.perf_counter()
    topology, routes = routing.topology, routing.routes
    n = len(topology.terminals)
    half = n // 2
    if not half:
        raise InputError(f"{topology.spec} has one host: a bisection needs two")
    _require_samples(samples)
    _require_complete(routing)
    factor, common = _factors(routing, n)
    rng = np.random.default_rng(seed)
    found = []
    every = np.ones(half, np.int64)
    for k in range(samples):
        drawn = rng.permutation(n)
        pairs = drawn[:half], drawn[half : 2 * half]
        total = np.zeros(topology.channels, np.int64)
        work = 30.0 * half * routes.denominator * samples
        run(carry, work, *pairs, every, routes.ways, total)
        most = np.empty(half, np.int64)
        run(narrowest, work, *pairs, total * factor, routes.ways, most)
        loads, counts = np.unique(most[most > 0], return_counts=True)
        got = sum(
            (Fraction(count * common, load) for load, count in zip(loads.tolist(), counts.tolist(), strict=True)),
            Fraction(0),
        )
        found.append(got / half)
        if progress is not None:
            progress((k + 1) / samples)
    mean = _mean(np.array([float(each) for each in found]))
    made = _provenance(routing, began, seed)
    return Bisection(topology.spec, routing.spec, made, mean, min(found), max(found), subject=routing)


def _largest(
    routing: FabricRouting, blocks: Iterable[Array], count: int, jobs: int | None, progress: Progress | None
) -> tuple[Array, Fraction]:
    """The largest channel load of every permutation, as whole numbers, and what a unit of them is."""
    _require_complete(routing)
    topology, routes = routing.topology, routing.routes
    n = len(topology.terminals)
    injection, ejection = topology.rates()
    scale = lcm(*{rate.denominator for rate in (*injection, *ejection)})
    factor, common = _factors(routing, n * scale)
    most = np.array([[int(rate * scale) for rate in side] for side in (injection, ejection)], np.int64)
    work = 30.0 * n * count * routes.denominator

    def solve(images: Array) -> Array:
        result = np.empty(len(images), np.int64)
        total = np.zeros(topology.channels, np.int64)
        run(heaviest, work, images, most, factor, routes.ways, total, result)
        return result

    parts: list[Array] = []
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        waiting: list[Any] = []

        def take() -> None:
            parts.append(waiting.pop(0).result())
            if progress is not None:
                progress(sum(map(len, parts)) / count)

        for images in blocks:
            waiting.append(pool.submit(solve, images))
            if len(waiting) > 4:
                take()
        while waiting:
            take()
    return np.concatenate(parts), Fraction(1, scale * common)


def _factors(routing: FabricRouting, most: int) -> tuple[Array, int]:
    """Whole numbers by which loads of channels compare, and what they are multiples of; `most` flows are the most."""
    topology = routing.topology
    common = lcm(*{speed.numerator for speed in topology.bandwidth}) if topology.bandwidth else 1
    factor = [int(common / speed) for speed in topology.bandwidth] or [1] * topology.channels
    ways = routing.routes.denominator
    if most * ways * max(factor) >= 2**62:
        raise InputError(f"{topology.spec}: links differ in speed by ratios too fine for 64 bits")
    return np.array(factor, np.int64), common * ways


def _require_complete(routing: FabricRouting) -> None:
    if not routing.skip:
        routing.require_all()


def _require_samples(samples: int) -> None:
    if samples < 2:
        raise InputError(f"{samples} samples: at least 2 are needed for a standard error")


def _mean(values: Array) -> Estimate:
    return Estimate(float(values.mean()), float(values.std(ddof=1) / sqrt(len(values))), len(values))


def _provenance(routing: FabricRouting, began: float, seed: int | None = None) -> dict[str, Any]:
    specs = {"topology": routing.topology.spec, "routing": routing.spec}
    sources = routing.topology.sources + routing.sources
    exactness = "exact" if seed is None else "estimated"
    return provenance(specs, time.perf_counter() - began, exactness, seed, sources)
