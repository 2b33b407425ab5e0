"""The levels of a fat tree in a list of links, and its bundles: groups of switches with the same parents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.typing import Array

__all__ = ["Layers", "layers_of", "linked", "majority"]


_MOST_LEVELS = 12
_MOST_SHARED = 60_000_000  # pairs of switches with a common parent that are looked at


@dataclass(eq=False)
class Layers:
    """The level and the bundles of every node.

    The cables between two levels of a fat tree form bundles: within one, every lower switch has a cable to every upper.

    Parameters
    ----------
    level : int array
        From 1 for leaf switches; 0 for other nodes and for switches without a place.
    up, down : int arrays
        The bundles of a switch with those above it and with those below it; -1 without one.
    bundles : int
    """

    level: Array
    up: Array
    down: Array
    bundles: int = 0

    @property
    def levels(self) -> int:
        """Number of levels of switches."""
        return int(self.level.max(initial=0))


def layers_of(nodes: int, hosts: Array, ends: tuple[Array, Array]) -> Layers | None:
    """Return the levels and bundles of switches, given their hosts (-1 for other nodes) and the ends of their cables.

    None if there are no hosts, or too many pairs of switches to compare.

    Notes
    -----
    Leaves have about as many hosts as most switches with hosts: one or two hosts do not turn a root into a leaf. In a
    sub-tree with few hosts, leaves are the switches with a host at distance four, six and so on from other leaves; a
    root is at most three away.

    The next level are the switches with cables to the level below, with two exceptions: a switch with most of its
    cables to a single sub-tree belongs to that sub-tree and has lost the switches below it; a switch with far fewer
    cables down than others has a cable in the wrong port, and gets its level later. Last come the switches below the
    roots without children, which head sub-trees without hosts.
    """
    level = np.zeros(nodes, np.int64)
    layers = Layers(level, np.full(nodes, -1), np.full(nodes, -1))
    counts = hosts[hosts > 0]
    if not len(counts):
        return None
    tail, head = (np.concatenate(sides) for sides in (ends, ends[::-1]))
    level[2 * hosts >= np.partition(counts, len(counts) // 2)[len(counts) // 2]] = 1
    away = _distance(level == 1, tail, head)
    level[(hosts > 0) & (away > 3) & (away % 2 == 0)] = 1
    subtree = np.arange(nodes)
    for low in range(1, _MOST_LEVELS):
        upward = (level[tail] == low) & (level[head] == 0)
        above, below = head[upward], tail[upward]
        if not len(above):
            break
        count = np.bincount(above, minlength=nodes)
        candidate = count > 0
        if low > 1:
            _, most_alike = majority(above, subtree[below], nodes)
            hanging = candidate & (count > 1) & (2 * most_alike > count)
            if not (candidate & (count > 1) & ~hanging).any():
                hanging = candidate
            level[hanging] = low - 1
            candidate = candidate & ~hanging
        if candidate.any():
            typical = np.median(count[candidate])
            level[candidate & (2 * count >= typical)] = low + 1
        if not (level == low + 1).any():
            break
        if not _bundle(layers, low, tail, head):
            return None
        subtree = linked(layers, low + 1, below=True)
    _place_rest(level, hosts >= 0, tail, head)
    layers = Layers(level, np.full(nodes, -1), np.full(nodes, -1))
    return layers if all(_bundle(layers, low, tail, head) for low in range(1, layers.levels)) else None


def _distance(start: Array, tail: Array, head: Array) -> Array:
    """Return the distance of every switch to the nearest one in `start`, 0 where that is too far away."""
    away = np.zeros(len(start), np.int64)
    reached = start.copy()
    for step in range(1, 2 * _MOST_LEVELS):
        fresh = np.unique(head[reached[tail] & ~reached[head]])
        if not len(fresh):
            break
        reached[fresh] = True
        away[fresh] = step
    return away


def majority(item: Array, label: Array, items: int) -> tuple[Array, Array]:
    """Return the most frequent label of every item, the least of equals, and its count; -1 and 0 without labels."""
    winner, votes = np.full(items, -1), np.zeros(items, np.int64)
    if len(item):
        span = int(label.max()) + 1
        key, count = np.unique(item.astype(np.int64) * span + label, return_counts=True)
        at, what = key // span, key % span
        order = np.lexsort((-what, count))  # the last one written wins
        winner[at[order]], votes[at[order]] = what[order], count[order]
    return winner, votes


def linked(layers: Layers, level: int, below: bool) -> Array:
    """Label nodes so that those linked by bundles within the levels up to `level`, or from it on, share a label."""
    nodes = len(layers.level)
    inside = (layers.level > 0) & ((layers.level <= level) if below else (layers.level >= level))
    up = inside & (layers.up >= 0) & ((layers.level < level) if below else True)
    down = inside & (layers.down >= 0) & (True if below else (layers.level > level))
    one = np.concatenate([np.flatnonzero(up), np.flatnonzero(down)])
    other = nodes + np.concatenate([layers.up[up], layers.down[down]])
    size = nodes + layers.bundles
    graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(size, size))
    label: Array = connected_components(graph, directed=False)[1][:nodes]
    return label


def _bundle(layers: Layers, low: int, tail: Array, head: Array) -> bool:
    """Find the bundles between a level and the next; return False if that would take too long.

    Two switches share a bundle if they share more than half the parents of the one with fewer parents, so that a
    missing or misplaced cable neither joins nor splits bundles. Parents join the bundle of most of their children, then
    children that of most of their parents.
    """
    nodes = len(layers.level)
    upward = (layers.level[tail] == low) & (layers.level[head] == low + 1)
    child, parent = tail[upward], head[upward]
    if (np.bincount(parent).astype(np.float64) ** 2).sum() > _MOST_SHARED:
        return False
    cabled = coo_array((np.ones(len(child), np.int64), (child, parent)), shape=(nodes, nodes)).tocsr()
    shared = (cabled @ cabled.T).tocoo()
    parents = np.bincount(child, minlength=nodes)
    one, other = shared.coords
    alike = 2 * shared.data > np.minimum(parents[one], parents[other])
    graph = coo_array((np.ones(int(alike.sum()), np.int8), (one[alike], other[alike])), shape=(nodes, nodes))
    label = connected_components(graph, directed=False)[1]
    of_parent, _ = majority(parent, label[child], nodes)
    of_child, _ = majority(child, of_parent[parent], nodes)
    of_parent, _ = majority(parent, of_child[child], nodes)
    names = np.unique(np.concatenate([of_child[of_child >= 0], of_parent[of_parent >= 0]]))
    for side, of_side in ((layers.up, of_child), (layers.down, of_parent)):
        mine = np.flatnonzero(of_side >= 0)
        side[mine] = layers.bundles + np.searchsorted(names, of_side[mine])
    layers.bundles += len(names)
    return True


def _place_rest(level: Array, switch: Array, tail: Array, head: Array) -> None:
    """Set the levels of the switches of sub-trees without hosts, and of those with few cables left.

    The latter are above their lowest neighbors if one of these lacks a cable upwards, else below.
    """
    top = int(level.max(initial=0))
    for upper in range(top - 1, 1, -1):
        parent = np.zeros(len(level), bool)
        parent[tail[(level[tail] == upper) & (level[head] == upper - 1)]] = True
        under = (level[tail] == 0) & (level[head] == upper) & ~parent[head]
        level[tail[under]] = upper - 1
    near = np.where(level[head] > 0, level[head], _MOST_LEVELS + 1)
    lowest = np.full(len(level), _MOST_LEVELS + 1)
    np.minimum.at(lowest, tail, near)
    late = switch & (level == 0) & (lowest <= _MOST_LEVELS)
    lacking = _lacking_parents(level, tail, head)
    above = np.zeros(len(level), bool)
    above[tail[late[tail] & lacking[head] & (level[head] == lowest[tail])]] = True
    level[late] = np.where(above | (lowest == 1), lowest + 1, lowest - 1)[late]


def _lacking_parents(level: Array, tail: Array, head: Array) -> Array:
    """Return which switches have fewer links upwards than others of their level."""
    parents = np.bincount(tail[(level[tail] > 0) & (level[head] == level[tail] + 1)], minlength=len(level))
    lacking = np.zeros(len(level), bool)
    for at in range(1, int(level.max(initial=0)) + 1):
        mine = level == at
        lacking[mine] = parents[mine] < parents[mine].max(initial=0)
    return lacking
