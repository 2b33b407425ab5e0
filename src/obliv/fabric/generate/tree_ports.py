"""Ports of the switches of a fat tree, from a rule that gives path numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.tables import NONE
from obliv.topologies.trees import Tree

__all__ = ["tree_ports"]


def tree_ports(tree: Tree, numbers: Callable[[Array, Array], Array], sources: Array, spec: str = "") -> Array:
    """Return the port by which each switch forwards what some sources send to each host.

    Parameters
    ----------
    tree : Tree
        Whose hosts have one link; a switch's ports 1, 2, ... lead to its children, then to its parents.
    numbers : callable
        ``numbers(source, destination)`` gives the numbers of the paths for arrays that broadcast.
    sources : array
        The hosts that send; others at the same leaf use the same paths.
    spec : str
        The name of the rule, in messages.

    Returns
    -------
    uint8 array, shape (switches, hosts)
        Rows as the tree numbers its switches; ``NONE`` where no path leads.

    Examples
    --------
    >>> import numpy as np
    >>> from obliv.topologies.families.fat_trees import fattree
    >>> tree_ports(fattree(4, 2), lambda s, d: d % 2, np.arange(8))[0].tolist()  # the first leaf
    [1, 2, 3, 4, 3, 4, 3, 4]
    """
    hosts, first = tree.below[-1], tree.first_node
    host = np.arange(hosts)
    out: Array = np.full((tree.nodes - hosts, hosts), NONE, np.uint8)
    for level in range(1, tree.levels + 1):  # every rule has the same ports down
        for sub in range(hosts // tree.below[level]):
            row = first[level] - hosts + sub * tree.width[level]
            inside = host[sub * tree.below[level] : (sub + 1) * tree.below[level]]
            out[row : row + tree.width[level], inside] = 1 + inside // tree.below[level - 1] % tree.children[level - 1]
    width = np.array(tree.width)
    for source in np.asarray(sources).tolist():
        turn = tree.turn(source, host)
        number = np.asarray(numbers(np.array(source), host))
        number = number[..., 0] if number.ndim > 1 else number
        for level in range(1, tree.levels):
            beyond = host[turn > level]
            path, whole = number[beyond], width[turn[beyond]]
            row = first[level] - hosts + source // tree.below[level] * width[level] + path // (whole // width[level])
            up = path // (whole // width[level + 1]) % tree.parents[level]
            port = (1 + tree.children[level - 1] + up).astype(np.uint8)
            before = out[row, beyond]
            other = np.flatnonzero((before != NONE) & (before != port))
            if len(other):
                switch = tree.name_of(hosts + int(row[other[0]]))
                goal = tree.name_of(int(beyond[other[0]]))
                raise RoutingError(f"{spec}: the next hop from {switch} to {goal} depends on the source")
            out[row, beyond] = port
    return out
