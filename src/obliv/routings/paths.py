"""Paths of a routing: checked with their probabilities, added up to exact pair loads and lengths, or declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import lcm, log, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from obliv._util.arrays import Array, whole
from obliv._util.progress import Progress, require_memory
from obliv._util.rationals import share
from obliv.errors import RoutingError, TopologyError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import TranslatedLoads, TranslationGroup
from obliv.loads.stored import Crossings, collected, from_entries
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map

#: The channels of a path, and its probability.
Path = tuple[tuple[int, ...], Fraction]

#: The number of random packets by (channel, times): those that cross the channel that many times.
Crossed = Counter[tuple[int, int]]


class HasPaths(Protocol):
    """What is asked of a routing here."""

    @property
    def spec(self) -> str: ...
    @property
    def topology(self) -> Topology: ...
    @property
    def partial(self) -> bool: ...
    def paths(self, source: int, destination: int, /) -> Iterable[Path]: ...
    def sample(self, source: int, destination: int, rng: np.random.Generator, /) -> tuple[int, ...]: ...
    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator, /) -> Crossed: ...
    def symmetries(self) -> list[Array]: ...


# Checks of paths and next hops, and of their probabilities


_LISTS = "a path lists channels (topology.channel(u, v)), or nodes by name"


def terminal_numbers(routing: HasPaths, *nodes: int) -> list[int]:
    """Return the numbers of terminals by their nodes; RoutingError for other nodes."""
    number_of = routing.topology.number_of
    for node in nodes:
        if not 0 <= node < len(number_of) or number_of[node] < 0:
            raise RoutingError(f"{routing.spec}: node {node} is not a terminal")
    return [int(number_of[node]) for node in nodes]


def checked_paths(routing: HasPaths, source: int, destination: int) -> Iterator[Path]:
    """Yield the paths of a pair; RoutingError unless channels lead to the destination and probabilities are valid."""
    pair = partial(_pair, routing.topology, source, destination)
    for path in listed(routing, routing.paths(source, destination), lambda: f"the paths {pair()}"):
        if not isinstance(path, tuple | list) or len(path) != 2:
            raise RoutingError(f"{routing.spec}: a path {pair()} is {path!r}, not (channels, probability)")
        chance = share(path[1])
        if chance is None:
            raise RoutingError(f"{routing.spec}: a path {pair()} has probability {path[1]}, not a number from 0 to 1")
        yield checked_channels(routing, source, destination, path[0]), chance


def checked_channels(routing: HasPaths, source: int, destination: int, path: Any) -> tuple[int, ...]:
    """Return the channels of a path; raise RoutingError unless they lead from the source to the destination."""
    topology = routing.topology
    pair = partial(_pair, topology, source, destination)
    at = source
    channels = listed(routing, channels_of(routing, source, path), lambda: f"the channels of a path {pair()}")
    for c in channels:
        if not is_channel(topology, c) or topology.tail[c] != at:
            raise RoutingError(
                f"{routing.spec}: a path {pair()} takes channel {c!r} at {topology.name_of(at)}; {_LISTS}"
            )
        at = int(topology.head[c])
    if at != destination:
        raise RoutingError(f"{routing.spec}: a path {pair()} ends at {topology.name_of(at)}; {_LISTS}")
    return tuple(int(c) for c in channels)


def channels_of(routing: HasPaths, source: int, path: Any) -> Any:
    """Return the channels of a path that names its nodes, from the source on; any other path as it is."""
    if not (isinstance(path, tuple | list) and path and isinstance(path[0], str | tuple | list)):
        return path
    topology = routing.topology
    try:
        if topology.node(path[0]) != source:
            raise TopologyError(f"begins at {path[0]}")
        return tuple(topology.channel(tail, head) for tail, head in pairwise(path))
    except TopologyError as error:
        raise RoutingError(f"{routing.spec}: a path from {topology.name_of(source)}: {error}") from None


def merged(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield every path once, in the order in which it comes first, with its total probability."""
    total: dict[tuple[int, ...], Fraction] = {}
    for channels, chance in paths:
        total[channels] = total.get(channels, Fraction(0)) + chance
    yield from total.items()


def silence(source: int, destination: int) -> list[Path]:
    """Return what a routing does that lists no path of a node to itself: it sends nothing out."""
    return [((), Fraction(1))] if source == destination else []


def require_all(routing: HasPaths, source: int, destination: int, total: Fraction) -> None:
    """Raise RoutingError unless the probabilities of a pair's paths add up to one.

    A node may send itself nothing, and those of a partial routing may add up to less.
    """
    if total != 1 and not (source == destination and total == 0) and not (routing.partial and total < 1):
        pair = _pair(routing.topology, source, destination)
        raise RoutingError(f"{routing.spec}: the paths {pair} have total probability {total}, not 1")


def listed(routing: HasPaths, values: Any, what: Callable[[], str]) -> list[Any]:
    """Return what a routing gave as a list; raise RoutingError where it is something else."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RoutingError(f"{routing.spec}: {what()} must be a list, not {values!r}")
    return list(values)


def is_channel(topology: Topology, value: Any) -> bool:
    """Return whether a value is the number of a channel."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and bool(0 <= value < topology.channels)


def _pair(topology: Topology, source: int, destination: int) -> str:
    return f"from {topology.name_of(source)} to {topology.name_of(destination)}"


# Distributions of path lengths.
#
# A polynomial stands for a distribution, the chance of h hops at power h: independent lengths add up as polynomials
# multiply.


#: A polynomial: power and coefficient.
Lengths = dict[int, Fraction]


def add(total: Lengths, more: Lengths, weight: Fraction = Fraction(1)) -> None:
    """Add a polynomial, times a weight, to another in place."""
    for h, chance in more.items():
        total[h] = total.get(h, Fraction(0)) + weight * chance


def times(one: Lengths, two: Lengths) -> Lengths:
    """Return the product of two polynomials."""
    product: Lengths = {}
    for g, first in one.items():
        for h, second in two.items():
            product[g + h] = product.get(g + h, Fraction(0)) + first * second
    return product


# Exact pair loads and path lengths of a routing, enumerated from its paths pair by pair


def enumerated_loads(routing: HasPaths, group: TranslationGroup | None, progress: Progress) -> PairLoads:
    """Return the exact pair loads from all paths: of every pair, or from one source if a group carries them on."""
    sources = routing.topology.terminals.tolist() if group is None else [0]
    loads = from_entries(routing.topology, collected(_enumerated(routing, sources, progress)))
    return loads if group is None else TranslatedLoads(loads, group)


def lengths_of(routing: HasPaths, source: int, destination: int) -> Lengths:
    """Return the distribution of the lengths of the paths of a pair of nodes."""
    lengths: Lengths = {}
    for channels, chance in checked_paths(routing, source, destination):
        lengths[len(channels)] = lengths.get(len(channels), Fraction(0)) + chance
    total = sum(lengths.values(), Fraction(0))
    require_all(routing, source, destination, total)
    return {0: Fraction(1)} if source == destination and not total else lengths  # nothing is sent out


def served_of(routing: HasPaths, destination: int) -> tuple[Array, int]:
    """Return the total probability of the paths from every terminal to one: numerators over a common denominator."""
    terminals = routing.topology.terminals.tolist()
    shares = [sum(lengths_of(routing, source, destination).values(), Fraction(0)) for source in terminals]
    over = lcm(*(share.denominator for share in shares))
    return whole([int(share * over) for share in shares]), over


def _enumerated(routing: HasPaths, sources: list[int], progress: Progress) -> Iterator[Crossings]:
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


# Paths of a routing that is declared relative, compared with the declaration


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


def compared(routing: HasPaths, group: TranslationGroup, drawn: bool) -> PathComparison:
    """Check a routing that is declared relative against its paths from node 0, which are listed or `drawn`.

    The paths of all pairs are compared, up to about two thousand terminals. In larger networks it is all pairs of one
    random source, and one pair from every other source, with many paths, where a difference is likely to show. Of a
    routing that draws paths, random packets of some pairs are compared: that finds gross differences only, and refuses
    a relative routing with a probability below 10^-9. RoutingError, naming a pair, if the paths differ.
    """
    if drawn:
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
            moved = channels_moved(routing.topology, group.add(np.arange(nodes), source))
            _compare_pair(
                routing, group, [(moved[list(path)].tolist(), share) for path, share in paths[offset]], source, offset
            )
    return PathComparison(group, False)


def _compare_source(routing: HasPaths, group: TranslationGroup, paths: list[list[Path]], source: int) -> None:
    """Compare the paths of all pairs of a source with those of node 0, moved."""
    nodes = routing.topology.nodes
    moved = channels_moved(routing.topology, group.add(np.arange(nodes), source)).tolist()
    for offset, of_pair in enumerate(paths):
        expected = [([moved[channel] for channel in path], share) for path, share in of_pair]
        if not _same_order(routing, source, int(group.add(offset, source)), expected):
            _compare_pair(routing, group, expected, source, offset)


def _same_order(routing: HasPaths, source: int, destination: int, expected: list[tuple[list[int], Fraction]]) -> bool:
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
    routing: HasPaths, group: TranslationGroup, expected: list[tuple[list[int], Fraction]], source: int, offset: int
) -> None:
    """Compare the paths of a pair, in any order."""
    destination = int(group.add(offset, source))
    if _distribution(expected) != _distribution(checked_paths(routing, source, destination)):
        raise RoutingError(_not_relative(routing, source, destination, offset))


#: Pairs, and random packets of each, on which a routing that draws paths is compared.
_PAIRS, _PACKETS = 16, 200


def _compare_drawn(routing: HasPaths, group: TranslationGroup) -> None:
    """Check a few pairs of a routing that draws paths against those from node 0."""
    topology = routing.topology
    nodes = topology.nodes
    rng = np.random.default_rng(nodes)
    apart = sqrt(log(2e9 * _PAIRS * max(topology.channels, 1)) / _PACKETS)  # Hoeffding, over all channels and pairs
    for _ in range(_PAIRS if nodes > 1 else 0):
        source, offset = int(rng.integers(1, nodes)), int(rng.integers(nodes))
        destination = int(group.add(offset, source))
        moved = channels_moved(topology, group.add(np.arange(nodes), source))
        surplus = np.zeros(topology.channels, np.int64)
        for (channel, _), packets in routing.crossings(0, offset, _PACKETS, rng).items():
            surplus[moved[channel]] += packets
        for (channel, _), packets in routing.crossings(source, destination, _PACKETS, rng).items():
            surplus[channel] -= packets
        if np.abs(surplus).max(initial=0) > apart * _PACKETS:
            raise RoutingError(_not_relative(routing, source, destination, offset))


def _not_relative(routing: HasPaths, source: int, destination: int, offset: int) -> str:
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


def channels_moved(topology: Topology, node_map: Array) -> Array:
    """Return the channels that a symmetry of a routing makes of those of its network."""
    channels = channel_map(topology, node_map)
    if channels is None:
        raise RoutingError(f"a symmetry of a routing on {topology.spec} is not an automorphism of the network")
    return channels
