"""Fabrics generated from topologies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from obliv._util.rationals import boolean, integer
from obliv._util.text import did_you_mean, shown
from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.fabric.generate.cabling import Cabling, cabling_of
from obliv.fabric.generate.tables import tables_of
from obliv.fabric.lids import require_lids, with_lids
from obliv.fabric.model import RATES, SPEEDS, WIDTHS, Fabric, Nodes, Ports
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

__all__ = ["from_routing", "from_topology", "tables_of"]


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
