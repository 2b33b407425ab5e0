"""Channels in words: their two ends, with the ports where they have names."""

from __future__ import annotations

from obliv.topologies.base import Topology

__all__ = ["channel_title", "port_suffixes"]


def channel_title(topology: Topology, channel: int) -> str:
    """Return the tail and the head of a channel with an arrow between them, and the ports of a cable."""
    ports = topology.port_names(channel)
    ends = (int(topology.tail[channel]), int(topology.head[channel]))
    numbered = len(topology.axes) > 4  # coordinates do not fit into the discs, which have the numbers of the nodes
    names = [f"{node} {topology.name_of(node)}" if numbered else topology.name_of(node) for node in ends]
    tail, head = (f"{name}{_suffix(port)}" for name, port in zip(names, ports, strict=True))
    return f"{'cable' if any(ports) else 'channel'} {tail} → {head}"


def port_suffixes(topology: Topology, channel: int) -> dict[int, str]:
    """Return what to append to the names of the two end nodes of a channel: the ports of a cable, or nothing."""
    tail, head = int(topology.tail[channel]), int(topology.head[channel])
    one, two = map(_suffix, topology.port_names(channel))
    if not one + two:
        return {}
    return {tail: one + two} if tail == head else {tail: one, head: two}


def _suffix(port: str) -> str:
    return f" {port}" if port else ""
