"""A fabric as a topology (terminals are its CA ports), and the uniform traffic that it can carry at best."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.arrays import Array, positions
from obliv._util.text import plural
from obliv.errors import TopologyError
from obliv.fabric.model import Fabric, gbits, typed
from obliv.fabric.names import NodeNames, guid_of, nearest, safe
from obliv.fabric.results.worst import Cable
from obliv.fabric.shape import Shape, recognise
from obliv.routings.shortest import Distances
from obliv.topologies.base import Cables, Instead, LayoutHint, Places, Topology


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FabricTopology(Topology):
    """A network of endpoints and switches made from a fabric, which it contains.

    Nodes are the endpoints, in the order of :attr:`Fabric.endpoints`, then the switches; a channel is a cable in one
    direction.
    """

    fabric: Fabric
    slot_of: Array  # int64, shape (channels,); the port where each channel begins
    channel_of: Array  # int64, shape (slots,); the channel that begins at a port, -1 for no channel
    # node_at: int64, shape (slots,); the node that a port belongs to, -1 where it is neither an endpoint nor a switch's
    node_at: Array
    reference: Fraction | None = None  # Gb/s of a bandwidth of 1, None where the fabric does not say

    @property
    def hosts(self) -> int:
        """Number of nodes that are endpoints: those before the switches, terminals or not."""
        return len(self.fabric.endpoints)

    @property
    def ends(self) -> Array:
        """The slot of every terminal, shape (terminals,)."""
        ends: Array = self.fabric.endpoints[self.terminals]
        return ends

    def describe(self) -> tuple[Any, ...]:
        instead = Instead(
            ratio="obliv fabric ratio  knows which fat tree a fabric is",
            routing="obliv fabric route  makes tables for this one, which are taken as lft:FILE",
        )
        return (Cables(self.port_names, self.opposite), instead, Places(self._places))

    def slots_of(self, channel: int) -> tuple[int, int]:
        """Return the slots of the ports at the two ends of a channel."""
        slot = int(self.slot_of[channel])
        return slot, int(self.fabric.ports.peer[slot])

    def opposite(self, channel: int) -> int:
        """Return the channel of the same cable in the other direction."""
        return int(self.channel_of[self.slots_of(channel)[1]])

    def cable(self, channel: int) -> Cable:
        """Return the cable of a channel, with the nodes and ports at its ends."""
        tail, head = int(self.tail[channel]), int(self.head[channel])
        slot, peer = self.slots_of(channel)
        return Cable(
            channel, self.name_of(tail), self.fabric.port_of(slot), self.name_of(head), self.fabric.port_of(peer)
        )

    @cached_property
    def at_host(self) -> Array:
        """Whether an endpoint is at one end of each channel."""
        at_host: Array = (self.tail < self.hosts) | (self.head < self.hosts)
        return at_host

    def port_name(self, slot: int) -> str:
        """Return the name of a port: the node's description and the port's number."""
        node = int(self.node_at[slot])
        text = self.labels[node] if node >= 0 else self.fabric.nodes.label(int(self.fabric.node_of[slot]))
        return f"{safe(text)} port {self.fabric.port_of(slot)}"

    def port_names(self, channel: int) -> tuple[str, str]:
        """Return the ports at both ends of a cable; empty where the name of the node contains the port already."""
        names = []
        for end in self.slots_of(channel):
            node, port = int(self.node_at[end]), f"port {self.fabric.port_of(end)}"
            contained = node < self.hosts and f" {port} " in f"{self.name_of(node)} "
            names.append("" if contained else port)
        return names[0], names[1]

    def _places(self) -> LayoutHint:
        """Return the places of hosts and switches in the fat tree that the fabric is or nearly is."""
        from obliv.fabric.shape import recognise  # only pictures need it

        fabric = self.fabric
        order = fabric.ports.peer[fabric.endpoints]
        shape = recognise(fabric)
        if shape is None:
            return LayoutHint(self.hosts, order)
        room = shape.children[0]
        sharing = np.bincount(shape.leaf[shape.leaf >= 0], minlength=1)
        sharing = np.maximum(sharing[np.maximum(shape.leaf, 0)], room)  # hosts of a full leaf stand closer
        sizes = [prod(shape.children[low:]) * prod(shape.parents[:low]) for low in range(shape.levels + 1)]
        level = shape.level[fabric.switches]
        across = (shape.number[fabric.switches] + 0.5) * prod(shape.children) / np.array(sizes)[level]
        return LayoutHint(
            self.hosts,
            order,
            level=np.concatenate([np.where(shape.place >= 0, 0, -1), level]),
            across=np.concatenate([shape.leaf * room + (shape.place + 0.5) * room / sharing, across]),
            missing=[tuple((self.hosts + fabric.switch_row[list(ends)]).tolist()) for ends in shape.missing],
        )

    def _named(self, name: str) -> int | None:
        """Return the node of a name in the file or of a GUID, too."""
        number = super()._named(name)
        if number is not None:
            return number
        names, fabric = self._names, self.fabric
        slots = names.slots_of(guid) if (guid := guid_of(name)) else []
        if not slots:
            first = fabric.first_slot
            slots = [slot for v in names.all(name) for slot in range(int(first[v]), int(first[v + 1]))]
        nodes = np.unique(self.node_at[slots])
        nodes = nodes[nodes >= 0]
        return int(nodes[0]) if len(nodes) == 1 else None

    def _meant(self, name: str) -> str:
        near = nearest(name, self.labels)[:3]  # labels are unique and printable
        count = f"{plural(self.hosts, 'host')} and {plural(self.nodes - self.hosts, 'switch', 'switches')}"
        return f"did you mean {' or '.join(near)}?" if near else f"it has {count}, such as {self.labels[0]}"

    @cached_property
    def _names(self) -> NodeNames:
        return NodeNames(self.fabric)


@typed
def network(fabric: Fabric, spec: str = "") -> FabricTopology:
    """Return the topology of a fabric.

    Parameters
    ----------
    fabric : Fabric
    spec : str, optional
        Its spec; default ``fabric:`` and the fabric's name.

    Returns
    -------
    FabricTopology
        Bandwidths and the rates of terminals are relative to the fastest port of an endpoint. Where the two ends of
        a cable differ the slower one counts; a cable of unknown speed counts as the most common kind. `notes` mentions
        both.

    Raises
    ------
    TopologyError
        If no endpoint has a cable.
    """
    spec = spec or f"fabric:{fabric.name}"
    ends = fabric.endpoints
    if not len(ends):
        raise TopologyError(
            f"{spec}: no channel adapter has a cable, so nothing sends: give the output of ibnetdiscover"
        )
    row = fabric.switch_row[fabric.node_of]
    node_at = np.where(row >= 0, len(ends) + row, -1)
    node_at[ends] = np.arange(len(ends))
    cabled = np.flatnonzero((fabric.ports.peer >= 0) & (node_at >= 0))
    cabled = cabled[node_at[fabric.ports.peer[cabled]] >= 0]
    slot_of = cabled[np.argsort(node_at[cabled], kind="stable")]
    channel_of = positions(slot_of, len(fabric.ports.peer))
    speeds, reference, notes = _bandwidths(fabric, slot_of, ends)
    if len(fabric.stray):
        first = safe(fabric.nodes.label(int(fabric.node_of[fabric.stray[0]])))
        count = plural(len(fabric.stray), "port")
        notes += (f"{count} of channel adapters left out, since no switch or adapter is at the other end: {first}",)
    own = tuple(speeds[c] for c in channel_of[ends].tolist())
    return FabricTopology(
        spec=spec,
        nodes=len(ends) + len(fabric.switches),
        tail=node_at[slot_of].astype(np.int32),
        head=node_at[fabric.ports.peer[slot_of]].astype(np.int32),
        terminals=np.arange(len(ends), dtype=np.int32),
        bandwidth=tuple(speeds),
        injection=own,
        ejection=own,
        capacity_load=capacity_load(fabric) if set(speeds) <= {1} else None,
        labels=_labels(fabric, ends),
        sources=fabric.sources,
        notes=notes,
        fabric=fabric,
        slot_of=slot_of,
        channel_of=channel_of,
        node_at=node_at,
        reference=reference,
    )


def _labels(fabric: Fabric, ends: Array) -> tuple[str, ...]:
    """Return unique names: descriptions, with the port of adapters that use several, and the identifier if repeated."""
    owner = fabric.node_of[ends].tolist()
    ports = Counter(owner)
    first = fabric.first_slot
    labels = []
    for slot, node in zip(ends.tolist(), owner, strict=True):
        port = f" port {slot - int(first[node])}" if ports[node] > 1 else ""
        labels.append(safe(fabric.nodes.label(node)) + port)
    labels += [safe(fabric.nodes.label(node)) for node in fabric.switches.tolist()]
    nodes = owner + fabric.switches.tolist()
    common = Counter(labels)
    labels = [
        f"{text} [{safe(fabric.nodes.ident[node])}]" if common[text] > 1 else text
        for text, node in zip(labels, nodes, strict=True)
    ]
    common, used = Counter(labels), set(labels)
    for at, text in enumerate(labels):
        more = 0
        while common[text] > 1 and (labels[at] == text or labels[at] in used):
            more += 1
            labels[at] = f"{text} #{at}" if more == 1 else f"{text} #{at}.{more}"
        used.add(labels[at])
    return tuple(labels)


def _bandwidths(fabric: Fabric, slot_of: Array, ends: Array) -> tuple[list[Fraction], Fraction | None, tuple[str, ...]]:
    """Return the bandwidth of every channel, the rate that counts as 1, and notes."""
    known = fabric.ports.rate[fabric.ports.rate >= 0]
    if not len(known):
        notes = ("no cable reports a speed: all count as equal",)
        return [Fraction(1)] * len(slot_of), None, notes
    common = fabric.rates[int(np.bincount(known).argmax())]
    here, there = fabric.ports.rate[slot_of], fabric.ports.rate[fabric.ports.peer[slot_of]]
    kinds, number = np.unique(np.stack([here, there]), axis=1, return_inverse=True)
    rates, unknown, unlike = [], 0, 0
    counts = np.bincount(number.ravel(), minlength=kinds.shape[1]).tolist()
    for (one, two), count in zip(kinds.T.tolist(), counts, strict=True):
        rates_at_ends = {fabric.rates[at] for at in (one, two) if at >= 0}
        rates.append(min(rates_at_ends) if rates_at_ends else common)
        unknown += count * (not rates_at_ends)
        unlike += count * (len(rates_at_ends) > 1)
    of_channel = [rates[k] for k in number.ravel().tolist()]
    hosts = np.zeros(len(fabric.ports.peer), np.bool_)
    hosts[ends] = True
    reference = max(rate for rate, host in zip(of_channel, hosts[slot_of].tolist(), strict=True) if host)
    relative = {rate: rate / reference for rate in set(of_channel)}
    notes_ = []
    if unknown:
        notes_.append(f"{unknown // 2} cables do not report a speed and count as {gbits(common)}, the most common one")
    if unlike:
        notes_.append(f"{unlike // 2} cables have ends that differ in speed; the slower end counts")
    if len(relative) > 1:
        notes_.append(f"links differ in speed; a load of 1 is what a host's link of {gbits(reference)} carries")
    return [relative[rate] for rate in of_channel], reference, tuple(notes_)


# The uniform traffic that a fabric can carry under the best routing, where that is known


_MOST = 1 << 18  # switches times channels


def capacity_load(fabric: Fabric) -> Fraction | None:
    """Return the least load of the most loaded channel under uniform traffic."""
    # A whole fat tree has that of its topology, which is (n - 1) / n on FT(m, n). Elsewhere two bounds hold for every
    # routing: an endpoint's cable carries (n - 1) / n, and the channels between switches carry at least all distances
    # together, shared out evenly. Where equal use of all shortest paths loads no channel more than the greater of the
    # two, that is the answer: on tori, hypercubes, complete graphs, and wherever endpoints have the narrowest cables.
    shape = recognise(fabric)
    ends, switches = fabric.endpoints, fabric.switches
    if shape is not None and shape.complete and len(ends) == shape.tree.below[-1] and shape.tree.capacity_load:
        return shape.tree.capacity_load
    beside = fabric.homes
    tail, head, _ = fabric.trunks
    if not len(ends) or (beside < 0).any() or len(switches) * len(tail) > _MOST:
        return None
    hosts, n = np.bincount(beside, minlength=len(switches)), len(ends)
    loads, unit = _loads(len(switches), tail, head, hosts)
    if any(load < 0 for load in loads):
        return None
    even = Fraction(sum(loads), max(len(loads), 1) * n * unit)
    bound = max(even, Fraction(n - 1, n))
    return bound if Fraction(max(loads, default=0), n * unit) <= bound else None


def _loads(nodes: int, tail: Array, head: Array, hosts: Array) -> tuple[list[int], int]:
    """Return the loads of channels if every host sends 1 to every host by all shortest paths equally, and their unit.

    Loads are in units of 1 / unit; a load of -1 means that a host cannot be reached.
    """
    far_from = Distances(nodes, head, tail, nodes)  # along channels
    ends, weight = list(zip(tail.tolist(), head.tolist(), strict=True)), hosts.tolist()
    trees = []  # of every source: channels of shortest paths in order, number of such paths to every node
    unit = 1
    for source in np.flatnonzero(hosts).tolist():
        far = far_from([source])
        if (far[hosts > 0] < 0).any():
            return [-1], 1
        outwards = np.flatnonzero((far[tail] >= 0) & (far[head] == far[tail] + 1))
        outwards = outwards[np.argsort(far[tail[outwards]], kind="stable")]
        paths = [0] * nodes
        paths[source] = 1
        for v, w in map(ends.__getitem__, outwards.tolist()):
            paths[w] += paths[v]
        unit = lcm(unit, *(count for count, many in zip(paths, weight, strict=True) if many))
        trees.append((source, outwards[::-1].tolist(), paths))
    loads = [0] * len(ends)
    for source, inwards, paths in trees:
        # a path to t carries weight[t] / paths[t]; a channel from v carries the sum over the paths that continue there
        carried = [unit // count * many if many else 0 for count, many in zip(paths, weight, strict=True)]
        for c in inwards:
            v, w = ends[c]
            carried[v] += carried[w]
            loads[c] += weight[source] * paths[v] * carried[w]
    return loads, unit


def partitions(fabric: Fabric, shape: Shape | None) -> list[Array]:
    """Return partitions of the switches: each switch alone, then the sub-trees of every height."""
    count = len(fabric.switches)
    if shape is None:
        return [np.arange(count)]
    tail, head, _ = fabric.trunks
    level = shape.level[fabric.switches]
    parts = []
    for height in range(1, shape.levels):
        inner = (level[tail] >= 1) & (level[tail] <= height) & (level[head] >= 1) & (level[head] <= height)
        edges = coo_array((np.ones(int(inner.sum()), np.int8), (tail[inner], head[inner])), shape=(count, count))
        parts.append(connected_components(edges, directed=False)[1])
    return parts or [np.arange(count)]


def cut_sizes(fabric: Fabric, part: Array, hosts: Array) -> tuple[Array, Array]:
    """Return the hosts of each part of the switches, and the cables that leave it."""
    tail, head, _ = fabric.trunks
    parts = int(part.max(initial=-1)) + 1
    inside = np.bincount(part, hosts, parts).astype(np.int64)
    return inside, np.bincount(part[tail[part[tail] != part[head]]], minlength=parts)
