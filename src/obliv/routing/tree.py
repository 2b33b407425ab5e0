"""Routings on fat trees: each names its paths by number, see :class:`obliv.topology.tree.Tree`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.errors import RoutingError
from obliv.loads.pair_loads import PairLoads
from obliv.loads.tree import TreeLoads
from obliv.routing.routing import Path, Routing
from obliv.specs import routings
from obliv.topology.topology import Topology
from obliv.topology.tree import Tree

__all__ = ["OMRMN", "OSRM2", "OSRM3", "OSRM3D", "DModK", "Hash", "SModK", "TreeRouting"]

Array = npt.NDArray[Any]


class TreeRouting(Routing):
    """Equally likely shortest paths of a fat tree.

    A subclass gives ``ways(source, destination)``: for arrays of hosts, which broadcast, the numbers of their paths in
    an array of shape (..., `spread`); a number may come several times.
    """

    topology: Tree
    spread = 1
    alike = 1

    def __init__(self, topology: Topology, spec: str) -> None:
        super().__init__(_require_tree(topology, spec), spec)

    def ways(self, source: Array, destination: Array) -> Array:
        """Path numbers of pairs of hosts, shape (..., spread)."""
        raise NotImplementedError(f"{type(self).__name__} must give ways(source, destination)")

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        tree = self.topology
        turn = int(tree.turn(source, destination))
        numbers, counts = np.unique(self.ways(np.array(source), np.array(destination)), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            yield way_channels(tree, source, destination, turn, number), Fraction(count, self.spread)

    def _loads(self, progress: Callable[[float], None] | None) -> PairLoads:
        own = type(self).paths is not TreeRouting.paths  # a subclass may say otherwise
        if own or not np.array_equal(self.topology.terminals, np.arange(self.topology.below[-1])):
            return super()._loads(progress)
        return TreeLoads(self.topology, self.ways, self.spread, self.alike)


def way_channels(tree: Tree, source: int, destination: int, turn: int, number: int) -> tuple[int, ...]:
    """The channels of the path of a number."""
    heights = range(turn)
    at = [number // (tree.width[turn] // tree.width[h + 1]) for h in heights]
    up = [tree.up_channel(h, source // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    down = [tree.down_channel(h, destination // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    return tuple(int(c) for c in (*up, *reversed(down)))


def number_of(tree: Tree, turn: Array, ports: list[Array]) -> Array:
    """The number of the path that leaves height h by port ``ports[h]``, as far as the turn."""
    number = np.zeros(np.broadcast(turn, *ports).shape, np.int64)
    for h, port in enumerate(ports):
        number = np.where(turn > h, number * tree.parents[h] + port, number)
    return number


@routings("dmodk", example="dmodk")
class DModK(TreeRouting):
    """D-mod-k: the destination's digits choose the ports, the last one at the leaf.

    WSR of Yuan et al. comes to the same where it was tried.
    """

    end = "destination"

    def __init__(self, topology: Topology, spec: str = "dmodk") -> None:
        super().__init__(topology, spec)
        self.alike = self.topology.children[0] if self.topology.parents[0] == 1 else 1

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        chooser = destination if self.end == "destination" else source
        ports = [chooser // tree.width[h] % tree.parents[h] for h in range(tree.levels)]
        return number_of(tree, tree.turn(source, destination), ports)[..., None]


@routings("smodk", example="smodk", aliases=("mlid",))
class SModK(DModK):
    """S-mod-k, the MLID of Lin et al.: the source's digits choose the ports, the last one at the leaf."""

    end = "source"

    def __init__(self, topology: Topology, spec: str = "smodk") -> None:
        super().__init__(topology, spec)
        self.alike = 1


@routings("omrmn", example="omrmn")
class OMRMN(TreeRouting):
    """All shortest paths, equally likely: optimal for every traffic (Yuan et al., Theorem 1)."""

    def __init__(self, topology: Topology, spec: str = "omrmn") -> None:
        super().__init__(topology, spec)
        tree = self.topology
        self.spread = tree.width[-1]
        self.alike = tree.children[0] if tree.parents[0] == 1 else 1

    def ways(self, source: Array, destination: Array) -> Array:
        width = np.array(self.topology.width)[self.topology.turn(source, destination)]
        numbers: Array = np.arange(self.spread) % width[..., None]
        return numbers


@routings("osrm2", example="osrm2")
class OSRM2(TreeRouting):
    """OSRM2: the hosts of a leaf in groups, one root for each group of sources and group of destinations.

    The groups are those of the best grid, the paper's √(m/2) by √(m/2) where that is whole.
    """

    def __init__(self, topology: Topology, spec: str = "osrm2") -> None:
        super().__init__(topology, spec)
        _require_levels(self.topology, spec, 2)
        self.grid = best_grid(self.topology.children[0], self.topology.parents[1])

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        k = tree.children[0]
        a, b = self.grid
        port = source % k // ceil(k / a) * b + destination % k // ceil(k / b)
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port])[..., None]


def best_grid(hosts: int, roots: int) -> tuple[int, int]:
    """Groups of sources and of destinations, at most as many pairs of them as roots, so that the largest is smallest.

    Of equals the squarest, more groups of sources than of destinations.
    """

    def key(grid: tuple[int, int]) -> tuple[int, int, int]:
        a, b = grid
        return max(ceil(hosts / a), ceil(hosts / b)), abs(a - b), -a

    return min(((a, roots // a) for a in range(1, roots + 1)), key=key)


@routings("osrm3", example="osrm3")
class OSRM3(TreeRouting):
    """OSRM3: the source's last digit chooses at the leaf, the destination's above (Yuan et al., Figure 10)."""

    def __init__(self, topology: Topology, spec: str = "osrm3") -> None:
        super().__init__(topology, spec)
        _require_levels(self.topology, spec, 3)

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        port, above = source % tree.children[0] % tree.parents[1], destination % tree.children[0] % tree.parents[2]
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port, above])[..., None]


@routings("osrm3-d", example="osrm3-d")
class OSRM3D(TreeRouting):
    """OSRM3-D: as good as OSRM3 with a single path to each destination from each switch.

    At the leaf the leaf's place in its sub-tree plus the destination's last digit choose, above the destination's
    last digit. No up link has more than m/2 sources and no down link more than m/2 destinations.
    """

    def __init__(self, topology: Topology, spec: str = "osrm3-d") -> None:
        super().__init__(topology, spec)
        _require_levels(self.topology, spec, 3)
        self.alike = self.topology.children[0]

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        last = destination % tree.children[0]
        port = (source // tree.below[1] % tree.children[1] + last) % tree.parents[1]
        above = last % tree.parents[2]
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port, above])[..., None]


@routings("hash", example="hash:seed=1")
class Hash(TreeRouting):
    """A shortest path by a hash of source and destination, as switches do for flows."""

    def __init__(self, topology: Topology, seed: int = 0, spec: str = "") -> None:
        super().__init__(topology, spec or (f"hash:seed={seed}" if seed else "hash"))
        self.seed = seed

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        drawn = mixed(source, destination, self.seed)
        width = np.array(tree.width, np.uint64)[tree.turn(source, destination)]
        return (drawn % width).astype(np.int64)[..., None]


def mixed(source: Array, destination: Array, seed: int) -> Array:
    """64 bits that look random, from a pair and a seed (splitmix64)."""
    state = (np.asarray(source, np.uint64) << np.uint64(32)) + np.asarray(destination, np.uint64)
    state = state ^ np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    state = np.atleast_1d(state)  # wraps without a word, which a single number does not
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0x9E3779B97F4A7C15)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(state ^ (state >> np.uint64(32))).reshape(np.broadcast(source, destination).shape)


def _require_tree(topology: Topology, spec: str) -> Tree:
    if not isinstance(topology, Tree):
        raise RoutingError(f"{spec} routes on fat trees, {topology.spec} is none: take fattree, eft2 or xgft")
    if len(topology.terminals) != topology.below[-1] or topology.terminals.max() >= topology.below[-1]:
        raise RoutingError(f"{spec} needs every host of {topology.spec} as a terminal")
    return topology


def _require_levels(tree: Tree, spec: str, levels: int) -> None:
    if tree.levels != levels or tree.parents[0] != 1:
        raise RoutingError(
            f"{spec} is for {levels} levels of switches with one link a host, {tree.spec} has {tree.levels}: "
            + ("take osrm2" if tree.levels == 2 else "take osrm3 or osrm3-d" if tree.levels == 3 else "take dmodk")
        )
