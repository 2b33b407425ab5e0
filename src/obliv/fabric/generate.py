"""Fabrics generated from topologies: nodes, ports and cables, the ports of fat trees, and forwarding tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import require_memory
from obliv._util.rationals import boolean, integer
from obliv._util.text import did_you_mean, shown
from obliv.errors import RoutingError, TopologyError
from obliv.fabric.model import MAX_PORTS, NONE, RATES, SPEEDS, WIDTHS, Fabric, Nodes, Ports, Tables
from obliv.fabric.names import require_lids, with_lids
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.routings.base import Routing
from obliv.routings.descriptions import NextHops
from obliv.routings.paths import checked_paths
from obliv.routings.trees import TreeRouting, single_path
from obliv.topologies.base import Topology, find
from obliv.topologies.damaged import Damaged
from obliv.topologies.trees import Tree

# The nodes, ports and cables of the fabric generated from a topology


@dataclass(frozen=True)
class Cabling:
    """Nodes, ports and cables of the fabric of a topology: hosts first, by terminal, then switches."""

    node: Array  # of every node of the topology: its node in the fabric
    host: Array  # of every terminal: its node in the fabric
    slot: Array  # of every channel: the slot at its tail
    first_slot: Array
    peer: Array
    added: bool  # whether hosts were added beside the topology's own nodes


def cabling_of(topology: Topology) -> Cabling:
    """Return the nodes, ports and cables for a topology."""
    whole, node_of, channel_of = _before_failures(topology)
    degree = np.bincount(whole.tail, minlength=whole.nodes)
    terminals = topology.terminals.astype(np.int64)
    is_host = np.zeros(topology.nodes, bool)
    is_host[terminals] = True
    added = bool((degree[node_of[terminals]] != 1).any() or (is_host[topology.tail] & is_host[topology.head]).any())
    degree = degree[node_of]
    if not added:
        node = np.zeros(topology.nodes, np.int64)
        node[terminals] = np.arange(len(terminals))
        node[~is_host] = len(terminals) + np.arange(topology.nodes - len(terminals))
        host, ports = node[terminals], np.zeros(topology.nodes, np.int64)
        ports[node] = degree
        before = np.zeros(topology.nodes, np.int64)  # ports that come before those of the channels
    else:
        host, node = np.arange(len(terminals)), len(terminals) + np.arange(topology.nodes)
        ports = np.concatenate([np.ones(len(terminals), np.int64), degree + is_host])
        before = is_host.astype(np.int64)
    if ports.max() > MAX_PORTS:
        raise TopologyError(f"{topology.spec}: a node would need {ports.max()} ports, a switch has at most {MAX_PORTS}")
    first_slot = starts(ports + 1)
    rank = channel_of - whole.first_channel[whole.tail[channel_of]]
    slot = first_slot[node[topology.tail]] + 1 + before[topology.tail] + rank
    peer = np.full(first_slot[-1], -1, np.int64)
    peer[slot] = slot[_opposite(topology)]
    if added:
        ends, switch_ends = first_slot[host] + 1, first_slot[node[terminals]] + 1
        peer[ends], peer[switch_ends] = switch_ends, ends
    return Cabling(node, host, slot, first_slot, peer, added)


def _before_failures(topology: Topology) -> tuple[Topology, Array, Array]:
    """Return the network before failures and what nodes and channels were there: lost cables leave their ports free."""
    if isinstance(topology, Damaged):
        base, node_of, channel_of = topology.base, topology.node_of, topology.channel_of
        if base is not None and node_of is not None and channel_of is not None:
            return base, node_of.astype(np.int64), channel_of.astype(np.int64)
    return topology, np.arange(topology.nodes), np.arange(topology.channels)


def _opposite(topology: Topology) -> Array:
    """Return the channel of the same cable in the other direction; of parallel ones the first goes with the first."""
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    channels = np.arange(topology.channels)
    there, back = np.lexsort((channels, head, tail)), np.lexsort((channels, tail, head))
    wrong = np.flatnonzero((tail[there] != head[back]) | (head[there] != tail[back]))
    if len(wrong):
        pairs = list(zip(tail.tolist(), head.tolist(), strict=True))
        count = Counter(pairs)
        lone = next(c for c, (a, b) in enumerate(pairs) if count[a, b] > count[b, a])
        raise TopologyError(
            f"{topology.spec}: {topology.channel_name(lone)} has no opposite channel: a cable carries both directions"
        )
    other = np.empty(topology.channels, np.int64)
    other[there] = back
    loops = np.flatnonzero(tail == head)
    for v in np.unique(tail[loops]).tolist():  # the two ends of a cable from a switch to itself are two channels
        own = loops[tail[loops] == v]
        if len(own) % 2:
            raise TopologyError(
                f"{topology.spec}: {topology.name_of(v)} has a single channel to itself: a cable needs two"
            )
        other[own[::2]], other[own[1::2]] = own[1::2], own[::2]
    return other


# Ports of the switches of a fat tree, from a rule that gives path numbers


def tree_ports(tree: Tree, numbers: Callable[[Array, Array], Array], sources: Array, spec: str = "") -> Array:
    """Return the port by which each switch forwards what some sources send to each host; shape (switches, hosts)."""
    hosts, first = tree.below[-1], tree.first_node
    host = np.arange(hosts)
    out: Array = np.full((tree.nodes - hosts, hosts), NONE, np.uint8)
    for level in range(1, tree.levels + 1):  # every rule has the same ports down
        for sub in range(hosts // tree.below[level]):
            row = first[level] - hosts + sub * tree.width[level]
            inside = host[sub * tree.below[level] : (sub + 1) * tree.below[level]]
            out[row : row + tree.width[level], inside] = 1 + inside // tree.below[level - 1] % tree.children[level - 1]
    width = np.array(tree.width)
    for source in np.asarray(sources).tolist():
        turn = tree.turn(source, host)
        number = np.asarray(numbers(np.array(source), host))
        number = number[..., 0] if number.ndim > 1 else number
        for level in range(1, tree.levels):
            beyond = host[turn > level]
            path, whole = number[beyond], width[turn[beyond]]
            row = first[level] - hosts + source // tree.below[level] * width[level] + path // (whole // width[level])
            up = path // (whole // width[level + 1]) % tree.parents[level]
            port = (1 + tree.children[level - 1] + up).astype(np.uint8)
            before = out[row, beyond]
            other = np.flatnonzero((before != NONE) & (before != port))
            if len(other):
                switch = tree.name_of(hosts + int(row[other[0]]))
                goal = tree.name_of(int(beyond[other[0]]))
                raise RoutingError(f"{spec}: the next hop from {switch} to {goal} depends on the source")
            out[row, beyond] = port
    return out


# Forwarding tables of routings, on fabrics generated from their topologies


def tables_of(routing: Routing, fabric: Fabric) -> Tables:
    """Return the forwarding tables of a routing, on the fabric of its topology.

    Parameters
    ----------
    routing : Routing
        With one path per pair, the next hop of which depends on the switch and the destination only.
    fabric : Fabric
        Of :func:`from_topology`, also written and read again; with LIDs.

    Returns
    -------
    Tables
        All LIDs of a host are forwarded to the same ports. There are entries only where paths of the
        routing lead: for hosts at switches that their packets reach, and for a switch at itself.

    Raises
    ------
    RoutingError
        If the routing has several paths per pair or its next hops depend on the source.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology
    >>> tree = obliv.topology("fattree:4,2")
    >>> tables_of(obliv.routing("dmodk", tree), from_topology(tree))
    <Tables dmodk: 6 switches, LIDs to 14>
    """
    topology, cabling = routing.topology, cabling_of(routing.topology)
    if not np.array_equal(cabling.first_slot, fabric.first_slot) or not np.array_equal(cabling.peer, fabric.ports.peer):
        raise RoutingError(f"{routing.spec} is on {topology.spec}, but {fabric.name} has other cables")
    ends = cabling.first_slot[cabling.host] + 1
    lids, many = fabric.ports.lid[ends].astype(np.int64), 1 << fabric.ports.lmc[ends].astype(np.int64)
    if (lids == 0).any():
        raise RoutingError(f"{fabric.name} has no LIDs: assign them first")
    switches = fabric.switches
    top = int(max((lids + many).max() - 1, fabric.ports.lid.max()))
    require_memory(2.0 * len(switches) * (top + 1), f"tables of {len(switches)} switches for {top} LIDs")
    out = np.full((len(switches), top + 1), NONE, np.uint8)
    if _plain_tree(routing) and not cabling.added:
        tree = routing.topology
        sources = np.arange(0, tree.below[-1], routing.alike)
        towards = tree_ports(tree, routing.ways, sources, routing.spec)
    else:
        towards = _of_paths(routing, cabling, fabric)
    for offset in range(many.max()):
        hosts = np.flatnonzero(offset < many)
        out[:, lids[hosts] + offset] = towards[:, hosts]
    own = fabric.ports.lid[fabric.first_slot[switches]]
    rows = np.flatnonzero(own)
    out[rows, own[rows]] = 0
    return Tables(routing.spec, switches.astype(np.int32), out, np.zeros(len(switches), np.int32), "opensm", top)


def _plain_tree(routing: Routing) -> TypeGuard[TreeRouting]:
    return (
        isinstance(routing, TreeRouting)
        and single_path(routing) is not None
        and routing.topology.parents[0] == 1
        and np.array_equal(routing.topology.terminals, np.arange(routing.topology.below[-1]))
    )


def _of_paths(routing: Routing, cabling: Cabling, fabric: Fabric) -> Array:
    """Return the port for every switch and terminal."""
    out = np.full((len(fabric.switches), len(cabling.host)), NONE, np.uint8)
    at, port = (
        fabric.switch_row[fabric.node_of[cabling.slot]],
        cabling.slot - fabric.first_slot[fabric.node_of[cabling.slot]],
    )
    for k, channels in _towards(routing):
        leaving = channels[at[channels] >= 0]  # channels from hosts need no table
        out[at[leaving], k] = port[leaving]
        if cabling.added:
            end = int(fabric.ports.peer[cabling.first_slot[cabling.host[k]] + 1])
            out[fabric.switch_row[fabric.node_of[end]], k] = fabric.port_of(end)
    return out


def _towards(routing: Routing) -> Iterator[tuple[int, Array]]:
    """Yield for every terminal the channels that packets for it take, at most one from each node."""
    topology = routing.topology
    terminals, name = topology.terminals.tolist(), topology.name_of
    if (next_hops := find(routing, NextHops)) is not None:
        for k, d in enumerate(terminals):
            hops = next_hops.hops_to(d)
            several = np.flatnonzero(np.diff(hops.ptr) > 1)
            if len(several):
                raise RoutingError(
                    f"{routing.spec}: {name(int(several[0]))} has several next hops towards {name(d)}, a table one: "
                    "shortest fits any network, and obliv fabric route makes other tables"
                )
            yield k, hops.channel
        return
    for k, d in enumerate(terminals):
        chosen: dict[int, int] = {}
        for s in terminals:
            for channel in _only_path(routing, s, d) if s != d else ():
                at = int(topology.tail[channel])
                if chosen.setdefault(at, channel) != channel:
                    raise RoutingError(
                        f"{routing.spec}: the next hop from {name(at)} to {name(d)} depends on the source: "
                        "obliv fabric route computes tables with several LIDs per host"
                    )
        yield k, np.array(list(chosen.values()), np.int64)


def _only_path(routing: Routing, source: int, destination: int) -> Sequence[int]:
    paths = [channels for channels, chance in checked_paths(routing, source, destination) if chance]
    if len(paths) != 1:
        pair = f"from {routing.topology.name_of(source)} to {routing.topology.name_of(destination)}"
        single = "shortest or dmodk" if isinstance(routing.topology, Tree) else "shortest"
        raise RoutingError(f"{routing.spec} has {len(paths)} paths {pair}: tables need one, as with {single}")
    return paths[0]


_HOST_GUID = 0x0002C90300100000  # sixteen per host; the second is that of its port
_SWITCH_GUID = 0x0002C90200001000  # four per switch


def from_topology(
    topology: Topology, *, rate: str = "4xQDR", lids: bool = True, lmc: int = 0, extended_lids: bool = False
) -> Fabric:
    """Return the fabric that has the cabling of a topology.

    Parameters
    ----------
    topology : Topology
        Every channel needs one in the other direction; the two are a cable. If every terminal has a single link, to a
        node that is not a terminal, terminals become hosts and all other nodes switches; else every node becomes a
        switch, with a host at port 1 where it is a terminal. Ports are numbered in the order of a node's channels;
        in a damaged network as before the failures, so that lost cables leave their ports free.
    rate : str
        Width and speed of a cable of bandwidth 1.
    lids : bool
        Whether LIDs are assigned: from 1, switches first. Else they are 0, as before a subnet manager has run.
    lmc : int
        Every host has 2**lmc LIDs.
    extended_lids : bool
        Whether LIDs may go beyond 49151, the last one of InfiniBand, up to 24 bits as on Omni-Path.

    Returns
    -------
    Fabric
        Hosts come first, in the order of the terminals, then the switches in the order of the nodes.

    Examples
    --------
    >>> import obliv
    >>> from_topology(obliv.topology("fattree:4,2"))
    <Fabric fattree:4,2: 6 switches, 8 endpoints, 16 cables>
    >>> from_topology(obliv.topology("torus:3x3"))
    <Fabric torus:3x3: 9 switches, 9 endpoints, 27 cables>
    """
    lids, extended_lids = boolean(lids, "lids"), boolean(extended_lids, "extended_lids")
    if not 0 <= integer(lmc, "lmc") <= 7:
        raise TopologyError(f"lmc={lmc}: hosts have 2**lmc LIDs, lmc is 0 to 7")
    rate = next((name for name in RATES if name.lower() == rate.lower()), rate)
    if rate not in RATES:
        near = did_you_mean(rate.upper().replace("X", "x", 1), RATES)
        names = f"write a width ({', '.join(WIDTHS)}) and a speed ({', '.join(SPEEDS)}), as 4xHDR for 200 Gb/s"
        raise TopologyError(f"rate {shown(rate)} is unknown: {near if near.startswith('did') else names}")
    if lids:
        hosts = len(topology.terminals)
        require_lids(topology.nodes - (0 if topology.all_terminals else hosts), hosts, lmc, extended=extended_lids)
    cabling = cabling_of(topology)
    hosts, nodes = len(cabling.host), len(cabling.first_slot) - 1
    switches = nodes - hosts
    slots = len(cabling.peer)
    of_hosts, of_switches = _HOST_GUID + 16 * np.arange(hosts), _SWITCH_GUID + 4 * np.arange(switches)
    guid = np.concatenate([of_hosts, of_switches]).astype(np.uint64)
    port_guid = np.zeros(slots, np.uint64)
    port_guid[cabling.first_slot[:hosts] + 1] = guid[:hosts] + np.uint64(1)
    port_guid[cabling.first_slot[hosts:-1]] = guid[hosts:]
    place, rates = _rates(topology, cabling, RATES[rate])
    fabric = Fabric(
        name=topology.spec,
        nodes=Nodes(
            kind=("ca",) * hosts + ("switch",) * switches,
            ident=tuple(f"{'H' if v < hosts else 'S'}-{number:016x}" for v, number in enumerate(guid.tolist())),
            guid=guid,
            description=_descriptions(topology, cabling),
            line=np.zeros(nodes, np.int32),
        ),
        ports=Ports(
            peer=cabling.peer,
            guid=port_guid,
            lid=np.zeros(slots, np.int32),
            lmc=np.zeros(slots, np.int8),
            rate=place,
            line=np.zeros(slots, np.int32),
        ),
        first_slot=cabling.first_slot,
        rates=rates,
        sources=topology.sources,
        extended_lids=extended_lids,
    )
    return with_lids(fabric, lmc) if lids else fabric


def from_routing(routing: Routing, *, rate: str = "4xQDR") -> FabricRouting:
    """Return a routing as forwarding tables, on a fabric generated from its topology.

    Parameters
    ----------
    routing : Routing
        With one path per pair, that depends on the switch and the destination only; see :func:`tables_of`.
    rate : str
        As for :func:`from_topology`.

    Returns
    -------
    FabricRouting

    Examples
    --------
    >>> import obliv
    >>> from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    <Routing lft:dmodk on fabric:fattree:4,2>
    """
    fabric = from_topology(routing.topology, rate=rate)
    return fabric_routing(network(fabric), tables_of(routing, fabric))


def _rates(topology: Topology, cabling: Cabling, base: Fraction) -> tuple[Array, tuple[Fraction, ...]]:
    """Return the place of every slot's rate, and the rates."""
    known = set(RATES.values())
    number = {base: 0}
    place = np.where(cabling.peer >= 0, 0, -1).astype(np.int32)
    for channel, bandwidth in enumerate(topology.bandwidth):
        rate = base * bandwidth
        if rate not in known:
            raise TopologyError(
                f"{topology.spec}: {topology.channel_name(channel)} would carry {rate} Gb/s, a rate that no cable has"
            )
        place[cabling.slot[channel]] = number.setdefault(rate, len(number))
    injection, ejection = topology.rates()
    for k, (sends, takes) in enumerate(zip(injection, ejection, strict=True)):
        if sends != takes or base * sends not in known:
            raise TopologyError(
                f"{topology.spec}: terminal {k} sends {sends} and takes {takes} packets per cycle: no cable fits"
            )
        if sends == 1 and topology.unit_rates:
            continue
        end = cabling.first_slot[cabling.host[k]] + 1
        place[[end, cabling.peer[end]]] = number.setdefault(base * sends, len(number))
    return place, tuple(number)


def _descriptions(topology: Topology, cabling: Cabling) -> tuple[str, ...]:
    # coordinates are no names of devices; damaged networks have them as labels
    labels = tuple("" if label.startswith("(") else label for label in topology.labels) or ("",) * topology.nodes
    descriptions = [""] * (len(cabling.first_slot) - 1)
    for v in range(topology.nodes):
        descriptions[cabling.node[v]] = labels[v] or f"switch{topology.name_of(v)}"
    for k, v in enumerate(topology.terminals.tolist()):
        if labels[v]:
            descriptions[cabling.host[k]] = f"host {labels[v]}" if cabling.added else labels[v]
        else:
            descriptions[cabling.host[k]] = f"host{topology.name_of(v)}"
    return tuple(descriptions)
