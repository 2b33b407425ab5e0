"""Exact pair loads and path lengths of a routing, enumerated from its paths pair by pair."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from math import lcm

from obliv._util.arrays import whole
from obliv._util.cost import Work, announce
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.loads.paths import Crossings, collected, from_entries
from obliv.loads.translated import TranslatedLoads
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths, require_all
from obliv.routings.lengths import Lengths

__all__ = ["enumerated_loads", "lengths_of", "served_of"]


def enumerated_loads(routing: Routing, progress: Progress) -> PairLoads:
    """Return the exact pair loads from all paths: of every pair, or from one source where the routing is relative."""
    nodes = routing.topology.terminals.tolist()
    relative = routing.compared
    sources = nodes if relative is None else [0]
    loads = from_entries(routing.topology, collected(_enumerated(routing, sources, progress)))
    return loads if relative is None else TranslatedLoads(loads, relative.group)


def lengths_of(routing: Routing, source: int, destination: int) -> Lengths:
    """Return the distribution of the lengths of the paths of a pair of nodes."""
    lengths: Lengths = {}
    for channels, chance in checked_paths(routing, source, destination):
        lengths[len(channels)] = lengths.get(len(channels), Fraction(0)) + chance
    total = sum(lengths.values(), Fraction(0))
    require_all(routing, source, destination, total)
    return {0: Fraction(1)} if source == destination and not total else lengths  # nothing is sent out


def served_of(routing: Routing, destination: int) -> tuple[Array, int]:
    """Return the total probability of the paths from every terminal to one: numerators over a common denominator."""
    terminals = routing.topology.terminals.tolist()
    shares = [sum(lengths_of(routing, source, destination).values(), Fraction(0)) for source in terminals]
    over = lcm(*(share.denominator for share in shares))
    return whole([int(share * over) for share in shares]), over


def _enumerated(routing: Routing, sources: list[int], progress: Progress) -> Iterator[Crossings]:
    began, entries = time.process_time(), 0
    for i, s in enumerate(sources):
        for j, d in enumerate(routing.topology.terminals.tolist()):
            crossings: dict[int, Fraction] = {}
            total = Fraction(0)
            for channels, chance in checked_paths(routing, s, d):
                total += chance
                for c in channels:
                    crossings[c] = crossings.get(c, Fraction(0)) + chance
            require_all(routing, s, d, total)
            entries += len(crossings)
            yield i, j, crossings
        if i == 0:  # the others are taken to be like the first
            others = len(sources) - 1
            work = Work((time.process_time() - began) * others, 300.0 * entries * others)
            announce(progress, f"listing the paths of {routing.spec} on {routing.topology.spec}", work, rough=True)
        progress("pair loads", (i + 1) / len(sources))
