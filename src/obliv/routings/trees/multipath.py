"""Routings on fat trees with several paths per pair: all of them, or at most K."""

from __future__ import annotations

from math import isqrt, lcm

import numpy as np

from obliv._util.progress import Progress
from obliv._util.rationals import integer
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.splits import equal_split
from obliv.routings.make import routing
from obliv.routings.trees.base import TreeRouting, number_of
from obliv.routings.trees.digits import mixed
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["OMRMN", "OSRMK", "KPath"]


_SELECT = ("shift", "disjoint", "random")


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

    @property
    def alike(self) -> int:
        return self.topology.children[0] if self.topology.parents[0] == 1 else 1

    def ways(self, source: Array, destination: Array) -> Array:
        width = np.array(self.topology.width)[self.topology.turn(source, destination)]
        numbers: Array = np.arange(self.spread) % width[..., None]
        return numbers

    def _loads(self, progress: Progress) -> PairLoads:
        # with one path per pair, that path has a number
        return (None if self.spread == 1 else equal_split(self.topology)) or super()._loads(progress)


@register_routing("kpath", example="kpath:4,base=dmodk,select=shift")
class KPath(TreeRouting):
    """Up to `k` shortest paths per pair with equal probability, beginning with that of a single-path routing.

    Parameters
    ----------
    topology : Tree
    k : int
        Pairs with fewer shortest paths take all of them.
    base : str
        The routing whose path comes first.
    select : {"shift", "disjoint", "random"}
        The next path numbers; those that part at the leaf first; or any, drawn by a hash of the pair.
    seed : int
        Of the hash.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.KPath(obliv.fattree(8, 2), 2)).ratio
    Fraction(2, 1)
    """

    def __init__(
        self, topology: Topology, k: int, base: str = "dmodk", select: str = "shift", seed: int = 0, spec: str = ""
    ) -> None:
        k, seed = integer(k, "kpath: k"), integer(seed, "kpath: seed")
        options = f"kpath:{k},base={base},select={select}" + f",seed={seed}" * bool(seed)
        super().__init__(topology, spec or options)
        tree = self.topology
        if not 1 <= k <= tree.width[-1]:
            raise RoutingError(f"{self.spec}: pairs of {tree.spec} have up to {tree.width[-1]} shortest paths, not {k}")
        if select not in _SELECT:
            raise RoutingError(f"{self.spec}: select={select} is unknown: {did_you_mean(select, _SELECT)}")
        first = routing(base, tree).by_number
        if first is None:
            raise RoutingError(
                f"{self.spec}: base={base} has to be a single-path routing of trees, such as dmodk or osrm3"
            )
        self.base, self.select, self.seed = first, select, seed
        self.counts = tuple(min(k, width) for width in tree.width)
        self.spread = lcm(*self.counts)

    @property
    def alike(self) -> int:
        return 1 if self.select == "random" else self.base.alike

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        turn = tree.turn(source, destination)[..., None]
        width = np.array(tree.width)[turn]
        step = np.arange(self.spread) % np.array(self.counts)[turn]
        if self.select == "random":
            return self._drawn(source, destination, turn, step)
        first = self.base.ways(source, destination)
        if self.select == "shift":
            return np.asarray((first + step) % width)
        ports = []
        for h, parents in enumerate(tree.parents):
            at = first // np.maximum(1, width // tree.width[h + 1]) % parents
            ports.append((at + step // tree.width[h]) % parents)
        return number_of(tree, turn, ports)

    def classes(self) -> tuple[Array, Array]:
        if isinstance(self.base, TreeRouting) and self.select != "random":
            return self.base.classes()
        return super().classes()

    def _drawn(self, source: Array, destination: Array, turn: Array, step: Array) -> Array:
        """Different numbers: the first ones in the order of their hashes."""
        tree = self.topology
        most = tree.width[-1]
        keys = np.stack([mixed(source, destination, self.seed * most + number) for number in range(most)], axis=-1)
        keys[np.arange(most) >= np.array(tree.width)[turn]] = np.iinfo(np.uint64).max
        return np.asarray(np.take_along_axis(np.argsort(keys, axis=-1, kind="stable"), step, axis=-1))


@register_routing("osrm-k", example="osrm-k:4")
class OSRMK(TreeRouting):
    """OSRM2 and OSRM3 with `k` paths per pair: groups of sources and destinations use blocks of ports.

    With blocks of r_a · r_b = k ports the ratio is (m/2) / min(r_a, r_b) on three levels and √(m/2) / min(r_a, r_b)
    on two, where the blocks divide m/2, or √(m/2).

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.OSRMK(obliv.fattree(8, 3), 2)).ratio
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology, k: int, spec: str = "") -> None:
        k = integer(k, "osrm-k: k")
        super().__init__(topology, spec or f"osrm-k:{k}")
        tree = self.topology
        half = tree.children[0]
        if tree.levels not in (2, 3) or any(parents != half for parents in tree.parents[1:]) or tree.parents[0] != 1:
            raise RoutingError(f"{self.spec} is for fat trees of two or three levels, {tree.spec} is not one")
        self.groups = isqrt(half) if tree.levels == 2 else half
        if tree.levels == 2 and self.groups**2 != half:
            raise RoutingError(f"{self.spec}: on two levels m/2 has to be a square, {half} is not; use kpath")
        blocks = [r for r in range(1, self.groups + 1) if self.groups % r == 0]
        fitting = [(a, b) for a in blocks for b in blocks if a * b == k]
        if not fitting:
            known = ", ".join(map(str, sorted({a * b for a in blocks for b in blocks})))
            raise RoutingError(f"{self.spec}: {k} paths make no blocks of {self.groups} ports; possible are {known}")
        self.blocks = max(fitting, key=lambda pair: (min(pair), pair[0]))
        self.spread = k

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        half, groups = tree.children[0], self.groups
        a, b = self.blocks
        of_source, of_destination = np.divmod(np.arange(self.spread), b)
        low, high = (np.asarray(end)[..., None] % half * groups // half for end in (source, destination))
        low, high = low // a * a + of_source, high // b * b + of_destination
        ports = [np.zeros_like(low), low * groups + high] if tree.levels == 2 else [np.zeros_like(low), low, high]
        return number_of(tree, tree.turn(source, destination)[..., None], ports)

    def classes(self) -> tuple[Array, Array]:
        last = np.arange(self.topology.below[-1]) % self.topology.children[0]
        return last, last
