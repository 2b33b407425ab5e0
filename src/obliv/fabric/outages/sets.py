"""What can fail: cables between switches, parallel cables together, switches, or what the user names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from obliv._util.arrays import Array, positions
from obliv._util.text import printable, several
from obliv.errors import InputError
from obliv.fabric.arguments import typed
from obliv.fabric.model import Fabric
from obliv.fabric.names import NodeNames, cut_port, out_of_range, split_port
from obliv.fabric.outages.base import Base
from obliv.fabric.topology import FabricTopology, network

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
    """Return every single failure of a kind."""
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


# New cables between free ports of switches, in a kept state: channels that nothing crosses yet


def new_cables(topology: FabricTopology, failure: Failure, texts: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the ports at the ends of new cables, each given as ``NAME/PORT,NAME/PORT``.

    A port is free if it has no cable, or if its cable fails at the same time.
    """
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


def _free(names: NodeNames, failure: Failure, taken: set[int], name: str, port: int) -> int:
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


def with_cables(base: Base, failure: Failure, cables: Sequence[tuple[int, int]]) -> tuple[Base, Array]:
    """Return the state with new cables, which nothing crosses, and the new number of every channel.

    Where a new cable takes the port of one that fails, the channels of the old one stay, but no port leads to them.
    """
    topology = base.topology
    if not cables:
        return base, np.arange(topology.channels)
    slots = np.array(cables, np.int64)
    slots = np.concatenate([slots, slots[:, ::-1]])
    fabric = without(topology.fabric, failure)
    peer, to = fabric.ports.peer.copy(), base.to.copy()
    peer[slots[:, 0]] = slots[:, 1]
    to[slots[:, 0]] = fabric.node_of[slots[:, 1]]
    tail, head = (topology.node_at[slots[:, side]] for side in (0, 1))
    at = np.searchsorted(topology.tail, tail, side="right")  # channels are sorted by their tails
    order = np.argsort(at, kind="stable")
    slots, tail, head, at = slots[order], tail[order], head[order], at[order]
    number = np.arange(topology.channels) + np.searchsorted(at, np.arange(topology.channels), side="right")
    channel_of = positions(np.insert(topology.slot_of, at, slots[:, 0]), len(peer))
    channel_of[slots[:, 0]] = at + np.arange(len(at))
    speeds = list(topology.bandwidth)
    if speeds:
        for place in at[::-1].tolist():
            speeds.insert(place, speed_between_switches(topology))
    changed = replace(
        topology,
        tail=np.insert(topology.tail, at, tail),
        head=np.insert(topology.head, at, head),
        bandwidth=tuple(speeds),
        fabric=fabric.with_ports(peer=peer),
        slot_of=np.insert(topology.slot_of, at, slots[:, 0]),
        channel_of=channel_of,
    )
    extended = replace(
        base,
        topology=changed,
        to=to,
        start=np.insert(base.start, at, base.start[at]),
        load=np.insert(base.load, at, 0),
        layer=np.insert(base.layer, at, -1),
        first_after=np.insert(base.first_after, at, base.first_after[at]),
        after=number[base.after],
    )
    return extended, number


def speed_between_switches(topology: FabricTopology) -> Fraction:
    """Return the bandwidth of the cables between switches."""
    speeds = {topology.bandwidth_of(c) for c in np.flatnonzero(~topology.at_host).tolist()}
    if len(speeds) > 1:
        raise InputError.naming("{add}: cables between switches differ in speed, so that the new one's is not known")
    return speeds.pop() if speeds else Fraction(1)


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
    failure = named_failure(topology, names) if names else Failure("", ())
    cables = new_cables(topology, failure, several(add))
    left = without(fabric, failure)
    peer, rate = left.ports.peer.copy(), left.ports.rate.copy()
    for switch in failure.switches:  # its hosts are without a cable, too
        slots = np.arange(left.first_slot[switch], left.first_slot[switch + 1])
        slots = slots[peer[slots] >= 0]
        peer[peer[slots]] = -1
        peer[slots] = -1
    if cables:
        speed_between_switches(topology)  # refuses where it is not one
        rate[np.ravel(cables)] = _rate_between_switches(topology)
    for ends in cables:
        peer[list(ends)] = ends[::-1]
    return left.with_ports(peer=peer, rate=rate)


def _rate_between_switches(topology: FabricTopology) -> int:
    """Return the place of the data rate of cables between switches, that of the slower end; -1 where none is known."""
    fabric = topology.fabric
    slots = topology.slot_of[~topology.at_host]
    if not len(slots):
        return -1
    ends = fabric.ports.rate[[slots[0], fabric.ports.peer[slots[0]]]].tolist()
    return min((at for at in ends if at >= 0), key=lambda at: fabric.rates[at], default=-1)
