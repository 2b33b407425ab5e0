"""The pairs of a fabric whose packets do not arrive, and where they are lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.fabric.kernels.traces import trace_columns
from obliv.fabric.messages import at_node, at_port, called, lid_list, port_count_known, port_name, route_text
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.trace import Ending, Traces
from obliv.fabric.tables import NONE, Tables
from obliv.kernels import run

__all__ = ["Served", "check_routes", "count_lost"]


_MAX_GROUPS = 20_000  # losses that are reported separately


@dataclass
class Served:
    """The ordered pairs of endpoints that the tables do not serve, and the losses that were reported.

    A pair is unrouted where packets for one of its destination's LIDs do not arrive; `loops`, `dead_ends` (the route
    stops at a switch) and `wrong_ends` (it leads to another host) count the pairs that have such a route.
    """

    unrouted: int = 0
    loops: int = 0
    dead_ends: int = 0
    wrong_ends: int = 0
    reported: set[tuple[int, int]] = field(default_factory=set)  # switch, Ending


class Loss(NamedTuple):
    """Packets that are lost at a switch: how their routes end, their LIDs, and the number of pairs that lack them."""

    node: int
    ending: Ending
    lids: list[int]
    pairs: int


def check_routes(traces: Traces, owner: dict[int, int], dropped: int, notes: tuple[Notes, Notes]) -> Served:
    """Count the pairs that are not served and note the reasons, switch by switch.

    Parameters
    ----------
    traces : Traces
        Between all endpoints.
    owner : dict
        The slot of every LID.
    dropped : int
        The LID that the dump left out, which is reported elsewhere; 0 if it left out nothing.
    notes : two Notes
        About the topology and about the tables.
    """
    fabric, tables, code = traces.fabric, traces.tables, traces.code
    about_topology, about_tables = notes
    ends, leaf_of = traces.ends, traces.leaf_of
    served = Served()
    hosts = np.bincount(leaf_of[leaf_of >= 0], minlength=len(traces.leaf))
    count_lost(served, traces, hosts)
    _without_switch(served, traces, about_topology)
    _without_lid(fabric, ends, about_topology)
    if not code.any():
        return served
    require_memory(24.0 * code.size, f"where packets of {fabric.name} are lost")
    at = np.empty(code.shape, np.int32)
    run(trace_columns, 6.0 * code.size, traces.leaf, traces.lid, traces.endpoint, traces.hops, code, at)
    row, column = np.nonzero(code)
    lost = hosts[row] - (leaf_of[traces.endpoint[column]] == row)
    silent = (traces.lid[column] == dropped) & (code[row, column] == Ending.NO_ENTRY) & (dropped > 0)
    reported = (lost > 0) & ~silent & (code[row, column] != Ending.NO_LID)
    row, column, lost = row[reported], column[reported], lost[reported]
    where, why, lid = at[row, column], code[row, column], traces.lid[column].astype(np.int64)
    order = np.lexsort((lid, where, why))
    where, why, lid, lost = (values[order] for values in (where, why, lid, lost))
    starts = np.flatnonzero(np.r_[True, (np.diff(where) != 0) | (np.diff(why) != 0)]) if len(where) else where
    loops: dict[tuple[int, ...], list[tuple[int, int]]] = {}  # of every loop: LIDs, and pairs that lose packets
    for start, end in zip(starts[:_MAX_GROUPS].tolist(), [*starts.tolist(), len(where)][1:], strict=False):
        node, ending = int(where[start]), Ending(int(why[start]))
        served.reported.add((node, int(ending)))
        lids, member = np.unique(lid[start:end], return_inverse=True)
        pairs = np.bincount(member, lost[start:end]).astype(np.int64).tolist()
        if ending is Ending.LOOP:
            for looping, count in zip(lids.tolist(), pairs, strict=True):
                loops.setdefault(_loop(traces, node, looping), []).append((looping, count))
        else:
            _report(traces, Loss(node, ending, lids.tolist(), sum(pairs)), owner, about_tables)
    for slots, lost_to in loops.items():
        text = (
            f"packets for {lid_list(fabric, [lid for lid, _ in lost_to], owner)} loop: {route_text(fabric, slots)} "
            f"-> back to the first; {plural(sum(count for _, count in lost_to), 'pair')} cut off: reroute"
        )
        line = tables.line_of(int(fabric.node_of[slots[0]]))
        about_tables.add("error", "loop", text, line, at_port(fabric, slots[0]))
    return served


def count_lost(served: Served, traces: Traces, hosts: Array) -> None:
    """Count the pairs with lost packets, from every leaf as often as it has hosts."""
    leaf_of = traces.leaf_of
    for step in range(0, len(traces.leaf), 64):  # a few leaves at a time
        part = slice(step, min(step + 64, len(traces.leaf)))
        code = traces.code[part]
        if not code.any():
            continue
        weight = np.repeat(hosts[part, None], len(leaf_of), axis=1)
        own = np.flatnonzero((leaf_of >= part.start) & (leaf_of < part.stop))
        weight[leaf_of[own] - part.start, own] -= 1

        def pairs(bad: Array, weight: Array = weight) -> int:
            return int(weight[np.logical_or.reduceat(bad, traces.first_column[:-1], axis=1)].sum())

        lost, looping, elsewhere = code != Ending.DELIVERED, code == Ending.LOOP, code == Ending.WRONG_END
        served.unrouted += pairs(lost)
        served.loops += pairs(looping)
        served.dead_ends += pairs(lost & ~looping & ~elsewhere)
        served.wrong_ends += pairs(elsewhere)


def _without_switch(served: Served, traces: Traces, notes: Notes) -> None:
    """Count and note endpoints cabled to no switch: they reach only the other end of their cable."""
    fabric, ends = traces.fabric, traces.ends
    number = positions(ends, len(fabric.ports.peer))
    for slot in ends[traces.leaf_of < 0].tolist():
        lacking = len(ends) - 1 - int(number[fabric.ports.peer[slot]] >= 0)
        served.unrouted += lacking
        served.dead_ends += lacking
        if lacking:
            text = f"{port_name(fabric, slot)} is cabled to no switch: {plural(lacking, 'endpoint')} out of reach"
            notes.add("error", "no-switch", text, fabric.ports.line[slot], at_port(fabric, slot))


def _without_lid(fabric: Fabric, ends: Array, notes: Notes) -> None:
    """Note endpoints without a LID."""
    for slot in ends[fabric.ports.lid[ends] <= 0].tolist():
        text = f"{port_name(fabric, slot)} has no LID, so nothing can be sent to it; run the subnet manager"
        notes.add("error", "no-lid", text, fabric.ports.line[slot], at_port(fabric, slot))


def _report(traces: Traces, loss: Loss, owner: dict[int, int], notes: Notes) -> None:
    """Note that packets for some LIDs are lost at a switch."""
    fabric, tables, (node, ending, lids, pairs) = traces.fabric, traces.tables, loss
    who, what = called(fabric, node), lid_list(fabric, lids, owner)
    cut = f"{plural(pairs, 'pair')} cut off"
    line = tables.line_of(node)
    if ending is Ending.NO_TABLE:
        text = f"{who} has no table, but packets for {what} reach it: {cut}; dump the tables of all switches"
        notes.add("error", "missing-table", text, 0, at_node(fabric, node))
        return
    if not tables.used[tables.row_of[node]]:
        text = f"the table of {who} is empty: {cut}; dump it again"
        notes.add("error", "empty-table", text, line, at_node(fabric, node))
        return
    ports = _ports(tables, node, lids)
    port, place = _ports_text(fabric, node, ports), at_node(fabric, node)
    if len(ports) == 1:
        slot = fabric.slot(node, ports[0])
        place = at_port(fabric, slot) if slot >= 0 and ports[0] else at_node(fabric, node, ports[0])
    if ending is Ending.NO_ENTRY:
        text = f"{who} has no route to {what}: {cut}; dump again, or reroute"
        notes.add("error", "no-route", text, line, place)
    elif ending is Ending.NO_PORT and not port_count_known(fabric, node):
        text = (
            f"{who} sends {what} to {port}, where no cable is known; the topology does not give its number "
            f"of ports either: {cut}; scan the whole fabric again"
        )
        notes.add("error", "dead-end", text, line, place)
    elif ending is Ending.NO_PORT:
        known = plural(int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1, "port")
        text = f"{who} sends {what} to {port}, but has only {known}: {cut}; OpenSM would reject the whole file"
        notes.add("error", "port-beyond", text, line, place)
    elif ending is Ending.NO_CABLE:
        text = f"{who} sends {what} to {port}, where there is no cable: {cut}; connect one, or reroute"
        notes.add("error", "dead-end", text, line, place)
    else:
        notes.add("error", "wrong-end", f"{who} sends {what} to {port}: {cut}; reroute", line, place)


def _ports(tables: Tables, node: int, lids: list[int]) -> list[int]:
    """Return the ports to which a switch sends some LIDs."""
    entries = tables.out[tables.row_of[node]]
    return sorted({int(entries[lid]) for lid in lids if lid < len(entries)} - {NONE})


def _ports_text(fabric: Fabric, node: int, ports: list[int]) -> str:
    """Return some ports of a switch, and what is there."""
    if ports == [0]:
        return "port 0, itself"
    if len(ports) != 1:
        return "ports " + ", ".join(map(str, ports[:5])) + (", ..." if len(ports) > 5 else "")
    slot = fabric.slot(node, ports[0])
    peer = int(fabric.ports.peer[slot]) if slot >= 0 else -1
    return f"port {ports[0]}" + (f", which leads to {port_name(fabric, peer)}" if peer >= 0 else "")


def _loop(traces: Traces, node: int, lid: int) -> tuple[int, ...]:
    """Return the slots of the loop that a switch is on."""
    first, to, row, out = traces.hops
    slots: list[int] = []
    at = node
    while not slots or at != node:
        slots.append(int(first[at]) + int(out[lid, row[at]]))
        at = int(to[slots[-1]])
    return tuple(slots)
