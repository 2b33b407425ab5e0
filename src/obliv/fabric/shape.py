"""Fat trees recognized in the cabling of a fabric, and its cables that are missing, extra or in the wrong place."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.model import Fabric, typed
from obliv.topologies.families.trees import fattree, xgft
from obliv.topologies.recognise.trees import fat_tree_of
from obliv.topologies.trees import Tree

# The cables of a fabric beside those of the fat tree that it is taken for


def compared(
    fabric: Fabric,
    ends: tuple[Array, Array],
    level: Array,
    nodes: dict[tuple[int, int], int],
    sizes: tuple[tuple[int, ...], tuple[int, ...]],
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...], tuple[int, ...]]:
    """Return pairs of switches with too few cables, surplus cables, and the number of parallel cables of each level."""
    cables_of: dict[tuple[int, int], list[int]] = {}
    extra: list[int] = []
    for near, far in zip(*(end.tolist() for end in ends), strict=True):
        one, other = int(fabric.node_of[near]), int(fabric.node_of[far])
        if level[one] > level[other]:
            one, other, near = other, one, far
        if level[one] < 1 or level[other] != level[one] + 1:
            extra.append(near)
        else:
            cables_of.setdefault((one, other), []).append(near)
    missing: list[tuple[int, int]] = []
    cables = []
    children, parents = sizes
    for low in range(1, len(parents) + 1):
        wanted = _pairs(low, children, parents, nodes)
        count = np.array([len(cables_of.get(pair, ())) for pair in wanted])
        usual = count[count > 0]
        several = int(np.sort(usual)[len(usual) // 2]) if len(usual) else 1
        cables.append(several)
        for pair in wanted:
            parallel = sorted(cables_of.pop(pair, ()))
            missing += [pair] * (several - len(parallel))
            extra += parallel[several:]
    for parallel in cables_of.values():
        extra += parallel
    return tuple(missing), tuple(sorted(extra)), tuple(cables)


def _pairs(
    low: int, children: tuple[int, ...], parents: tuple[int, ...], nodes: dict[tuple[int, int], int]
) -> list[tuple[int, int]]:
    """Return the pairs of switches of two levels that the tree joins, where both exist."""
    width = prod(parents[: low - 1])
    joined = []
    for sub in range(prod(children[low - 1 :])):
        for branch in range(width):
            lower = nodes.get((low, sub * width + branch), -1)
            if lower < 0:
                continue
            for port in range(parents[low - 1]):
                at = sub // children[low - 1] * width * parents[low - 1] + branch * parents[low - 1] + port
                upper = nodes.get((low + 1, at), -1)
                if upper >= 0:
                    joined.append((lower, upper))
    return joined


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """The fat tree that a fabric is, or nearly is, and the place of its switches and hosts in it.

    Numbers are those of :class:`obliv.topologies.trees.Tree`: on level l a switch has the number A·width[l] + B.
    """

    # children, parents: of the nodes of levels 1 and up, and of those of levels 0 and up
    children: tuple[int, ...]
    parents: tuple[int, ...]
    cables: tuple[int, ...]  # how many parallel cables there are between nodes of levels 0 and 1, 1 and 2,
    level: Array  # int, shape (nodes,); of every node of the fabric: 0 for hosts, -1 for what has no place
    number: Array  # int, shape (nodes,); of every switch on its level; -1 for what has no place
    # leaf, place: int, shape (endpoints,); the number of an endpoint's leaf switch and its place there in the order of
    # ports, from 0; -1 at other switches. The host number of the tree is leaf·children[0] + place where place <
    # children[0].
    leaf: Array
    place: Array
    # missing: switches that have fewer cables to each other than in the tree, the lower one first; as often as cables
    # lack
    missing: tuple[tuple[int, int], ...] = ()
    extra: tuple[int, ...] = ()  # cables that the tree does not have: the slot of the end that is nearer to the hosts
    missing_switches: tuple[tuple[int, int], ...] = ()  # places without a switch
    extra_switches: tuple[int, ...] = ()  # nodes without a place
    _nodes: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether switches and their cables are exactly those of the tree; hosts may be missing."""
        return not (self.missing or self.extra or self.missing_switches or self.extra_switches)

    @property
    def title(self) -> str:
        """The name of the tree, or what the fabric nearly is."""
        return self.name if self.exact else f"nearly {self.name}"

    @property
    def complete(self) -> bool:
        """Whether the fabric is the whole tree: no host is missing, and cables are not parallel."""
        return self.exact and not self.empty and max(self.cables) == 1

    @property
    def levels(self) -> int:
        """Number of levels of switches."""
        return len(self.children)

    @property
    def empty(self) -> int:
        """Number of places for hosts that are empty."""
        return prod(self.children) - int(((self.place >= 0) & (self.place < self.children[0])).sum())

    @cached_property
    def tree(self) -> Tree:
        """The whole tree, with one cable where there are parallel ones."""
        k, n = self.children[0], self.levels
        if n > 1 and k > 1 and self.children == (k,) * (n - 1) + (2 * k,) and self.parents == (1,) + (k,) * (n - 1):
            return fattree(2 * k, n)
        return xgft(self.children, self.parents)

    @property
    def name(self) -> str:
        """The name of the tree: FT(8,3), EFT2(8,6) or XGFT(3; 4,4,8; 1,2,4), with its parallel cables."""
        k, n = self.children[0], self.levels
        if n == 1:
            return f"one switch with {self.children[0]} host{'s' if self.children[0] > 1 else ''}"
        usual = k > 1 and self.parents == (1,) + (k,) * (n - 1) and self.children[:-1] == (k,) * (n - 1)
        if usual and self.children[-1] == 2 * k:
            name = f"FT({2 * k},{n})"
        elif usual and n == 2 and self.children[-1] < 2 * k:
            name = f"EFT2({2 * k},{self.children[-1]})"
        else:
            name = f"XGFT({n}; {','.join(map(str, self.children))}; {','.join(map(str, self.parents))})"
        several = [
            f"{count} cables between switches of levels {low} and {low + 1}"
            for low, count in enumerate(self.cables)
            if count > 1
        ]
        return " with ".join([name, *(["; ".join(several)] if several else [])])

    def node_of(self, level: int, number: int) -> int:
        """Return the switch of a place, -1 where there is no switch."""
        return self._nodes.get((level, number), -1)

    def __repr__(self) -> str:
        nearly = "" if self.exact else "nearly "
        faults = (
            (len(self.missing), "cables missing"),
            (len(self.extra), "cables too many"),
            (len(self.missing_switches), "switches missing"),
            (len(self.extra_switches), "switches too many"),
        )
        return f"<Shape {nearly}{self.name}{''.join(f', {count} {what}' for count, what in faults if count)}>"


@typed
def recognise(fabric: Fabric) -> Shape | None:
    """Return the fat tree in the cabling of a fabric, even if cables or switches are missing; None without a tree.

    Parameters
    ----------
    fabric : Fabric
        Nodes and ports may be numbered in any order.

    Returns
    -------
    Shape or None
        None if more than a quarter of the tree would be missing or surplus.

    Notes
    -----
    Where a sub-tree has more or fewer switches than most, or a switch more or fewer parents, the size of the tree is
    that of the majority. Places that no cable distinguishes are taken in the order of the file.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology
    >>> recognise(from_topology(obliv.topology("fattree:8,3")))
    <Shape FT(8,3)>
    >>> recognise(from_topology(obliv.topology("torus:5x5"))) is None
    True
    """
    is_switch = fabric.switch_row >= 0
    ends = fabric.endpoints
    beside = fabric.node_of[fabric.ports.peer[ends]].astype(np.int64)
    hosts = np.bincount(beside[is_switch[beside]], minlength=len(fabric.nodes))
    hosts[~is_switch] = -1
    near = np.flatnonzero(fabric.ports.peer >= 0)
    far = fabric.ports.peer[near]
    between = is_switch[fabric.node_of[near]] & is_switch[fabric.node_of[far]] & (near < far)
    near, far = near[between], far[between]
    tree = fat_tree_of(hosts, np.column_stack([fabric.node_of[near], fabric.node_of[far]]))
    if tree is None:
        return None
    level, number = tree.level.copy(), tree.number
    at_leaf = level[beside] == 1
    leaf, place = np.where(at_leaf, number[beside], -1), np.where(at_leaf, fabric.endpoint_places[0], -1)
    nodes = {(int(level[v]), int(number[v])): v for v in np.flatnonzero(level > 0).tolist()}
    sizes = tree.children[1:], tree.parents[1:]
    missing, extra, cables = compared(fabric, (near, far), level, nodes, sizes)
    level[fabric.node_of[ends]] = 0
    shape = Shape(
        children=tree.children,
        parents=tree.parents,
        cables=(1, *cables),
        level=level,
        number=number,
        leaf=leaf,
        place=place,
        missing=missing,
        extra=extra,
        missing_switches=tuple(
            (at, spot) for at, size in enumerate(tree.sizes, 1) for spot in range(size) if (at, spot) not in nodes
        ),
        extra_switches=tuple(v for v in fabric.switches.tolist() if number[v] < 0),
        _nodes=nodes,
    )
    wrong = len(missing) + len(extra) + len(shape.missing_switches) + len(shape.extra_switches)
    return shape if 4 * wrong <= len(near) + len(fabric.switches) else None
