"""Where the best routing of any traffic is known: trees whose split over all paths loads no link beyond a host's."""

from __future__ import annotations

from fractions import Fraction

from obliv.errors import InputError
from obliv.topologies.base import Topology
from obliv.topologies.families.fat_trees import xgft
from obliv.topologies.trees import Tree

__all__ = ["all_paths_worst", "has_base_load", "require_base_load"]


def all_paths_worst(tree: Tree) -> Fraction:
    """Return the exact worst case of all shortest paths, equally likely, on a tree with all its hosts.

    A pair that crosses height h uses each of the ``width[h + 1]`` links of its sub-tree there with the same share; of
    disjoint pairs as many cross as the sub-tree has hosts, or as there are others.
    """
    hosts = tree.below[-1]
    crossing = [min(below, hosts - below) for below in tree.below[:-1]]
    return max(Fraction(pairs, tree.width[height + 1]) for height, pairs in enumerate(crossing))


def has_base_load(topology: Topology) -> bool:
    """Return whether the least largest load of every traffic is known to be its base load; see `require_base_load`."""
    try:
        require_base_load(topology)
    except InputError:
        return False
    return True


def require_base_load(topology: Topology) -> Tree:
    """Return the topology as a tree on which the least largest load of every traffic is its base load.

    The base load, the most that a host sends or takes, is a lower bound where every host has one link; the split over
    all shortest paths reaches it where its own worst case is 1 (Yuan et al., Theorem 1 and Corollary 1 for FT(m, n)).
    By linearity that is enough: a traffic of base load b loads no link beyond b.

    Raises
    ------
    InputError
        If that is not so, with what to use instead.
    """
    spec = topology.spec
    instead = "obliv worst gives its guaranteed throughput instead"
    if not isinstance(topology, Tree):
        reason = topology.advice("ratio") or "the best routing of every traffic is known on fat trees only"
        raise InputError(f"{spec}: {reason}; {instead}")
    if topology.bandwidth or not topology.unit_rates:
        raise InputError(f"{spec}: the best routing of every traffic is known for equal links only; {instead}")
    if len(topology.terminals) != topology.below[-1] or topology.terminals.max() >= topology.below[-1]:
        raise InputError(f"{spec}: the best routing of every traffic is known where every host sends; {instead}")
    if topology.parents[0] != 1:
        links = topology.parents[0]
        raise InputError(f"{spec}: hosts have {links} links, so what they send is not a lower bound; {instead}")
    worst = all_paths_worst(topology)
    if worst > 1:
        raise InputError(
            f"{spec} is tapered: even all paths together load a link by {worst} where a host's own has 1, "
            f"so the best routing of every traffic is not known; {instead}"
        )
    _require_useful_levels(topology)
    return topology


def _require_useful_levels(tree: Tree) -> None:
    """Refuse levels above all hosts that are too narrow for them: no shortest path uses them, a claim could not say so.

    The check of a claim splits what hosts send over all ways to the top, where these links would carry too much.
    """
    height = tree.below.index(tree.below[-1])
    if any(tree.below[-1] > wide for wide in tree.width[height + 1 :]):
        raise InputError(
            f"{tree.spec}: all hosts are below each switch of level {height}, the narrow levels above serve no host; "
            f"leave them out: {xgft(tree.children[:height], tree.parents[:height]).spec}"
        )
