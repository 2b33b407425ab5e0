"""Fat trees recognized in the links of a network: levels, bundles, broken sub-trees, numbers for switches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from math import prod
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.arrays import Array

_MOST_LEVELS = 12
_MOST_SHARED = 60_000_000  # pairs of switches with a common parent that are looked at


@dataclass(eq=False)
class TreeLevels:
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


def layers_of(nodes: int, hosts: Array, ends: tuple[Array, Array]) -> TreeLevels | None:
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
    layers = TreeLevels(level, np.full(nodes, -1), np.full(nodes, -1))
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
    layers = TreeLevels(level, np.full(nodes, -1), np.full(nodes, -1))
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


def linked(layers: TreeLevels, level: int, below: bool) -> Array:
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


def _bundle(layers: TreeLevels, low: int, tail: Array, head: Array) -> bool:
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


# Sub-trees that missing cables broke into parts, put together again


_READINGS = 50  # of one level
_PAIRS = 20_000  # of bundles, on one level


def joined(layers: TreeLevels, children: tuple[int, ...], parents: tuple[int, ...]) -> Iterator[TreeLevels]:
    """Yield readings of a tree in which two bundles are one, where both together are no larger than others are.

    `children` are those of the switches of levels 2 and up, `parents` those of levels 1 and up. The smallest bundles
    come first.
    """
    lower, upper = (np.bincount(side[side >= 0], minlength=layers.bundles) for side in (layers.up, layers.down))
    level = np.zeros(layers.bundles, np.int64)
    level[layers.up[layers.up >= 0]] = layers.level[layers.up >= 0]
    for at, (usual_lower, usual_upper) in enumerate(zip(children, parents, strict=True), 1):
        here = level == at
        most_lower = max(usual_lower, lower[here].max(initial=0))
        most_upper = max(usual_upper, upper[here].max(initial=0))
        small = np.flatnonzero(here & (lower < most_lower))
        small = small[np.argsort((lower + upper)[small], kind="stable")]
        fitting = (
            pair
            for pair in islice(combinations(small.tolist(), 2), _PAIRS)
            if lower[list(pair)].sum() <= most_lower and upper[list(pair)].sum() <= most_upper
        )
        for one, other in islice(fitting, _READINGS):
            up, down = (np.where(side == other, one, side) for side in (layers.up, layers.down))
            yield replace(layers, up=up, down=down)


# Numbers for the switches of a fat tree whose levels and bundles are known


def numbered(layers: TreeLevels) -> tuple[tuple[int, ...], tuple[int, ...], Array] | None:
    """Return the children of levels 2 and up, the parents of levels 1 and up, and every switch's number on its level.

    Numbers are those of :class:`obliv.topologies.trees.Tree`, -1 for nodes without a place: (A, B), with A for the
    sub-tree below and B for the ports that lead up to it. Switches that bundles link within the levels up to l form a
    sub-tree of height l; those linked within the levels from l on share the first l digits of B. Switches with too few
    cables left take the remaining places. None if the switches do not form a tree.
    """
    top, level = layers.levels, layers.level
    below = [np.arange(len(level)), *(linked(layers, height, below=True) for height in range(1, top + 1))]
    above = [below[0], *(linked(layers, height, below=False) for height in range(1, top + 1))]
    placed = np.flatnonzero(level > 0)
    whole = np.bincount(below[top][placed]).argmax()
    if 2 * (below[top][placed] == whole).sum() < len(placed):
        return None
    leaves, roots = (np.flatnonzero((level == height) & (below[top] == whole)) for height in (1, top))
    if not len(leaves) or not len(roots):
        return None
    subs, children = _digits(below, range(top, 0, -1), leaves)
    ports, parents = _digits(above, range(1, top + 1), roots)
    children = children[::-1]
    number = np.full(len(level), -1)
    for height in range(1, top + 1):
        width = prod(parents[: height - 1])
        mine = np.flatnonzero(level == height)
        a, b = subs[height][mine], ports[height][mine]
        known = (a >= 0) & (b >= 0)
        spot, first = np.unique((a * width + b)[known], return_index=True)
        number[mine[known][first]] = spot  # of two switches in one place, the first stays
        _fill(number, mine, height, (subs, ports), (children, parents))
    return children, parents, number


def _digits(label: list[Array], heights: range, ends: Array) -> tuple[list[Array], tuple[int, ...]]:
    """Return numbers of linked parts, digit by digit from the whole network, and the number of parts at each height.

    Only parts with some of the leaves or roots `ends` count. Parts beyond the usual number get -1.
    """
    number = [np.full(len(label[0]), -1) for _ in label]
    sizes = []
    outer = None
    for height in heights:
        here = label[height]
        parts, first, inside = np.unique(here[ends], return_index=True, return_inverse=True)
        size = np.bincount(inside)
        if outer is None:
            value = np.zeros(len(parts), np.int64)
        else:
            of_part = number[outer][ends[first]]
            small = 2 * size < np.median(size)
            order = np.lexsort((ends[first], small, of_part))
            starts = np.flatnonzero(np.r_[True, np.diff(of_part[order]) != 0])
            lengths = np.diff(np.r_[starts, len(order)])
            real = lengths[of_part[order][starts] >= 0]
            base = int(np.sort(real)[len(real) // 2])
            sizes.append(base)
            digit = np.empty(len(parts), np.int64)
            digit[order] = np.arange(len(order)) - np.repeat(starts, lengths)
            value = np.where((of_part >= 0) & (digit < base), of_part * base + digit, -1)
        lookup = np.full(int(here.max()) + 1, -1)
        lookup[parts] = value
        number[height] = lookup[here]
        outer = height
    return number, tuple(sizes)


def _fill(number: Array, mine: Array, height: int, known: Any, sizes: Any) -> None:
    """Assign the remaining places to switches without one, consistent with the known digits of their numbers."""
    (subs, ports), (children, parents) = known, sizes
    top, width = len(parents) + 1, prod(parents[: height - 1])
    lacking = mine[number[mine] < 0]
    occupied = set(number[mine[number[mine] >= 0]].tolist())
    left: dict[tuple[int, ...], Iterator[int]] = {}  # places not yet examined
    for v in lacking.tolist():
        outer = next((h for h in range(height, top + 1) if subs[h][v] >= 0), top)
        inner = next((h for h in range(height, 0, -1) if ports[h][v] >= 0), 1)
        a, b = max(0, int(subs[outer][v])), max(0, int(ports[inner][v]))
        if (outer, a, inner, b) not in left:
            many, more = prod(children[height - 1 : outer - 1]), prod(parents[inner - 1 : height - 1])
            block = product(range(a * many, (a + 1) * many), range(b * more, (b + 1) * more))
            left[outer, a, inner, b] = (sub * width + port for sub, port in block)
        spot = next((place for place in left[outer, a, inner, b] if place not in occupied), -1)
        number[v] = spot
        occupied.add(spot)


# Fat trees recognized in the links of a network, whole or with some parts missing


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


def _tree_of(layers: TreeLevels, hosts: Array) -> FatTree | None:
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
