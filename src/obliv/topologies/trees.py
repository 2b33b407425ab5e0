"""Fat trees: hosts below levels of switches, in which nodes have several parents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Protocol, overload

import numpy as np

from obliv._util.typing import Array, NodeArray
from obliv.topologies.base import Topology
from obliv.topologies.layout_hint import LayoutHint

__all__ = ["NumberedPaths", "Tree"]


class NumberedPaths(Protocol):
    """Shortest paths of all pairs of hosts of a fat tree by number; `alike` consecutive hosts share them."""

    @property
    def topology(self) -> Tree: ...

    @property
    def alike(self) -> int: ...

    def ways(self, source: Array, destination: Array, /) -> Array: ...


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

    def layout_hint(self) -> LayoutHint | None:
        """Return the level of every node, with the hosts in their order."""
        if self.positions is None:
            return None
        hosts = self.first_node[1]
        level = np.repeat(np.arange(self.levels + 1), np.diff(self.first_node))
        return LayoutHint(hosts, np.arange(hosts), level=level, across=np.asarray(self.positions, float)[:, 0])

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
