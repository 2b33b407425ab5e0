"""The instances that the paper's algorithms are run on, with the paper's constants."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import obliv
from obliv.papers.bufferless.formulas import Size

__all__ = ["Routed", "instance", "times", "verified"]


class Routed(NamedTuple):
    """An instance's size, its routing time, and its chi; that of the centralized algorithm is d + 1."""

    size: Size
    time: int
    boats: int


@lru_cache(maxsize=200)
def instance(spec: str, seed: int = 0) -> Any:
    """Return an instance with random paths, or with one packet along a line."""
    if spec.startswith("array:"):
        return obliv.bufferless.instance(spec, [range(int(spec[6:]) - 1)])
    return obliv.bufferless.instance(spec, "random", rng=seed)


@lru_cache(maxsize=20)
def verified(spec: str, algorithm: str) -> Any:
    """Return a schedule of the printed algorithm, with every move checked."""
    return obliv.bufferless.schedule(instance(spec), algorithm, rng=0)


@lru_cache(maxsize=2000)
def times(spec: str, algorithm: str, seed: int) -> Routed:
    """Return the routing time of an instance by the printed algorithm."""
    packets = instance(spec, seed)
    options = {} if algorithm == "centralized" else {"steps": "boats"}
    run = obliv.bufferless.ALGORITHMS[algorithm].run(packets, np.random.default_rng(seed), options)
    size = Size(packets.packets, packets.congestion, packets.dilation)
    return Routed(size, int(run.delivery.max()), int(run.constants["chi"]))
