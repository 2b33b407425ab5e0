"""Failures that maps of the cabling and the tables onto themselves carry onto each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.checker.rerouted import Failed
from obliv.errors import TooLargeError
from obliv.fabric.checker.failures import Key, key_of
from obliv.fabric.checker.hops import NextHops, next_hops_of
from obliv.fabric.kernels.failures import Intact, Outcomes
from obliv.fabric.model import Fabric
from obliv.fabric.routes.routing import FabricHops, FabricRouting
from obliv.fabric.shape import Shape, recognise
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, terminal_map

# A search for maps of a network of tables onto itself, by colors of nodes that are refined until all differ.
#
# What it returns is only a guess: two nodes whose colors agree by chance, or a choice that leads nowhere, give a map
# that is none, or no map at all.


_ODD = np.uint64(0x9E3779B97F4A7C15)


class Net(NamedTuple):
    """A network with its tables.

    Parameters
    ----------
    onward : int array, shape (switches, terminals)
        The node to which each switch forwards packets for each terminal; the number of nodes for none.
    switches, terminals : int arrays
        The nodes.
    tail, head : int arrays, shape (channels,)
    """

    onward: Array
    switches: Array
    terminals: Array
    tail: Array
    head: Array


def colors_of(start: Array, net: Net) -> Array:
    """Return a color for every node that does not depend on numbers, refined until no more colors come up.

    Shapes: `start` (nodes,).
    """
    colors, count = start, 0
    while (now := len(np.unique(colors))) > count:
        colors, count = _refined(colors, net), now
    return colors


def guess(here: list[int], there: list[int], start: Array, net: Net) -> Array | None:
    """Return a map of nodes that may carry some nodes onto others and all else onto itself; None if none was found.

    Shapes: `start` (nodes,).
    """
    one, two = start.copy(), start.copy()
    for mark, (a, b) in enumerate(zip(here, there, strict=True), 1):
        one[[a]], two[[b]] = _mixed(one[[a]] + np.uint64(mark)), _mixed(two[[b]] + np.uint64(mark))
    for _ in range(len(start)):
        one, two = (colors_of(colors, net) for colors in (one, two))
        order, image = np.argsort(one, kind="stable"), np.argsort(two, kind="stable")
        if not np.array_equal(one[order], two[image]):
            return None
        same = np.flatnonzero(one[order][1:] == one[order][:-1])
        if not len(same):
            found = np.empty(len(start), np.int64)
            found[order] = image
            return found
        a = int(order[same[0]])
        b = a if two[a] == one[a] else int(image[same[0]])  # what can stay does
        one[[a]], two[[b]] = _mixed(one[[a]] + _ODD), _mixed(two[[b]] + _ODD)
    return None


def _refined(colors: Array, net: Net) -> Array:
    """Return colors that also count the colors of neighbors, and from where to where packets are forwarded."""
    onward, switches, terminals, tail, head = net
    next_color = np.append(_mixed(colors), _ODD)[onward]
    rows = _mixed(next_color + colors[terminals][None, :] * np.uint64(3)).sum(axis=1)
    columns = _mixed(next_color + colors[switches][:, None] * np.uint64(5)).sum(axis=0)
    beside = np.zeros(len(colors), np.uint64)
    np.add.at(beside, tail, _mixed(colors[head] * np.uint64(7)))
    total = colors + np.uint64(13) * beside
    total[switches] += np.uint64(11) * rows
    total[terminals] += np.uint64(17) * columns
    return _mixed(total)


def _mixed(values: Array) -> Array:
    """Return 64-bit numbers scattered by a bijection (the finalizer of splitmix64)."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(values ^ (values >> np.uint64(31)))


# Maps of a fat tree onto itself that add to the digits of its nodes: candidates for symmetries of its tables.
#
# A node stands at digits that say in which sub-tree it is, and at ports that lead up to it. Rules such as D-mod-k and
# OSRM3-D are sums of digits: they are kept by maps that add 1 or -1 to some digits and to the ports that depend on
# them.


_LEVELS = 4  # of switches: there are 3^(2n - 1) sums on n levels
_ENTRIES = 512  # of the tables, on which candidates are tried


def tree_shifts(fabric: Fabric, hops: NextHops) -> Iterator[Array]:
    """Yield maps of nodes, none a sum of earlier ones, that some entries of the tables agree with."""
    shape = recognise(fabric)
    if shape is None or not shape.complete or shape.levels > _LEVELS:
        return
    level, place = _places(fabric, shape)
    sizes = np.array([*shape.children, *shape.parents])
    rng = np.random.default_rng(0)
    switch, terminal = (rng.integers(0, many, _ENTRIES) for many in hops.channel.shape)
    channel = hops.channel[switch, terminal]
    node, goal = hops.switches[switch], hops.topology.terminals[terminal].astype(np.int64)
    onward = np.append(hops.topology.head, -1)[channel]
    known: list[tuple[int, ...]] = []
    free = [(-1, 0, 1) if size > 1 else (0,) for size in sizes]
    for steps in sorted(product(*free), key=lambda steps: (np.count_nonzero(steps), steps)):
        if np.linalg.matrix_rank(np.array([*known, steps])) <= len(known):
            continue
        image = _moved(level, place, sizes, np.array(steps))
        row = hops.place[image[node]]
        if (row < 0).any() or (hops.topology.number_of[image[goal]] < 0).any():
            continue
        taken = hops.channel[row, hops.topology.number_of[image[goal]]]
        if np.array_equal(np.append(hops.topology.head, -1)[taken], np.append(image, -1)[onward]):
            known.append(steps)
            yield image


def _places(fabric: Fabric, shape: Shape) -> tuple[Array, Array]:
    """Return the level of every node, and its digits: those of sub-trees, then the ports that lead up to it."""
    switches = fabric.switches
    host = shape.leaf * shape.children[0] + shape.place
    level = np.concatenate([np.zeros(len(host), np.int64), shape.level[switches]])
    number = np.concatenate([host, shape.number[switches]])
    width = np.cumprod([1, *shape.parents])
    place = np.zeros((len(level), 2 * shape.levels), np.int64)
    for at in range(shape.levels + 1):
        here = np.flatnonzero(level == at)
        sub, ports = np.divmod(number[here], width[at])
        for j in range(at, shape.levels):
            sub, place[here, j] = np.divmod(sub, shape.children[j])
        for j in reversed(range(at)):
            ports, place[here, shape.levels + j] = np.divmod(ports, shape.parents[j])
    return level, place


def _moved(level: Array, place: Array, sizes: Array, steps: Array) -> Array:
    """Return the node that each node becomes when steps are added to its digits."""
    levels = len(sizes) // 2
    at = np.arange(levels)
    used = np.concatenate([at[None, :] >= level[:, None], at[None, :] < level[:, None]], axis=1)
    weight = np.cumprod(np.append(1, sizes[:-1]))
    before = level * int(sizes.prod()) + place @ weight
    after = level * int(sizes.prod()) + ((place + steps * used) % sizes) @ weight
    order = np.argsort(before)
    return np.asarray(order[np.searchsorted(before[order], after)])


_LARGEST = 2**20  # entries of tables: beyond, only maps of fat trees are tried, since the search takes minutes
_HOTTEST = 16  # channels among which the one with the largest load is sought after a failure
_TRIES = 24  # maps that are looked for in vain


@dataclass(frozen=True, eq=False)
class _TableSearch:
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

    Shapes: `opposite` (channels,), `node_map` (nodes,).
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


def _search_of(hops: NextHops, opposite: Array) -> _TableSearch:
    topology = hops.topology
    start = np.ones(topology.nodes, np.uint64)
    start[topology.terminals] = 2
    onward = np.append(topology.head.astype(np.int64), topology.nodes)[hops.channel]
    net = Net(onward, hops.switches, topology.terminals.astype(np.int64), topology.tail, topology.head)
    return _TableSearch(hops, opposite, start, net)


def _ends(topology: Topology, failed: Failed) -> list[int]:
    """Return nodes that stand for a failure: its first switch, or else the ends of its first cable."""
    if len(failed.nodes):
        return [int(failed.nodes[0])]
    return [int(topology.tail[failed.channels[0]]), int(topology.head[failed.channels[0]])]


def _found(search: _TableSearch, here: list[int], there: list[int], colors: Array) -> _Symmetry | None:
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
