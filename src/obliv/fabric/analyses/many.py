"""Loads of many patterns on a fabric, one after the other: what figures over them share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import lcm, sqrt
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.kernels.loads import heaviest
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run
from obliv.results import Estimate, provenance

__all__ = ["BLOCK", "Progress", "factors", "largest", "made_by", "mean_of", "require_complete", "require_samples"]

Progress = Callable[[float], None]

BLOCK = 1 << 19  #: Flows that are followed between two looks at the keyboard.


def largest(
    routing: FabricRouting,
    blocks: Iterable[Array],
    count: int,
    jobs: int | None,
    progress: Progress | None,
    *,
    keep: int = 0,
) -> tuple[Array, Fraction]:
    """The largest channel load of every permutation, as whole numbers, and what a unit of them is.

    An interrupt ends it early where `keep` or more are known then; 0: they are of no use without the others.
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
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        waiting: list[Any] = []

        def take() -> None:
            parts.append(waiting.pop(0).result())
            if progress is not None:
                progress(sum(map(len, parts)) / count)

        try:
            for images in blocks:
                waiting.append(pool.submit(solve, images))
                if len(waiting) > 4:
                    take()
            while waiting:
                take()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            if not keep or sum(map(len, parts)) < keep:
                raise
    return np.concatenate(parts), Fraction(1, scale * common)


def factors(routing: FabricRouting, most: int) -> tuple[Array, int]:
    """Whole numbers by which loads of channels compare, and what they are multiples of; `most` flows are the most."""
    topology = routing.topology
    common = lcm(*{speed.numerator for speed in topology.bandwidth}) if topology.bandwidth else 1
    factor = [int(common / speed) for speed in topology.bandwidth] or [1] * topology.channels
    ways = routing.routes.denominator
    if most * ways * max(factor) >= 2**62:
        raise InputError(f"{topology.spec}: links differ in speed by ratios too fine for 64 bits")
    return np.array(factor, np.int64), common * ways


def require_complete(routing: FabricRouting) -> None:
    """Refuse tables by which a pair's packets do not arrive, unless such pairs are left out."""
    if not routing.skip:
        routing.require_all()


def require_samples(samples: int) -> None:
    """Refuse so few samples that they have no standard error."""
    if samples < 2:
        raise InputError(f"{samples} samples: at least 2 are needed for a standard error")


def mean_of(values: Array) -> Estimate:
    """Return the mean of samples with its standard error."""
    return Estimate(float(values.mean()), float(values.std(ddof=1) / sqrt(len(values))), len(values))


def made_by(routing: FabricRouting, began: float, seed: int | None = None) -> dict[str, Any]:
    """Return the provenance of a result about a fabric's routing."""
    specs = {"topology": routing.topology.spec, "routing": routing.spec}
    sources = routing.topology.sources + routing.sources
    exactness = "exact" if seed is None else "estimated"
    return provenance(specs, time.perf_counter() - began, exactness, seed, sources)
