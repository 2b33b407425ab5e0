"""What can fail: cables between switches, parallel cables together, switches, or what the user names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from obliv._util.text import printable
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.model import Fabric
from obliv.fabric.names import NodeNames, cut_port, out_of_range, split_port
from obliv.fabric.topology import FabricTopology

__all__ = [
    "KINDS",
    "Failure",
    "about",
    "every_failure",
    "named_failure",
    "port_named",
    "without",
]

#: What can fail one by one.
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
        raise InputError.naming("{of}={0!r}: choose {1}", printable(of[:40]), ", ".join(KINDS))
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

    def new(text: str, hints: bool = False) -> tuple[int, int]:
        node, slot = _failing(nodes, text, new if hints else None)
        if node in switches:
            raise InputError(f"{printable(text[:80])!r}: named twice")
        if slot >= 0 and _listed(fabric, slot, slots):
            raise InputError(f"{printable(text[:80])!r}: this cable is named twice")
        return node, slot

    for name in names:
        with about("fail"):
            node, slot = new(name, hints=True)
        if slot < 0:
            found = _of_switch(topology, node)
            switches.append(node)
            slots += [slot for slot in found.slots if not _listed(fabric, slot, slots)]
            texts.append(found.name)
        else:
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


def _failing(names: NodeNames, text: str, accepted: Callable[[str], object] | None) -> tuple[int, int]:
    """Return the switch that a text names and -1, or -1 and a port of the cable; hints are what is `accepted`."""
    fabric = names.fabric
    shown = f"{printable(text[:80])!r}"
    whole = names.find(text, lambda near: _typed_port(names, near) or near, accepted)
    if whole is not None:
        if fabric.nodes.kind[whole] == "switch":
            return whole, -1
        port = _typed_port(names, names.typed(whole))
        raise InputError(f"{shown}: not a switch: name a port" + (f", as in {port}" if port else ""))
    end = port_named(names, text, accepted) or _cable_ends(names, text)
    if end is None:
        cut = cut_port(text)
        if cut is not None and names.all(cut[0]):
            raise InputError(f"{shown}: the port {printable(cut[1][:20])!r} is not a number")
        hint = "" if accepted is None else _meant(names, text, accepted)
        raise InputError(f"{shown}: no such node: write NAME/PORT or the name of a switch{hint}")
    slot = fabric.slot(*end)
    if slot < 0 or fabric.ports.peer[slot] < 0:
        why = "has no cable" if slot >= 0 and end[1] else out_of_range(fabric, end[0])
        raise InputError(f"{shown}: port {end[1]} {why}")
    return -1, slot


def _meant(names: NodeNames, text: str, accepted: Callable[[str], object]) -> str:
    """Return in words what may be meant by a text whose node there is not."""
    end = split_port(text)
    if end is None:
        cut = cut_port(text)

        def form(near: str) -> str:  # never a whole switch for what may be one of its ports
            whole = cut is None or (cut[1].casefold() or "\0") in near.casefold()
            return (_typed_port(names, near) or near) if whole else ""

        return names.hint(text, form, accepted)
    if hint := names.hint(end[0], lambda near: f"{near}/{end[1]}", accepted):
        return hint
    for near in names.meant(end[0]):  # never the whole switch for one of its ports
        try:
            accepted(f"{near}/{end[1]}")
        except InputError as error:
            return f"; as for {error}"
    return ""


def _typed_port(names: NodeNames, name: str) -> str:
    """Return the first port with a cable of a node that is not a switch, as users can type it; "" for no such port."""
    fabric, node = names.fabric, names.find(name)
    if node is None or fabric.nodes.kind[node] == "switch":
        return ""
    first, end = fabric.first_slot[node : node + 2].tolist()
    return next((f"{name}/{slot - first}" for slot in range(first, end) if fabric.ports.peer[slot] >= 0), "")


def port_named(names: NodeNames, text: str, accepted: Callable[[str], object] | None = None) -> tuple[int, int] | None:
    """Return the node and the number of a port ``NAME/PORT``; None where there is no such node."""
    end = split_port(text)
    if end is None:
        return None
    node = names.find(end[0], lambda near: f"{near}/{end[1]}", accepted)
    return None if node is None else (node, end[1])


def _cable_ends(names: NodeNames, text: str) -> tuple[int, int] | None:
    """Return a port of a cable that is named by both ends, ``NAME port PORT - NAME port PORT``."""
    fabric = names.fabric
    for between in (" -> ", " - ", " to "):
        at = text[:512].find(between)
        while at >= 0:
            one, two = port_named(names, text[:at]), port_named(names, text[at + len(between) :])
            if one is not None and two is not None:
                slot = fabric.slot(*one)
                if slot >= 0 and fabric.ports.peer[slot] == fabric.slot(*two) >= 0:
                    return one
                raise InputError(f"{printable(text[:80])!r}: there is no cable between these two ports")
            at = text[:512].find(between, at + 1)
    return None


@contextmanager
def about(parameter: str, text: str = "") -> Iterator[None]:
    """Begin errors with the parameter that they are about, and its text unless they begin with that themselves."""
    try:
        yield
    except InputError as error:
        shown = f"{printable(text[:120])!r}: " * (text != "")
        raise InputError.naming(f"{{{parameter}}}={{0}}{{1}}", shown, error) from None
