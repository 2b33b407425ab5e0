"""Failures that symmetries of a network carry onto each other, under routings that depend on nothing else."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from obliv._util.typing import Array
from obliv.results.fabric.failures import FailureRow
from obliv.routings.base import Routing
from obliv.topologies.base import Topology
from obliv.topologies.damaged import all_links
from obliv.topologies.maps import channel_map, terminal_map

__all__ = ["carried", "first_alike"]

_LARGEST = 2**22  # numbers in the maps of all failures


def first_alike(routing: Routing, of: str) -> list[tuple[int, Array]] | None:
    """Return for each link or node the first one that is alike, and a map of nodes from that one; None for no symmetry.

    The generators of the topology are checked: each has to be a map of nodes that keeps channels with their bandwidths
    and terminals with their rates. What is left after failures that such a map carries onto each other is the same
    network but for its numbers, on which the routing does not depend.

    Parameters
    ----------
    routing : Routing
    of : {"links", "nodes"}
    """
    base = routing.topology
    most = base.nodes if of == "nodes" else base.channels / 2
    if most * base.nodes > _LARGEST:
        return None
    moves = [np.asarray(move, np.int64) for move in base.generators] if routing.unnumbered else []
    moves = [move for move in moves if channel_map(base, move) is not None and terminal_map(base, move) is not None]
    images = _images(base, moves, of)
    count = len(images[0]) if images else 0
    if not count or count * base.nodes > _LARGEST:
        return None
    found: list[tuple[int, Array] | None] = [None] * count
    for root in range(count):
        if found[root] is not None:
            continue
        found[root] = root, np.arange(base.nodes)
        waiting = deque([root])
        while waiting:
            f = waiting.popleft()
            here = found[f]
            for move, image in zip(moves, images, strict=True):
                other = int(image[f])
                if found[other] is None and here is not None:
                    found[other] = root, move[here[1]]
                    waiting.append(other)
    return [each for each in found if each is not None]


def carried(base: Topology, row: FailureRow, name: str, node_map: Array, lost: int) -> FailureRow | None:
    """Return what a failure does that a map carries another one onto; None where that has to be solved as well.

    Where more pairs are lost than those of a failed terminal, the network falls apart, and which part counts may depend
    on numbers.

    Parameters
    ----------
    base : Topology
    row : FailureRow
        What the other one does.
    name : str
    node_map : int array
    lost : int
        The pairs of the terminals that failed.
    """
    ends = [each for each in range(base.channels) if base.channel_name(each) == row.channel]
    if row.pairs_lost != lost or not ends:
        return None
    tail, head = (base.name_of(int(node_map[end[ends[0]]])) for end in (base.tail, base.head))
    return replace(row, failed=name, channel=f"{tail} -> {head}")


def _images(base: Topology, moves: list[Array], of: str) -> list[Array]:
    """Return the failure that each failure becomes, for each map."""
    if of == "nodes":
        return moves
    links = all_links(base)
    number = {c: k for k, link in enumerate(links) for c in link}
    images = []
    for move in moves:
        channels = channel_map(base, move)
        if channels is not None:
            images.append(np.array([number[int(channels[link[0]])] for link in links], np.int64))
    return images
