"""Lower bounds of the worst load that single paths can have on a fabric, also where cables of its tree are missing."""

from __future__ import annotations

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.fabric.capacity import cut_sizes, partitions
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.in_trees import in_tree_bound
from obliv.fabric.shape.tree import Shape
from obliv.topologies.tree_bounds import bound_of, with_lids

__all__ = ["single_path_bound"]


def single_path_bound(fabric: Fabric, shape: Shape | None, lmc: int = 16) -> tuple[int, str] | None:
    """Return a lower bound of the worst load with 2**lmc LIDs a host, and its source; None if no bound is known.

    It holds for tables that connect all pairs by single paths, on fat trees by paths that climb and then descend.

    Notes
    -----
    The hosts below a switch or sub-tree all send out over its remaining cables. The theorems for a whole tree also hold
    where cables or switches above the leaves are missing, since all paths of the rest are paths of the whole tree. A
    switch sends what its hosts send to one LID over one cable: with L LIDs a host, at least 1/L of its hosts share a
    cable to each destination, and some cable has as many destinations as there are, shared out evenly. With one LID a
    host its routes form a tree, whose many branches are counted.
    """
    used = fabric.ports.peer >= 0
    if len(np.unique(fabric.ports.rate[used])) > 1 or len(fabric.endpoints) < 2:
        return None
    beside = fabric.homes
    if (beside < 0).any():
        return None
    hosts = np.bincount(beside, minlength=len(fabric.switches))
    bounds = []
    if shape is not None and _within(shape):
        if theorem := bound_of(shape.tree):
            bounds.append(theorem)
        if shape.tree.half is not None and shape.levels == 2:
            lids = f"{plural(1 << lmc, 'LID')} a host, docs/explanation/fat-trees.md"
            bounds.append((with_lids(2 * shape.tree.half, 1 << lmc), lids))
    what = "switch" if shape is None else "sub-tree"
    bounds += [(_cut(fabric, part, hosts), f"hosts and cables of a {what}") for part in partitions(fabric, shape)]
    bounds.append(
        (_shared(fabric, hosts, lmc), f"hosts of a switch that share routes, {plural(1 << lmc, 'LID')} a host")
    )
    if lmc == 0:
        tail, head, _ = fabric.trunks
        bounds.append((in_tree_bound(tail, head, hosts), "routes to a host form a tree"))
    best = max(bounds, key=lambda bound: bound[0])
    return best if best[0] > 1 else None


def _within(shape: Shape) -> bool:
    """Return whether the fabric is a part of its tree that has all leaves and hosts, and no parallel cables."""
    leaves = all(level > 1 for level, _ in shape.missing_switches)
    return leaves and not (shape.empty or shape.extra or shape.extra_switches) and max(shape.cables) == 1


def _cut(fabric: Fabric, part: Array, hosts: Array) -> int:
    """Return the most flows that must leave a part of the switches over one of its cables."""
    inside, cables = cut_sizes(fabric, part, hosts)
    flows = np.minimum(inside, inside.sum() - inside)
    cut = (flows > 0) & (cables > 0)
    return int((-(-flows[cut] // cables[cut])).max(initial=0))


def _shared(fabric: Fabric, hosts: Array, lmc: int) -> int:
    """Return the most flows to different hosts that leave a switch over one cable, as one table serves its hosts."""
    tail, _, _ = fabric.trunks
    cables = np.bincount(tail, minlength=len(hosts))
    at = np.flatnonzero((hosts > 0) & (cables > 0))
    sharing = -(-hosts[at] >> lmc)
    return int(np.minimum(sharing, -(-(hosts.sum() - hosts[at]) // cables[at])).max(initial=0))
