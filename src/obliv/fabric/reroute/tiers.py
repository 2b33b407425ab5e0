"""Tiers of a fabric (levels of its switches, channels upwards), switches as arrays, and parts that no cables join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm, prod

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.arrays import Array, positions
from obliv._util.progress import require_memory
from obliv.errors import RoutingError
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.kernels.fill import Ranks
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.shape import Shape
from obliv.fabric.topology import FabricTopology
from obliv.routings.shortest import Distances
from obliv.topologies.recognise.trees import TreeLevels, layers_of, linked

# The switches of a fabric as arrays, and forwarding tables as the channels that switches take


@dataclass(frozen=True, eq=False)
class SwitchNetwork:
    """The switches of a fabric, and the hosts beside them."""

    fabric: Fabric
    switches: Switches
    slot: Array  # int64, shape (channels,); the port where each channel begins
    # ends: int64, shape (destinations,); the places among the fabric's endpoints of the hosts that are beside a switch
    ends: Array
    flow: Fraction  # the load of one unit of :attr:`Switches.unit`

    def routes_of(self, tables: Tables) -> Array:
        """Return the channel that every switch takes for every host, -1 for none, shape (destinations, switches)."""
        fabric, rows = self.fabric, self.fabric.switch_row[tables.switch]
        lids = fabric.ports.lid[fabric.endpoints[self.ends]]
        require_memory(8.0 * len(rows) * len(lids), f"routes of {fabric.name}")
        port = np.full((len(fabric.switches), len(lids)), NONE, np.int64)
        known = lids < tables.out.shape[1]
        port[np.ix_(rows, known)] = tables.out[:, lids[known]]
        first = fabric.first_slot[fabric.switches][:, None]
        slot = first + np.where(port < (fabric.first_slot[fabric.switches + 1])[:, None] - first, port, 0)
        channel = positions(self.slot, len(fabric.ports.peer))
        routes = np.where(port != NONE, channel[slot], -1).T.astype(np.int32)
        routes[np.arange(len(lids)), self.switches.home] = -1
        return np.ascontiguousarray(routes)

    def tables_of(self, routes: Array, base: Tables, name: str) -> Tables:
        """Return tables with these routes to hosts, and the entries of other tables for all other LIDs."""
        fabric = self.fabric
        port = (self.slot - fabric.first_slot[fabric.node_of[self.slot]]).astype(np.uint8)
        out = base.out.copy()
        rows = fabric.switch_row[base.switch]
        for d, end in enumerate(fabric.endpoints[self.ends].tolist()):
            lid = int(fabric.ports.lid[end])
            column = np.where(routes[d] >= 0, port[routes[d]], NONE)
            column[self.switches.home[d]] = fabric.port_of(int(fabric.ports.peer[end]))
            out[:, lid : lid + (1 << int(fabric.ports.lmc[end]))] = column[rows][:, None]
        return Tables(name, base.switch, out, base.line, base.spelling, base.top)


def switch_network(topology: FabricTopology) -> SwitchNetwork:
    """Return the switches of a fabric as arrays."""
    fabric = topology.fabric
    tail, head, slot = fabric.trunks
    order = np.lexsort((slot, tail))
    tail, head, slot = tail[order], head[order], slot[order]
    beside = fabric.homes
    ends = np.flatnonzero(beside >= 0)
    count = len(fabric.switches)
    unit, flow = _units(topology, slot)
    switches = Switches(
        tail=tail.astype(np.int32),
        head=head.astype(np.int32),
        first=np.searchsorted(tail, np.arange(count + 1)).astype(np.int32),
        unit=unit,
        hosts=np.bincount(beside[ends], minlength=count).astype(np.int32),
        home=beside[ends].astype(np.int32),
    )
    return SwitchNetwork(fabric, switches, slot, ends, flow)


def _units(topology: FabricTopology, slot: Array) -> tuple[Array, Fraction]:
    """Return the load of one flow on every channel as integers, and what 1 stands for."""
    bandwidth = [topology.bandwidth_of(c) for c in topology.channel_of[slot].tolist()]
    whole = lcm(*(width.numerator for width in bandwidth))
    return np.array([int(whole / width) for width in bandwidth], np.int64), Fraction(1, whole)


@dataclass(frozen=True, eq=False)
class Tiers:
    """The levels of a tree of switches, whether or not it is a fat tree by a formula.

    D-mod-k needs no more than this: at every switch an order of its parents that all switches below the same parents
    share, and how many there are on each level.
    """

    title: str
    shape: Shape | None  # the fat tree, if the fabric is or nearly is one
    # exact: whether all switches of a level have all channels upwards that there are numbers, those of each of one
    # speed
    exact: bool
    hosts: int  # places for hosts at a leaf
    # parents, cables: parents of the switches of each level from the leaves on, roots left out, and the parallel cables
    # to each
    parents: tuple[int, ...]
    cables: tuple[int, ...]
    level: Array  # int32, shape (switches,); 0 for a leaf; switches without a place are the lowest
    # channel: int32, shape (switches, most); channels upwards by number, parent by parent and then again for parallel
    # cables; -1 if missing
    channel: Array
    # size, width: int32, shape (switches,); how many numbers a switch has, and how many of them before its parents
    # repeat
    size: Array
    width: Array
    # place_in_subtree: int32, shape (switches,); the place of a leaf among those below the same parents, 0 for other
    # switches
    place_in_subtree: Array
    # leaf, place: int, shape (endpoints,); the number of the leaf of each endpoint and its place there; -1 at other
    # switches
    leaf: Array
    place: Array
    subtree: Array  # int, shape (endpoints,); the largest sub-tree below the roots that an endpoint is in, by number
    number: Array  # int, shape (endpoints,); the number of each endpoint by which D-mod-k takes its digits

    @property
    def levels(self) -> int:
        """Number of levels of switches."""
        return len(self.parents) + 1

    def uplinks(self, level: int = 0) -> int:
        """Return the number of cables upwards of a switch of a level."""
        return self.parents[level] * self.cables[level]


def tiers_of(net: SwitchNetwork, shape: Shape | None) -> Tiers | None:
    """Return the tiers of a fat tree, or else of any fabric whose switches form levels; None without levels."""
    if shape is not None:
        return _of_shape(net, shape)
    hosts = net.switches.hosts.astype(np.int64)
    tail, head = net.switches.tail.astype(np.int64), net.switches.head.astype(np.int64)
    once = tail < head
    pairs = np.unique(np.stack([tail[once], head[once]], axis=1), axis=0)
    layers = layers_of(len(hosts), hosts, (pairs[:, 0], pairs[:, 1])) if len(pairs) else None
    if layers is None or layers.levels < 2 or (layers.level < 1).any():
        return None
    apart = layers.level[pairs[:, 1]] - layers.level[pairs[:, 0]]
    if 4 * (np.abs(apart) != 1).sum() > len(pairs):
        return None
    return _of_layers(net, layers)


def _of_shape(net: SwitchNetwork, shape: Shape) -> Tiers:
    """Return the tiers of a fat tree, with the numbers of its formula."""
    fabric = net.fabric
    level, number = shape.level[fabric.switches].astype(np.int64), shape.number[fabric.switches]
    width = shape.tree.width
    above: list[list[int]] = []
    for height, own in zip(level.tolist(), number.tolist(), strict=True):
        if not 1 <= height < shape.levels:
            above.append([])
            continue
        sub, branch = divmod(own, width[height])
        first = sub // shape.children[height] * width[height + 1] + branch * shape.parents[height]
        nodes = [shape.node_of(height + 1, first + port) for port in range(shape.parents[height])]
        above.append([int(fabric.switch_row[node]) if node >= 0 else -1 for node in nodes])
    under = shape.children[1] if shape.levels > 1 else 1
    return _tiers(
        net,
        above,
        title=shape.title,
        shape=shape,
        hosts=shape.children[0],
        cables=shape.cables[1 : shape.levels],
        level=np.maximum(level - 1, 0),
        place_in_subtree=np.where(level == 1, number % under, 0),
        leaf=shape.leaf,
        place=shape.place,
        subtree=shape.leaf // prod(shape.children[1:-1]),
        parents=shape.parents[1 : shape.levels],
    )


def _of_layers(net: SwitchNetwork, layers: TreeLevels) -> Tiers:
    """Return the tiers of switches on levels: parents stand in the order of the file, leaves sub-tree by sub-tree."""
    fabric, rows = net.fabric, len(net.switches.hosts)
    level = layers.level - 1
    parents_of = [np.flatnonzero(layers.down == bundle).tolist() for bundle in range(layers.bundles)]
    above = [parents_of[bundle] if bundle >= 0 else [] for bundle in layers.up.tolist()]
    leaves = np.flatnonzero(level == 0)
    labels = [linked(layers, height, below=True)[leaves] for height in range(1, layers.levels + 1)]
    ordered = leaves[np.lexsort((leaves, *labels))]
    leaf_number = np.full(rows, -1)
    leaf_number[ordered] = np.arange(len(ordered))
    place_in_subtree = np.zeros(rows, np.int64)
    beside = fabric.homes
    leaf = np.where(beside >= 0, leaf_number[np.maximum(beside, 0)], -1)
    place = np.where(leaf >= 0, fabric.endpoint_places[0], -1)
    usual: list[int] = []
    cables: list[int] = []
    several: dict[tuple[int, int], int] = {}
    for tail, head in zip(net.switches.tail.tolist(), net.switches.head.tolist(), strict=True):
        several[tail, head] = several.get((tail, head), 0) + 1
    for low in range(layers.levels - 1):
        mine = np.flatnonzero(level == low).tolist()
        usual.append(int(np.median([len(above[v]) for v in mine])))
        cables.append(int(np.median([several[v, u] for v in mine for u in above[v] if (v, u) in several] or [1])))
    return _tiers(
        net,
        above,
        title=f"tree of {layers.levels} levels",
        shape=None,
        hosts=int(place.max(initial=0)) + 1,
        parents=tuple(max(1, count) for count in usual),
        cables=tuple(cables),
        level=level,
        place_in_subtree=place_in_subtree,
        leaf=leaf,
        place=place,
        subtree=np.where(leaf >= 0, linked(layers, layers.levels - 1, below=True)[np.maximum(beside, 0)], -1),
    )


def _tiers(
    net: SwitchNetwork,
    above: list[list[int]],
    *,
    title: str,
    shape: Shape | None,
    hosts: int,
    parents: tuple[int, ...],
    cables: tuple[int, ...],
    level: Array,
    place_in_subtree: Array,
    leaf: Array,
    place: Array,
    subtree: Array,
) -> Tiers:
    """Return tiers, given the parents of every switch in their order, -1 for missing ones."""
    between: dict[tuple[int, int], list[int]] = {}
    for c, ends in enumerate(zip(net.switches.tail.tolist(), net.switches.head.tolist(), strict=True)):
        between.setdefault(ends, []).append(c)
    rows = len(net.switches.hosts)
    width = np.array([len(nodes) for nodes in above], np.int32)
    many = np.array([cables[low] if low < len(cables) else 0 for low in level.tolist()], np.int32)
    size = (width * many).astype(np.int32)
    channel = np.full((rows, max(1, int(size.max(initial=1)))), -1, np.int32)
    for v, nodes in enumerate(above):
        for port, node in enumerate(nodes):
            for cable, c in enumerate(between.get((v, node), ())[: many[v]]):
                channel[v, cable * len(nodes) + port] = c
    whole = bool((np.arange(channel.shape[1]) < size[:, None]).sum() == (channel >= 0).sum())
    risen = level[net.switches.head] > level[net.switches.tail]
    speeds = np.unique(np.stack([net.switches.tail[risen], net.switches.unit[risen]]), axis=1)[0]
    alike = len(np.unique(speeds)) == len(speeds)  # the channels upwards of a switch have one speed
    exact = whole and alike and int(risen.sum()) == int(size.sum()) and 2 * int(risen.sum()) == len(risen)
    return Tiers(
        title, shape, exact, hosts, parents, cables, level.astype(np.int32), channel, size, width,
        place_in_subtree.astype(np.int32), leaf, place, subtree, leaf * hosts + place,
    )  # fmt: skip


def numberings(tiers: Tiers) -> Iterator[Tiers]:
    """Yield tiers with other numbers of the hosts, that D-mod-k may serve better on trees that are not whole."""
    # Empty places are left out; or hosts stand in the order of the file, in which they are shifted, where this goes
    # leaf by leaf; or numbers begin anew in each sub-tree below the roots: what a switch sends in a shift goes to the
    # end of one sub-tree and the beginning of the next, whose digits then differ.
    ends = np.flatnonzero(tiers.leaf >= 0)
    dense, listed = np.full((2, len(tiers.leaf)), -1)
    dense[ends[np.argsort(tiers.number[ends], kind="stable")]] = np.arange(len(ends))
    listed[ends] = np.arange(len(ends))
    numbers = [tiers.number, dense]
    if 1 + int((np.diff(tiers.leaf[ends]) != 0).sum()) == len(np.unique(tiers.leaf[ends])):
        numbers.append(listed)
    for number in list(numbers):
        least = np.full(int(tiers.subtree.max(initial=0)) + 1, len(tiers.leaf) * tiers.hosts)
        np.minimum.at(least, tiers.subtree[ends], number[ends])
        numbers.append(np.where(number >= 0, number - least[tiers.subtree], -1))
    seen: set[bytes] = set()
    for number in numbers:
        digits = [number[ends] // prod(tiers.parents[:low]) % tiers.uplinks(low) for low in range(tiers.levels - 1)]
        if (key := np.stack(digits).tobytes()) not in seen:
            seen.add(key)
            yield replace(tiers, number=number)


def level_ranks(net: SwitchNetwork, tiers: Tiers) -> Ranks:
    """Return the switches by level, the roots first: all roots of a tree are equally high."""
    return _ranks(net, np.lexsort((np.arange(len(tiers.level)), -tiers.level)))


def central_ranks(net: SwitchNetwork) -> Ranks:
    """Return ranks for up*/down* on any fabric: a central switch is the highest, those farther from it are lower."""
    count = len(net.switches.hosts)
    if not count:
        raise RoutingError(f"{net.fabric.name} has no switch, so there is nothing to route")
    tail, head = net.switches.tail.astype(np.int64), net.switches.head.astype(np.int64)
    far = Distances(count, tail, head, count)
    depth = np.full(count, -1, np.int64)
    while (depth < 0).any():  # every part of the fabric has a root of its own
        part = np.flatnonzero(far([int(np.argmin(depth))]) >= 0)
        depth[part] = min((far([v])[part] for v in part.tolist()), key=lambda hops: (hops.max(), hops.sum()))
    return _ranks(net, np.lexsort((np.arange(count), depth)))


def _ranks(net: SwitchNetwork, order: Array) -> Ranks:
    height = np.empty(len(order), np.int64)
    height[order] = np.arange(len(order))[::-1]
    return Ranks(order.astype(np.int32), height[net.switches.head] > height[net.switches.tail])


# The parts of a fabric that no cables connect


def pairs_apart(fabric: Fabric) -> tuple[int, int]:
    """Return the number of unconnected ordered pairs of endpoints, and the number of parts that contain endpoints."""
    ends, switches = fabric.endpoints, len(fabric.switches)
    tail, head, _ = fabric.trunks
    links = coo_array((np.ones(len(tail), bool), (tail, head)), (switches, switches))
    beside = fabric.homes
    part = connected_components(links, directed=False)[1][beside[beside >= 0]]
    lone = np.minimum(ends, fabric.ports.peer[ends])[beside < 0]  # cabled to no switch: a part for each cable
    _, size = np.unique(np.concatenate([part, switches + lone]), return_counts=True)
    return len(ends) ** 2 - int((size**2).sum()), len(size)
