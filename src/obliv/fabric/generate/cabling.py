"""The nodes, ports and cables of the fabric generated from a topology."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import starts
from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.fabric.tables import MAX_PORTS
from obliv.topologies.base import Topology
from obliv.topologies.damaged import Damaged

__all__ = ["Cabling", "cabling_of"]


@dataclass(frozen=True)
class Cabling:
    """Nodes, ports and cables of the fabric of a topology: hosts first, by terminal, then switches."""

    node: Array  # of every node of the topology: its node in the fabric
    host: Array  # of every terminal: its node in the fabric
    slot: Array  # of every channel: the slot at its tail
    first_slot: Array
    peer: Array
    added: bool  # whether hosts were added beside the topology's own nodes


def cabling_of(topology: Topology) -> Cabling:
    """Return the nodes, ports and cables for a topology.

    Raises
    ------
    TopologyError
        If a channel has no channel back, or a node too many.
    """
    whole, node_of, channel_of = _before_failures(topology)
    degree = np.bincount(whole.tail, minlength=whole.nodes)
    terminals = topology.terminals.astype(np.int64)
    is_host = np.zeros(topology.nodes, bool)
    is_host[terminals] = True
    added = bool((degree[node_of[terminals]] != 1).any() or (is_host[topology.tail] & is_host[topology.head]).any())
    degree = degree[node_of]
    if not added:
        node = np.zeros(topology.nodes, np.int64)
        node[terminals] = np.arange(len(terminals))
        node[~is_host] = len(terminals) + np.arange(topology.nodes - len(terminals))
        host, ports = node[terminals], np.zeros(topology.nodes, np.int64)
        ports[node] = degree
        before = np.zeros(topology.nodes, np.int64)  # ports that come before those of the channels
    else:
        host, node = np.arange(len(terminals)), len(terminals) + np.arange(topology.nodes)
        ports = np.concatenate([np.ones(len(terminals), np.int64), degree + is_host])
        before = is_host.astype(np.int64)
    if ports.max() > MAX_PORTS:
        raise TopologyError(f"{topology.spec}: a node would need {ports.max()} ports, a switch has at most {MAX_PORTS}")
    first_slot = starts(ports + 1)
    rank = channel_of - whole.first_channel[whole.tail[channel_of]]
    slot = first_slot[node[topology.tail]] + 1 + before[topology.tail] + rank
    peer = np.full(first_slot[-1], -1, np.int64)
    peer[slot] = slot[_opposite(topology)]
    if added:
        ends, switch_ends = first_slot[host] + 1, first_slot[node[terminals]] + 1
        peer[ends], peer[switch_ends] = switch_ends, ends
    return Cabling(node, host, slot, first_slot, peer, added)


def _before_failures(topology: Topology) -> tuple[Topology, Array, Array]:
    """Return the network before failures and what nodes and channels were there: lost cables leave their ports free."""
    if isinstance(topology, Damaged):
        base, node_of, channel_of = topology.base, topology.node_of, topology.channel_of
        if base is not None and node_of is not None and channel_of is not None:
            return base, node_of.astype(np.int64), channel_of.astype(np.int64)
    return topology, np.arange(topology.nodes), np.arange(topology.channels)


def _opposite(topology: Topology) -> Array:
    """Return the channel of the same cable in the other direction; of parallel ones the first goes with the first."""
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    channels = np.arange(topology.channels)
    there, back = np.lexsort((channels, head, tail)), np.lexsort((channels, tail, head))
    wrong = np.flatnonzero((tail[there] != head[back]) | (head[there] != tail[back]))
    if len(wrong):
        lone = _lone(tail, head)
        raise TopologyError(
            f"{topology.spec}: {topology.channel_name(lone)} has no opposite channel: a cable carries both directions"
        )
    other = np.empty(topology.channels, np.int64)
    other[there] = back
    loops = np.flatnonzero(tail == head)
    for v in np.unique(tail[loops]).tolist():  # the two ends of a cable from a switch to itself are two channels
        own = loops[tail[loops] == v]
        if len(own) % 2:
            raise TopologyError(
                f"{topology.spec}: {topology.name_of(v)} has a single channel to itself: a cable needs two"
            )
        other[own[::2]], other[own[1::2]] = own[1::2], own[::2]
    return other


def _lone(tail: Array, head: Array) -> int:
    """Return a channel between two nodes with fewer channels in the other direction."""
    pairs = list(zip(tail.tolist(), head.tolist(), strict=True))
    count = Counter(pairs)
    return next(c for c, (a, b) in enumerate(pairs) if count[a, b] > count[b, a])
