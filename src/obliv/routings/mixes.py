"""Routings composed of others: convex mixes, and Valiant's two phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from obliv._util.arrays import whole
from obliv._util.progress import Progress
from obliv._util.rationals import share
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import MixedLoads, TwoPhaseLoads
from obliv.routings.base import Crossed, Path, Routing
from obliv.routings.checks import checked_channels, checked_paths, merged
from obliv.routings.lengths import Lengths, add, times

__all__ = ["Mix", "TwoPhase"]


class Mix(Routing):
    """A convex mix: each packet follows one of several routings, drawn with their weights.

    Examples
    --------
    >>> import obliv
    >>> routing = 0.5 * obliv.DOR(obliv.mesh(4, 4)) + 0.5 * obliv.ROMM(obliv.mesh(4, 4))
    >>> routing
    <Routing 1/2*dor+1/2*romm on mesh:4x4>
    >>> obliv.worst_case(routing).channel_load
    Fraction(121, 48)
    """

    def __init__(self, parts: Sequence[tuple[Fraction, Routing]]) -> None:
        self.parts: list[tuple[Fraction, Routing]] = []
        for weight, part in parts:
            self.parts += [(weight * factor, inner) for factor, inner in _parts_of(part)]
        if not self.parts:
            raise RoutingError("a mix needs at least one routing")
        topology = self.parts[0][1].topology
        if any(not topology.same_network(part.topology) for _, part in self.parts):
            raise RoutingError("a mix needs routings on one topology")
        super().__init__(topology, "+".join(f"{weight}*{part.spec}" for weight, part in self.parts))
        if sum((weight for weight, _ in self.parts), Fraction(0)) > 1:
            raise RoutingError(f"the weights of {self.spec} add up to more than 1: write 0.5 * a + 0.5 * b")
        self.sources = tuple(source for _, part in self.parts for source in part.sources)
        self.partial = any(part.partial for _, part in self.parts)

    def components(self) -> tuple[tuple[Fraction, Routing], ...]:
        total = sum((weight for weight, _ in self.parts), Fraction(0))
        if total != 1:
            raise RoutingError(f"the weights of {self.spec} add up to {total}, they must add up to 1")
        return tuple(self.parts)

    def path_lengths(self, progress: Progress) -> Lengths:
        total: Lengths = {}
        for weight, part in self.components():
            add(total, part.path_lengths(progress), weight)
        return total

    def served(self, destination: int) -> tuple[Array, int]:
        parts = [(weight, *part.served(destination)) for weight, part in self.components()]
        over = lcm(*(weight.denominator * denominator for weight, _, denominator in parts))
        total: Array = np.zeros(len(self.topology.terminals), object)
        for weight, numerators, denominator in parts:
            total += numerators.astype(object) * int(weight * over / denominator)
        return whole(total.tolist()), over

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        return merged(self._paths_of_parts(source, destination))

    def _paths_of_parts(self, source: int, destination: int) -> Iterator[Path]:
        if source != destination:
            for weight, part in self.components():
                for channels, chance in checked_paths(part, source, destination):
                    yield channels, weight * chance
            return
        own = [(weight, list(checked_paths(part, source, destination))) for weight, part in self.components()]
        for weight, paths in own if any(paths for _, paths in own) else []:
            for channels, chance in paths or _silence(source, destination):
                yield channels, weight * chance

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        parts = self.components()
        at = rng.choice(len(parts), p=np.array([float(weight) for weight, _ in parts]))
        return parts[int(at)][1].sample(source, destination, rng)

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        parts = self.components()
        counts = rng.multinomial(packets, np.array([float(weight) for weight, _ in parts]))
        crossed: Crossed = Counter()
        for (_, part), count in zip(parts, counts.tolist(), strict=True):
            crossed.update(part.crossings(source, destination, count, rng))
        return crossed

    @property
    def declared(self) -> bool:
        return any(part.declared for _, part in self.parts)

    def symmetries(self) -> list[Array]:
        first, *others = [part.symmetries() for _, part in self.parts]
        return [g for g in first if all(any(np.array_equal(g, h) for h in maps) for maps in others)]

    def _loads(self, progress: Progress) -> PairLoads:
        parts = self.components()
        joined = parts[0][1].joined_loads(parts)
        if joined is not None:
            return joined
        return MixedLoads([(weight, part.pair_loads(progress=progress)) for weight, part in parts])

    def __mul__(self, factor: Any) -> Mix:
        factor = _weight(factor)
        return Mix([(factor * weight, part) for weight, part in self.parts])

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Mix:
        if not isinstance(other, Routing):
            return NotImplemented
        return Mix([*self.parts, *_parts_of(other)])


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
        return list(checked_paths(self.base, source, destination)) or _silence(source, destination)

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        middle = int(rng.choice(self.topology.terminals))
        into, onward = self.base.sample(source, middle, rng), self.base.sample(middle, destination, rng)
        return (
            *checked_channels(self.base, source, middle, into),
            *checked_channels(self.base, middle, destination, onward),
        )

    @property
    def phase_routing(self) -> Routing | None:
        return self.base

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


def _silence(source: int, destination: int) -> list[Path]:
    """Return what a routing does that lists no path of a node to itself: it sends nothing out."""
    return [((), Fraction(1))] if source == destination else []


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


def _parts_of(routing: Routing) -> Sequence[tuple[Fraction, Routing]]:
    """Return the parts of a mix, even if its weights do not add up to 1; any other routing is its only part."""
    return routing.parts if isinstance(routing, Mix) and type(routing).paths is Mix.paths else [(Fraction(1), routing)]


def _weight(weight: Any) -> Fraction:
    exact = share(weight)
    if exact is None:
        raise RoutingError(f"{weight!r} is not a valid weight of a mix: use a number from 0 to 1")
    return exact
