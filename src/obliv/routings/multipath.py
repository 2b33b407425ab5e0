"""Routings on fat trees: optimal single-path ones (OSRM of Yuan et al.), and those of several paths per pair."""

from __future__ import annotations

from math import ceil, isqrt, lcm

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress
from obliv._util.rationals import integer
from obliv._util.text import did_you_mean
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.tree import equal_split
from obliv.routings.make import routing
from obliv.routings.trees import (
    TreeRouting,
    best_grid,
    cover_root,
    fewest_lids,
    last_digits,
    mixed,
    number_of,
    require_levels,
    single_path,
)
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology


@register_routing("osrm2", example="osrm2")
class OSRM2(TreeRouting):
    """OSRM2: one root for each pair of a group of sources and a group of destinations at their leaves.

    The groups are those of the best grid, the paper's √(m/2) by √(m/2) where that is an integer. Elsewhere the index
    that the paper prints is out of the range of the roots (docs/explanation/papers/fat-tree.md), and `notes` names the
    grid.

    Parameters
    ----------
    topology : Tree
        Of two levels.
    sources : int
        Groups of sources; each shares the roots among as many groups of destinations as there are roots for. Default:
        those of the best grid.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.OSRM2(obliv.fattree(8, 2))).ratio
    Fraction(2, 1)
    """

    def __init__(self, topology: Topology, sources: int | None = None, spec: str = "") -> None:
        super().__init__(topology, spec or ("osrm2" if sources is None else f"osrm2:sources={sources}"))
        tree = self.topology
        require_levels(tree, self.spec, 2)
        hosts, roots = tree.children[0], tree.parents[1]
        if sources is not None:
            sources = integer(sources, "osrm2: sources")
            if not 1 <= sources <= roots:
                raise RoutingError(f"{self.spec}: {tree.spec} has roots for 1 to {roots} groups of sources")
            self.grid = sources, roots // sources
            return
        self.grid = a, b = best_grid(hosts, roots)
        if hosts == roots and isqrt(hosts) ** 2 != hosts:
            self.notes = (
                f"{self.spec}: √(m/2) is not an integer on {tree.spec}, where the paper's index is out of the range "
                f"of the roots; uses the best grid, {a} groups of sources by {b} of destinations "
                f"(osrm2-c has the least ratio, ⌈√(m/2)⌉ = {isqrt(hosts - 1) + 1}, for every m)",
            )

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        k = tree.children[0]
        a, b = self.grid
        port = source % k // ceil(k / a) * b + destination % k // ceil(k / b)
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port])[..., None]

    def classes(self) -> tuple[Array, Array]:
        last = np.arange(self.topology.below[-1]) % self.topology.children[0]
        return last, last


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
        require_levels(tree, self.spec, 2)
        k = tree.children[0]
        if tree.parents[1] != k:
            raise RoutingError(
                f"{self.spec} needs as many links up as hosts at a leaf, {tree.spec} has {tree.parents[1]} and {k}: "
                "take osrm2"
            )
        self.lids = fewest_lids(k) if lids is None else integer(lids, "osrm2-c: lids")
        if not 1 <= self.lids <= k:
            raise RoutingError(f"{self.spec}: a destination on {tree.spec} has 1 to {k} LIDs")

    @property
    def alike(self) -> int:
        return self.topology.children[0] if self.lids == 1 else 1  # with one the source does not count: D-mod-k

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        k = tree.children[0]
        port = cover_root(source % k, destination % k, k, self.lids)
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port])[..., None]

    def classes(self) -> tuple[Array, Array]:
        last = np.arange(self.topology.below[-1]) % self.topology.children[0]
        return last, last


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
        require_levels(self.topology, spec, 3)

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        port, above = source % tree.children[0] % tree.parents[1], destination % tree.children[0] % tree.parents[2]
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port, above])[..., None]

    def classes(self) -> tuple[Array, Array]:
        last = np.arange(self.topology.below[-1]) % self.topology.children[0]
        return last, last


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
        require_levels(self.topology, spec, 3)

    @property
    def alike(self) -> int:
        return self.topology.children[0]

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        last = destination % tree.children[0]
        port = (source // tree.below[1] % tree.children[1] + last) % tree.parents[1]
        above = last % tree.parents[2]
        return number_of(tree, tree.turn(source, destination), [np.zeros_like(port), port, above])[..., None]

    def classes(self) -> tuple[Array, Array]:
        tree, hosts = self.topology, np.arange(self.topology.below[-1])
        return hosts // tree.below[1] % tree.children[1], hosts % tree.children[0]


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

    @property
    def alike(self) -> int:
        return 1 if self.alternates else self.topology.children[0]

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        ports = self._in_turn(source, destination) if self.alternates else last_digits(tree, destination)
        return number_of(tree, tree.turn(source, destination), ports)[..., None]

    def classes(self) -> tuple[Array, Array]:
        tree, hosts = self.topology, np.arange(self.topology.below[-1])
        if not self.alternates:
            return np.zeros_like(hosts), hosts % tree.width[-1]
        digits = hosts % tree.children[0] ** (
            tree.levels // 2
        )  # the last ones, of which each end chooses by one in two
        return digits, digits

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


# Routings on fat trees with several paths per pair: all of them, or at most K


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
        first = single_path(routing(base, tree))
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
        return super().classes() if self.select == "random" else self.base.classes()

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
