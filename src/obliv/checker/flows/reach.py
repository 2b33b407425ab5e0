"""What packets can cross whose next hops are chosen in a way that is not known: each such channel counts in full."""

from __future__ import annotations

import numpy as np

from obliv.checker.flows.base import CheckTime, Flow, Flows
from obliv.errors import RoutingError
from obliv.routings.hops import HopRouting

__all__ = ["reach_flows"]


def reach_flows(routing: HopRouting, partial: bool, check_time: CheckTime) -> Flows:
    """Return for every source and destination all channels that next hops can lead it over, each with amount 1.

    With `partial`, pairs send nothing whose next hops can lead them to a dead end or round in circles.
    """
    topology = routing.topology
    terminals, head = topology.terminals.tolist(), topology.head.tolist()
    kept: dict[int, tuple[list[list[int]], list[bool]]] = {}

    def towards(destination: int) -> tuple[list[list[int]], list[bool]]:
        if destination not in kept:
            check_time()
            hops = [_channels(routing, v, destination) for v in range(topology.nodes)]
            kept[destination] = hops, _arriving(hops, head, destination)
        return kept[destination]

    def flow(i: int) -> Flow:
        source = terminals[i]
        ends: list[int] = []
        channels: list[int] = []
        for destination in terminals:
            check_time()
            hops, arrives = towards(destination)
            if arrives[source]:
                seen = {source}
                waiting = [source]
                while waiting:
                    for channel in hops[waiting.pop()]:
                        channels.append(channel)
                        if head[channel] not in seen:
                            seen.add(head[channel])
                            waiting.append(head[channel])
            elif not partial:
                raise RoutingError(
                    f"{routing.spec}: next hops from node {source} can lead packets for node {destination} astray"
                )
            ends.append(len(channels))
        ones = np.ones(len(channels), np.int64)
        return Flow(np.array(ends), np.array(channels, np.int64), ones, np.ones(len(terminals), np.int64))

    return flow


def _channels(routing: HopRouting, node: int, destination: int) -> list[int]:
    """Return the next hops of a node, each checked and once."""
    channels: list[int] = []
    for hop in routing.next_hops(node, destination):
        channel = int(hop[0] if isinstance(hop, tuple) else hop)
        if not 0 <= channel < routing.topology.channels or routing.topology.tail[channel] != node:
            raise RoutingError(f"{routing.spec}: next hop {channel} of node {node} is not a channel that leaves it")
        channels.append(channel)
    return list(dict.fromkeys(channels))


def _arriving(hops: list[list[int]], head: list[int], destination: int) -> list[bool]:
    """Return for every node whether packets arrive from there by all choices: the nodes from which there is an end.

    A node is known to be good once all nodes behind its next hops are; in circles no node ever is.
    """
    left = [len(channels) for channels in hops]
    before: list[list[int]] = [[] for _ in hops]
    for node, channels in enumerate(hops):
        for channel in channels:
            before[head[channel]].append(node)
    good = [False] * len(hops)
    good[destination] = True
    waiting = [destination]
    while waiting:
        for node in before[waiting.pop()]:
            left[node] -= 1
            if left[node] == 0 and not good[node]:
                good[node] = True
                waiting.append(node)
    return good
