"""The dependency graphs G_(i,j) by the definition of section 2, and their chromatic numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from obliv._util.arrays import Array
from obliv.bufferless.leveled.instances import Instance

__all__ = ["Neighbors", "chromatic_number", "dependency_graphs", "frames"]

#: A graph: the neighbors of each node.
Neighbors = Mapping[int, frozenset[int]]


def frames(instance: Instance, lam: int) -> int:
    """Return the number of frames that hold a level of the network, gamma."""
    return len(np.unique(np.asarray(instance.network.node_level) // lam))


def dependency_graphs(instance: Instance, sets: Array, lam: int) -> Iterator[Neighbors]:
    """Yield every graph G_(i,j), for i from 1 to the largest set and j from 1 to gamma.

    The nodes are all packets of the set, so that |V_(i,j)| = |Pi_i|; two are neighbors if they share an edge whose two
    nodes are in F_j and F_(j+1).

    Examples
    --------
    >>> import numpy as np, obliv
    >>> array = obliv.bufferless.instance("array:12", [range(3), range(2, 5), [9]])
    >>> [len(graph) for graph in dependency_graphs(array, np.array([1, 1, 1]), 4)]
    [3, 3, 3]
    >>> dict(next(dependency_graphs(array, np.array([1, 1, 1]), 4)))
    {0: frozenset({1}), 1: frozenset({0}), 2: frozenset()}
    """
    level = instance.network.edge_level(instance.edge)
    for i in range(1, int(sets.max(initial=0)) + 1):
        members = [p for p in range(instance.packets) if sets[p] == i]
        for j in range(frames(instance, lam)):
            within = (level >= j * lam) & (level + 1 < (j + 2) * lam)
            part = {
                p: {int(e) for e in instance.edge[a:b][within[a:b]]}
                for p, (a, b) in enumerate(pairwise(instance.start.tolist()))
                if sets[p] == i
            }
            yield {p: frozenset(q for q in members if q != p and part[p] & part[q]) for p in members}


def chromatic_number(graph: Neighbors) -> int:
    """Return the fewest colors with which neighbors differ, by branch and bound; for small graphs.

    Examples
    --------
    >>> ring = {p: frozenset({(p - 1) % 5, (p + 1) % 5}) for p in range(5)}
    >>> chromatic_number(ring)
    3
    """
    best = max((len(graph[p]) for p in graph), default=-1) + 1
    least = min(len(graph), 1)
    for p in graph:  # a clique for each node, chosen greedily
        clique = {p}
        for q in sorted(graph[p], key=lambda q: -len(graph[q])):
            if clique <= graph[q]:
                clique.add(q)
        least = max(least, len(clique))
    while best > least and _colorable(graph, best - 1, {}):
        best -= 1
    return best


def _colorable(graph: Neighbors, colors: int, chosen: dict[int, int]) -> bool:
    """Return whether a partial coloring can be completed; the node with the fewest colors left is next."""
    if len(chosen) == len(graph):
        return True
    around = {p: {chosen[q] for q in graph[p] if q in chosen} for p in graph if p not in chosen}
    node = max(around, key=lambda p: (len(around[p]), len(graph[p])))
    used = max(chosen.values(), default=0)
    for color in range(1, min(used + 1, colors) + 1):
        if color not in around[node] and _colorable(graph, colors, {**chosen, node: color}):
            return True
    return False
