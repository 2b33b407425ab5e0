"""K paths per pair drawn from another oblivious routing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress, silent
from obliv._util.rationals import integer
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import TranslatedLoads, translation_group
from obliv.loads.stored import Numerators, from_entries
from obliv.routings.base import Crossed, Path, Routing, checked_channels, checked_paths, require_all
from obliv.routings.congestion import without_loops
from obliv.routings.make import routing
from obliv.routings.mixes import expanded, network_symmetries, pair_classes
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology


@register_routing("sampled", example="sampled:4,base=raecke")
class Sampled(Routing):
    """K paths per pair, drawn from another routing and used equally; loops are removed.

    A path that is drawn twice counts twice. With ``obliv ratio --adaptive`` the rates on the paths follow the traffic
    (semi-oblivious routing).

    Parameters
    ----------
    topology : Topology
    k : int
        Paths drawn per pair.
    base : str
        The spec of the routing that they are drawn from; in parentheses if it has a comma.
    seed : int
        Random seed; the same seed gives the same paths.

    References
    ----------
    [ZHR23] G. Zuzic, B. Haeupler, A. Roeyskoe, "Sparse semi-oblivious routing: few random paths suffice", 2023.

    Examples
    --------
    >>> import obliv
    >>> sampled = obliv.routing("sampled:2,base=valiant,seed=1", obliv.mesh(3, 3))
    >>> sum(chance for channels, chance in sampled.paths(0, 8))
    Fraction(1, 1)
    """

    def __init__(self, topology: Topology, k: int, base: str = "raecke", seed: int = 0) -> None:
        k, seed = integer(k, "sampled: k"), integer(seed, "sampled: seed")
        inner = base[1:-1] if base.startswith("(") and base.endswith(")") else base
        named = f"({inner})" if "," in inner else inner
        spec = f"sampled:{k},base={named}" + f",seed={seed}" * (seed != 0)
        if k < 1:
            raise RoutingError(f"{spec}: at least one path per pair is needed")
        if seed < 0:
            raise RoutingError(f"{spec}: a random seed must be 0 or more")
        drawn_from = routing(inner, topology)
        if drawn_from.partial:
            raise RoutingError(f"{spec}: {drawn_from.spec} leaves pairs out; draw from a routing that serves all pairs")
        super().__init__(topology, spec)
        self.base, self.k, self.seed = drawn_from, k, seed
        self.sources = drawn_from.sources

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        """Yield the paths of a pair; its draws do not depend on other pairs, nor on how often it is asked."""
        if source == destination:
            return
        rng = np.random.default_rng([self.seed, source, destination])
        drawn = [without_loops(self.topology, path) for path in _drawn(self.base, source, destination, self.k, rng)]
        for path, times in Counter(sorted(drawn)).items():
            yield path, Fraction(times, self.k)


def _drawn(base: Routing, source: int, destination: int, k: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return k random paths of a pair; a routing that lists its paths lists them once."""
    if type(base).sample is not Routing.sample:
        paths = (base.sample(source, destination, rng) for _ in range(k))
        return [checked_channels(base, source, destination, path) for path in paths]
    listed = list(checked_paths(base, source, destination))
    require_all(base, source, destination, sum((chance for _, chance in listed), Fraction(0)))
    shares = np.array([float(chance) for _, chance in listed])
    return [listed[number][0] for number in rng.choice(len(listed), size=k, p=shares / shares.sum()).tolist()]


# The statistical approach: pair loads estimated from random paths (Towles, section 3.2)


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
        drawn = _drawn_paths(self._routing, pairs, samples, rng, progress)
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


def _drawn_paths(
    routing: Routing, pairs: np.ndarray, samples: int, rng: np.random.Generator, progress: Progress
) -> Numerators:
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
    return Numerators(places // n, places % n, np.array(channel, np.int64), np.array(numerator, np.int64), samples)
