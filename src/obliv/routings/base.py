"""A routing: for every pair of terminals, paths with probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from obliv._util.arrays import whole
from obliv._util.rationals import share
from obliv.errors import InputError, RoutingError
from obliv.loads.base import PairLoads, channel_map
from obliv.loads.hops import Hops, from_hops
from obliv.loads.mixed import MixedLoads, TwoPhaseLoads
from obliv.loads.paths import from_crossings
from obliv.loads.programs import Program
from obliv.loads.separable import SeparableLoads
from obliv.loads.translated import TranslatedLoads, translation_group
from obliv.specs.grammar import split_mix
from obliv.specs.registry import ROUTINGS
from obliv.topologies.base import Topology
from obliv.topologies.base import topology as topology_of
from obliv.topologies.cartesian import Cartesian

__all__ = ["Adapted", "HopRouting", "Mix", "Path", "Routing", "TwoPhase", "routing"]

Path = tuple[tuple[int, ...], Fraction]  # channels, probability


class Routing:
    """An oblivious routing on a topology.

    A subclass gives :meth:`paths`, or derives from :class:`HopRouting` and gives ``next_hops``; nothing else is
    needed.  ``0.5 * a + 0.5 * b`` of two routings is a routing.

    Parameters
    ----------
    topology : Topology
    spec : str
        The spec that makes this routing again.
    """

    sources: tuple[tuple[str, str], ...] = ()
    programs: tuple[Program, ...] = ()  # what a dimension-ordered routing does, as data
    partial: bool = False  # whether some pairs have no path, or paths for a share of their packets, and the rest rests

    def __init__(self, topology: Topology, spec: str = "") -> None:
        self.topology = topology
        self.spec = spec

    @property
    def skipped(self) -> int:
        """How many ordered pairs have no path, or paths for a share of their packets only."""
        return 0

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<Routing {self.spec} on {self.topology.spec}>"

    def paths(self, source: int, destination: int) -> Iterable[Path]:
        """Every path of a pair of nodes as (channels, probability); probabilities add up to one."""
        raise NotImplementedError(f"{type(self).__name__} must give paths(source, destination)")

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        """The channels of one path, drawn with the routing's probabilities."""
        choices = list(self.paths(source, destination))
        at = rng.choice(len(choices), p=np.array([float(chance) for _, chance in choices]))
        return choices[int(at)][0]

    def pair_loads(
        self,
        samples: int | None = None,
        rng: np.random.Generator | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> PairLoads:
        """The pair loads of this routing.

        Parameters
        ----------
        samples : int, optional
            Estimate the loads from so many random paths a pair instead of enumerating all paths (Towles, section 3.2).
        rng : numpy.random.Generator, optional
            Source of the samples; default seed 0.
        progress : callable, optional
            Called with the share that is done.

        Returns
        -------
        PairLoads
            Exact unless `samples` is given; then marked as estimated.
        """
        if samples is None:
            return self._loads(progress)
        if samples < 2:
            raise RoutingError(f"{samples} samples: at least 2 paths a pair are needed for a standard error")
        return from_crossings(self.topology, self._sampled(samples, rng or np.random.default_rng(0), progress), samples)

    def _loads(self, progress: Callable[[float], None] | None) -> PairLoads:
        return from_crossings(self.topology, self._used(progress))

    def _used(self, progress: Callable[[float], None] | None) -> Iterator[tuple[int, int, dict[int, Fraction]]]:
        nodes = self.topology.terminals.tolist()
        for i, s in enumerate(nodes):
            for j, d in enumerate(nodes):
                used: dict[int, Fraction] = {}
                total = Fraction(0)
                for channels, chance in checked_paths(self, s, d):
                    total += chance
                    for c in channels:
                        used[c] = used.get(c, Fraction(0)) + chance
                if total != 1 and not (s == d and total == 0):
                    here, there = self.topology.name_of(s), self.topology.name_of(d)
                    raise RoutingError(
                        f"{self.spec}: the paths from {here} to {there} have total probability {total}, not 1"
                    )
                yield i, j, used
            if progress is not None:
                progress((i + 1) / len(nodes))

    def _sampled(
        self, samples: int, rng: np.random.Generator, progress: Callable[[float], None] | None
    ) -> Iterator[tuple[int, int, dict[int, Fraction]]]:
        nodes = self.topology.terminals.tolist()
        for i, s in enumerate(nodes):
            for j, d in enumerate(nodes):
                counts: dict[int, int] = {}
                for _ in range(samples):
                    for c in self.sample(s, d, rng):
                        counts[c] = counts.get(c, 0) + 1
                yield i, j, {c: Fraction(count, samples) for c, count in counts.items()}
            if progress is not None:
                progress((i + 1) / len(nodes))

    def __mul__(self, weight: Any) -> Mix:
        return Mix([(_weight(weight), self)])

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Mix:
        return Mix([(Fraction(1), self)]).__add__(other)


class HopRouting(Routing):
    """A routing by next hops, which depend on the node and the destination only.

    A subclass gives ``next_hops(node, destination)``: channels, or (channel, probability) pairs.
    """

    def next_hops(self, node: int, destination: int) -> Sequence[tuple[int, Any]] | Sequence[int]:
        """The channels that a packet at `node` may take towards `destination`, equally likely or with probabilities."""
        raise NotImplementedError(f"{type(self).__name__} must give next_hops(node, destination)")

    def chances(self, node: int, destination: int) -> list[tuple[int, Fraction]]:
        """The next hops of a node as (channel, exact probability), checked."""
        here = self.topology.name_of(node)
        hops = _listed(self, self.next_hops(node, destination), f"the next hops of {here}")
        found: dict[int, Fraction] = {}
        for hop in hops:
            channel, chance = hop if isinstance(hop, tuple) and len(hop) == 2 else (hop, Fraction(1, len(hops)))
            if not _is_channel(self.topology, channel) or self.topology.tail[channel] != node:
                raise RoutingError(f"{self.spec}: next hop {channel!r} of {here} is no channel that leaves it")
            exact = share(chance)
            if exact is None:
                raise RoutingError(
                    f"{self.spec}: a next hop of {here} has probability {chance!r}, not a number from 0 to 1"
                )
            if exact:  # a channel may be named twice
                found[int(channel)] = found.get(int(channel), Fraction(0)) + exact
        total = sum(found.values(), Fraction(0))
        if found and total != 1:
            there = self.topology.name_of(destination)
            raise RoutingError(f"{self.spec}: the next hops of {here} towards {there} add up to {total}, not 1")
        return list(found.items())

    def hops_to(self, destination: int) -> Hops:
        """All next hops towards a destination, as arrays."""
        ptr, channel, total = [0], [], []
        numerators: list[int] = []
        for node in range(self.topology.nodes):
            hops = self.chances(node, destination) if node != destination else []
            common = lcm(*(chance.denominator for _, chance in hops))
            total.append(common)
            channel += [c for c, _ in hops]
            numerators += [int(chance * common) for _, chance in hops]
            ptr.append(len(channel))
        return Hops(np.array(ptr), np.array(channel, np.int64), whole(numerators), whole(total))

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        """Every path along the next hops; there can be exponentially many."""
        trail: list[tuple[int, tuple[int, ...], Fraction, frozenset[int]]] = [
            (source, (), Fraction(1), frozenset([source]))
        ]
        while trail:
            node, channels, chance, seen = trail.pop()
            if node == destination:
                yield channels, chance
                continue
            hops = self.chances(node, destination)
            here, there = self.topology.name_of(node), self.topology.name_of(destination)
            if not hops:
                raise RoutingError(f"{self.spec}: {here} has no next hop towards {there}")
            for channel, likely in hops:
                head = int(self.topology.head[channel])
                if head in seen:
                    raise RoutingError(f"{self.spec}: the next hops towards {there} form a loop through {here}")
                trail.append((head, (*channels, channel), chance * likely, seen | {head}))

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        node = source
        channels: list[int] = []
        while node != destination:
            hops = self.chances(node, destination)
            if not hops or len(channels) > self.topology.nodes:
                here, there = self.topology.name_of(node), self.topology.name_of(destination)
                raise RoutingError(f"{self.spec}: no way leads from {here} to {there}")
            at = rng.choice(len(hops), p=np.array([float(chance) for _, chance in hops])) if len(hops) > 1 else 0
            channels.append(hops[int(at)][0])
            node = int(self.topology.head[channels[-1]])
        return tuple(channels)

    def _loads(self, progress: Callable[[float], None] | None) -> PairLoads:
        group = translation_group(self.topology)
        if group is not None and all(self._moves_along(g) for g in self.topology.translations):
            return TranslatedLoads(from_hops(self.topology, self.hops_to, self.spec, np.zeros(1, np.int64)), group)
        return from_hops(self.topology, self.hops_to, self.spec, progress=progress)

    def _moves_along(self, node_map: Any) -> bool:
        """Whether the next hops keep a node map: those of g(v) towards g(d) are the images of those of v towards d."""
        moved = channel_map(self.topology, np.asarray(node_map))
        if moved is None:
            return False
        for d in range(self.topology.nodes):
            here, there = self.hops_to(d), self.hops_to(int(node_map[d]))
            share, total = _per_channel(self.topology, here), _per_channel(self.topology, there)
            if not all(np.array_equal(a, b[moved]) for a, b in zip(share, total, strict=True)):
                return False
        return True


class TwoPhase(Routing):
    """Valiant's scheme: by a base routing to a uniformly random terminal, and from there to the destination."""

    def __init__(self, base: Routing, spec: str) -> None:
        super().__init__(base.topology, spec)
        self.base = base

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        terminals = self.topology.terminals.tolist()
        for middle in terminals:
            onward = list(self.base.paths(middle, destination))
            for first, chance in self.base.paths(source, middle):
                for second, other in onward:
                    yield first + second, chance * other / len(terminals)

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        middle = int(rng.choice(self.topology.terminals))
        return self.base.sample(source, middle, rng) + self.base.sample(middle, destination, rng)

    def _loads(self, progress: Callable[[float], None] | None) -> PairLoads:
        return TwoPhaseLoads(self.base.pair_loads(progress=progress))


class Mix(Routing):
    """A convex mix: each packet follows one of several routings, drawn with their weights."""

    def __init__(self, parts: Sequence[tuple[Fraction, Routing]]) -> None:
        self.parts: list[tuple[Fraction, Routing]] = []
        for weight, part in parts:
            inner = part.parts if isinstance(part, Mix) else [(Fraction(1), part)]
            self.parts += [(weight * share, each) for share, each in inner]
        topology = self.parts[0][1].topology
        if any(not topology.same_network(part.topology) for _, part in self.parts):
            raise RoutingError("a mix needs routings on one topology")
        super().__init__(topology, "+".join(f"{weight}*{part.spec}" for weight, part in self.parts))
        if sum((weight for weight, _ in self.parts), Fraction(0)) > 1:
            raise RoutingError(f"the weights of {self.spec} add up to more than 1: write 0.5 * a + 0.5 * b")
        self.sources = tuple(source for _, part in self.parts for source in part.sources)

    @property
    def _whole(self) -> Mix:
        total = sum((weight for weight, _ in self.parts), Fraction(0))
        if total != 1:
            raise RoutingError(f"the weights of {self.spec} add up to {total}, they must add up to 1")
        return self

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        for weight, part in self._whole.parts:
            for channels, chance in part.paths(source, destination):
                yield channels, weight * chance

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        parts = self._whole.parts
        at = rng.choice(len(parts), p=np.array([float(weight) for weight, _ in parts]))
        return parts[int(at)][1].sample(source, destination, rng)

    def _loads(self, progress: Callable[[float], None] | None) -> PairLoads:
        parts = self._whole.parts
        if isinstance(self.topology, Cartesian) and all(part.programs for _, part in parts):
            mixed = [
                replace(program, probability=weight * program.probability)
                for weight, part in parts
                for program in part.programs
            ]
            return SeparableLoads(self.topology, tuple(mixed))
        return MixedLoads([(weight, part.pair_loads(progress=progress)) for weight, part in parts])

    def __mul__(self, weight: Any) -> Mix:
        factor = _weight(weight)
        return Mix([(factor * share, part) for share, part in self.parts])

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Mix:
        if not isinstance(other, Routing):
            return NotImplemented
        more = other.parts if isinstance(other, Mix) else [(Fraction(1), other)]
        return Mix([*self.parts, *more])


class Adapted(Routing):
    """A user's own class that gives only ``paths``, behind the face of a routing."""

    def __init__(self, own: Any, topology: Topology, spec: str) -> None:
        super().__init__(topology, spec)
        self.own = own

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        paths: Iterator[Path] = self.own.paths(source, destination)
        return paths


class AdaptedHops(HopRouting):
    """A user's own class that gives only ``next_hops``, behind the face of a routing."""

    def __init__(self, own: Any, topology: Topology, spec: str) -> None:
        super().__init__(topology, spec)
        self.own = own

    def next_hops(self, node: int, destination: int) -> Any:
        return self.own.next_hops(node, destination)


def routing(spec: Any, topology: Any = None) -> Any:
    """The routing that a spec names, on a topology.

    Parameters
    ----------
    spec : str or Routing
        For example ``romm``, ``dor:yx`` or ``1/2*dor+1/2*dor:yx``; a Routing is returned as it is.
    topology : Topology
        The network.

    Returns
    -------
    Routing

    Raises
    ------
    RoutingError
        If the topology cannot carry the routing.

    Examples
    --------
    >>> import obliv
    >>> obliv.routing("1/2*dor+1/2*dor:yx", obliv.mesh(4, 4))
    <Routing 1/2*dor+1/2*dor:yx on mesh:4x4>
    """
    if isinstance(spec, Routing):
        return spec
    if not isinstance(spec, str):
        raise InputError(f"a routing is a spec or a Routing, not {type(spec).__name__}")
    if topology is None:
        raise InputError('a routing needs a topology: obliv.routing("romm", topology)')
    topology = topology_of(topology)
    mix = split_mix(spec)
    if mix is not None:
        return Mix([(weight, routing(part, topology)) for weight, part in mix])
    return adapted(ROUTINGS.make(spec, topology), topology, spec.strip())


def adapted(made: Any, topology: Topology, spec: str) -> Routing:
    """What a registered class made, as a routing."""
    if isinstance(made, Routing):
        made.spec = made.spec or spec
        return made
    if hasattr(made, "next_hops"):
        return AdaptedHops(made, topology, spec)
    if hasattr(made, "paths"):
        return Adapted(made, topology, spec)
    raise RoutingError(f"{spec}: a routing needs paths(source, destination) or next_hops(node, destination)")


def checked_paths(routing: Routing, source: int, destination: int) -> Iterator[Path]:
    """The paths of a pair, each of them checked: its channels lead there, its probability is one.

    Raises
    ------
    RoutingError
        Naming the pair and what is wrong.
    """
    topology = routing.topology
    pair = f"from {topology.name_of(source)} to {topology.name_of(destination)}"
    for path in _listed(routing, routing.paths(source, destination), f"the paths {pair}"):
        if not isinstance(path, tuple | list) or len(path) != 2:
            raise RoutingError(f"{routing.spec}: a path {pair} is {path!r}, not (channels, probability)")
        channels, chance = _listed(routing, path[0], f"the channels of a path {pair}"), share(path[1])
        if chance is None:
            raise RoutingError(f"{routing.spec}: a path {pair} has probability {path[1]!r}, not a number from 0 to 1")
        at = source
        for c in channels:
            if not _is_channel(topology, c) or topology.tail[c] != at:
                raise RoutingError(f"{routing.spec}: a path {pair} takes channel {c!r} at {topology.name_of(at)}")
            at = int(topology.head[c])
        if at != destination:
            raise RoutingError(f"{routing.spec}: a path {pair} ends at {topology.name_of(at)}")
        yield tuple(int(c) for c in channels), chance


def _listed(routing: Routing, values: Any, what: str) -> list[Any]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise RoutingError(f"{routing.spec}: {what} must be a list, not {values!r}")
    return list(values)


def _is_channel(topology: Topology, value: Any) -> bool:
    whole_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole_number and bool(0 <= value < topology.channels)


def _weight(weight: Any) -> Fraction:
    exact = share(weight)
    if exact is None:
        raise RoutingError(f"{weight!r} is no weight of a mix: it must be a number from 0 to 1")
    return exact


def _per_channel(topology: Topology, hops: Hops) -> tuple[Any, Any]:
    """Share and total of every channel, 0 where it is no next hop."""
    part, total = np.zeros(topology.channels, hops.share.dtype), np.zeros(topology.channels, hops.total.dtype)
    part[hops.channel] = hops.share
    total[hops.channel] = np.repeat(hops.total, np.diff(hops.ptr))
    return part, total
