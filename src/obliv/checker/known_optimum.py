"""The check that the best routing of every traffic is known: its largest link load is that of a host's own link."""

from __future__ import annotations

import numpy as np

from obliv.checker.report import Report
from obliv.topologies.base import Topology
from obliv.topologies.trees import Tree

__all__ = ["check_optimum"]


def check_optimum(report: Report, topology: Topology) -> None:
    """Note whether no routing does better than a base load, and some routing reaches it for every traffic.

    The first holds where every host has one link each way. For the second a routing is built here, link by link: from
    each host equal splits over the links up, and down the same way backwards. It leads from every host to every other
    where all hosts of a sub-tree reach the same nodes of its top level, each in one way. Whatever is sent, a link then
    carries at most the sum of the shares of the hosts whose splits use it, times the base load.
    """
    ends = (np.bincount(side, minlength=topology.nodes)[topology.terminals] for side in (topology.tail, topology.head))
    if any((links != 1).any() for links in ends) or topology.bandwidth or not topology.unit_rates:
        report.note("optimum", False, "a host has more than one link, or a rate or bandwidth that is not 1")
        return
    if not isinstance(topology, Tree):
        report.note("optimum", False, "the network is not a fat tree")
        return
    problem = _climb(topology)
    report.note(
        "optimum", not problem, problem or "equal splits carry every traffic at its base load, which is the least"
    )


def _climb(tree: Tree) -> str:
    """Return what is wrong with the splits; empty if nothing is."""
    level = np.searchsorted(tree.first_node, np.arange(tree.nodes), side="right") - 1
    if (np.abs(level[tree.head] - level[tree.tail]) != 1).any():
        return "a link joins nodes that are not of neighboring levels"
    back = np.lexsort((tree.tail, tree.head))  # a link and its way back have the same place in both orders
    there = np.lexsort((tree.head, tree.tail))
    if not (np.array_equal(tree.tail[there], tree.head[back]) and np.array_equal(tree.head[there], tree.tail[back])):
        return "a link has no reverse link"
    host = np.sort(tree.terminals).astype(np.int64)
    if not np.array_equal(host, np.arange(tree.below[-1])):
        return "not every host sends"
    at = host[:, None]
    up_first = np.array([tree.first_channel[v] for v in range(tree.nodes)])
    for h in range(tree.levels):
        shares = at.shape[1] * tree.parents[h]
        down = tree.children[h - 1] if h else 0
        channel = (up_first[at][..., None] + down + np.arange(tree.parents[h])).reshape(len(host), -1)
        if (level[tree.tail[channel]] != h).any() or (level[tree.head[channel]] != h + 1).any():
            return f"a node of level {h} has other links up than the form of its sub-tree requires"
        most = int(np.bincount(channel.ravel()).max())
        if most > shares:
            return f"equal splits may load a link by {most}/{shares}"
        at = np.sort(tree.head[channel].astype(np.int64), axis=1)
        if (np.diff(at, axis=1) == 0).any():
            return f"two ways up lead to one node of level {h + 1}"
        groups = at.reshape(-1, tree.below[h + 1], at.shape[1])
        if not (groups == groups[:, :1]).all():
            return f"hosts of a sub-tree reach different nodes of level {h + 1}"
    return ""
