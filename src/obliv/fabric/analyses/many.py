"""Loads of many patterns on a fabric, one after another: what analyses over them share."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from math import lcm, sqrt

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.progress import Progress
from obliv._util.rationals import integer
from obliv._util.typing import Array
from obliv.analysis.average.random_traffic import threads
from obliv.errors import InputError
from obliv.fabric.kernels.loads import heaviest
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run
from obliv.results import Estimate, Provenance, provenance

__all__ = [
    "BLOCK",
    "factors",
    "largest",
    "mean_of",
    "provenance_of",
    "require_complete",
    "require_count",
    "require_samples",
]

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
    """Return the largest channel load under each of many permutations.

    Parameters
    ----------
    routing : FabricRouting
    blocks : iterable of int arrays, shape (some, terminals)
        The destination of every source, a permutation a row.
    count : int
        Number of permutations.
    what : str
        The word for them, for `progress`.
    jobs : int or None
        Threads; None for the number of cores.
    progress : callable
    keep : int
        Number of loads that make a useful result if the work is interrupted; 0: a partial result is useless.

    Returns
    -------
    loads : int64 array
    unit : Fraction
        The load that 1 stands for.
    """
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
    """Return integer factors that scale loads of channels of unequal speeds to one unit, and the unit's denominator.

    Parameters
    ----------
    routing : FabricRouting
    flows : int
        The largest sum of amounts that a channel can carry.

    Returns
    -------
    factor : int64 array, shape (channels,)
    common : int

    Raises
    ------
    InputError
        If 64 bits could be too few.
    """
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
