"""Changes of a fabric and its tables: failures one by one, changes that users name, new cables between free ports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from obliv._util.arrays import Array
from obliv._util.text import printable, several
from obliv.errors import InputError
from obliv.fabric.model import NONE, Fabric, typed
from obliv.fabric.names import NodeNames, cut_port, out_of_range, port_number, split_port
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.topology import FabricTopology, network

#: What can fail one by one.
KINDS = ("cables", "lanes", "switches")


@dataclass(frozen=True)
class Change:
    """Cables, and switches with all their cables, that fail together; new cables, and new entries of tables."""

    names: tuple[str, ...] = ()  # what it is, as results show it
    slots: tuple[int, ...] = ()  # one port of every cable that fails
    switches: tuple[int, ...] = ()  # nodes of the fabric that fail
    cables: tuple[tuple[int, int], ...] = ()  # new ones
    entries: tuple[tuple[int, int, int], ...] = ()

    @property
    def name(self) -> str:
        """All names together."""
        return ", ".join(self.names)


def every_failure(topology: FabricTopology, of: str) -> list[Change]:
    """Return every single failure of a kind."""
    fabric = topology.fabric
    if of not in KINDS:
        raise InputError.naming("{of}={0!r}: choose {1}", printable(of[:40]), ", ".join(KINDS))
    tail, head, slots = fabric.trunks
    once = slots < fabric.ports.peer[slots]
    tail, head, slots = tail[once], head[once], slots[once]
    if of == "cables":
        failures = [Change((_cable_name(topology, slot),), (slot,)) for slot in slots.tolist()]
    elif of == "lanes":
        groups: dict[tuple[int, int], list[int]] = {}
        for a, b, slot in zip(tail.tolist(), head.tolist(), slots.tolist(), strict=True):
            groups.setdefault((min(a, b), max(a, b)), []).append(slot)
        failures = [
            Change((f"{len(group)} cables {_switch(topology, a)} - {_switch(topology, b)}",), tuple(group))
            for (a, b), group in groups.items()
            if len(group) > 1
        ]
    else:
        failures = [_of_switch(topology, node) for node in fabric.switches.tolist()]
    if not failures:
        what = {"lanes": "parallel cables between two switches", "cables": "cables between switches"}
        raise InputError(f"{topology.spec} has no {what.get(of, of)}")
    return failures


def named_failure(topology: FabricTopology, names: Sequence[str]) -> Change:
    """Return the failure of what is named: ``NAME/PORT`` for a cable, ``NAME`` for a switch."""
    # A name is a node's description, or its identifier in the file.
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
    return Change((", ".join(texts),), tuple(slots), tuple(switches))


def without(fabric: Fabric, failure: Change) -> Fabric:
    """Return a fabric without the cables of a failure; its nodes and ports keep their numbers."""
    peer = fabric.ports.peer.copy()
    slots = np.array(failure.slots, np.int64)
    peer[peer[slots]] = -1
    peer[slots] = -1
    return fabric.with_ports(peer=peer)


def with_change(fabric: Fabric, change: Change) -> Fabric:
    """Return a fabric without the cables of a change, and with its new ones."""
    left = without(fabric, change)
    if not change.cables:
        return left
    peer, cables = left.ports.peer.copy(), np.array(change.cables, np.int64)
    peer[cables] = cables[:, ::-1]
    return left.with_ports(peer=peer)


def _listed(fabric: Fabric, slot: int, slots: list[int]) -> bool:
    return slot in slots or int(fabric.ports.peer[slot]) in slots


def _of_switch(topology: FabricTopology, node: int) -> Change:
    """Return the failure of a switch, with its cables to other switches; its hosts reach nobody."""
    fabric = topology.fabric
    slots: Array = np.arange(fabric.first_slot[node], fabric.first_slot[node + 1])
    slots = slots[fabric.ports.peer[slots] >= 0]
    other = fabric.node_of[fabric.ports.peer[slots]]
    slots = slots[(fabric.switch_row[other] >= 0) & (other != node)]
    return Change((_switch(topology, int(fabric.switch_row[node])),), tuple(slots.tolist()), (node,))


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


# New cables between free ports of switches


def new_cables(topology: FabricTopology, failure: Change, texts: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the ports at the ends of new cables, each given as ``NAME/PORT,NAME/PORT``."""
    # A port is free if it has no cable, or if its cable fails at the same time.
    if not texts:
        return ()
    fabric = without(topology.fabric, failure)
    names = NodeNames(fabric)
    taken: set[int] = set()

    def new(text: str, hints: bool = False) -> tuple[int, int]:
        ends = [_free(names, failure, taken, *end) for end in _ends(names, text, new if hints else None)]
        if fabric.node_of[ends[0]] == fabric.node_of[ends[1]]:
            raise InputError("a cable from a switch to itself carries nothing")
        return ends[0], ends[1]

    cables = []
    for text in texts:
        with about("add", text):
            cables.append(new(text, hints=True))
        taken |= {*cables[-1]}
    return tuple(cables)


def _free(names: NodeNames, failure: Change, taken: set[int], name: str, port: int) -> int:
    """Return the slot of a free port of a switch."""
    fabric, node = names.fabric, names.find(name)
    if node is None or fabric.nodes.kind[node] != "switch" or node in failure.switches:
        raise InputError(f"{printable(name[:80])!r} is not a switch that is there")
    slot = fabric.slot(node, port)
    if slot < 0 or not port:
        raise InputError(f"port {port} {out_of_range(fabric, node)}")
    if slot in taken or fabric.ports.peer[slot] >= 0:
        raise InputError.naming("port {0} of {1!r} has a cable: {fail} it first", port, printable(name[:80]))
    return slot


def _ends(names: NodeNames, text: str, accepted: Callable[[str], object] | None) -> list[tuple[str, int]]:
    """Return the names and ports at both ends; names may contain commas. Hints are texts that are `accepted`."""
    commas = [at for at, letter in enumerate(text[:4096]) if letter == ","]
    pairs = [(split_port(text[:at].strip()), split_port(text[at + 1 :].strip())) for at in commas]
    whole = [(one, two) for one, two in pairs if one is not None and two is not None]
    if not whole:
        raise InputError("write NAME/PORT,NAME/PORT")
    known = [ends for ends in whole if all(names.all(name) for name, _ in ends)]
    if len(known) > 1:
        raise InputError("it can be read in several ways: use identifiers: write NAME/PORT,NAME/PORT")
    if not known:
        raise InputError(f"no such nodes: write NAME/PORT,NAME/PORT{_added_meant(names, whole[0], accepted)}")
    for name, port in known[0]:
        names.find(name, partial(_with_end, text, f"{name}/{port}", port), accepted)
    return list(known[0])


def _with_end(text: str, end: str, port: int, name: str) -> str:
    """Return the text of a cable with another name in the place of one that several nodes have."""
    return text.replace(end, f"{name}/{port}")


def _added_meant(names: NodeNames, ends: Sequence[tuple[str, int]], accepted: Callable[[str], object] | None) -> str:
    """Return which cables may be meant, in words: of both ends those that are unknown are replaced."""
    if accepted is None:
        return ""
    near = [name if names.all(name) else next(names.meant(name), name) for name, _ in ends]
    unknown = next(k for k, (name, _) in enumerate(ends) if not names.all(name))

    def form(name: str) -> str:
        both = [name if k == unknown else other for k, other in enumerate(near)]
        return ",".join(f"{name}/{port}" for name, (_, port) in zip(both, ends, strict=True))

    return names.hint(ends[unknown][0], form, accepted)


def speed_between_switches(topology: FabricTopology) -> Fraction:
    """Return the bandwidth of the cables between switches."""
    speeds = {topology.bandwidth_of(c) for c in np.flatnonzero(~topology.at_host).tolist()}
    if len(speeds) > 1:
        raise InputError.naming("{add}: cables between switches differ in speed, so that the new one's is not known")
    return speeds.pop() if speeds else Fraction(1)


# Changes of a fabric and its tables together


_ENTRY = re.compile(r"(?P<name>.+)(?:[/:]|\[(?=\d+\]))(?P<lid>\d{1,5})\]?=(?P<port>[^=]+)", re.ASCII | re.DOTALL)


def change_of(routing: FabricRouting, fail: Sequence[str], entries: Sequence[str], add: Sequence[str] = ()) -> Change:
    """Return a change from its texts: ``NAME/PORT`` or ``NAME`` fails, and ``SWITCH/LID=PORT`` is the new port."""
    # `NAME/PORT,NAME/PORT` is a new cable.
    topology = routing.topology
    failure = named_failure(topology, fail) if fail else Change()
    slots = np.array(failure.slots, np.int64)
    if topology.at_host[topology.channel_of[slots]].any():
        raise InputError.naming("{fail}: the cable of a host: use fabric failures for it")
    names = NodeNames(topology.fabric)
    with about("entries"):
        found = tuple(_entry(routing, names, text, hints=True) for text in entries)
    if len({entry[:2] for entry in found}) < len(found):
        raise InputError.naming("{entries}: an entry is set twice")
    cables = new_cables(topology, failure, add)
    new = (f"new: {topology.port_name(one)} - {topology.port_name(two)}" for one, two in cables)
    texts = (*failure.names, *new, *(printable(text) for text in entries))
    return replace(failure, names=texts, cables=cables, entries=found)


def _entry(routing: FabricRouting, names: NodeNames, text: str, hints: bool = False) -> tuple[int, int, int]:
    """Return the table, the LID and the port that a text names."""
    shown = f"{printable(text[:80])!r}"
    match = _ENTRY.fullmatch(text)
    port = NONE if match is None or match["port"] == "none" else port_number(match["port"])
    if match is None or port is None:
        raise InputError(f"{shown}: write SWITCH/LID=PORT, or SWITCH/LID=none")
    fabric, routes = routing.topology.fabric, routing.routes.arrays
    rest = text[match.end("name") :]
    accepted = partial(_entry, routing, names) if hints else None
    node = names.find(match["name"], lambda near: near + rest, accepted)
    if node is None:
        hint = names.hint(match["name"], lambda near: near + rest, accepted)
        raise InputError(f"{shown}: no such node: give the name of a switch{hint}")
    row, lid = int(routes.hops.row[node]), int(match["lid"])
    if fabric.nodes.kind[node] != "switch" or row < 0:
        raise InputError(f"{shown}: not a switch with a table")
    if not 0 < lid < len(routes.hops.out):
        raise InputError(f"{shown}: LID {lid} is out of range (1 to {len(routes.hops.out) - 1})")
    last = int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1
    if port != NONE and port > last:
        raise InputError(f"{shown}: port {port} does not exist: ports are 0 to {last}")
    return row, lid, port


# A fabric after a change of cables, for new tables


@typed
def changed(fabric: Fabric, *, fail: Sequence[str] = (), add: Sequence[str] = ()) -> Fabric:
    """Return the fabric without what fails and with new cables; nodes, ports and LIDs keep their numbers.

    Parameters
    ----------
    fabric : Fabric
    fail, add : sequence of str, optional
        Cables and switches that fail, and new cables, as for :func:`obliv.fabric.what_if`. New cables have the speed
        of those between switches.

    Raises
    ------
    InputError
        If there is no such node, port or cable, or cables are added where those between switches differ in speed.

    Examples
    --------
    >>> import obliv
    >>> fabric = obliv.fabric.from_topology(obliv.fattree(4, 2))
    >>> after = changed(fabric, fail=["switch((0),1)/3"])
    >>> obliv.fabric.network(fabric).channels, obliv.fabric.network(after).channels
    (32, 30)
    """
    topology, names = network(fabric), several(fail)
    failure = named_failure(topology, names) if names else Change()
    cables = new_cables(topology, failure, several(add))
    left = with_change(fabric, replace(failure, cables=cables))
    peer, rate = left.ports.peer.copy(), left.ports.rate.copy()
    for switch in failure.switches:  # its hosts are without a cable, too
        slots = np.arange(left.first_slot[switch], left.first_slot[switch + 1])
        slots = slots[peer[slots] >= 0]
        peer[peer[slots]] = -1
        peer[slots] = -1
    if cables:
        speed_between_switches(topology)  # refuses where it is not one
        rate[np.ravel(cables)] = _rate_between_switches(topology)
    return left.with_ports(peer=peer, rate=rate)


def _rate_between_switches(topology: FabricTopology) -> int:
    """Return the place of the data rate of cables between switches, that of the slower end; -1 where none is known."""
    fabric = topology.fabric
    slots = topology.slot_of[~topology.at_host]
    if not len(slots):
        return -1
    ends = fabric.ports.rate[[slots[0], fabric.ports.peer[slots[0]]]].tolist()
    return min((at for at in ends if at >= 0), key=lambda at: fabric.rates[at], default=-1)
