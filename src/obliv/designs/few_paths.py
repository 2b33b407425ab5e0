"""Path columns: a linear program over given paths of every pair, reduced by symmetries that fix no pair.

A group in which only the identity fixes two terminals carries the paths of one pair of every orbit to all others, so
that any choice of paths and weights for these pairs gives a routing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush

import numpy as np
from scipy.sparse import coo_array, csc_array

from obliv._util.arrays import Array
from obliv.designs.exact import InexactError, vertex_of
from obliv.designs.programme import Symmetry, relative_rates, relative_speeds
from obliv.designs.solver import Optimum, solve
from obliv.routings.listed import Listed, PathList
from obliv.topologies.base import Topology

__all__ = ["Master", "PairSymmetry", "Path", "Support", "family_of"]

Path = tuple[int, ...]
Support = list[list[Path]]  # the paths of every pair that stands for an orbit

_VERTEX_ROWS = 6000  # up to which the simplex method is fast
_TRIED = 64  # elements that may extend the group


@dataclass(frozen=True, eq=False)
class PairSymmetry:
    """A topology with a group that fixes no pair of terminals.

    Parameters
    ----------
    topology : Topology
    terminals : integer array, shape (elements, terminals)
        Where each element takes the terminals, by index.
    channels : integer array, shape (elements, channels)
    """

    topology: Topology
    terminals: Array
    channels: Array

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """One pair of terminals (by index) of every orbit."""
        count = self.terminals.shape[1]
        source, destination = (part.ravel() for part in np.indices((count, count)))
        images = self.terminals[:, source] * count + self.terminals[:, destination]
        first = np.flatnonzero((images.min(axis=0) == source * count + destination) & (source != destination))
        return [(int(k) // count, int(k) % count) for k in first]

    @cached_property
    def focus(self) -> Array:
        """One channel of every orbit."""
        return np.flatnonzero(self.channels.min(axis=0) == np.arange(self.topology.channels))

    @cached_property
    def place(self) -> Array:
        """The number of every channel among those of `focus`, −1 for others."""
        place = np.full(self.topology.channels, -1, np.int64)
        place[self.focus] = np.arange(len(self.focus))
        return place

    @cached_property
    def carriers(self) -> tuple[Array, Array]:
        """Elements that take channels to focus channels, and where those of each channel begin; in reverse order."""
        channel, element = np.nonzero(self.place[self.channels].T >= 0)
        return np.searchsorted(channel, np.arange(self.topology.channels + 1)), element

    def crossings(self, support: Support) -> tuple[Array, Array, Array, Array]:
        """Return which path crosses which focus channel as whose: number of the path, focus, source, destination."""
        number, channel, source, destination = list[int](), list[int](), list[int](), list[int]()
        k = 0
        for (s, d), paths in zip(self.pairs, support, strict=True):
            for path in paths:
                number += [k] * len(path)
                channel += path
                source += [s] * len(path)
                destination += [d] * len(path)
                k += 1
        first, element = self.carriers
        e = np.array(channel, np.int64)
        count = first[e + 1] - first[e]
        row = np.repeat(np.arange(len(e)), count)
        h = element[np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + first[e][row]]
        return (
            np.array(number, np.int64)[row],
            self.place[self.channels[h, e[row]]],
            self.terminals[h, np.array(source, np.int64)[row]],
            self.terminals[h, np.array(destination, np.int64)[row]],
        )

    def routing(self, support: Support, units: Sequence[Sequence[int]], whole: int) -> Listed:
        """Return the routing by paths with whole weights, which add up to `whole` for each pair."""
        count = self.terminals.shape[1]
        lists: dict[int, list[tuple[Array, int]]] = {}
        for (s, d), paths, amounts in zip(self.pairs, support, units, strict=True):
            chosen = [(np.array(p, np.int64), a) for p, a in zip(paths, amounts, strict=True) if a]
            for h in range(len(self.terminals)):
                pair = int(self.terminals[h, s]) * count + int(self.terminals[h, d])
                lists[pair] = [(self.channels[h, path], amount) for path, amount in chosen]
        ordered = [lists.get(pair, []) for pair in range(count**2)]
        flat = [item for paths in ordered for item in paths]
        return Listed(
            self.topology,
            "design",
            PathList.of(
                np.array([len(paths) for paths in ordered]),
                np.array([len(path) for path, _ in flat]),
                np.concatenate([path for path, _ in flat]).astype(np.int64),
                np.array([amount for _, amount in flat], np.int64),
                whole,
            ),
        )


def family_of(topology: Topology, symmetry: Symmetry) -> PairSymmetry:
    """Return the topology with a large group of symmetries that fixes no pair of terminals."""
    count = len(topology.terminals)
    identity = np.arange(count + topology.channels)
    generators = [np.concatenate([g.terminals, g.channels + count]).astype(np.int64) for g in symmetry.generators]
    chosen: list[Array] = []
    group = [identity]
    words = [] if symmetry.to_first_node is not None else _closure(generators, identity, _TRIED)[1:]
    for element in [*generators[::-1], *words]:
        if len(group) >= count:
            break
        if any(np.array_equal(element, other) for other in group) or not _is_free([element], count):
            continue
        larger = _closure([*chosen, element], identity, count**2)
        if len(larger) < count**2 and _is_free(larger, count):
            chosen.append(element)
            group = larger
    elements = np.array(group)
    return PairSymmetry(topology, elements[:, :count], elements[:, count:] - count)


def _closure(generators: list[Array], identity: Array, most: int) -> list[Array]:
    """Return the group that maps generate, or its first elements if there are more."""
    elements = {identity.tobytes(): identity}
    frontier = [identity]
    while frontier and len(elements) < most:
        following = []
        for one in frontier:
            for generator in generators:
                image = generator[one]
                if image.tobytes() not in elements and len(elements) < most:
                    elements[image.tobytes()] = image
                    following.append(image)
        frontier = following
    return list(elements.values())


def _is_free(elements: list[Array], count: int) -> bool:
    """Tell whether only the identity fixes two terminals."""
    places = np.arange(len(elements[0]))
    fixed = [(element == places) for element in elements]
    return all(same.all() or same[:count].sum() < 2 for same in fixed)


class Master:
    """The linear program over the weights of given paths: the least worst case on a support.

    Parameters
    ----------
    family : PairSymmetry
    support : list of lists of paths
        Of every pair of ``family.pairs``.
    """

    def __init__(self, family: PairSymmetry, support: Support) -> None:
        self.family, self.support = family, support
        topology, count = family.topology, len(family.topology.terminals)
        number, focus, source, destination = family.crossings(support)
        self.first = np.cumsum([0, *map(len, support)])
        self.paths = int(self.first[-1])
        self.keys, cover = np.unique((focus * count + source) * count + destination, return_inverse=True)
        pairs, covers, channels = len(support), len(self.keys), len(family.focus)
        left, right = self.keys // count, (self.keys // count**2) * count + self.keys % count
        potentials = self.paths + 2 * channels * count
        rates = relative_rates(topology)
        ones, rows = np.ones(covers), pairs + np.arange(covers)
        budget = pairs + covers + np.repeat(np.arange(channels), count)
        row = [np.repeat(np.arange(pairs), np.diff(self.first)), pairs + cover, rows, rows, budget, budget]
        column = [np.arange(self.paths), number, self.paths + left, self.paths + channels * count + right]
        column += [
            self.paths + np.arange(channels * count),
            self.paths + channels * count + np.arange(channels * count),
        ]
        value = [np.ones(self.paths), -np.ones(len(number)), ones, ones]
        value += [-np.tile(side, channels) for side in rates]
        row.append(pairs + covers + np.arange(channels))
        column.append(np.full(channels, potentials))
        value.append(relative_speeds(topology, family.focus))
        shape = (pairs + covers + channels, potentials + 1)
        self.matrix = csc_array(
            coo_array((np.concatenate(value), (np.concatenate(row), np.concatenate(column))), shape)
        )
        self.lower = np.concatenate([np.ones(pairs), np.zeros(covers + channels)])
        self.upper = np.concatenate([np.ones(pairs), np.full(covers + channels, np.inf)])

    def cost(self, load: float, paths: Array | float) -> Array:
        """Return the costs of the load and of each path's weight."""
        cost = np.zeros(self.matrix.shape[1])
        cost[: self.paths], cost[-1] = paths, load
        return cost

    def solve(self, cost: Array, fixed: Sequence[Array | None] = ()) -> Optimum:
        """Return an optimum, a vertex where the program is small; the weights of some pairs may be fixed."""
        tolerance = None if self.matrix.shape[0] <= _VERTEX_ROWS else 1e-5
        least, most = np.zeros(len(cost)), np.full(len(cost), np.inf)
        for first, weights in zip(self.first.tolist(), fixed, strict=False):
            if weights is not None:
                least[first : first + len(weights)] = most[first : first + len(weights)] = weights
        return solve(self.matrix, self.lower, self.upper, cost, tolerance=tolerance, columns=(least, most))

    def weights(self, optimum: Optimum) -> list[Array]:
        """Return the weights of the paths of every pair, which add up to 1."""
        weights = np.clip(optimum.columns[: self.paths], 0, 1)
        return [part / part.sum() for part in np.split(weights, self.first[1:-1])]

    def exact_weights(self, optimum: Optimum, cost: Array) -> list[list[Fraction]] | None:
        """Return the rational weights of a vertex, or None where they are out of reach."""
        if optimum.basis is None:
            return None
        try:
            vertex = vertex_of(self.matrix, self.lower, self.upper, cost, optimum.basis)
        except InexactError:
            return None
        values = [vertex.columns.fraction(k) for k in range(self.paths)]
        return None if min(values) < 0 else [values[a:b] for a, b in zip(self.first, self.first[1:], strict=False)]

    def shortest(self, optimum: Optimum, pool: Support | None = None) -> list[tuple[float, Path]]:
        """Return for every pair a path that is shortest under the multipliers, after its reduced cost.

        Without a pool, all paths of the network are allowed.
        """
        family, topology = self.family, self.family.topology
        count, pairs = len(topology.terminals), len(self.support)
        price = dict(
            zip(self.keys.tolist(), np.maximum(optimum.duals[pairs : pairs + len(self.keys)], 0).tolist(), strict=True)
        )
        first, element = family.carriers
        nodes, small = topology.terminals.tolist(), 1e-6
        result = []
        for k, (s, d) in enumerate(family.pairs):
            lengths = np.full(topology.channels, small)
            for channel in range(topology.channels):
                for h in element[first[channel] : first[channel + 1]].tolist():
                    focus = int(family.place[family.channels[h, channel]])
                    key = (focus * count + int(family.terminals[h, s])) * count + int(family.terminals[h, d])
                    lengths[channel] += price.get(key, 0.0)
            if pool is None:
                path = _shortest_path(topology, nodes[s], nodes[d], lengths.tolist())
            else:
                path = min(pool[k], key=lambda own: float(lengths[list(own)].sum()))
            result.append((float(lengths[list(path)].sum()) - float(optimum.duals[k]), path))
        return result


def _shortest_path(topology: Topology, source: int, end: int, lengths: list[float]) -> Path:
    """Return the channels of the shortest path."""
    first, head = topology.first_channel.tolist(), topology.head.tolist()
    best, via, heap = {source: 0.0}, dict[int, int](), [(0.0, source)]
    while heap:
        reached, node = heappop(heap)
        if node == end:
            break
        if reached > best[node]:
            continue
        for c in range(first[node], first[node + 1]):
            longer = reached + lengths[c]
            if longer < best.get(head[c], np.inf):
                best[head[c]], via[head[c]] = longer, c
                heappush(heap, (longer, head[c]))
    path, node = [], end
    while node != source:
        path.append(via[node])
        node = int(topology.tail[via[node]])
    return tuple(reversed(path))
