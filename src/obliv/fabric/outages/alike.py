"""Failures that maps of the cabling and the tables onto themselves carry onto each other."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.checker.failures.claim import Failed
from obliv.checker.failures.hops import NextHops, next_hops_of
from obliv.checker.failures.sets import Key, key_of
from obliv.errors import TooLargeError
from obliv.fabric.kernels.failures import Intact, Outcomes
from obliv.fabric.outages.refinement import Net, colors_of, guess
from obliv.fabric.outages.tree_shifts import tree_shifts
from obliv.fabric.routes.routing import FabricHops, FabricRouting
from obliv.topologies.base import Topology
from obliv.topologies.maps import channel_map, terminal_map

__all__ = ["copied", "first_alike", "keeps"]

_LARGEST = 2**20  # entries of tables: beyond, only maps of fat trees are tried, since the search takes minutes
_HOTTEST = 16  # channels among which the one with the largest load is sought after a failure
_TRIES = 24  # maps that are looked for in vain


@dataclass(frozen=True, eq=False)
class _Search:
    """Tables as what :func:`guess` takes."""

    hops: NextHops
    opposite: Array
    start: Array
    net: Net


@dataclass(frozen=True, eq=False)
class _Symmetry:
    """What every node and every channel becomes."""

    nodes: Array
    channels: Array


def first_alike(routing: FabricRouting, failed: list[Failed]) -> Array | None:
    """Return, for each failure, the first of those that symmetries carry onto each other; None where none are sought.

    A symmetry is a map of nodes that was checked on all of the cabling and the tables, see :func:`keeps`. Tables that
    stay as they are then do the same after failures that it carries onto each other.

    Parameters
    ----------
    routing : FabricRouting
    failed : list of Failed
    """
    topology = routing.topology
    if len(failed) < 2 or not topology.unit_rates:
        return None
    if not isinstance(routing, FabricHops) or len(routing.routes.traces.lid) != len(topology.terminals):
        return None
    if (routing.routes.leaf < 0).any():
        return None
    try:
        hops = next_hops_of(routing)
    except TooLargeError:
        return None
    numbers = {key_of(each): f for f, each in enumerate(failed)}
    opposite = topology.channel_of[topology.fabric.ports.peer[topology.slot_of]].astype(np.int64)
    moves = _of_tree(routing, hops, opposite, failed, numbers)
    first = _orbits(moves, len(failed))
    if topology.nodes * len(topology.terminals) > _LARGEST:
        return first if moves else None
    search = _search_of(hops, opposite)
    ends = [_ends(search.hops.topology, each) for each in failed]
    colors = colors_of(search.start, search.net)
    kinds: dict[tuple[int, ...], list[int]] = {}
    for f, nodes in enumerate(ends):
        kinds.setdefault((len(failed[f].channels), *sorted(colors[nodes].tolist())), []).append(f)
    vain = 0
    for one, *others in kinds.values():
        for f in others:
            if first[f] == first[one]:
                continue
            if vain == _TRIES:
                return first
            move = _found(search, ends[one], ends[f], colors)
            images = None if move is None else _images(move, failed, numbers)
            if images is None:
                vain += 1
                continue
            moves.append(images)
            first = _orbits(moves, len(failed))
    return first


def copied(f: int, like: int, lost: list[int], intact: Intact, outcomes: Outcomes) -> bool:
    """Store the outcome of a failure that does what a solved one does; return whether that was possible.

    The hottest channel is the first one that no lost packet crossed, as without symmetry; where the solved failure
    has another one, or it is not found after a few, the failure has to be solved as well.

    Parameters
    ----------
    f, like : int
        The failure, and the solved one.
    lost : list of int
        The channels that the failure takes.
    intact : Intact
    outcomes : Outcomes
    """
    channel, load = -1, int(outcomes.load[like])
    if outcomes.solved[like]:
        return False
    if load:
        pairs = np.unique(np.concatenate([_pairs(intact, c) for c in lost]))
        hottest = intact.order[:_HOTTEST].tolist()
        untouched = (c for c in hottest if c not in lost and not np.isin(_pairs(intact, c), pairs).any())
        channel = next(untouched, -1)
        if channel < 0 or intact.load[channel] != load:
            return False
    outcomes.lost[f], outcomes.load[f], outcomes.channel[f] = outcomes.lost[like], load, channel
    return True


def _pairs(intact: Intact, channel: int) -> Array:
    """Return the pairs that cross a channel before any failure."""
    return intact.pair[intact.start[channel] : intact.start[channel + 1]]


def keeps(hops: NextHops, opposite: Array, node_map: Array) -> Array | None:
    """Return the channel that each channel becomes by a map of nodes; None where it does not keep cabling and tables.

    Terminals become terminals, cables become cables of the same speed, and if a switch forwards packets for a terminal
    over a channel, then its image forwards those for the image of the terminal over the image of the channel. All
    of this is checked entry by entry.

    Parameters
    ----------
    hops : NextHops
    opposite : int array, shape (channels,)
        The other direction of the cable of each channel.
    node_map : int array, shape (nodes,)
    """
    moved = channel_map(hops.topology, node_map)
    if moved is None or not np.array_equal(opposite[moved], moved[opposite]):
        return None
    ends = terminal_map(hops.topology, node_map)
    if ends is None:
        return None
    image, switches = np.append(moved, -1)[hops.channel], hops.place[node_map[hops.switches]]
    return moved if np.array_equal(hops.channel[switches][:, ends], image) else None


def _of_tree(
    routing: FabricRouting, hops: NextHops, opposite: Array, failed: list[Failed], numbers: dict[Key, int]
) -> list[Array]:
    """Return the failures that failures become by symmetries of a fat tree that add to digits of its nodes."""
    topology = routing.topology
    if not np.array_equal(topology.ends, topology.fabric.endpoints):
        return []
    moves = []
    for node_map in tree_shifts(topology.fabric, hops):
        channels = keeps(hops, opposite, node_map)
        images = None if channels is None else _images(_Symmetry(node_map, channels), failed, numbers)
        if images is not None:
            moves.append(images)
    return moves


def _search_of(hops: NextHops, opposite: Array) -> _Search:
    topology = hops.topology
    start = np.ones(topology.nodes, np.uint64)
    start[topology.terminals] = 2
    onward = np.append(topology.head.astype(np.int64), topology.nodes)[hops.channel]
    net = Net(onward, hops.switches, topology.terminals.astype(np.int64), topology.tail, topology.head)
    return _Search(hops, opposite, start, net)


def _ends(topology: Topology, failed: Failed) -> list[int]:
    """Return nodes that stand for a failure: its first switch, or else the ends of its first cable."""
    if len(failed.nodes):
        return [int(failed.nodes[0])]
    return [int(topology.tail[failed.channels[0]]), int(topology.head[failed.channels[0]])]


def _found(search: _Search, here: list[int], there: list[int], colors: Array) -> _Symmetry | None:
    """Return a symmetry that carries some nodes onto others; None where none was found."""
    for image in (there, there[::-1]):
        if np.array_equal(colors[here], colors[image]):
            node_map = guess(here, image, search.start, search.net)
            channel_map = None if node_map is None else keeps(search.hops, search.opposite, node_map)
            if node_map is not None and channel_map is not None:
                return _Symmetry(node_map, channel_map)
    return None


def _images(move: _Symmetry, failed: list[Failed], numbers: dict[Key, int]) -> Array | None:
    """Return the failure that each failure becomes; None where one is not among them."""
    images = [numbers.get(key_of(Failed(move.channels[each.channels], move.nodes[each.nodes])), -1) for each in failed]
    return None if min(images) < 0 else np.array(images, np.int64)


def _orbits(moves: list[Array], count: int) -> Array:
    """Return the first of those that maps carry onto each other, for each of some numbers."""
    first = np.full(count, -1)
    for root in range(count):
        if first[root] >= 0:
            continue
        first[root] = root
        waiting = deque([root])
        while waiting:
            f = waiting.popleft()
            for move in moves:
                if first[move[f]] < 0:
                    first[move[f]] = root
                    waiting.append(int(move[f]))
    return first
