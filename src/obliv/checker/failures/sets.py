"""All failures of a kind that a network can have, and their names, from its cables alone."""

from __future__ import annotations

import numpy as np

from obliv.checker.claims import MalformedError
from obliv.checker.failures.claim import Failed
from obliv.topologies.base import Topology

__all__ = ["Key", "every_set", "is_legal", "key_of", "named_right"]

Key = tuple[frozenset[int], frozenset[int]]


def every_set(topology: Topology, of: str) -> set[Key]:
    """Return the channels and the nodes of each failure of a kind.

    Parameters
    ----------
    topology : Topology
    of : {"cables", "lanes", "switches"}
    """
    cables = _cables(topology)
    if of == "cables":
        return {(frozenset(cable), frozenset()) for cable in cables}
    if of == "lanes":
        return {(frozenset(c for cable in group for c in cable), frozenset()) for group in _parallel(topology)}
    if of != "switches":
        raise MalformedError(f"of {of[:40]!r} is not cables, lanes, switches or given")
    switches = np.flatnonzero(topology.number_of < 0).tolist()
    at: dict[int, set[int]] = {switch: set() for switch in switches}
    for cable in cables:
        for end in (int(topology.tail[cable[0]]), int(topology.head[cable[0]])):
            at[end].update(cable)
    return {(frozenset(channels), frozenset([switch])) for switch, channels in at.items()}


def key_of(failed: Failed) -> Key:
    """Return a failure regardless of its order."""
    return frozenset(failed.channels.tolist()), frozenset(failed.nodes.tolist())


def is_legal(topology: Topology, failed: Failed) -> bool:
    """Return whether a failure is made of cables between switches, once each, one direction first, and of switches."""
    channels = failed.channels.tolist()
    if len(channels) % 2 or len(set(channels)) < len(channels) or len(set(failed.nodes.tolist())) < len(failed.nodes):
        return False
    ends = np.concatenate([topology.tail[failed.channels], topology.head[failed.channels], failed.nodes])
    between = not (topology.number_of[ends] >= 0).any()
    return between and all(topology.opposite(c) == d for c, d in zip(channels[::2], channels[1::2], strict=True))


def named_right(topology: Topology, failed: Failed, of: str, name: str) -> bool:
    """Return whether a failure has its name, and its channels are in the order in which ports are replaced."""
    nodes, channels = failed.nodes.tolist(), failed.channels.tolist()
    cables = list(zip(channels[::2], channels[1::2], strict=True))
    if of == "given":  # in the order in which they were named
        outside = [c for c, _ in cables if topology.tail[c] not in nodes and topology.head[c] not in nodes]
        parts = [topology.name_of(node) for node in nodes] + [_cable_name(topology, c) for c in outside]
        return bool(parts) and all(part in name for part in parts)
    if channels[::2] != sorted(channels[::2]):
        return False
    if of == "switches":
        return name == topology.name_of(nodes[0]) and all(topology.tail[c] == nodes[0] for c, _ in cables)
    if any(c > back for c, back in cables):
        return False
    if of == "cables":
        return name == _cable_name(topology, channels[0])
    ends = sorted((int(topology.tail[channels[0]]), int(topology.head[channels[0]])))
    return name == f"{len(cables)} cables {topology.name_of(ends[0])} - {topology.name_of(ends[1])}"


def _cable_name(topology: Topology, channel: int) -> str:
    here, there = topology.port_names(channel)
    tail, head = (topology.name_of(int(end[channel])) for end in (topology.tail, topology.head))
    return f"{tail} {here} - {head} {there}"


def _cables(topology: Topology) -> list[tuple[int, int]]:
    """Return the channels of every cable between two switches."""
    inner = (topology.number_of[topology.tail] < 0) & (topology.number_of[topology.head] < 0)
    inner &= topology.tail != topology.head
    cables = []
    for c in np.flatnonzero(inner).tolist():
        back = topology.opposite(c)
        if back < 0:
            raise MalformedError(f"{topology.spec}: channel {c} has no opposite that belongs to the same cable")
        if c < back:
            cables.append((c, back))
    return cables


def _parallel(topology: Topology) -> list[list[tuple[int, int]]]:
    """Return the cables between each two switches that are joined by several."""
    groups: dict[frozenset[int], list[tuple[int, int]]] = {}
    for cable in _cables(topology):
        ends = frozenset((int(topology.tail[cable[0]]), int(topology.head[cable[0]])))
        groups.setdefault(ends, []).append(cable)
    return [group for group in groups.values() if len(group) > 1]
