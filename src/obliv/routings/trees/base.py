"""The base of routings on fat trees, which name their paths by number: see :class:`obliv.topologies.trees.Tree`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.tree import TreeLoads
from obliv.routings.base import Path, Routing, require_topology
from obliv.routings.lengths import Lengths
from obliv.topologies.base import Topology
from obliv.topologies.trees import Tree

__all__ = ["TreeRouting", "last_digits", "number_of", "require_levels", "way_channels"]


class TreeRouting(Routing):
    """Equally likely shortest paths of a fat tree.

    A subclass gives ``ways(source, destination)``: for arrays of hosts, which broadcast, the numbers of their paths in
    an array of shape (..., `spread`); a number may come several times.

    Parameters
    ----------
    topology : Tree
        With every host as a terminal.
    spec : str
        The spec that makes this routing again; where it is made from one, that one by default.

    Examples
    --------
    >>> import obliv
    >>> class FirstPath(obliv.TreeRouting):
    ...     '''Always path 0, by the lowest ports.'''
    ...     def ways(self, source, destination):
    ...         return 0 * (source + destination)[..., None]
    >>> obliv.ratio(FirstPath(obliv.fattree(8, 2), "first-path")).ratio
    Fraction(4, 1)
    """

    topology: Tree
    spread = 1
    _general = True

    def __init__(self, topology: Topology, spec: str = "") -> None:
        super().__init__(_require_tree(topology, spec or type(self).__name__), spec)

    def ways(self, source: Array, destination: Array) -> Array:
        """Path numbers of pairs of hosts, shape (..., spread)."""
        raise NotImplementedError(f"{type(self).__name__} must give ways(source, destination)")

    @property
    def alike(self) -> int:
        """How many sources, one after another from a multiple of this number, have the same path numbers."""
        return 1

    def classes(self) -> tuple[Array, Array]:
        """Class numbers of the hosts as sources and as destinations.

        The path numbers of a pair must depend only on the level of its turn and on these two. The fewer classes, the
        faster are worst cases of large trees. By default every host is a class of its own.
        """
        hosts = np.arange(self.topology.below[-1])
        return hosts // self.alike, hosts

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        tree = self.topology
        for host in (source, destination):
            if not 0 <= host < tree.below[-1]:
                raise RoutingError(f"{tree.spec} has no host {host}; hosts are nodes 0 to {tree.below[-1] - 1}")
        turn = int(tree.turn(source, destination))
        numbers, counts = np.unique(self.ways(np.array(source), np.array(destination)), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            yield way_channels(tree, source, destination, turn, number), Fraction(count, self.spread)

    def path_lengths(self, progress: Progress) -> Lengths:
        below = self.topology.below  # all paths are shortest: as many channels up as down
        counts = np.diff(below, prepend=0).tolist()  # of the destinations of a source, by the level of the turn
        return {2 * turn: Fraction(below[-1] * count) for turn, count in enumerate(counts) if count}

    @property
    def by_number(self) -> TreeRouting | None:
        return self if self.spread == 1 else None

    def _loads(self, progress: Progress) -> PairLoads:
        if not np.array_equal(self.topology.terminals, np.arange(self.topology.below[-1])):
            return super()._loads(progress)
        return TreeLoads(self.topology, self.ways, self.spread, self.alike, self.classes())


def way_channels(tree: Tree, source: int, destination: int, turn: int, number: int) -> tuple[int, ...]:
    """Return the channels of the path of a number."""
    heights = range(turn)
    at = [number // (tree.width[turn] // tree.width[h + 1]) for h in heights]
    up = [tree.up_channel(h, source // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    down = [tree.down_channel(h, destination // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    return tuple(int(c) for c in (*up, *reversed(down)))


def number_of(tree: Tree, turn: Array, ports: list[Array]) -> Array:
    """Return the number of the path that leaves height h by port ``ports[h]``, as far as the turn."""
    number: Array = np.zeros((), np.int64)
    for h, port in enumerate(ports):
        number = number * tree.parents[h] + port
    number = np.array(np.broadcast_to(number, np.broadcast(turn, *ports).shape))
    turn = np.broadcast_to(turn, number.shape)
    lower = turn < len(ports)
    if lower.any():  # no choice is made at the turn or above
        number[lower] //= (tree.width[len(ports)] // np.array(tree.width))[turn[lower]]
    return number


def last_digits(tree: Tree, chooser: Array) -> list[Array]:
    """Return the ports that a host's digits name, the last one at the leaf."""
    return [chooser // tree.width[h] % tree.parents[h] for h in range(tree.levels)]


def _require_tree(topology: Topology, spec: str) -> Tree:
    require_topology(topology, spec)
    if not isinstance(topology, Tree):
        advice = topology.advice("fat-tree routing")
        if advice:
            raise RoutingError(f"{spec} routes on fat trees that are given by their formula: {advice}")
        raise RoutingError(f"{spec} routes on fat trees, {topology.spec} is not one: use fattree, eft2 or xgft")
    if len(topology.terminals) != topology.below[-1] or topology.terminals.max() >= topology.below[-1]:
        raise RoutingError(f"{spec} needs every host of {topology.spec} as a terminal")
    return topology


def require_levels(tree: Tree, spec: str, levels: int) -> None:
    """Refuse a tree without so many levels of switches, or with several links a host."""
    if tree.levels != levels or tree.parents[0] != 1:
        raise RoutingError(
            f"{spec} is for {levels} levels of switches with one link a host, {tree.spec} has {tree.levels}: "
            + ("take osrm2" if tree.levels == 2 else "take osrm3 or osrm3-d" if tree.levels == 3 else "take dmodk")
        )
