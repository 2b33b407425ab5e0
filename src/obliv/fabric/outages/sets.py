"""What can fail: cables between switches, parallel cables together, switches, or what the user names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from obliv._util.text import printable
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.model import Fabric
from obliv.fabric.names import NodeNames, split_port
from obliv.fabric.topology import FabricTopology

__all__ = ["KINDS", "Failure", "every_failure", "named_failure", "node_named", "without"]

#: What ``--of`` takes.
KINDS = ("cables", "lanes", "switches")


@dataclass(frozen=True)
class Failure:
    """Cables, and switches with all their cables, that fail together.

    Parameters
    ----------
    name : str
    slots : tuple of int
        One port of every cable.
    switches : tuple of int
        Nodes of the fabric.
    """

    name: str
    slots: tuple[int, ...]
    switches: tuple[int, ...] = ()


def every_failure(topology: FabricTopology, of: str) -> list[Failure]:
    """Return every single failure of a kind.

    Parameters
    ----------
    topology : FabricTopology
    of : str
        ``cables``: every cable between switches; ``lanes``: all parallel cables between two switches together, where
        there are several; ``switches``: every switch, with its hosts.

    Raises
    ------
    InputError
        If the kind is unknown, or there is nothing of it.
    """
    fabric = topology.fabric
    if of not in KINDS:
        raise InputError(f"--of {printable(of[:40])!r}: choose {', '.join(KINDS)}")
    tail, head, slots = fabric.trunks
    once = slots < fabric.ports.peer[slots]
    tail, head, slots = tail[once], head[once], slots[once]
    if of == "cables":
        failures = [Failure(_cable_name(topology, slot), (slot,)) for slot in slots.tolist()]
    elif of == "lanes":
        groups: dict[tuple[int, int], list[int]] = {}
        for a, b, slot in zip(tail.tolist(), head.tolist(), slots.tolist(), strict=True):
            groups.setdefault((min(a, b), max(a, b)), []).append(slot)
        failures = [
            Failure(f"{len(group)} cables {_switch(topology, a)} - {_switch(topology, b)}", tuple(group))
            for (a, b), group in groups.items()
            if len(group) > 1
        ]
    else:
        failures = [_of_switch(topology, node) for node in fabric.switches.tolist()]
    if not failures:
        what = {"lanes": "parallel cables between two switches", "cables": "cables between switches"}
        raise InputError(f"{topology.spec} has no {what.get(of, of)}")
    return failures


def named_failure(topology: FabricTopology, names: Sequence[str]) -> Failure:
    """Return the failure of what is named: ``NAME/PORT`` for a cable, ``NAME`` for a switch.

    A name is a node's description, or its identifier in the file.

    Raises
    ------
    InputError
        If there is no such node, port or cable, or something is named twice.
    """
    fabric = topology.fabric
    slots: list[int] = []
    switches: list[int] = []
    texts: list[str] = []
    nodes = NodeNames(fabric)
    for name in names:
        with _of_option("--fail"):
            node, port = _named(nodes, name)
        if port is None:
            if fabric.nodes.kind[node] != "switch":
                raise InputError(f"--fail {printable(name)!r}: not a switch: name a port, as in {printable(name)}/1")
            found = _of_switch(topology, node)
            if node in switches:
                raise InputError(f"--fail {printable(name)!r}: named twice")
            switches.append(node)
            slots += [slot for slot in found.slots if not _listed(fabric, slot, slots)]
            texts.append(found.name)
            continue
        slot = fabric.slot(node, port)
        if slot < 0 or fabric.ports.peer[slot] < 0:
            last = int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1
            why = "has no cable" if slot >= 0 and port else f"does not exist: ports are 1 to {last}"
            raise InputError(f"--fail {printable(name)!r}: port {port} {why}")
        if _listed(fabric, slot, slots):
            raise InputError(f"--fail {printable(name)!r}: this cable is named twice")
        slots.append(slot)
        texts.append(_cable_name(topology, slot))
    return Failure(", ".join(texts), tuple(slots), tuple(switches))


def without(fabric: Fabric, failure: Failure) -> Fabric:
    """Return a fabric without the cables of a failure; its nodes and ports keep their numbers."""
    peer = fabric.ports.peer.copy()
    slots = np.array(failure.slots, np.int64)
    peer[peer[slots]] = -1
    peer[slots] = -1
    return fabric.with_ports(peer=peer)


def _listed(fabric: Fabric, slot: int, slots: list[int]) -> bool:
    return slot in slots or int(fabric.ports.peer[slot]) in slots


def _of_switch(topology: FabricTopology, node: int) -> Failure:
    """Return the failure of a switch, with its cables to other switches; its hosts reach nobody."""
    fabric = topology.fabric
    slots: Array = np.arange(fabric.first_slot[node], fabric.first_slot[node + 1])
    slots = slots[fabric.ports.peer[slots] >= 0]
    other = fabric.node_of[fabric.ports.peer[slots]]
    slots = slots[(fabric.switch_row[other] >= 0) & (other != node)]
    return Failure(_switch(topology, int(fabric.switch_row[node])), tuple(slots.tolist()), (node,))


def _switch(topology: FabricTopology, row: int) -> str:
    return topology.labels[topology.hosts + row]


def _cable_name(topology: FabricTopology, slot: int) -> str:
    return f"{topology.port_name(slot)} - {topology.port_name(int(topology.fabric.ports.peer[slot]))}"


def _named(names: NodeNames, name: str) -> tuple[int, int | None]:
    """Return the node, and the port if there is one, that a text names."""
    whole, end = names.find(name), split_port(name)
    if whole is None and end is not None and names.find(end[0]) is not None:
        return names.named(end[0], ""), end[1]
    before, _, port = name.rpartition("/")
    if whole is None and before and names.find(before) is not None:
        raise InputError(f"{printable(name[:80])!r}: the port {printable(port[:20])!r} is not a number")
    return names.named(name, "write NAME/PORT or the name of a switch", before), None


def node_named(fabric: Fabric, name: str, option: str) -> int:
    """Return the node with a description or an identifier.

    Raises
    ------
    InputError
        If there is no such node, or several have this name.
    """
    with _of_option(option):
        return NodeNames(fabric).named(name, "give the name of a switch")


@contextmanager
def _of_option(option: str) -> Iterator[None]:
    """Begin errors with the option that they are about."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{option} {error}") from None
