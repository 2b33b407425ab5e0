"""Next hops of forwarding tables, asked of a routing, and the routes that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.checker.claims import MalformedError
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

__all__ = ["NextHops", "next_hops_of", "own_channels"]


@dataclass(frozen=True, eq=False)
class NextHops:
    """The channel by which every switch forwards packets for every terminal; terminals have one cable each.

    Parameters
    ----------
    topology : Topology
    switches : int array, shape (switches,)
        The nodes that are not terminals.
    place : int array, shape (nodes,)
        The number of every switch; -1 for terminals.
    channel : int32 array, shape (switches, terminals)
        -1 where a switch has no channel for a terminal.
    own : int array, shape (terminals,)
        The channel that leaves each terminal.
    leaf : int array, shape (leaves,)
        The nodes at the other ends of these channels.
    row : int array, shape (terminals,)
        The number of every terminal's leaf.
    """

    topology: Topology
    switches: Array
    place: Array
    channel: Array
    own: Array
    leaf: Array
    row: Array

    @property
    def tables(self) -> NextHops:
        """The next hops themselves."""
        return self

    def between(self, row: Array, terminal: Array, gone: Array) -> tuple[Array, Array]:
        """Return the channels of routes from leaves, given by number, as :meth:`routes` does."""
        return self.routes(self.leaf[row], terminal, gone)

    def routes(
        self, node: Array, terminal: Array, gone: Array, other: dict[int, Array] | None = None
    ) -> tuple[Array, Array]:
        """Return the channels of routes from switches to terminals, -1 behind their ends, and which of them arrive.

        Parameters
        ----------
        node, terminal : int arrays
        gone : bool array, shape (channels,)
            Channels that packets cannot take.
        other : dict, optional
            Nodes that forward in another way, with their channels for all terminals.
        """
        topology = self.topology
        node, goal = node.copy(), topology.terminals[terminal]
        alive, arrived = np.ones(len(node), np.bool_), np.zeros(len(node), np.bool_)
        steps = []
        for _ in range(topology.nodes):
            taken = self.channel[self.place[node], terminal].astype(np.int64)
            for changed, row in (other or {}).items():
                here = node == changed
                taken[here] = row[terminal[here]]
            alive &= taken >= 0
            alive &= ~gone[taken]
            if not alive.any():
                break
            steps.append(np.where(alive, taken, -1))
            node[alive] = topology.head[taken[alive]]
            arrived |= alive & (node == goal)
            alive &= topology.number_of[node] < 0
        routes = np.stack(steps, axis=1) if steps else np.full((len(node), 0), -1, np.int64)
        return routes, arrived


def next_hops_of(routing: Routing) -> NextHops:
    """Return the next hops of a routing by one channel for each destination.

    Raises
    ------
    MalformedError
        If the routing is another kind, or a terminal has several cables.
    """
    topology, ask = routing.topology, routing.by_next_channel
    terminals = topology.terminals.astype(np.int64)
    if ask is None:
        raise MalformedError(f"{routing.spec} does not forward packets by their destination alone")
    own, beside = own_channels(topology)
    switches = np.flatnonzero(topology.number_of < 0)
    require_memory(12.0 * len(switches) * len(terminals), f"the next hops of {topology.spec}")
    leaf, row = np.unique(beside, return_inverse=True)
    place = positions(switches, topology.nodes)
    return NextHops(topology, switches, place, _table(topology, switches, ask), own, leaf, row.ravel())


def own_channels(topology: Topology) -> tuple[Array, Array]:
    """Return the channel that leaves each terminal, and the switch to which it leads.

    Raises
    ------
    MalformedError
        If a terminal has several cables, or one that does not lead to a switch.
    """
    terminals = topology.terminals.astype(np.int64)
    out = np.bincount(topology.tail, minlength=topology.nodes)[terminals]
    back = np.bincount(topology.head, minlength=topology.nodes)[terminals]
    own = topology.first_channel[terminals].astype(np.int64)
    if (out != 1).any() or (back != 1).any() or (topology.number_of[topology.head[own]] >= 0).any():
        raise MalformedError(f"{topology.spec}: terminals must have one cable each, to a switch")
    return own, topology.head[own].astype(np.int64)


def _table(topology: Topology, switches: Array, ask: Callable[[Array, Array], Array]) -> Array:
    """Return the channel by which every switch forwards packets for every terminal, each checked."""
    terminals = topology.terminals.astype(np.int64)
    table = np.full((len(switches), len(terminals)), -1, np.int32)
    for number, node in enumerate(switches.tolist()):
        taken = np.asarray(ask(np.full(len(terminals), node), terminals))
        first, last = topology.first_channel[node : node + 2].tolist()
        if not (((taken >= first) & (taken < last)) | (taken == -1)).all():
            raise MalformedError(f"a next hop of {topology.name_of(node)} is not a channel that leaves it")
        table[number] = taken
    return table
