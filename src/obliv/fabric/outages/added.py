"""New cables between free ports of switches, in a kept state: channels that nothing crosses yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from obliv._util.arrays import positions
from obliv._util.text import printable
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.names import NodeNames, out_of_range, split_port
from obliv.fabric.outages.base import Base
from obliv.fabric.outages.sets import Failure, about, without
from obliv.fabric.topology import FabricTopology

__all__ = ["new_cables", "speed_between_switches", "with_cables"]


def new_cables(topology: FabricTopology, failure: Failure, texts: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the ports at the ends of new cables, each given as ``NAME/PORT,NAME/PORT``.

    A port is free if it has no cable, or if its cable fails at the same time.

    Raises
    ------
    InputError
        If there is no such node or port, a port is not free, or one of them is not a switch's.
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
        raise InputError(f"no such nodes: write NAME/PORT,NAME/PORT{_meant(names, whole[0], accepted)}")
    for name, port in known[0]:
        names.find(name, partial(_with_end, text, f"{name}/{port}", port), accepted)
    return list(known[0])


def _with_end(text: str, end: str, port: int, name: str) -> str:
    """Return the text of a cable with another name in the place of one that several nodes have."""
    return text.replace(end, f"{name}/{port}")


def _meant(names: NodeNames, ends: Sequence[tuple[str, int]], accepted: Callable[[str], object] | None) -> str:
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
