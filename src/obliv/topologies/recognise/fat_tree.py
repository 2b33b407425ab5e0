"""Fat trees recognized in the links of a network, whole or with some parts missing."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.recognise.tree_levels import layers_of
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
    links, in any order. Where sub-trees or numbers of parents differ, the majority decides the size of the tree.
    """
    links = np.unique(np.sort(pairs, axis=1), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    switches = int((hosts >= 0).sum())
    layers = layers_of(len(hosts), hosts, (links[:, 0], links[:, 1]))
    if layers is None or (layers.levels < 2 and switches > 1):
        return None
    numbering = numbered(layers)
    if numbering is None:
        return None
    children, parents, number = numbering
    level = np.where(number >= 0, layers.level, -1)
    tree = FatTree((_hosts_at_leaf(hosts[level == 1]), *children), (1, *parents), level, number)
    return tree if sum(tree.sizes) <= 2 * switches else None


def _hosts_at_leaf(count: Array) -> int:
    """Return the number of hosts of a leaf: the largest, unless only a few leaves have more than the others."""
    usual = int(np.sort(count)[len(count) // 2])
    return usual if _STRAY * np.maximum(count - usual, 0).sum() <= count.sum() else int(count.max())
