"""Permutations whose packets are far apart under lengths of channels, which bounds every routing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.designs.bounds.congestion import distance_under
from obliv.designs.bounds.cut import narrow_bisection
from obliv.matching.solve import maximum_weight
from obliv.matching.weights import from_entries
from obliv.topologies.base import Topology

__all__ = ["farthest", "first_lengths", "load_of"]


def first_lengths(topology: Topology, half: Array | None = None) -> tuple[Array, Array]:
    """Return two lengths of channels to begin with: hops, and crossings of a narrow bisection."""
    half = narrow_bisection(topology) if half is None else half
    return np.ones(topology.channels, np.int64), (half[topology.tail] != half[topology.head]).astype(np.int64)


def farthest(distance: Array) -> tuple[int, ...]:
    """Return the permutation with the largest sum of distances."""
    source, destination = np.nonzero(distance)
    n = len(distance)
    matching = maximum_weight(from_entries(source, destination, distance[source, destination]))
    image, taken = [-1] * n, [False] * n
    for s, d in zip(*_pairs(matching, source, destination), strict=True):
        image[s], taken[d] = d, True
    free = iter([d for d in range(n) if not taken[d]])
    return tuple(d if d >= 0 else next(free) for d in image)


def _pairs(matching: Any, source: Array, destination: Array) -> tuple[list[int], list[int]]:
    used = matching.flow > 0
    return source[used].tolist(), destination[used].tolist()


def load_of(topology: Topology, image: tuple[int, ...], lengths: Array) -> Fraction:
    """Return the load of a permutation that lengths prove."""
    between = distance_under(topology, lengths)
    spent = sum((topology.bandwidth_of(c) * int(x) for c, x in enumerate(lengths.tolist()) if x), Fraction(0))
    return Fraction(int(between[np.arange(len(image)), list(image)].sum())) / spent if spent else Fraction(0)
