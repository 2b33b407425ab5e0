"""Paths of a flow between two nodes: the widest first, with the loops that the flow has."""

from __future__ import annotations

import heapq

from obliv.errors import RoutingError
from obliv.topologies.base import Topology

__all__ = ["paths_of_flow", "without_loops"]

#: A path by its channels, and its amount.
_Part = tuple[tuple[int, ...], int]


def paths_of_flow(topology: Topology, flow: dict[int, int], source: int, destination: int, spec: str) -> list[_Part]:
    """Return paths whose amounts add up to a flow, channel by channel.

    Parameters
    ----------
    topology : Topology
    flow : dict
        Amount of every channel that is used, positive; used up.
    source, destination : int
        Nodes; everywhere else as much enters as leaves.
    spec : str
        The routing, for messages.

    Raises
    ------
    RoutingError
        If a loop of the flow does not touch any of its paths.
    """
    parts: list[_Part] = []
    while (path := _widest(topology, flow, source, destination)) is not None:
        parts.append((path, _take(flow, path)))
    while flow:
        loop = _loop(topology, flow)
        _attach(topology, parts, loop, _take(flow, loop), source, spec)
    return parts


def without_loops(topology: Topology, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return a path that goes on from the last visit of every node."""
    last = {int(topology.tail[channel]): k for k, channel in enumerate(path)}
    simple = []
    end = int(topology.head[path[-1]]) if path else -1
    node = int(topology.tail[path[0]]) if path else -1
    while node != end:
        simple.append(path[last[node]])
        node = int(topology.head[simple[-1]])
    return tuple(simple)


def _take(flow: dict[int, int], channels: tuple[int, ...]) -> int:
    """Take the least amount along some channels off a flow, and return it."""
    amount = min(flow[channel] for channel in channels)
    for channel in channels:
        flow[channel] -= amount
        if not flow[channel]:
            del flow[channel]
    return amount


def _widest(topology: Topology, flow: dict[int, int], source: int, destination: int) -> tuple[int, ...] | None:
    """Return the path of largest width; among equals the one with fewest channels, found first."""
    width: dict[int, tuple[int, int]] = {}
    into: dict[int, int] = {}
    heap = [(-sum(flow.values()), 0, source, -1)]
    while heap:
        negative, hops, node, channel = heapq.heappop(heap)
        if node in width:
            continue
        width[node] = negative, hops
        into[node] = channel
        if node == destination:
            path = []
            while node != source:
                path.append(into[node])
                node = int(topology.tail[into[node]])
            return tuple(path[::-1])
        for onward in range(int(topology.first_channel[node]), int(topology.first_channel[node + 1])):
            head = int(topology.head[onward])
            if onward in flow and head not in width:
                heapq.heappush(heap, (max(negative, -flow[onward]), hops + 1, head, onward))
    return None


def _loop(topology: Topology, flow: dict[int, int]) -> tuple[int, ...]:
    """Return a loop of a circulation: from its lowest channel along the lowest channels until a node comes again."""
    trail = [min(flow)]
    seen = {int(topology.tail[trail[0]]): 0}
    while (node := int(topology.head[trail[-1]])) not in seen:
        seen[node] = len(trail)
        first, end = int(topology.first_channel[node]), int(topology.first_channel[node + 1])
        trail.append(next(channel for channel in range(first, end) if channel in flow))
    return tuple(trail[seen[node] :])


def _attach(topology: Topology, parts: list[_Part], loop: tuple[int, ...], amount: int, source: int, spec: str) -> None:
    """Send packets of one path that touches a loop round it, as often as its amount asks for."""
    starts = {int(topology.tail[channel]): k for k, channel in enumerate(loop)}
    for number, (path, share) in enumerate(parts):
        nodes = [source, *(int(topology.head[channel]) for channel in path)]
        place = next((k for k, node in enumerate(nodes) if node in starts), None)
        if place is None:
            continue
        turn = starts[nodes[place]]
        once = loop[turn:] + loop[:turn]
        rounds, rest = divmod(amount, share)
        split = [(rounds, share - rest), (rounds + 1, rest)]
        parts[number : number + 1] = [
            (path[:place] + once * times + path[place:], part) for times, part in split if part
        ]
        return
    raise RoutingError(f"{spec}: the flow from {topology.name_of(source)} has a loop apart from its paths")
