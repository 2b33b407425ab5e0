"""Classes of channels that symmetries carry onto each other, with the maps that do, and those that keep a channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.designs.symmetry import Maps, Symmetry
from obliv.topologies.base import Topology
from obliv.topologies.maps import channel_map, terminal_map

__all__ = ["Class", "Member", "classes_of"]


@dataclass(frozen=True, eq=False)
class Member:
    """A channel that another one stands for.

    Parameters
    ----------
    channel : int
    word : tuple of int
        Numbers of the generators that carry the other channel onto this one, or onto its opposite, first to last.
    reversed : bool
        Whether that is the opposite channel.
    nodes, terminals, channels : Array
        The map by the word, of nodes, terminals and channels.
    """

    channel: int
    word: tuple[int, ...]
    reversed: bool
    maps: Maps


@dataclass(frozen=True, eq=False)
class Class:
    """A channel, those that it stands for, itself first, and generators of the automorphisms that keep it.

    A channel that is carried onto its opposite by an automorphism too stands for each of its images twice.
    """

    channel: int
    members: tuple[Member, ...]
    stabilizer: tuple[Maps, ...]

    @property
    def order(self) -> int:
        """The number of automorphisms that keep the channel is at least this."""
        return 1 if not self.stabilizer else 2


def classes_of(topology: Topology, symmetry: Symmetry) -> list[Class]:
    """Return the classes of all channels, by automorphisms and the reversal of all traffic."""
    known = np.zeros(topology.channels, bool)
    classes = []
    for channel in range(topology.channels):
        if known[channel]:
            continue
        members = _orbit(topology, symmetry, channel)
        stabilizer = _stabilizer(topology, symmetry, members)
        known[[member.channel for member in members]] = True
        if symmetry.opposite is not None:
            back = [int(symmetry.opposite[member.channel]) for member in members]
            known[back] = True
            members += [Member(c, member.word, True, member.maps) for c, member in zip(back, members, strict=True)]
        classes.append(Class(channel, tuple(members), stabilizer))
    return classes


def _orbit(topology: Topology, symmetry: Symmetry, channel: int) -> list[Member]:
    """Return the channels that automorphisms carry a channel onto."""
    here = Maps(np.arange(topology.nodes), np.arange(len(topology.terminals)), np.arange(topology.channels))
    members = [Member(channel, (), False, here)]
    known = {channel}
    for member in members:  # grows
        for k, g in enumerate(symmetry.generators):
            image = int(g.channels[member.channel])
            if image not in known:
                known.add(image)
                maps = Maps(
                    g.nodes[member.maps.nodes], g.terminals[member.maps.terminals], g.channels[member.maps.channels]
                )
                members.append(Member(image, (*member.word, k), False, maps))
    return members


def _stabilizer(topology: Topology, symmetry: Symmetry, members: list[Member]) -> tuple[Maps, ...]:
    """Return generators of the automorphisms that keep the first member (Schreier)."""
    place = {member.channel: member for member in members}
    automorphisms: dict[bytes, Array] = {}
    for member in members:
        for g in symmetry.generators:
            back = np.argsort(place[int(g.channels[member.channel])].maps.nodes)
            nodes = back[g.nodes[member.maps.nodes]]
            if not np.array_equal(nodes, np.arange(topology.nodes)):
                automorphisms[nodes.tobytes()] = nodes
    stabilizer = []
    for nodes in automorphisms.values():
        channels, terminals = channel_map(topology, nodes), terminal_map(topology, nodes)
        if channels is not None and terminals is not None and channels[members[0].channel] == members[0].channel:
            stabilizer.append(Maps(nodes, terminals, channels))
    return tuple(stabilizer)
