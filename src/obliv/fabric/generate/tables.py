"""Forwarding tables of routings, on fabrics generated from their topologies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.generate.cabling import Cabling, cabling_of
from obliv.fabric.generate.tree_ports import tree_ports
from obliv.fabric.model import Fabric
from obliv.fabric.tables import NONE, Tables
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths
from obliv.routings.trees.base import TreeRouting
from obliv.topologies.trees import Tree

__all__ = ["tables_of"]


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
    >>> from obliv.fabric.generate.from_topology import from_topology
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
        and routing.by_number is routing
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
    if routing.by_hops is not None:
        for k, d in enumerate(terminals):
            hops = routing.by_hops.hops_to(d)
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
