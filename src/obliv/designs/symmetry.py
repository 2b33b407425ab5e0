"""Symmetries of a design problem: automorphisms of the network, and the reversal of all paths."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import least_alike
from obliv._util.typing import Array
from obliv.errors import MissingExtraError
from obliv.loads.translated import translation_group
from obliv.topologies.base import Topology
from obliv.topologies.isomorphism import network_automorphisms
from obliv.topologies.maps import channel_map, matched_channels, terminal_map

__all__ = ["Maps", "Symmetry", "opposite_channels", "orbits", "symmetry_of"]


_WORTH = 8_000  # flows of a network whose automorphisms are searched
_SECONDS = 10.0  # of processor time of the search


@dataclass(frozen=True, eq=False)
class Maps:
    """One automorphism: where it takes every node, terminal (by index) and channel."""

    nodes: Array
    terminals: Array
    channels: Array


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Automorphisms of a network, each checked, and its reversal.

    Parameters
    ----------
    generators : tuple of Maps
        Generators of the group, translations included.
    opposite : integer array, shape (channels,), or None
        The opposite channel of every channel, where reversing all paths of a routing gives one that is as good.
    to_first_node, to_first_channel : integer arrays, shapes (nodes, nodes) and (nodes, channels), or None
        Entry (i, x): what x becomes when node i is translated to node 0; None without translations.
    """

    generators: tuple[Maps, ...]
    opposite: Array | None
    to_first_node: Array | None = None
    to_first_channel: Array | None = None


def symmetry_of(topology: Topology, *, search: bool = False) -> Symmetry:
    """Return the symmetries of a topology, each checked on channels, bandwidths, terminals and rates.

    Parameters
    ----------
    topology : Topology
    search : bool
        Search for automorphisms where the topology offers none, its programs are large enough for that to pay, and
        igraph or canonaut is installed.
    """
    maps = []
    known = (*topology.generators, *topology.translations)
    if search and not known and len(topology.terminals) ** 2 * topology.channels > _WORTH:
        with suppress(MissingExtraError):
            known = tuple(network_automorphisms(topology, _SECONDS))
    for node_map in known:
        nodes = np.asarray(node_map, np.int64)
        channels, terminals = channel_map(topology, nodes), terminal_map(topology, nodes)
        if channels is not None and terminals is not None:
            maps.append(Maps(nodes, terminals, channels))
    opposite = opposite_channels(topology) if topology.injection == topology.ejection else None
    group = translation_group(topology)
    if group is None:
        return Symmetry(tuple(maps), opposite)
    everywhere = np.arange(topology.nodes)
    moved = [group.subtract(everywhere, node) for node in range(topology.nodes)]
    channels_moved = [channel_map(topology, nodes) for nodes in moved]
    return Symmetry(tuple(maps), opposite, np.array(moved), np.array(channels_moved))


def opposite_channels(topology: Topology) -> Array | None:
    """Return the opposite of every channel, or None where one is missing or has another bandwidth.

    The k-th of parallel channels from u to v is opposite to the k-th from v to u.
    """
    return matched_channels(topology, topology.head, topology.tail)


def orbits(count: int, images: list[Array]) -> tuple[Array, int]:
    """Return the orbit of every element under maps of 0 … count − 1, and how many orbits there are."""
    label = least_alike(count, images)
    least = label == np.arange(count)
    return (np.cumsum(least) - 1)[label], int(least.sum())
