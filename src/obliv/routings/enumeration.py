"""What follows from the paths of a routing, pair by pair: exact or sampled pair loads, and the lengths of paths."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress
from obliv.loads.paths import from_crossings
from obliv.loads.stored import StoredLoads
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths, require_all
from obliv.routings.lengths import Lengths

__all__ = ["enumerated_loads", "lengths_of", "sampled_loads"]

#: A pair of terminals, and how often its packets cross each channel.
Crossings = tuple[int, int, dict[int, Fraction]]


def enumerated_loads(routing: Routing, progress: Progress) -> StoredLoads:
    """Return the exact pair loads, from all paths of every pair."""
    return from_crossings(routing.topology, _enumerated(routing, progress))


def sampled_loads(routing: Routing, samples: int, rng: np.random.Generator, progress: Progress) -> StoredLoads:
    """Return estimated pair loads, from random paths of every pair."""
    return from_crossings(routing.topology, _sampled(routing, samples, rng, progress), samples)


def lengths_of(routing: Routing, source: int, destination: int) -> Lengths:
    """Return the distribution of the lengths of the paths of a pair of nodes."""
    lengths: Lengths = {}
    for channels, chance in checked_paths(routing, source, destination):
        lengths[len(channels)] = lengths.get(len(channels), Fraction(0)) + chance
    total = sum(lengths.values(), Fraction(0))
    require_all(routing, source, destination, total)
    return lengths if total else {0: Fraction(1)}  # nothing is sent out


def _enumerated(routing: Routing, progress: Progress) -> Iterator[Crossings]:
    nodes = routing.topology.terminals.tolist()
    for i, s in enumerate(nodes):
        for j, d in enumerate(nodes):
            crossings: dict[int, Fraction] = {}
            total = Fraction(0)
            for channels, chance in checked_paths(routing, s, d):
                total += chance
                for c in channels:
                    crossings[c] = crossings.get(c, Fraction(0)) + chance
            require_all(routing, s, d, total)
            yield i, j, crossings
        progress("pair loads", (i + 1) / len(nodes))


def _sampled(routing: Routing, samples: int, rng: np.random.Generator, progress: Progress) -> Iterator[Crossings]:
    nodes = routing.topology.terminals.tolist()
    for i, s in enumerate(nodes):
        for j, d in enumerate(nodes):
            counts: dict[int, int] = {}
            for _ in range(samples):
                for c in routing.sample(s, d, rng):
                    counts[c] = counts.get(c, 0) + 1
            yield i, j, {c: Fraction(count, samples) for c, count in counts.items()}
        progress("pair loads", (i + 1) / len(nodes))
