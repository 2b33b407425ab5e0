"""Pair loads estimated from random paths (Towles, section 3.2), and pairs that symmetries make look the same."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory, silent
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import TranslatedLoads, translation_group
from obliv.loads.stored import Numerators, from_entries
from obliv.routings.paths import Crossed, HasPaths, channels_moved, checked_channels, checked_paths, require_all
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, terminal_map


class PathSampler:
    """Draws random paths of a routing again and again; its symmetries are verified once.

    Paths are drawn of every pair, or of one pair of each class: pairs are in one class where symmetries of the routing
    (:meth:`Routing.symmetries`) carry one onto the other.
    """

    def __init__(self, routing: HasPaths) -> None:
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
    routing: HasPaths, source: int, destination: int, packets: int, rng: np.random.Generator, drawn: bool
) -> Crossed:
    """Return how often random packets cross channels, one path after the other.

    A routing that lists its paths lists them once; one that draws paths draws one for every packet, each checked.
    """
    crossed: Crossed = Counter()
    if drawn:
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
    routing: HasPaths, pairs: np.ndarray, samples: int, rng: np.random.Generator, progress: Progress
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
    moved = [channels_moved(topology, node_map) for node_map in maps]
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


def class_of_pair(routing: HasPaths) -> Array:
    """Return for every ordered pair of terminals, source * terminals + destination, a number of its class."""
    topology = routing.topology
    maps = network_symmetries(routing)
    return _labels([_pairs_moved(topology, node_map) for node_map in maps], len(topology.terminals))


def network_symmetries(routing: HasPaths) -> list[Array]:
    """Return the symmetries of a routing that are automorphisms of its network and keep its terminals."""
    topology = routing.topology
    return [
        g
        for g in routing.symmetries()
        if channel_map(topology, g) is not None and terminal_map(topology, g) is not None
    ]


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
