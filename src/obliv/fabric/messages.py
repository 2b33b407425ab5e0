"""Nodes, ports and LIDs in messages, whatever the files call them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from obliv.fabric.model import Fabric, node_name
from obliv.fabric.notes import Place, place_of

__all__ = ["at_node", "at_port", "cable_name", "called", "lid_list", "port_count_known", "port_name", "route_text"]

_MAX_HOPS = 8  # hops of a route that are printed


def called(fabric: Fabric, node: int) -> str:
    """Return a node's name: its identifier in the file, and its description."""
    return node_name(fabric.nodes.ident[node], fabric.nodes.description[node].strip())


def port_name(fabric: Fabric, slot: int) -> str:
    """Return a port's name: its node and its number."""
    return f"{called(fabric, int(fabric.node_of[slot]))} port {fabric.port_of(slot)}"


def cable_name(fabric: Fabric, slot: int) -> str:
    """Return a cable's name: the ports at its two ends."""
    return f"{port_name(fabric, slot)} to {port_name(fabric, int(fabric.ports.peer[slot]))}"


def at_node(fabric: Fabric, node: int, port: int | None = None, peer: str | None = None) -> Place:
    """Return a node, and possibly one of its ports, as the place of a finding."""
    return place_of(int(fabric.nodes.guid[node]), fabric.nodes.label(node), port, peer)


def at_port(fabric: Fabric, slot: int) -> Place:
    """Return a port as the place of a finding, with the other end of its cable."""
    peer = int(fabric.ports.peer[slot])
    return at_node(
        fabric, int(fabric.node_of[slot]), fabric.port_of(slot), port_name(fabric, peer) if peer >= 0 else None
    )


def port_count_known(fabric: Fabric, node: int) -> bool:
    """Return whether the file gives the number of ports of a node; else its last cabled port counts as the last.

    The number is unknown for a node without a record of its own, and in lists of ports (``iblinkinfo``,
    ``ibnetdiscover -p``), where a node first appears in the line of one of its ports. ``opensm-subnet.lst`` looks the
    same, though it has the numbers; they matter only where all ports of a switch are cabled.
    """
    first, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
    if end - first > 1 and fabric.ports.peer[end - 1] < 0:  # the file gave this number, since the port has no cable
        return True
    if not fabric.ports.line[first:end].any():  # only other records name it, or there is no file
        return not fabric.nodes.line[node]
    line = fabric.ports.line
    return not ((line > 0) & (line == fabric.nodes.line[fabric.node_of])).any()  # a list of ports


def route_text(fabric: Fabric, slots: Sequence[int]) -> str:
    """Return channels one after the other, by the ports where they begin; at most the first eight."""
    parts = [port_name(fabric, slot) for slot in slots[:_MAX_HOPS]]
    if len(slots) > _MAX_HOPS:
        parts.append(f"... ({len(slots) - _MAX_HOPS} more)")
    return " -> ".join(parts)


def lid_list(fabric: Fabric, lids: Iterable[int], owner: dict[int, int]) -> str:
    """Return one LID with its owner, or the number of several LIDs and the first five."""
    some = list(lids)
    if len(some) == 1:
        slot = owner.get(some[0], -1)
        about = f" of {called(fabric, int(fabric.node_of[slot]))}" if slot >= 0 else ""
        return f"LID {some[0]}{about}"
    text = ", ".join(map(str, some[:5])) + (", ..." if len(some) > 5 else "")
    return f"{len(some)} LIDs ({text})"
