"""Fat trees: hosts below levels of switches, in which nodes have several parents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isqrt, prod
from typing import Any, NamedTuple, overload

import numpy as np

from obliv._util.arrays import Array, NodeArray
from obliv.errors import TopologyError
from obliv.topologies.base import Heights, LayoutHint, Places, Topology


class NumberedPaths(NamedTuple):
    """One shortest path for every pair of hosts of a fat tree, by number; `alike` consecutive sources share them."""

    topology: Tree
    ways: Callable[[Array, Array], Array]
    alike: int


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Topology):
    """An extended generalized fat tree; shortest paths in it are numbered.

    Level 0 holds the hosts, level `levels` the roots.  A node of level l has ``children[l - 1]`` children and
    ``parents[l]`` parents.  It is numbered (A, B): A is its sub-tree of height l, out of N / ``below[l]``, and B
    stands for the ports that lead up to it, out of ``width[l]``.

    A shortest path from s to d climbs to the lowest level L where both are in one sub-tree and descends; its number
    U < ``width[L]`` has the ports on the way up as digits, the first one as the most significant.  At height h < L it
    takes the up link number ``(s // below[h]) * width[h + 1] + U // (width[L] // width[h + 1])`` and the down link of
    the same number made with d.

    Parameters
    ----------
    children, parents : tuple of int
        Children of the nodes of levels 1 to `levels`, parents of those of levels 0 to `levels` - 1.
    open_ports : int
        Ports up of every root to which nothing is connected: m/2 in SUBFT(m, l), else 0.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> tree.levels, tree.below, tree.width, tree.half
    (3, (1, 4, 16, 128), (1, 1, 4, 16), 4)
    """

    children: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    open_ports: int = 0

    @property
    def up_link_ports(self) -> NodeArray:
        """The root of every open port up, by the number of the port."""
        first, end = self.first_node[-2:]
        return np.repeat(np.arange(first, end, dtype=np.int32), self.open_ports)

    @property
    def levels(self) -> int:
        """Number of levels of switches."""
        return len(self.children)

    @property
    def heights(self) -> NodeArray:
        """The level of every node."""
        return np.repeat(np.arange(self.levels + 1, dtype=np.int32), np.diff(self.first_node))

    @property
    def half(self) -> int | None:
        """Half the ports of a switch, m/2, if the tree is FT(m, n) by whatever name; None otherwise."""
        k, more = self.children[0], self.levels - 1
        fits = k > 1 and more > 0 and (self.children, self.parents) == ((k,) * more + (2 * k,), (1,) + (k,) * more)
        return k if fits else None

    @cached_property
    def below(self) -> tuple[int, ...]:
        """Number of hosts in a sub-tree of each height 0 .. levels."""
        return tuple(prod(self.children[:height]) for height in range(self.levels + 1))

    @cached_property
    def width(self) -> tuple[int, ...]:
        """Number of top-level nodes of a sub-tree of each height, which is that of the paths up to them."""
        return tuple(prod(self.parents[:height]) for height in range(self.levels + 1))

    @cached_property
    def first_node(self) -> tuple[int, ...]:
        """The first node of each level, and the number of nodes."""
        sizes = [self.below[-1] // self.below[level] * self.width[level] for level in range(self.levels + 1)]
        return (0, *np.cumsum(sizes).tolist())

    def describe(self) -> tuple[Any, ...]:
        return (Heights(self.heights), Places(self._places))

    def _places(self) -> LayoutHint | None:
        """Return the level of every node, with the hosts in their order."""
        if self.positions is None:
            return None
        across, hosts = np.asarray(self.positions, float)[:, 0], self.first_node[1]
        return LayoutHint(hosts, np.arange(hosts), level=self.heights.astype(np.int64), across=across)

    def level_of(self, node: int) -> int:
        """Return the level of a node, 0 for a host."""
        return int(np.searchsorted(self.first_node, node, side="right")) - 1

    @overload
    def turn(self, source: int, destination: int) -> int: ...
    @overload
    def turn(self, source: int, destination: Array) -> Array: ...
    @overload
    def turn(self, source: Array, destination: Array | int) -> Array: ...
    def turn(self, source: Array | int, destination: Array | int) -> Array | int:
        """Return the level at which shortest paths turn, 0 from a host to itself; broadcasts.

        Examples
        --------
        >>> import obliv
        >>> tree = obliv.fattree(8, 3)
        >>> tree.turn(0, 5), tree.turn(0, np.arange(6)).tolist()
        (2, [0, 1, 1, 1, 2, 2])
        """
        if isinstance(source, int) and isinstance(destination, int):
            return sum(source // below != destination // below for below in self.below[:-1])
        level = np.zeros(np.broadcast(source, destination).shape, np.int64)
        for below in self.below[:-1]:
            level += np.not_equal(np.floor_divide(source, below), np.floor_divide(destination, below))
        return level

    def up_channel(self, height: int, number: Array | int) -> Array:
        """Return the channel of an up link, by its height (that of its lower end) and its number; broadcasts."""
        above = self.width[height + 1]
        node, port = np.divmod(number, self.parents[height])
        sub, at = np.divmod(node, above // self.parents[height])
        tail = self.first_node[height] + sub * self.width[height] + at
        children = self.children[height - 1] if height else 0
        return np.asarray(self.first_channel[tail] + children + port)

    def down_channel(self, height: int, number: Array | int) -> Array:
        """Return the channel of a down link, by its height (that of its lower end) and its number; broadcasts."""
        sub, at = np.divmod(number, self.width[height + 1])
        above, child = np.divmod(sub, self.children[height])
        tail = self.first_node[height + 1] + above * self.width[height + 1] + at
        return np.asarray(self.first_channel[tail] + child)

    def links(self, height: int) -> int:
        """Return the number of up links, which is that of down links, at a height."""
        return self.below[-1] // self.below[height] * self.width[height + 1]

    def links_of(self, source: Array, destination: Array, path: Array, height: int, up: bool) -> Array:
        """Return the link numbers at a height of paths by number, -1 for pairs that turn below it; broadcasts."""
        turn = self.turn(source, destination)
        width = np.array(self.width)
        least = width[np.maximum(turn, height + 1)] // width[height + 1]
        end = source if up else destination
        return np.where(turn > height, end // self.below[height] * width[height + 1] + path // least, -1)

    def digits(self, host: int) -> tuple[int, ...]:
        """Return the place of a host in its sub-trees, from the roots down."""
        return tuple(host // self.below[level - 1] % self.children[level - 1] for level in range(self.levels, 0, -1))

    def name_of(self, node: int) -> str:
        """Return ``(p0,p1,p2)`` for a host, ``((i0,i1),level)`` for a switch, with the roots as level 0."""
        level = self.level_of(node)
        if level == 0:
            return f"({','.join(map(str, self.digits(node)))})"
        sub, at = divmod(node - self.first_node[level], self.width[level])
        above = range(self.levels - 1, level - 1, -1)
        place = [sub // (self.below[j] // self.below[level]) % self.children[j] for j in above]
        ports = [at // (self.width[level] // self.width[j + 1]) % self.parents[j] for j in range(level)]
        if self.parents[0] == 1:  # hosts have a single port
            ports = ports[1:]
        return f"(({','.join(map(str, [*place, *ports]))}),{self.levels - level})"


# Lower bounds on the oblivious performance ratio of single paths on fat trees (Yuan et al., section IV, and beyond).
#
# All of them hold for paths that climb and then descend; the proofs are in docs/explanation/fat-trees.md.


def theorem2(m: int, k: int) -> int:
    """EFT2(m, k): at least √(m/2), rounded up, where k ≥ √(2m); 1 where the theorem says nothing.

    Examples
    --------
    >>> theorem2(8, 8), theorem2(8, 3)
    (2, 1)
    """
    return _root(m // 2) if k * k >= 2 * m else 1


def two_levels(m: int, k: int) -> int:
    """EFT2(m, k): at least min(√(m/2), k/2), rounded up; contains Theorem 2.

    Examples
    --------
    >>> two_levels(8, 8), two_levels(8, 3), two_levels(36, 7)
    (2, 2, 4)
    """
    return max(1, min(_root(m // 2), -(-k // 2)))


def theorem3(m: int) -> int:
    """FT(m, 2): at least √(m/2), rounded up since sets of pairs have whole sizes.

    Examples
    --------
    >>> [theorem3(m) for m in (4, 8, 24, 36)]
    [2, 2, 4, 5]
    """
    return _root(m // 2)


def theorem4(m: int) -> int:
    """FT(m, 3): at least m/2.

    Examples
    --------
    >>> theorem4(24)
    12
    """
    return m // 2


def theorem5(m: int, n: int) -> int:
    """FT(m, n): at least (m/2)^⌊(n - 1)/3⌋, as printed.

    Examples
    --------
    >>> [theorem5(8, n) for n in range(2, 7)]
    [1, 1, 4, 4, 4]
    """
    return int((m // 2) ** ((n - 1) // 3))


def single_path_bound(m: int, n: int) -> int:
    """FT(m, n): at least (m/2)^(⌊2n/3⌋/2), rounded up; never below Theorems 3 to 5.

    For paths that climb and then descend.  The proof, by covers of the links up from sub-trees of ⌊2n/3⌋ levels, is
    in docs/explanation/fat-trees.md under "Lower bounds".

    Examples
    --------
    >>> [single_path_bound(8, n) for n in range(2, 7)]
    [2, 4, 4, 8, 16]
    """
    return _root((m // 2) ** (2 * n // 3))


def several_heights(m: int, n: int) -> int:
    """FT(m, n): the least whole X with 2((n - 1 - g) k X² + k^g X) ≥ 2kⁿ - kⁿ⁻¹ for every g ≤ n - 2; k = m/2.

    For paths that climb and then descend.  For n > 3 mostly more than :func:`single_path_bound`, but less for some n
    where k = 2.  The proof is in docs/explanation/fat-trees.md under "Four levels and more".

    Examples
    --------
    >>> [(n, several_heights(8, n), single_path_bound(8, n)) for n in range(2, 7)]
    [(2, 2, 2), (3, 4, 4), (4, 6, 4), (5, 10, 8), (6, 18, 16)]
    """
    k = m // 2
    pairs = 2 * k**n - k ** (n - 1)
    return max(_least(2 * (n - 1 - g) * k, 2 * k**g, pairs) for g in range(n - 1))


def four_ports(n: int) -> int:
    """FT(4, n): at least 3 from four levels on, which a rule attains on four; 2 below, where rules attain it.

    For paths that climb and then descend.  The proof, by the pairs that one root can have, is in
    docs/explanation/fat-trees.md under "Four ports".

    Examples
    --------
    >>> [four_ports(n) for n in range(2, 6)]
    [2, 2, 3, 3]
    """
    return 3 if n > 3 else 2


def with_lids(m: int, lids: int) -> int:
    """FT(m, 2) with so many LIDs a destination, forwarded by them alone: at least max(⌈(m/2)/L⌉, ⌈√(m/2)⌉).

    For paths that climb and then come down; `osrm2-c` attains it up to L = ⌈√(m/2)⌉.  The proof is in
    docs/explanation/fat-trees.md under "Why one LID is enough".

    Examples
    --------
    >>> [with_lids(8, lids) for lids in (1, 2, 3)]
    [4, 2, 2]
    """
    if lids < 1:
        raise TopologyError(f"{lids} LIDs: a destination needs at least 1")
    return max(-(-(m // 2) // lids), theorem3(m))


def bound_of(tree: Tree) -> tuple[int, str] | None:
    """Return the best bound for single paths on a tree, and its source; None if no bound says anything.

    For paths that climb and then descend.

    Examples
    --------
    >>> from obliv.topologies.families.trees import eft2, fattree
    >>> [bound_of(tree) for tree in (fattree(8, 2), fattree(8, 3), eft2(6, 2))]
    [(2, 'Yuan et al., Theorem 3'), (4, 'Yuan et al., Theorem 4'), None]
    >>> bound_of(fattree(8, 4))
    (6, 'covers of links at several heights, docs/explanation/fat-trees.md')
    >>> bound_of(fattree(4, 4))
    (3, 'pairs of one root, docs/explanation/fat-trees.md')
    """
    k, n = tree.children[0], tree.levels
    if tree.half is not None and n > 3:
        sharpened = single_path_bound(2 * k, n), "Theorem 5, sharpened"
        heights = several_heights(2 * k, n), "covers of links at several heights, docs/explanation/fat-trees.md"
        roots = four_ports(n) if k == 2 else 1, "pairs of one root, docs/explanation/fat-trees.md"
        return max(heights, sharpened, roots, key=lambda bound: bound[0])
    if tree.half is not None:
        return single_path_bound(2 * k, n), "Yuan et al., Theorem 3" if n == 2 else "Yuan et al., Theorem 4"
    if n == 2 and k > 1 and tree.parents == (1, k):
        bound = two_levels(2 * k, tree.children[1])
        printed = theorem2(2 * k, tree.children[1]) == bound  # k ≥ √(2m), where it says as much
        source = "Yuan et al., Theorem 2" if printed else "covers of links, docs/explanation/fat-trees.md"
        return (bound, source) if bound > 1 else None  # 1 needs no theorem
    return None


def _root(square: int) -> int:
    """Return the square root, rounded up."""
    root = isqrt(square)
    return root if root * root == square else root + 1


def _least(a: int, b: int, c: int) -> int:
    """Return the least whole X with a X² + b X ≥ c."""
    x = max(0, (isqrt(b * b + 4 * a * c) - b) // (2 * a) - 1)
    while a * x * x + b * x < c:
        x += 1
    return x
