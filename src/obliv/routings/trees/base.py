"""Routings on fat trees: each names its paths by number, see :class:`obliv.topologies.trees.Tree`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, isqrt
from operator import index

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.tree import TreeLoads
from obliv.routings.base import Path, Routing
from obliv.routings.trees.covers import best_grid, cover_root, fewest_lids
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology
from obliv.topologies.trees import Tree

__all__ = ["OMRMN", "OSRM2", "OSRM2C", "OSRM3", "OSRM3D", "OSRMN", "DModK", "Hash", "SModK", "TreeRouting"]


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
    alike = 1

    def __init__(self, topology: Topology, spec: str = "") -> None:
        super().__init__(_require_tree(topology, spec or type(self).__name__), spec)

    def ways(self, source: Array, destination: Array) -> Array:
        """Path numbers of pairs of hosts, shape (..., spread)."""
        raise NotImplementedError(f"{type(self).__name__} must give ways(source, destination)")

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        tree = self.topology
        turn = int(tree.turn(source, destination))
        numbers, counts = np.unique(self.ways(np.array(source), np.array(destination)), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            yield way_channels(tree, source, destination, turn, number), Fraction(count, self.spread)

    @property
    def _own_paths(self) -> bool:
        """Whether a subclass lists other paths than its numbers name."""
        return type(self).paths is not TreeRouting.paths

    @property
    def by_number(self) -> TreeRouting | None:
        return self if self.spread == 1 and not self._own_paths else None

    def _loads(self, progress: Progress) -> PairLoads:
        if self._own_paths or not np.array_equal(self.topology.terminals, np.arange(self.topology.below[-1])):
            return super()._loads(progress)
        return TreeLoads(self.topology, self.ways, self.spread, self.alike)


def way_channels(tree: Tree, source: int, destination: int, turn: int, number: int) -> tuple[int, ...]:
    """Return the channels of the path of a number."""
    heights = range(turn)
    at = [number // (tree.width[turn] // tree.width[h + 1]) for h in heights]
    up = [tree.up_channel(h, source // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    down = [tree.down_channel(h, destination // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    return tuple(int(c) for c in (*up, *reversed(down)))


def number_of(tree: Tree, turn: Array, ports: list[Array]) -> Array:
    """Return the number of the path that leaves height h by port ``ports[h]``, as far as the turn."""
    number = np.zeros(np.broadcast(turn, *ports).shape, np.int64)
    for h, port in enumerate(ports):
        number = np.where(turn > h, number * tree.parents[h] + port, number)
    return number


@register_routing("dmodk", example="dmodk")
class DModK(TreeRouting):
    """D-mod-k: the digits of the destination choose the ports, the last digit at the leaf.

    WSR of Yuan et al. comes to the same where it was tried.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.DModK(obliv.fattree(8, 3))).ratio
    Fraction(7, 1)
    """

    end = "destination"

    def __init__(self, topology: Topology, spec: str = "dmodk") -> None:
        super().__init__(topology, spec)
        self.alike = self.topology.children[0] if self.topology.parents[0] == 1 else 1

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        chooser = destination if self.end == "destination" else source
        return number_of(tree, tree.turn(source, destination), _last_digits(tree, chooser))[..., None]


def _last_digits(tree: Tree, chooser: Array) -> list[Array]:
    """Return the ports that a host's digits name, the last one at the leaf."""
    return [chooser // tree.width[h] % tree.parents[h] for h in range(tree.levels)]


@register_routing("smodk", example="smodk", aliases=("mlid",))
class SModK(DModK):
    """S-mod-k, the MLID of Lin et al.: the digits of the source choose the ports, the last digit at the leaf.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.SModK(obliv.fattree(8, 3))).ratio
    Fraction(7, 1)
    """

    end = "source"

    def __init__(self, topology: Topology, spec: str = "smodk") -> None:
        super().__init__(topology, spec)
        self.alike = 1


@register_routing("omrmn", example="omrmn")
class OMRMN(TreeRouting):
    """All shortest paths with equal probability; optimal for every traffic (Yuan et al., Theorem 1).

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.OMRMN(obliv.fattree(8, 3))).ratio
    Fraction(1, 1)
    """

    def __init__(self, topology: Topology, spec: str = "omrmn") -> None:
        super().__init__(topology, spec)
        tree = self.topology
        self.spread = tree.width[-1]
        self.alike = tree.children[0] if tree.parents[0] == 1 else 1

    def ways(self, source: Array, destination: Array) -> Array:
        width = np.array(self.topology.width)[self.topology.turn(source, destination)]
        numbers: Array = np.arange(self.spread) % width[..., None]
        return numbers


@register_routing("osrm2", example="osrm2")
class OSRM2(TreeRouting):
    """OSRM2: one root for each pair of a group of sources and a group of destinations at their leaves.

    The groups are those of the best grid, the paper's √(m/2) by √(m/2) where that is whole.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.OSRM2(obliv.fattree(8, 2))).ratio
    Fraction(2, 1)
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


@register_routing("osrm2-c", example="osrm2-c")
class OSRM2C(TreeRouting):
    """OSRM2 by covers: the root depends on the distance of the positions at the leaves; optimal.

    Every root has ⌈(m/2) / L⌉ sources of a leaf and L destinations of a leaf, where L is `lids`: so the ratio on
    FT(m, 2) is the larger of the two, and with L LIDs a host there is no smaller one up to L = ⌈√(m/2)⌉.

    Parameters
    ----------
    topology : Tree
        Of two levels, with as many links up as hosts at a leaf.
    lids : int
        1 to m/2; unless given the fewest with which the ratio is ⌈√(m/2)⌉, the least there is.

    Examples
    --------
    >>> import obliv
    >>> [int(obliv.ratio(OSRM2C(obliv.fattree(36, 2), lids)).ratio) for lids in (1, 2, 3, 4)]
    [18, 9, 6, 5]
    """

    def __init__(self, topology: Topology, lids: int | None = None, spec: str = "") -> None:
        super().__init__(topology, spec or ("osrm2-c" if lids is None else f"osrm2-c:lids={lids}"))
        tree = self.topology
        _require_levels(tree, self.spec, 2)
        k = tree.children[0]
        if tree.parents[1] != k:
            raise RoutingError(
                f"{self.spec} needs as many links up as hosts at a leaf, {tree.spec} has {tree.parents[1]} and {k}: "
                "take osrm2"
            )
        self.lids = fewest_lids(k) if lids is None else index(lids)
        if not 1 <= self.lids <= k:
            raise RoutingError(f"{self.spec}: a destination on {tree.spec} has 1 to {k} LIDs")
        self.alike = k if self.lids == 1 else 1  # with one the source does not count: D-mod-k

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        k = tree.children[0]
        port = cover_root(source % k, destination % k, k, self.lids)
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port])[..., None]


@register_routing("osrm3", example="osrm3")
class OSRM3(TreeRouting):
    """OSRM3: the last digit of the source chooses the port at the leaf, that of the destination above (Yuan et al.).

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.OSRM3(obliv.fattree(8, 3))).ratio
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology, spec: str = "osrm3") -> None:
        super().__init__(topology, spec)
        _require_levels(self.topology, spec, 3)

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        port, above = source % tree.children[0] % tree.parents[1], destination % tree.children[0] % tree.parents[2]
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port, above])[..., None]


@register_routing("osrm3-d", example="osrm3-d")
class OSRM3D(TreeRouting):
    """OSRM3-D: the ratio of OSRM3 with a single path from each switch to each destination.

    At the leaf the leaf's place in its sub-tree plus the destination's last digit choose, above the destination's
    last digit. No up link has more than m/2 sources and no down link more than m/2 destinations.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.OSRM3D(obliv.fattree(8, 3))).ratio
    Fraction(4, 1)
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


@register_routing("osrmn", example="osrmn")
class OSRMN(TreeRouting):
    """Alternating digits: the best known rule for FT(m, n) with any m; not claimed to be optimal for n > 3.

    The last digits of source and destination choose the ports in turn, the source's first.  Where the number of choices
    is odd, both choose the last port as in OSRM2-C.  For n = 2 and 3 these are OSRM2-C and OSRM3; where that is no
    better than D-mod-k, which needs one address a host only, it is D-mod-k.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.OSRMN(obliv.fattree(4, 4))).ratio
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology, spec: str = "osrmn") -> None:
        super().__init__(topology, spec)
        half = self.topology.half
        if half is None:
            raise RoutingError(f"{spec} is for fat trees FT(m, n), {topology.spec} is not one: use dmodk")
        self.lids = fewest_lids(half)  # of the last choice, where both choose it
        self.alternates = _alternating_ratio(half, self.topology.levels) < _d_mod_k_ratio(half, self.topology.levels)
        self.alike = 1 if self.alternates else half

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        ports = self._in_turn(source, destination) if self.alternates else _last_digits(tree, destination)
        return number_of(tree, tree.turn(source, destination), ports)[..., None]

    def _in_turn(self, source: Array, destination: Array) -> list[Array]:
        tree = self.topology
        k = tree.children[0]
        ports = [np.zeros_like(source)]
        for choice in range(tree.levels - 1):
            low, high = (end // k ** (choice // 2) % k for end in (source, destination))
            ports.append(high if choice % 2 else low)
        if tree.levels % 2 == 0:
            ports[-1] = cover_root(low, high, k, self.lids)
        return ports


def _alternating_ratio(k: int, n: int) -> int:
    """Return the ratio of alternating digits on FT(2k, n)."""
    last = 1 if n % 2 else isqrt(k - 1) + 1
    return int(k ** ((n - 1) // 2)) * last


def _d_mod_k_ratio(k: int, n: int) -> int:
    """Return the ratio of D-mod-k on FT(2k, n)."""
    return max(min(int(k**h), 2 * int(k ** (n - h)) - 1) for h in range(1, n))


@register_routing("hash", example="hash:seed=1")
class Hash(TreeRouting):
    """Shortest path chosen by a hash of source and destination, as switches do for flows.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.Hash(obliv.fattree(8, 2), seed=1)).ratio
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology, seed: int = 0, spec: str = "") -> None:
        seed = index(seed)
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
        advice = topology.advice("fat-tree routing")
        if advice:
            raise RoutingError(f"{spec} routes on fat trees that are given by their formula: {advice}")
        raise RoutingError(f"{spec} routes on fat trees, {topology.spec} is not one: use fattree, eft2 or xgft")
    if len(topology.terminals) != topology.below[-1] or topology.terminals.max() >= topology.below[-1]:
        raise RoutingError(f"{spec} needs every host of {topology.spec} as a terminal")
    return topology


def _require_levels(tree: Tree, spec: str, levels: int) -> None:
    if tree.levels != levels or tree.parents[0] != 1:
        raise RoutingError(
            f"{spec} is for {levels} levels of switches with one link a host, {tree.spec} has {tree.levels}: "
            + ("take osrm2" if tree.levels == 2 else "take osrm3 or osrm3-d" if tree.levels == 3 else "take dmodk")
        )
