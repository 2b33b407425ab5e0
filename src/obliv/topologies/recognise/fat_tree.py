"""Fat trees recognized in the links of a network, whole or with some parts missing."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.recognise.tree_levels import Layers, layers_of
from obliv.topologies.recognise.tree_parts import joined
from obliv.topologies.recognise.tree_places import numbered

__all__ = ["FatTree", "fat_tree_of"]

_STRAY = 50  # the usual number of hosts counts if at most one host in 50 exceeds it at its leaf


@dataclass(frozen=True, eq=False)
class FatTree:
    """The fat tree that a network of switches forms, or nearly forms, and the places of the switches in it.

    Numbers are those of :class:`obliv.topologies.trees.Tree`.

    Parameters
    ----------
    children, parents : tuple of int
        Of the nodes of levels 1 and up, and of those of levels 0 and up.
    level, number : int arrays, shape (nodes,)
        The level of every switch, from 1, and its number there; -1 for nodes without a place.
    """

    children: tuple[int, ...]
    parents: tuple[int, ...]
    level: Array
    number: Array

    @property
    def sizes(self) -> list[int]:
        """Number of switches of each level."""
        more, parents = self.children[1:], self.parents[1:]
        return [prod(more[height:]) * prod(parents[:height]) for height in range(len(more) + 1)]


def fat_tree_of(hosts: Array, pairs: Array) -> FatTree | None:
    """Return the fat tree that a network forms, or nearly forms; None for other networks.

    `hosts` is the number of hosts of every switch, -1 for other nodes; `pairs` are the switches at the ends of the
    links, in any order. Where sub-trees or numbers of parents differ, the majority decides the size of the tree. A
    sub-tree that fell apart, since switches have lost most of their links, is put together again where the whole tree
    then differs in fewer links.
    """
    links = np.unique(np.sort(pairs, axis=1), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    switches = int((hosts >= 0).sum())
    layers = layers_of(len(hosts), hosts, (links[:, 0], links[:, 1]))
    if layers is None or (layers.levels < 2 and switches > 1):
        return None
    tree = _tree_of(layers, hosts)
    if tree is None:
        return None
    wrong = _differing(tree, links)
    while wrong > 0:
        others = [(other, _tree_of(other, hosts)) for other in joined(layers, tree.children[1:], tree.parents[1:])]
        rated = [(_differing(new, links), at) for at, (_, new) in enumerate(others) if new is not None]
        least, at = min(rated, default=(wrong, 0))
        if least >= wrong:
            break
        wrong, layers, tree = least, others[at][0], others[at][1] or tree
    return tree if sum(tree.sizes) <= 2 * switches else None


def _tree_of(layers: Layers, hosts: Array) -> FatTree | None:
    """Return the tree of some levels and bundles, None if they do not form one."""
    numbering = numbered(layers)
    if numbering is None:
        return None
    children, parents, number = numbering
    level = np.where(number >= 0, layers.level, -1)
    return FatTree((_hosts_at_leaf(hosts[level == 1]), *children), (1, *parents), level, number)


def _differing(tree: FatTree, links: Array) -> int:
    """Return how many links the whole tree has and the network has not, or the other way round."""
    wanted = sum(size * ports for size, ports in zip(tree.sizes, tree.parents[1:], strict=False))
    rising = np.take_along_axis(links, np.argsort(tree.level[links], axis=1, kind="stable"), axis=1)
    (low, high), (inner, outer) = tree.level[rising].T, tree.number[rising].T
    kept = 0
    for at, (children, ports) in enumerate(zip(tree.children[1:], tree.parents[1:], strict=True), 1):
        width = prod(tree.parents[:at])
        mine = (low == at) & (high == at + 1)
        sub, branch = np.divmod(inner[mine], width)
        above, port = np.divmod(outer[mine], width * ports)
        kept += int(((above == sub // children) & (port // ports == branch)).sum())
    return wanted + len(links) - 2 * kept


def _hosts_at_leaf(count: Array) -> int:
    """Return the number of hosts of a leaf: the largest, unless only a few leaves have more than the others."""
    usual = int(np.sort(count)[len(count) // 2])
    return usual if _STRAY * np.maximum(count - usual, 0).sum() <= count.sum() else int(count.max())
