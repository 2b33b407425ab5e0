"""The instances that the paper's algorithms are run on, with the paper's constants."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import obliv
from obliv.bufferless.frames.centralized import centralized
from obliv.bufferless.frames.distributed import distributed
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
    one = instance(spec, seed)
    rng = np.random.default_rng(seed)
    if algorithm == "centralized":
        made = centralized(one, rng, segments="paper")
    else:
        made = distributed(one, rng, steps="boats")
    return Size(one.packets, one.congestion, one.dilation), int(made.delivery.max())
