"""Maps of a fat tree onto itself that add to the digits of its nodes: candidates for symmetries of its tables.

A node stands at digits that say in which sub-tree it is, and at ports that lead up to it. Rules such as D-mod-k and
OSRM3-D are sums of digits: they are kept by maps that add 1 or -1 to some digits and to the ports that depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from obliv._util.typing import Array
from obliv.checker.failures.hops import NextHops
from obliv.fabric.model import Fabric
from obliv.fabric.shape.tree import Shape, recognise

__all__ = ["tree_shifts"]

_LEVELS = 4  # of switches: there are 3^(2n - 1) sums on n levels
_ENTRIES = 512  # of the tables, on which candidates are tried


def tree_shifts(fabric: Fabric, hops: NextHops) -> Iterator[Array]:
    """Yield maps of nodes, none a sum of earlier ones, that some entries of the tables agree with.

    Parameters
    ----------
    fabric : Fabric
    hops : NextHops
        Its hosts are the first nodes, in the order of the endpoints, then come its switches.
    """
    shape = recognise(fabric)
    if shape is None or not shape.complete or shape.levels > _LEVELS:
        return
    level, place = _places(fabric, shape)
    sizes = np.array([*shape.children, *shape.parents])
    rng = np.random.default_rng(0)
    switch, terminal = (rng.integers(0, many, _ENTRIES) for many in hops.channel.shape)
    channel = hops.channel[switch, terminal]
    node, goal = hops.switches[switch], hops.topology.terminals[terminal].astype(np.int64)
    onward = np.append(hops.topology.head, -1)[channel]
    known: list[tuple[int, ...]] = []
    free = [(-1, 0, 1) if size > 1 else (0,) for size in sizes]
    for steps in sorted(product(*free), key=lambda steps: (np.count_nonzero(steps), steps)):
        if np.linalg.matrix_rank(np.array([*known, steps])) <= len(known):
            continue
        image = _moved(level, place, sizes, np.array(steps))
        row = hops.place[image[node]]
        if (row < 0).any() or (hops.topology.number_of[image[goal]] < 0).any():
            continue
        taken = hops.channel[row, hops.topology.number_of[image[goal]]]
        if np.array_equal(np.append(hops.topology.head, -1)[taken], np.append(image, -1)[onward]):
            known.append(steps)
            yield image


def _places(fabric: Fabric, shape: Shape) -> tuple[Array, Array]:
    """Return the level of every node, and its digits: those of sub-trees, then the ports that lead up to it."""
    switches = fabric.switches
    host = shape.leaf * shape.children[0] + shape.place
    level = np.concatenate([np.zeros(len(host), np.int64), shape.level[switches]])
    number = np.concatenate([host, shape.number[switches]])
    width = np.cumprod([1, *shape.parents])
    place = np.zeros((len(level), 2 * shape.levels), np.int64)
    for at in range(shape.levels + 1):
        here = np.flatnonzero(level == at)
        sub, ports = np.divmod(number[here], width[at])
        for j in range(at, shape.levels):
            sub, place[here, j] = np.divmod(sub, shape.children[j])
        for j in reversed(range(at)):
            ports, place[here, shape.levels + j] = np.divmod(ports, shape.parents[j])
    return level, place


def _moved(level: Array, place: Array, sizes: Array, steps: Array) -> Array:
    """Return the node that each node becomes when steps are added to its digits."""
    levels = len(sizes) // 2
    at = np.arange(levels)
    used = np.concatenate([at[None, :] >= level[:, None], at[None, :] < level[:, None]], axis=1)
    weight = np.cumprod(np.append(1, sizes[:-1]))
    before = level * int(sizes.prod()) + place @ weight
    after = level * int(sizes.prod()) + ((place + steps * used) % sizes) @ weight
    order = np.argsort(before)
    return np.asarray(order[np.searchsorted(before[order], after)])
