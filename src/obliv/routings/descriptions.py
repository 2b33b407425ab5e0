"""Descriptions: what a routing says about its paths beside listing them, for loads, deadlocks and checks.

A routing gives those that it has, the best one first (:meth:`obliv.Routing.describe`); who reads them asks for the kind
that it can use, and falls back on the paths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from obliv._util.arrays import Array
from obliv.loads.stored import Hops
from obliv.topologies.base import Described, Topology, find
from obliv.topologies.cartesian import LinkFlows
from obliv.topologies.trees import NumberedPaths

if TYPE_CHECKING:
    from obliv.loads.separable import Program


class Programs(NamedTuple):
    """Phase programs: dimension-ordered phases, with probabilities that add up to one for each pair."""

    programs: tuple[Program, ...]


class NextHops(NamedTuple):
    """Next hops that depend on node and destination only.

    ``next_hops`` are as the routing gives them, ``chances`` as exact probabilities, ``hops_to`` those of all nodes as
    arrays. ``next_channels`` takes arrays of nodes and destinations and returns their only next channels, -1 for none.
    Where ``nearest`` is "all" or "first", the next hops are all channels that lead one closer to the destination, or
    the first one of each node: a check then finds them itself.
    """

    topology: Topology
    spec: str
    next_hops: Callable[[int, int], Sequence[Any]]
    chances: Callable[[int, int], list[tuple[int, Fraction]]]
    hops_to: Callable[[int], Hops]
    next_channels: Callable[[Array, Array], Array] | None = None
    nearest: str = ""


class HopGroups(NamedTuple):
    """Groups of sources, as nodes, with the next hops that their packets follow."""

    groups: Sequence[tuple[Array, NextHops]]


class TwoPhases(NamedTuple):
    """To a uniformly random terminal by a routing, the base, and on from there by the same one."""

    base: Any


class DecompositionTree(NamedTuple):
    """A decomposition tree over terminals: clusters in an order in which parents come first.

    Attributes
    ----------
    parent : int64 array
        Of every cluster; -1 for the first one, which contains all terminals.
    first, end : int64 arrays
        The terminals of every cluster, as an interval of `order`.
    order : int64 array
    leaf : int64 array
        The cluster of each terminal alone.
    up : list of tuple of int
        The channels from the center of every cluster to that of its parent.
    """

    parent: Array
    first: Array
    end: Array
    order: Array
    leaf: Array
    up: list[tuple[int, ...]]


class ClusterTrees(NamedTuple):
    """Decomposition trees, all equally likely, whose paths have their loops."""

    trees: list[DecompositionTree]


class LaneDependencies(NamedTuple):
    """Virtual lanes of channels in use, and which is used right after which: rows of (channel, lane).

    ``used`` has shape (n, 2), ``follows`` shape (dependencies, 4): a channel and lane, then the next ones.
    """

    used: Array
    follows: Array


class OwnLanes(NamedTuple):
    """The virtual lanes that come with a routing; their dependencies are computed when they are asked for."""

    dependencies: Callable[[], LaneDependencies]


class OneLane(NamedTuple):
    """What follows what on a single virtual lane, where that is known faster than by hops and paths."""

    dependencies: Callable[[], LaneDependencies]


Description = (
    Programs | NumberedPaths | TwoPhases | LinkFlows | ClusterTrees | NextHops | HopGroups | OwnLanes | OneLane
)


def hop_groups(routing: Described, sources: Array) -> Sequence[tuple[Array, NextHops]]:
    """Return groups of sources with their next hops, all `sources` together where these do not count; else none."""
    groups, hops = find(routing, HopGroups), find(routing, NextHops)
    return groups.groups if groups is not None else [] if hops is None else [(sources, hops)]
