"""The uniform traffic that a fabric can carry under the best routing, where that is known."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.typing import Array
from obliv.fabric.model import Fabric
from obliv.fabric.shape.tree import Shape, recognise
from obliv.routings.graphs.distances import Distances

__all__ = ["capacity_load", "cut_sizes", "partitions"]


_MOST = 1 << 18  # switches times channels


def capacity_load(fabric: Fabric) -> Fraction | None:
    """Return the least load of the most loaded channel under uniform traffic.

    Parameters
    ----------
    fabric : Fabric
        With cables of one speed.

    Returns
    -------
    Fraction or None
        Exact; None if it is not known.

    Notes
    -----
    A whole fat tree has that of its topology, which is (n - 1) / n on FT(m, n). Elsewhere two bounds hold for every
    routing: an endpoint's cable carries (n - 1) / n, and the channels between switches carry at least all distances
    together, shared out evenly. Where equal use of all shortest paths loads no channel more than the greater of the
    two, that is the answer: on tori, hypercubes, complete graphs, and wherever endpoints have the narrowest cables.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> capacity_load(from_topology(obliv.torus(9, 9)))
    Fraction(10, 9)
    """
    shape = recognise(fabric)
    ends, switches = fabric.endpoints, fabric.switches
    if shape is not None and shape.complete and len(ends) == shape.tree.below[-1] and shape.tree.capacity_load:
        return shape.tree.capacity_load
    beside = fabric.homes
    tail, head, _ = fabric.trunks
    if not len(ends) or (beside < 0).any() or len(switches) * len(tail) > _MOST:
        return None
    hosts, n = np.bincount(beside, minlength=len(switches)), len(ends)
    loads, unit = _loads(len(switches), tail, head, hosts)
    if any(load < 0 for load in loads):
        return None
    even = Fraction(sum(loads), max(len(loads), 1) * n * unit)
    bound = max(even, Fraction(n - 1, n))
    return bound if Fraction(max(loads, default=0), n * unit) <= bound else None


def _loads(nodes: int, tail: Array, head: Array, hosts: Array) -> tuple[list[int], int]:
    """Return the loads of channels if every host sends 1 to every host by all shortest paths equally, and their unit.

    Loads are in units of 1 / unit; a load of -1 means that a host cannot be reached.
    """
    far_from = Distances(nodes, head, tail, nodes)  # along channels
    ends, weight = list(zip(tail.tolist(), head.tolist(), strict=True)), hosts.tolist()
    trees = []  # of every source: channels of shortest paths in order, number of such paths to every node
    unit = 1
    for source in np.flatnonzero(hosts).tolist():
        far = far_from([source])
        if (far[hosts > 0] < 0).any():
            return [-1], 1
        outwards = np.flatnonzero((far[tail] >= 0) & (far[head] == far[tail] + 1))
        outwards = outwards[np.argsort(far[tail[outwards]], kind="stable")]
        paths = [0] * nodes
        paths[source] = 1
        for v, w in map(ends.__getitem__, outwards.tolist()):
            paths[w] += paths[v]
        unit = lcm(unit, *(count for count, many in zip(paths, weight, strict=True) if many))
        trees.append((source, outwards[::-1].tolist(), paths))
    loads = [0] * len(ends)
    for source, inwards, paths in trees:
        # a path to t carries weight[t] / paths[t]; a channel from v carries the sum over the paths that continue there
        carried = [unit // count * many if many else 0 for count, many in zip(paths, weight, strict=True)]
        for c in inwards:
            v, w = ends[c]
            carried[v] += carried[w]
            loads[c] += weight[source] * paths[v] * carried[w]
    return loads, unit


def partitions(fabric: Fabric, shape: Shape | None) -> list[Array]:
    """Return partitions of the switches: each switch alone, then the sub-trees of every height."""
    count = len(fabric.switches)
    if shape is None:
        return [np.arange(count)]
    tail, head, _ = fabric.trunks
    level = shape.level[fabric.switches]
    parts = []
    for height in range(1, shape.levels):
        inner = (level[tail] >= 1) & (level[tail] <= height) & (level[head] >= 1) & (level[head] <= height)
        edges = coo_array((np.ones(int(inner.sum()), np.int8), (tail[inner], head[inner])), shape=(count, count))
        parts.append(connected_components(edges, directed=False)[1])
    return parts or [np.arange(count)]


def cut_sizes(fabric: Fabric, part: Array, hosts: Array) -> tuple[Array, Array]:
    """Return the hosts of each part of the switches, and the cables that leave it."""
    tail, head, _ = fabric.trunks
    parts = int(part.max(initial=-1)) + 1
    inside = np.bincount(part, hosts, parts).astype(np.int64)
    return inside, np.bincount(part[tail[part[tail] != part[head]]], minlength=parts)
