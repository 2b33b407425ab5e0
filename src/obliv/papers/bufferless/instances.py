"""The instances that the paper's algorithms are run on, with the paper's constants."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import obliv
from obliv.papers.bufferless.formulas import Size

__all__ = ["instance", "times", "verified"]


@lru_cache(maxsize=200)
def instance(spec: str, seed: int = 0) -> Any:
    """Return an instance with random paths, or with one packet along a line."""
    if spec.startswith("array:"):
        return obliv.bufferless.instance(spec, [range(int(spec[6:]) - 1)])
    return obliv.bufferless.instance(spec, "random", rng=seed)


@lru_cache(maxsize=20)
def verified(spec: str, algorithm: str) -> Any:
    """Return a schedule with the paper's constants, with every move checked."""
    options: dict[str, Any] = {"segments": "paper"} if algorithm == "centralized" else {}
    return obliv.bufferless.schedule(instance(spec), algorithm, rng=0, **options)


@lru_cache(maxsize=2000)
def times(spec: str, algorithm: str, seed: int) -> tuple[Size, int]:
    """Return the size of an instance and its routing time with the paper's constants."""
    packets = instance(spec, seed)
    options = {"segments": "paper"} if algorithm == "centralized" else {"steps": "boats"}
    run = obliv.bufferless.ALGORITHMS[algorithm].run(packets, np.random.default_rng(seed), options)
    return Size(packets.packets, packets.congestion, packets.dilation), int(run.delivery.max())
