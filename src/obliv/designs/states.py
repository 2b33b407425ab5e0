"""Networks of states: the legal paths of a network are all paths of another one, whose arcs lie on its channels.

A state is a node together with what a rule remembers of the path so far; every arc leads over one physical channel. A
path starts in the start state of its source and ends in any state of its destination. Without a rule the states are
the nodes, and the arcs are the channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.designs._kernels import Arcs
from obliv.designs.rules import Rule, rule_of
from obliv.designs.symmetry import Maps, Symmetry
from obliv.errors import InputError
from obliv.topologies.base import Topology

__all__ = ["Lift", "States", "feasible_states", "lifted", "states_of"]


@dataclass(frozen=True, eq=False)
class States:
    """A network of states, arcs sorted by tail and channel; state v is the start state of node v.

    Parameters
    ----------
    topology : Topology
    node : int64 array, shape (states,)
    tail, head, channel : int64 arrays, shape (arcs,)
    """

    topology: Topology
    node: Array
    tail: Array
    head: Array
    channel: Array

    @property
    def count(self) -> int:
        """Number of states."""
        return len(self.node)

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.tail)

    @property
    def plain(self) -> bool:
        """Whether states are nodes: all paths are legal."""
        return self.count == self.topology.nodes

    @cached_property
    def first(self) -> Array:
        """The arcs of state x are ``first[x] .. first[x + 1] - 1``."""
        return np.searchsorted(self.tail, np.arange(self.count + 1)).astype(np.int64)

    @property
    def kernel(self) -> Arcs:
        """The arcs for kernels."""
        return Arcs(self.first, self.head, self.channel, self.node)

    @cached_property
    def hops_there(self) -> Array:
        """Hops from the start of every terminal to every state, infinite where there is no path."""
        require_memory(16.0 * len(self.topology.terminals) * self.count, "the distances between states")
        ones = np.ones(self.arcs)
        graph = csr_array((ones, (self.tail, self.head)), shape=(self.count, self.count))
        hops: Array = dijkstra(graph, unweighted=True, indices=self.topology.terminals)
        return hops

    @cached_property
    def hops_back(self) -> Array:
        """Hops from every state to the nearest state of every terminal, shape (terminals, states)."""
        require_memory(16.0 * len(self.topology.terminals) * self.count, "the distances between states")
        size = self.count + self.topology.nodes  # one more vertex before the states of each node
        tail = np.concatenate([self.head, self.count + self.node])
        head = np.concatenate([self.tail, np.arange(self.count)])
        graph = csr_array((np.ones(len(tail)), (tail, head)), shape=(size, size))
        hops: Array = dijkstra(graph, unweighted=True, indices=self.count + self.topology.terminals)
        return hops[:, : self.count] - 1

    @property
    def distances(self) -> Array:
        """Hops of the shortest legal paths between terminals, infinite where there is none."""
        between: Array = self.hops_back[:, self.topology.terminals].T.copy()
        np.fill_diagonal(between, 0)
        return between

    @property
    def least_hops(self) -> Fraction:
        """Mean hops of the shortest legal paths over all ordered pairs of terminals, self-pairs included."""
        return Fraction(int(self.distances.sum()), len(self.topology.terminals) ** 2)

    def usable(self, sources: int, minimal: bool) -> Array:
        """Return which arcs the legal paths of every pair take, or the shortest of them, from the first sources."""
        require_memory(12.0 * sources * len(self.topology.terminals) * self.arcs, "the arcs of all pairs")
        there, back = self.hops_there[:sources, self.tail], self.hops_back[:, self.head]
        through = there[:, None, :] + 1 + back[None, :, :]
        usable: Array = through == self.distances[:sources, :, None] if minimal else np.isfinite(through)
        return usable


def states_of(topology: Topology, rule: Rule | None) -> States:
    """Return the network of the states that paths within a rule can reach."""
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    nodes, channels = topology.nodes, topology.channels
    if rule is None:
        return States(topology, np.arange(nodes), tail, head, np.arange(channels))
    table = rule.table
    require_memory(40.0 * len(table) * channels, f"the states of {topology.spec}")
    following = table[:, rule.kind]
    memory, channel = np.nonzero(following >= 0)
    start, end = memory * nodes + tail[channel], following[memory, channel] * nodes + head[channel]
    size = len(table) * nodes
    # one vertex before the start states, so that one search reaches everything
    graph = csr_array(
        (
            np.ones(len(start) + nodes, np.int8),
            (np.concatenate([start, np.full(nodes, size)]), np.concatenate([end, np.arange(nodes)])),
        ),
        shape=(size + 1, size + 1),
    )
    reached = np.sort(breadth_first_order(graph, size, return_predecessors=False))[:-1]
    number = np.full(size, -1)
    number[reached] = np.arange(len(reached))
    some = number[start] >= 0
    start, end, channel = number[start[some]], number[end[some]], channel[some]
    order = np.lexsort((channel, start))
    return States(topology, (reached % nodes).astype(np.int64), start[order], end[order], channel[order])


def feasible_states(topology: Topology, max_turns: int | None = None, vc: int | None = None) -> tuple[States, str]:
    """Return the states of the paths within a limit of turns or of virtual channels, and the limit in words.

    Raises
    ------
    InputError
        If some terminals have no legal path.
    """
    rule = rule_of(topology, max_turns, vc)
    states = states_of(topology, rule)
    if rule is None:
        return states, ""
    if np.isfinite(states.distances).all():
        return states, rule.constraint
    for least in range(1, topology.nodes + 1):
        other = rule_of(topology, *((least, None) if vc is None else (None, least)))
        if other is not None and np.isfinite(states_of(topology, other).distances).all():
            raise InputError(f"{rule.constraint}: some terminals have no such path; {other.constraint} would do")
    raise InputError(f"{rule.constraint}: some terminals have no such path, whatever the limit")


@dataclass(frozen=True, eq=False)
class Lift:
    """An automorphism: where it takes terminals (by index), channels, states and arcs."""

    terminals: Array
    channels: Array
    states: Array
    arcs: Array


def lifted(symmetry: Symmetry, states: States) -> tuple[Symmetry, list[Lift], Array | None, Array | None]:
    """Return the symmetries that keep the legal paths, their lifts, and the states and arcs moved to the first node.

    Paths are reversed without a rule only: a path's turns are counted from its start.
    """
    if states.plain:
        lifts = [Lift(maps.terminals, maps.channels, maps.nodes, maps.channels) for maps in symmetry.generators]
        return symmetry, lifts, symmetry.to_first_node, symmetry.to_first_channel
    liftable: list[Maps] = []
    lifts = []
    for maps in symmetry.generators:
        lift = _lift(states, maps.nodes, maps.channels)
        if lift is not None:
            liftable.append(maps)
            lifts.append(Lift(maps.terminals, maps.channels, *lift))
    if symmetry.to_first_node is not None and symmetry.to_first_channel is not None:
        moved = []
        for nodes, channels in zip(symmetry.to_first_node, symmetry.to_first_channel, strict=True):
            lift = _lift(states, nodes, channels)
            if lift is None:
                break
            moved.append(lift)
        else:
            whole = Symmetry(tuple(liftable), None, symmetry.to_first_node, symmetry.to_first_channel)
            return whole, lifts, np.array([m[0] for m in moved]), np.array([m[1] for m in moved])
    return Symmetry(tuple(liftable), None), lifts, None, None


def _lift(states: States, nodes: Array, channels: Array) -> tuple[Array, Array] | None:
    """Return where an automorphism takes states and arcs; None where it takes a legal path to an illegal one."""
    total = states.topology.channels
    key = states.tail * total + states.channel
    image = np.full(states.count, -1)
    image[: len(nodes)] = nodes
    arcs = np.full(states.arcs, -1)
    while (waiting := (arcs < 0) & (image[states.tail] >= 0)).any():
        sought = image[states.tail[waiting]] * total + channels[states.channel[waiting]]
        arc = np.minimum(np.searchsorted(key, sought), len(key) - 1)
        if not np.array_equal(key[arc], sought):
            return None
        arcs[waiting] = arc
        image[states.head[waiting]] = states.head[arc]
    if not np.array_equal(image[states.head], states.head[arcs]):
        return None
    if not np.array_equal(np.sort(image), np.arange(states.count)):
        return None
    return image, arcs
