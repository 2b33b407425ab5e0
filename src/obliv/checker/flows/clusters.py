"""Flows over decomposition trees, cluster by cluster, after a check that their paths join.

On the way from a source, a packet climbs the path of every cluster of the source that does not contain the destination,
and comes down the path of every cluster of the destination that does not contain the source.
"""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.checker.flows.base import CheckTime, Flow, Flows
from obliv.errors import RoutingError
from obliv.routings.graphs.raecke import Tree
from obliv.topologies.base import Topology
from obliv.topologies.links import links_of

__all__ = ["cluster_flows"]


def cluster_flows(topology: Topology, trees: list[Tree], spec: str, check_time: CheckTime) -> Flows:
    """Return what every terminal sends where each packet takes one of some trees, all equally likely."""
    links = links_of(topology, spec)
    opposite = np.where(links.sign > 0, links.backward[links.link], links.forward[links.link])
    n, channels = len(topology.terminals), topology.channels
    climbs = [_require_tree(topology, tree, spec) for tree in trees]

    def flow(i: int) -> Flow:
        check_time()
        keys = []
        for tree, (cluster, channel) in zip(trees, climbs, strict=True):
            at = int(np.flatnonzero(tree.order == i)[0])
            own = ((tree.first <= at) & (at < tree.end))[cluster]
            first, end = tree.first[cluster], tree.end[cluster]
            down = np.where(own, first, end - first)  # own clusters: the destinations before them, and those after
            keys.append(_spread(tree.order, np.where(own, 0, first), down, np.where(own, channel, opposite[channel])))
            keys.append(_spread(tree.order, end[own], n - end[own], channel[own]))
        place, amount = np.unique(np.concatenate([key[0] * channels + key[1] for key in keys]), return_counts=True)
        destination, over = np.divmod(place, channels)
        ends = np.searchsorted(destination, np.arange(n), side="right")
        return Flow(ends, over, amount.astype(np.int64), np.full(n, len(trees)))

    return flow


def _spread(order: Array, first: Array, count: Array, channel: Array) -> tuple[Array, Array]:
    """Return the terminals of each interval of an order, with the channel of the interval."""
    inside = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return order[np.repeat(first, count) + inside], np.repeat(channel, count)


def _require_tree(topology: Topology, tree: Tree, spec: str) -> tuple[Array, Array]:
    """Check a tree, and return its climbs as rows of cluster and channel.

    Clusters are nested intervals, the leaves are the terminals, and the paths of all children lead to one node.
    """
    n, count = len(topology.terminals), len(tree.parent)
    parent, first, end = tree.parent, tree.first, tree.end
    inner = np.arange(1, count)
    leaves = np.bincount(parent[1:], minlength=count) == 0
    if (
        not np.array_equal(np.sort(tree.order), np.arange(n))
        or not len(first) == len(end) == len(tree.up) == count > 0
        or (first[0], end[0]) != (0, n)
        or ((parent[1:] < 0) | (parent[1:] >= inner)).any()
        or (first[1:] < first[parent[1:]]).any()
        or (end[1:] > end[parent[1:]]).any()
        or not np.array_equal(np.sort(first[leaves]), np.arange(n))
        or (end[leaves] - first[leaves] != 1).any()
    ):
        raise RoutingError(f"{spec}: the clusters of a tree are not nested, down to single terminals")
    center = np.full(count, -1)
    center[leaves] = topology.terminals[tree.order[first[leaves]]]
    for cluster in inner[::-1].tolist():  # children have larger numbers
        node = int(center[cluster])
        for channel in tree.up[cluster]:
            if not 0 <= channel < topology.channels or topology.tail[channel] != node:
                raise RoutingError(f"{spec}: a path between two clusters takes channel {channel} at node {node}")
            node = int(topology.head[channel])
        above = int(parent[cluster])
        if center[above] not in (-1, node):
            raise RoutingError(f"{spec}: the paths to a cluster end at nodes {center[above]} and {node}")
        center[above] = node
    lengths = np.array([len(path) for path in tree.up])
    channels: Array = np.array([channel for path in tree.up for channel in path], np.int64)
    return np.repeat(np.arange(count), lengths), channels
