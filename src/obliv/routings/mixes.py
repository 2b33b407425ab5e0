"""Routings made of another one: Valiant's two phases, and K paths per pair drawn from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress
from obliv._util.rationals import integer
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import TwoPhaseLoads
from obliv.routings.base import Routing
from obliv.routings.congestion import without_loops
from obliv.routings.descriptions import Description, TwoPhases
from obliv.routings.make import routing
from obliv.routings.paths import (
    Crossed,
    Lengths,
    Path,
    add,
    checked_channels,
    checked_paths,
    merged,
    require_all,
    silence,
    times,
)
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology


class TwoPhase(Routing):
    """Valiant's scheme: by a base routing to a uniformly random terminal, and from there to the destination."""

    def __init__(self, base: Routing, spec: str) -> None:
        if base.partial:
            raise RoutingError(f"{spec}: both phases need a routing that serves all pairs; {base.spec} leaves some out")
        super().__init__(base.topology, spec)
        self.base = base

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        return merged(self._paths_by_phase(source, destination))

    def _paths_by_phase(self, source: int, destination: int) -> Iterator[Path]:
        terminals = self.topology.terminals.tolist()
        for middle in terminals:
            onward = self._base_paths(middle, destination)
            for first, chance in self._base_paths(source, middle):
                for second, other in onward:
                    yield first + second, chance * other / len(terminals)

    def _base_paths(self, source: int, destination: int) -> Sequence[Path]:
        return list(checked_paths(self.base, source, destination)) or silence(source, destination)

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        middle = int(rng.choice(self.topology.terminals))
        into, onward = self.base.sample(source, middle, rng), self.base.sample(middle, destination, rng)
        return (
            *checked_channels(self.base, source, middle, into),
            *checked_channels(self.base, middle, destination, onward),
        )

    def describe(self) -> tuple[Description, ...]:
        return (TwoPhases(self.base),)

    @property
    def declared(self) -> bool:
        return self.base.declared

    def symmetries(self) -> list[Array]:
        return self.base.symmetries()

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        terminals = self.topology.terminals.tolist()
        crossed: Crossed = Counter()
        counts = rng.multinomial(packets, np.full(len(terminals), 1 / len(terminals)))
        for middle, count in zip(terminals, counts.tolist(), strict=True):
            if not count:
                continue
            before = _by_channel(self.base.crossings(source, middle, count, rng))
            onward = _by_channel(self.base.crossings(middle, destination, count, rng))
            for channel, first in before.items():
                crossed.update(_joined(channel, first, onward.pop(channel, []), count, rng))
            for channel, second in onward.items():
                for hops, some in second:
                    crossed[channel, hops] += some
        return +crossed

    def path_lengths(self, progress: Progress) -> Lengths:
        terminals = len(self.topology.terminals)
        into: list[Lengths] = [{} for _ in range(terminals)]
        out: list[Lengths] = [{} for _ in range(terminals)]
        for i, j, lengths in self.base.pair_lengths(progress):
            add(out[i], lengths)
            add(into[j], lengths)
        total: Lengths = {}
        for first, second in zip(into, out, strict=True):  # independent of each other, given the intermediate
            add(total, times(first, second), Fraction(1, terminals))
        return total

    def _loads(self, progress: Progress) -> PairLoads:
        return TwoPhaseLoads(self.base.pair_loads(progress=progress))


def _by_channel(crossed: Crossed) -> dict[int, list[tuple[int, int]]]:
    """Return for every channel how often it is crossed, each with the number of packets."""
    channels: dict[int, list[tuple[int, int]]] = {}
    for (channel, hops), packets in crossed.items():
        channels.setdefault(channel, []).append((hops, packets))
    return channels


def _joined(
    channel: int, first: list[tuple[int, int]], second: list[tuple[int, int]], packets: int, rng: np.random.Generator
) -> Crossed:
    """Return how often packets cross a channel in two independent phases.

    Each phase is given as times and how many of the packets cross the channel so often; which packets cross it in both
    phases is drawn.
    """
    crossed: Crossed = Counter()
    left = [some for _, some in first]
    rest = packets - sum(left)  # do not cross it in the first phase
    for hops, some in second:
        if len(left) == 1:
            both = [int(rng.hypergeometric(left[0], rest, some))]
        else:
            both = rng.multivariate_hypergeometric([*left, rest], some).tolist()[:-1]
        for k, number in enumerate(both):
            crossed[channel, first[k][0] + hops] += number
            left[k] -= number
        crossed[channel, hops] += some - sum(both)
        rest -= some - sum(both)
    for (hops, _), some in zip(first, left, strict=True):
        crossed[channel, hops] += some
    return crossed


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
        for path, count in Counter(sorted(drawn)).items():
            yield path, Fraction(count, self.k)


def _drawn(base: Routing, source: int, destination: int, k: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return k random paths of a pair; a routing that lists its paths lists them once."""
    if type(base).sample is not Routing.sample:
        paths = (base.sample(source, destination, rng) for _ in range(k))
        return [checked_channels(base, source, destination, path) for path in paths]
    listed = list(checked_paths(base, source, destination))
    require_all(base, source, destination, sum((chance for _, chance in listed), Fraction(0)))
    shares = np.array([float(chance) for _, chance in listed])
    return [listed[number][0] for number in rng.choice(len(listed), size=k, p=shares / shares.sum()).tolist()]
