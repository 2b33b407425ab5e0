"""A cable of a fabric in words: its two ends, with their ports."""

from __future__ import annotations

from typing import Any

from obliv.topologies.base import Topology

__all__ = ["channel_name", "ends_of"]


def channel_name(topology: Topology, channel: int) -> str:
    """Tail and head of a channel with an arrow between them; of a cable with their ports."""
    names = [topology.name_of(int(end[channel])) for end in (topology.tail, topology.head)]
    ports = _ports(topology, channel)
    tail, head = (f"{name}{port}" for name, port in zip(names, ports, strict=True))
    return f"{'cable' if any(ports) else 'channel'} {tail} → {head}"


def ends_of(topology: Topology, channel: int) -> dict[int, str]:
    """What to add to the names of the ends of a fabric's cable: their ports; nothing for other channels."""
    tail, head = int(topology.tail[channel]), int(topology.head[channel])
    one, two = _ports(topology, channel)
    if not one + two:
        return {}
    return {tail: one + two} if tail == head else {tail: one, head: two}


def _ports(topology: Topology, channel: int) -> tuple[str, str]:
    """The ports at both ends; names of adapters with several ports in use tell theirs already."""
    if getattr(topology, "fabric", None) is None:
        return "", ""
    told: Any = topology
    slot = int(told.slot_of[channel])
    found = []
    for node, end in ((topology.tail, slot), (topology.head, int(told.fabric.peer[slot]))):
        port = f" port {told.fabric.port_of(end)}"
        name = topology.name_of(int(node[channel]))
        several = int(node[channel]) < len(told.fabric.endpoints) and f"{port} " in f"{name} "
        found.append("" if several else port)
    return found[0], found[1]
