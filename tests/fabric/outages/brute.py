"""Failures one by one from scratch: tables changed by following single routes, worst cases by the general solver."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from tests.fabric.damage import without

import obliv
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.outages.sets import Change
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import Ending, trace
from obliv.fabric.topology import network

OWN = "a host's own cable"  # what stands for a channel where none between switches has the worst load

After = tuple[int, Fraction, bool, set[str]]


def after(routing: FabricRouting, failure: Change, repair: str, offset: str = "0") -> After:
    """Pairs lost, worst load, whether there is a credit loop, and names of channels with this load, after a failure."""
    before, tables = routing.topology.fabric, routing.routes.tables
    fabric = without(before, failure.slots)
    if repair == "refill":
        tables = refilled(before, fabric, tables, failure, routing.topology.ends.tolist())
    rows = [row for row, node in enumerate(tables.switch.tolist()) if node not in failure.switches]
    left = replace(tables, switch=tables.switch[rows], out=tables.out[rows], line=tables.line[rows])
    new = fabric_routing(network(fabric), left, offset, missing="skip")
    channels = obliv.worst_channels(new, symmetry="off").channels
    worst = max((row.channel_load for row in channels), default=Fraction(0))
    topology = new.topology
    hot = [row.channel.id for row in channels if row.channel_load == worst > 0]
    names = {topology.cable(c).ends for c in hot}
    if all(topology.at_host[c] for c in hot):
        names.add(OWN if hot else "")
    return new.skipped - routing.skipped, worst, not credit_loops(new.routes.traces).acyclic, names


def refilled(before: Fabric, fabric: Fabric, tables: Tables, failure: Change, ends: list[int]) -> Tables:
    """Tables in which each switch that lost a port has chosen others."""
    lids = [
        (lid, slot)
        for slot in ends
        for lid in range(before.ports.lid[slot], before.ports.lid[slot] + (1 << int(before.ports.lmc[slot])))
    ]
    out = tables.out.copy()
    dead = [end for slot in failure.slots for end in (slot, int(before.ports.peer[slot]))]
    for slot in dead:
        node, port = int(before.node_of[slot]), before.port_of(slot)
        row = tables.row_of[node]
        gone = {before.port_of(other) for other in dead if before.node_of[other] == node}
        uses = Counter(int(port) for port in out[row, [lid for lid, _ in lids]])
        for other in gone:
            uses[other] = 0
        for lid, end in lids:
            if tables.out[row, lid] != port:
                continue
            if trace(before, tables, int(before.first_slot[node]), lid).ending != Ending.DELIVERED:
                continue
            ways = []
            for q in range(1, int(before.first_slot[node + 1] - before.first_slot[node])):
                ahead = int(fabric.ports.peer[before.first_slot[node] + q])
                if ahead == end:
                    ways.append((1, uses[q], q))
                elif ahead >= 0 and before.nodes.kind[before.node_of[ahead]] == "switch":
                    start = int(before.first_slot[before.node_of[ahead]])
                    route = trace(fabric, tables, start, lid)
                    if route.ending == Ending.DELIVERED:
                        ways.append((1 + len(route.slots), uses[q], q))
            if ways:
                out[row, lid] = min(ways)[2]
                uses[min(ways)[2]] += 1
            else:
                out[row, lid] = NONE
    return replace(tables, out=out)
