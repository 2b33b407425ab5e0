"""The statistical approach: pair loads estimated from random paths (Towles, section 3.2)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress, silent
from obliv.loads.base import PairLoads
from obliv.loads.paths import Entries, from_entries
from obliv.loads.translated import TranslatedLoads, translation_group
from obliv.routings.base import Crossed, Routing
from obliv.routings.checks import checked_channels, checked_paths, require_all
from obliv.routings.representatives import expanded, network_symmetries, pair_classes

__all__ = ["PathSampler", "crossed_by_paths"]


class PathSampler:
    """Draws random paths of a routing again and again; its symmetries are verified once.

    Paths are drawn of every pair, or of one pair of each class: pairs are in one class where symmetries of the routing
    (:meth:`Routing.symmetries`) carry one onto the other.
    """

    def __init__(self, routing: Routing) -> None:
        topology = routing.topology
        maps = network_symmetries(routing)
        group = translation_group(topology)
        alike = group is not None and all(any(np.array_equal(g, h) for h in maps) for g in topology.translations)
        self._routing = routing
        self._group = group if alike else None
        self._classes = None if alike else pair_classes(topology, maps)

    def loads(self, samples: int, rng: np.random.Generator, progress: Progress = silent) -> PairLoads:
        """Return pair loads estimated from so many random packets of every pair that paths are drawn of."""
        topology = self._routing.topology
        n = len(topology.terminals)
        pairs = np.arange(n) if self._classes is None else self._classes.representatives
        drawn = _drawn(self._routing, pairs, samples, rng, progress)
        if self._classes is not None:
            drawn = expanded(drawn, self._classes, n)
        stored = from_entries(topology, drawn, samples)
        return stored if self._group is None else TranslatedLoads(stored, self._group)


def crossed_by_paths(
    routing: Routing, source: int, destination: int, packets: int, rng: np.random.Generator
) -> Crossed:
    """Return how often random packets cross channels, one path after the other.

    A routing that lists its paths lists them once; one that draws paths draws one for every packet, each checked.
    """
    crossed: Crossed = Counter()
    if type(routing).sample is not Routing.sample:
        for _ in range(packets):
            path = checked_channels(routing, source, destination, routing.sample(source, destination, rng))
            for crossing in Counter(path).items():
                crossed[crossing] += 1
        return crossed
    paths = list(checked_paths(routing, source, destination))
    total = sum((chance for _, chance in paths), Fraction(0))
    require_all(routing, source, destination, total)
    if paths:
        if total < 1:
            paths.append(((), 1 - total))  # packets that a partial routing drops
        shares = np.array([float(chance) for _, chance in paths])
        for (path, _), count in zip(paths, rng.multinomial(packets, shares / shares.sum()).tolist(), strict=True):
            if count:
                for crossing in Counter(path).items():
                    crossed[crossing] += count
    return crossed


def _drawn(routing: Routing, pairs: np.ndarray, samples: int, rng: np.random.Generator, progress: Progress) -> Entries:
    """Return what random packets of pairs of terminals add to the channels, over the number of packets."""
    topology = routing.topology
    n, nodes = len(topology.terminals), topology.terminals.tolist()
    at: list[int] = []
    channel: list[int] = []
    numerator: list[int] = []
    for k, pair in enumerate(pairs.tolist()):
        amounts: dict[int, int] = {}
        for (c, times), packets in routing.crossings(nodes[pair // n], nodes[pair % n], samples, rng).items():
            amounts[c] = amounts.get(c, 0) + times * packets
        at += [pair] * len(amounts)
        channel += amounts.keys()
        numerator += amounts.values()
        if k % 64 == 0:
            progress("random paths", k / len(pairs))
    places = np.array(at, np.int64)
    return Entries(places // n, places % n, np.array(channel, np.int64), np.array(numerator, np.int64), samples)
