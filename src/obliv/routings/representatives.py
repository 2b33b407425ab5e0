"""Pairs that look the same under the symmetries of a routing: one stands for all (Towles, section 4.2)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from obliv._util.cost import Work, announce_here, require_memory
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.paths import Entries
from obliv.loads.translated import Group, translation_group
from obliv.routings.base import Path, Routing
from obliv.routings.checks import checked_paths
from obliv.topologies.base import Topology
from obliv.topologies.maps import channel_map, terminal_map

__all__ = [
    "Comparison",
    "PairClasses",
    "class_of_pair",
    "compared",
    "draws_only",
    "expanded",
    "network_symmetries",
    "pair_classes",
]


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


def expanded(entries: Entries, classes: PairClasses, terminals: int) -> Entries:
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
    return Entries(pair // terminals, pair % terminals, channel, numerator, entries.denominator)


def _moved(new: Array, old: Array, moved: Array, layer: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Return the entries of new pairs, each those of an old pair of a layer with the channels moved."""
    pair, channel, numerator = layer
    first, last = np.searchsorted(pair, old, "left"), np.searchsorted(pair, old, "right")
    count = last - first
    ends = np.cumsum(count)
    at = np.arange(int(ends[-1])) + np.repeat(first - (ends - count), count)
    return np.repeat(new, count), moved[channel[at]], numerator[at]


class Comparison(NamedTuple):
    """What was compared of a routing that is declared relative.

    Attributes
    ----------
    group : Group
        The translations that carry the paths from node 0 to those from every other node.
    complete : bool
        Whether the paths of all pairs were compared.
    """

    group: Group
    complete: bool


#: Work up to which the paths of all pairs are compared: the channels of all paths, and _OVERHEAD for each path.
_AFFORDABLE, _OVERHEAD = 3e8, 30


def compared(routing: Routing) -> Comparison | None:
    """Check a routing that is declared relative against its paths from node 0; None without translations to use.

    The paths of all pairs are compared, up to about two thousand terminals. In larger networks it is all pairs of one
    random source, and one pair from every other source, with many paths, where a difference is likely to show. Of a
    routing that draws paths, random packets of some pairs are compared: that finds gross differences only, and refuses
    a relative routing with a probability below 10^-9. RoutingError, naming a pair, if the paths differ.
    """
    group = translation_group(routing.topology) if routing.relative and routing.by_hops is None else None
    if group is None or routing._by_offset:
        return None if group is None else Comparison(group, True)
    if draws_only(routing):
        _compare_drawn(routing, group)
        return Comparison(group, False)
    nodes, began = routing.topology.nodes, time.process_time()
    paths = [list(checked_paths(routing, 0, offset)) for offset in range(nodes)]
    spent = time.process_time() - began
    if nodes * sum(len(path) + _OVERHEAD for of_pair in paths for path, _ in of_pair) <= _AFFORDABLE:
        what = f"comparing all paths of {routing.spec} on {routing.topology.spec}, which is declared relative"
        announce_here(what, Work(spent * nodes))
        for source in range(1, nodes):
            _compare_source(routing, group, paths, source)
        return Comparison(group, True)
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
    return Comparison(group, False)


def _compare_source(routing: Routing, group: Group, paths: list[list[Path]], source: int) -> None:
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
    routing: Routing, group: Group, expected: list[tuple[list[int], Fraction]], source: int, offset: int
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


def _compare_drawn(routing: Routing, group: Group) -> None:
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
