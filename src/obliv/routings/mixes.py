"""Routings composed of others: convex mixes, and Valiant's two phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, whole
from obliv._util.progress import Progress, require_memory
from obliv._util.rationals import share
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import MixedLoads, TranslatedLoads, TranslationGroup, TwoPhaseLoads, translation_group
from obliv.loads.stored import Crossings, Numerators, collected, from_entries
from obliv.routings.base import Crossed, Path, Routing, checked_channels, checked_paths, merged, require_all
from obliv.routings.hops import Lengths, add, times
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, terminal_map


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


# Pairs that look the same under the symmetries of a routing: one stands for all (Towles, section 4.2)


class PairClasses(NamedTuple):
    """Ordered pairs of terminals, source * terminals + destination, in classes.

    Attributes
    ----------
    representatives : int64 array
        The first pair of each class.
    layers : list of (pairs, parents, map)
        Pairs in the order of a search: every pair of an array is its parent, from the layer before, moved by the map.
    moved : list of int64 array, shape (channels,)
        The channel that each channel becomes, for every map.
    """

    representatives: Array
    layers: list[tuple[list[Array], list[Array], list[int]]]
    moved: list[Array]


def pair_classes(topology: Topology, maps: list[Array]) -> PairClasses:
    """Return the classes of ordered pairs of terminals under `maps`: automorphisms that keep the terminals."""
    n = len(topology.terminals)
    require_memory(40.0 * n * n * (1 + len(maps)), "the classes of pairs")
    moved = [_channels_moved(topology, node_map) for node_map in maps]
    images = [_pairs_moved(topology, node_map) for node_map in maps]
    representatives: Array = np.unique(_labels(images, n), return_index=True)[1]
    reached = np.zeros(n * n, bool)
    reached[representatives] = True
    frontier, layers = representatives, []
    while len(frontier):
        layer: tuple[list[Array], list[Array], list[int]] = ([], [], [])
        for k, image in enumerate(images):
            new, first = np.unique(image[frontier], return_index=True)
            fresh = ~reached[new]
            new, parents = new[fresh], frontier[first[fresh]]
            reached[new] = True
            if len(new):
                layer[0].append(new)
                layer[1].append(parents)
                layer[2].append(k)
        frontier = np.concatenate([*layer[0], np.empty(0, np.int64)]).astype(np.int64)
        layers.append(layer)
    return PairClasses(representatives, layers, moved)


def class_of_pair(routing: Routing) -> Array:
    """Return for every ordered pair of terminals, source * terminals + destination, a number of its class."""
    topology = routing.topology
    maps = network_symmetries(routing)
    return _labels([_pairs_moved(topology, node_map) for node_map in maps], len(topology.terminals))


def network_symmetries(routing: Routing) -> list[Array]:
    """Return the symmetries of a routing that are automorphisms of its network and keep its terminals."""
    topology = routing.topology
    return [
        g
        for g in routing.symmetries()
        if channel_map(topology, g) is not None and terminal_map(topology, g) is not None
    ]


def _channels_moved(topology: Topology, node_map: Array) -> Array:
    channels = channel_map(topology, node_map)
    if channels is None:
        raise RoutingError(f"a symmetry of a routing on {topology.spec} is not an automorphism of the network")
    return channels


def _pairs_moved(topology: Topology, node_map: Array) -> Array:
    place = terminal_map(topology, node_map)
    if place is None:
        raise RoutingError(f"a symmetry of a routing on {topology.spec} does not keep its terminals")
    return (place[:, None].astype(np.int64) * len(place) + place).ravel()


def _labels(images: list[Array], terminals: int) -> Array:
    """Return the class of every pair: a component of the graph of pairs and their images."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = terminals * terminals
    if not images:
        return np.arange(count)
    pairs, links = np.tile(np.arange(count), len(images)), np.concatenate(images)
    graph = coo_array((np.ones(len(links), np.int8), (pairs, links)), shape=(count, count))
    labels: Array = connected_components(graph, directed=False)[1]
    return labels


def expanded(entries: Numerators, classes: PairClasses, terminals: int) -> Numerators:
    """Return the entries of all pairs from those of the representatives."""
    order = np.argsort(entries.source * terminals + entries.destination, kind="stable")
    pair = (entries.source * terminals + entries.destination)[order]
    channel, numerator = entries.channel[order], entries.numerator[order]
    parts = [(pair, channel, numerator)]
    for pairs, parents, maps in classes.layers:
        layer = [
            _moved(new, old, classes.moved[k], parts[-1]) for new, old, k in zip(pairs, parents, maps, strict=True)
        ]
        if layer:
            joined = [np.concatenate(columns) for columns in zip(*layer, strict=True)]
            order = np.argsort(joined[0], kind="stable")
            parts.append((joined[0][order], joined[1][order], joined[2][order]))
    pair, channel, numerator = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Numerators(pair // terminals, pair % terminals, channel, numerator, entries.denominator)


def _moved(new: Array, old: Array, moved: Array, layer: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Return the entries of new pairs, each those of an old pair of a layer with the channels moved."""
    pair, channel, numerator = layer
    first, last = np.searchsorted(pair, old, "left"), np.searchsorted(pair, old, "right")
    count = last - first
    ends = np.cumsum(count)
    at = np.arange(int(ends[-1])) + np.repeat(first - (ends - count), count)
    return np.repeat(new, count), moved[channel[at]], numerator[at]


class PathComparison(NamedTuple):
    """What was compared of a routing that is declared relative.

    Attributes
    ----------
    group : Group
        The translations that carry the paths from node 0 to those from every other node.
    complete : bool
        Whether the paths of all pairs were compared.
    """

    group: TranslationGroup
    complete: bool


#: Work up to which the paths of all pairs are compared: the channels of all paths, and _OVERHEAD for each path.
_AFFORDABLE, _OVERHEAD = 3e8, 30


def compared(routing: Routing) -> PathComparison | None:
    """Check a routing that is declared relative against its paths from node 0; None without translations to use.

    The paths of all pairs are compared, up to about two thousand terminals. In larger networks it is all pairs of one
    random source, and one pair from every other source, with many paths, where a difference is likely to show. Of a
    routing that draws paths, random packets of some pairs are compared: that finds gross differences only, and refuses
    a relative routing with a probability below 10^-9. RoutingError, naming a pair, if the paths differ.
    """
    group = translation_group(routing.topology) if routing.relative and routing.by_hops is None else None
    if group is None or routing._by_offset:
        return None if group is None else PathComparison(group, True)
    if draws_only(routing):
        _compare_drawn(routing, group)
        return PathComparison(group, False)
    nodes = routing.topology.nodes
    paths = [list(checked_paths(routing, 0, offset)) for offset in range(nodes)]
    if nodes * sum(len(path) + _OVERHEAD for of_pair in paths for path, _ in of_pair) <= _AFFORDABLE:
        for source in range(1, nodes):
            _compare_source(routing, group, paths, source)
        return PathComparison(group, True)
    offsets = sorted(range(nodes), key=lambda offset: -len(paths[offset]))[: 1 + nodes // 4]
    whole = int(np.random.default_rng(nodes).integers(1, nodes)) if nodes > 1 else 0
    for source in range(1, nodes):
        if source == whole:
            _compare_source(routing, group, paths, source)
        else:
            offset = offsets[source % len(offsets)]
            moved = _channels_moved(routing.topology, group.add(np.arange(nodes), source))
            _compare_pair(
                routing, group, [(moved[list(path)].tolist(), share) for path, share in paths[offset]], source, offset
            )
    return PathComparison(group, False)


def _compare_source(routing: Routing, group: TranslationGroup, paths: list[list[Path]], source: int) -> None:
    """Compare the paths of all pairs of a source with those of node 0, moved."""
    nodes = routing.topology.nodes
    moved = _channels_moved(routing.topology, group.add(np.arange(nodes), source)).tolist()
    for offset, of_pair in enumerate(paths):
        expected = [([moved[channel] for channel in path], share) for path, share in of_pair]
        if not _same_order(routing, source, int(group.add(offset, source)), expected):
            _compare_pair(routing, group, expected, source, offset)


def _same_order(routing: Routing, source: int, destination: int, expected: list[tuple[list[int], Fraction]]) -> bool:
    """Return whether a pair has the expected paths, channel by channel, in the expected order; False if in doubt."""
    given = routing.paths(source, destination)
    if not isinstance(given, Iterable):
        return False
    listed = list(given)
    return len(listed) == len(expected) and all(
        isinstance(one, tuple | list)
        and len(one) == 2
        and isinstance(one[0], tuple | list)
        and one[1] == other[1]
        and list(one[0]) == other[0]
        for one, other in zip(listed, expected, strict=True)
    )


def _compare_pair(
    routing: Routing, group: TranslationGroup, expected: list[tuple[list[int], Fraction]], source: int, offset: int
) -> None:
    """Compare the paths of a pair, in any order."""
    destination = int(group.add(offset, source))
    if _distribution(expected) != _distribution(checked_paths(routing, source, destination)):
        raise RoutingError(_not_relative(routing, source, destination, offset))


def draws_only(routing: Routing) -> bool:
    """Return whether the paths of a routing can be drawn, but not listed pair by pair."""
    return type(routing).paths is Routing.paths


#: Pairs, and random packets of each, on which a routing that draws paths is compared.
_PAIRS, _PACKETS = 16, 200


def _compare_drawn(routing: Routing, group: TranslationGroup) -> None:
    """Check a few pairs of a routing that draws paths against those from node 0."""
    topology = routing.topology
    nodes = topology.nodes
    rng = np.random.default_rng(nodes)
    apart = sqrt(log(2e9 * _PAIRS * max(topology.channels, 1)) / _PACKETS)  # Hoeffding, over all channels and pairs
    for _ in range(_PAIRS if nodes > 1 else 0):
        source, offset = int(rng.integers(1, nodes)), int(rng.integers(nodes))
        destination = int(group.add(offset, source))
        moved = _channels_moved(topology, group.add(np.arange(nodes), source))
        surplus = np.zeros(topology.channels, np.int64)
        for (channel, _), packets in routing.crossings(0, offset, _PACKETS, rng).items():
            surplus[moved[channel]] += packets
        for (channel, _), packets in routing.crossings(source, destination, _PACKETS, rng).items():
            surplus[channel] -= packets
        if np.abs(surplus).max(initial=0) > apart * _PACKETS:
            raise RoutingError(_not_relative(routing, source, destination, offset))


def _not_relative(routing: Routing, source: int, destination: int, offset: int) -> str:
    name = routing.topology.name_of
    return (
        f"{routing.spec} is declared relative, but its paths from {name(source)} to {name(destination)} "
        f"are not those from {name(0)} to {name(offset)}, moved: set relative = False"
    )


def _distribution(paths: Iterable[tuple[Sequence[int], Fraction]]) -> object:
    shares: dict[tuple[int, ...], Fraction] = {}
    for path, chance in paths:
        shares[tuple(path)] = shares.get(tuple(path), Fraction(0)) + chance
    return {path: share for path, share in shares.items() if share}


# Exact pair loads and path lengths of a routing, enumerated from its paths pair by pair


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
    entries = 0
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
            memory = 150.0 * entries * (len(sources) - 1)  # at least
            require_memory(memory, f"listing the paths of {routing.spec} on {routing.topology.spec}")
        progress("pair loads", (i + 1) / len(sources))
