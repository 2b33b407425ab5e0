"""The pairs of a fabric whose packets do not arrive, where they are lost, and checks of group tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array, positions
from obliv._util.progress import require_memory
from obliv._util.text import plural
from obliv.fabric.adaptive.loads import PackedGroups, first_alike, packed, traced
from obliv.fabric.model import (
    NONE,
    Fabric,
    Notes,
    Tables,
    at_node,
    at_port,
    called,
    lid_list,
    port_count_known,
    port_name,
    route_text,
)
from obliv.fabric.names import NO_STATE, STATES, STATIC, Groups, GroupTables, owners, ports_of
from obliv.fabric.results.check import ChoiceCheck, CreditLoop
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.trace import Ending, Traces, ending_of, route_slots

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
    """Packets that are lost at a switch: how their routes end, their LIDs, and the number of pairs that lack each."""

    node: int
    ending: Ending
    lids: list[int]
    pairs: list[int]

    @property
    def cut(self) -> str:
        """The number of pairs, in words."""
        return plural(sum(self.pairs), "pair")


def check_routes(traces: Traces, owner: dict[int, int], dropped: int, notes: tuple[Notes, Notes]) -> Served:
    """Count the pairs that are not served and note the reasons, switch by switch."""
    fabric, tables = traces.fabric, traces.tables
    about_topology, about_tables = notes
    ends, leaf_of = traces.ends, traces.leaf_of
    served = Served()
    hosts = np.bincount(leaf_of[leaf_of >= 0], minlength=len(traces.leaf))
    count_lost(served, traces, hosts)
    _without_switch(served, traces, about_topology)
    for slot in ends[fabric.ports.lid[ends] <= 0].tolist():
        text = f"{port_name(fabric, slot)} has no LID, so nothing can be sent to it; run the subnet manager"
        about_topology.add("error", "no-lid", text, fabric.ports.line[slot], at_port(fabric, slot))
    loops: dict[tuple[int, ...], list[tuple[int, int]]] = {}  # of every loop: LIDs, and pairs that lose packets
    for loss in losses(traces, hosts, dropped):
        served.reported.add((loss.node, int(loss.ending)))
        if loss.ending is Ending.LOOP:
            for looping, count in zip(loss.lids, loss.pairs, strict=True):
                loops.setdefault(tuple(route_slots(traces.hops, loss.node, looping)), []).append((looping, count))
        else:
            _report(traces, loss, owner, about_tables)
    for slots, lost_to in loops.items():
        text = (
            f"packets for {lid_list(fabric, [lid for lid, _ in lost_to], owner)} loop: {route_text(fabric, slots)} "
            f"-> back to the first; {plural(sum(count for _, count in lost_to), 'pair')} cut off: reroute"
        )
        line = tables.line_of(int(fabric.node_of[slots[0]]))
        about_tables.add("error", "loop", text, line, at_port(fabric, slots[0]))
    return served


def losses(traces: Traces, hosts: Array, dropped: int = 0) -> Iterator[Loss]:
    """Yield where packets are lost, by ending and switch; entries for LID `dropped` may be missing in a dump."""
    columns = np.flatnonzero(traces.code.any(axis=0))
    require_memory(24.0 * len(traces.leaf) * len(columns), f"where packets of {traces.fabric.name} are lost")
    at = ending_of(traces, columns, where=True)[1]
    leaf, place = np.nonzero(traces.code[:, columns])
    where, why, column = at[leaf, place], traces.code[leaf, columns[place]], columns[place]
    lid, lost = traces.lid[column].astype(np.int64), hosts[leaf] - (traces.leaf_of[traces.endpoint[column]] == leaf)
    silent = (lid == dropped) & (why == Ending.NO_ENTRY) & (dropped > 0)
    some = np.flatnonzero((lost > 0) & ~silent & (why != Ending.NO_LID))
    order = some[np.lexsort((lid[some], where[some], why[some]))]
    where, why, lid, lost = (values[order] for values in (where, why, lid, lost))
    starts = np.flatnonzero(np.r_[True, (np.diff(where) != 0) | (np.diff(why) != 0)]) if len(where) else where
    for start, end in zip(starts[:_MAX_GROUPS].tolist(), [*starts.tolist(), len(where)][1:], strict=False):
        lids, member = np.unique(lid[start:end], return_inverse=True)
        pairs = np.bincount(member, lost[start:end]).astype(np.int64).tolist()
        yield Loss(int(where[start]), Ending(int(why[start])), lids.tolist(), pairs)


def count_lost(served: Served, traces: Traces, hosts: Array) -> None:
    """Count the pairs with lost packets, from every leaf as often as it has hosts."""
    leaf_of = traces.leaf_of
    for step in range(0, len(traces.leaf), 64):  # a few leaves at a time
        leaves = slice(step, min(step + 64, len(traces.leaf)))
        code = traces.code[leaves]
        if not code.any():
            continue
        weight = np.repeat(hosts[leaves, None], len(leaf_of), axis=1)
        columns = np.flatnonzero((leaf_of >= leaves.start) & (leaf_of < leaves.stop))
        weight[leaf_of[columns] - leaves.start, columns] -= 1

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


def _report(traces: Traces, loss: Loss, owner: dict[int, int], notes: Notes) -> None:
    """Note that packets for some LIDs are lost at a switch."""
    fabric, tables, (node, ending, lids, _) = traces.fabric, traces.tables, loss
    who, what = called(fabric, node), lid_list(fabric, lids, owner)
    cut = f"{loss.cut} cut off"
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


# Checks of group tables: what packets can meet, whatever switches choose


def check_groups(fabric: Fabric, groups: GroupTables, tables: Tables | None, notes: Notes) -> tuple[ChoiceCheck, ...]:
    """Note defects of group tables; return what packets can meet by each private LFT."""
    owner = owners(fabric)
    if len(groups.plfts) > 1:
        listed = ", ".join(map(str, groups.plfts))
        text = f"{len(groups.plfts)} private LFTs ({listed}), each checked as if packets stay in it: "
        notes.add("note", "private-lfts", text + "which one a packet uses, by its port and SL, is not in this file")
    _check_entries(fabric, groups, owner, notes)
    if tables is not None:
        _compare(fabric, groups, tables, owner, notes)
    if not len(fabric.endpoints) or not fabric.ports.lid[fabric.endpoints].any():
        return ()
    return tuple(_check_choices(fabric, groups.of_plft(plft), plft, owner, notes) for plft in groups.plfts)


def _check_entries(fabric: Fabric, groups: GroupTables, owner: dict[int, int], notes: Notes) -> None:
    """Note entries without a group and static ports outside, and groups with ports that lead nowhere."""
    assigned, needed = np.zeros(groups.state.shape[1], bool), np.zeros(groups.state.shape[1], bool)
    assigned[[lid for lid in owner if lid < len(assigned)]] = True
    ends = set(fabric.endpoints.tolist())
    needed[[lid for lid, slot in owner.items() if lid < len(assigned) and slot in ends]] = True
    listed = np.zeros(256, np.int64)  # LIDs of each state
    numbers = np.flatnonzero(assigned)
    for row, node in enumerate(groups.switch.tolist()):
        state = groups.state[row]
        listed += np.bincount(state[numbers], minlength=256)
        adaptive = (state != NO_STATE) & (state != STATIC) & assigned
        table = groups.groups[row]
        suspicious = _suspicious(fabric, node, table, groups.group[row][adaptive], groups.port[row][adaptive])
        if not suspicious:
            continue
        line, place, who = int(groups.line[row]), at_node(fabric, node), called(fabric, node)
        for number in suspicious:
            lids = np.flatnonzero(adaptive & (groups.group[row] == number))
            listing = lid_list(fabric, lids.tolist(), owner)
            ports = ports_of(table.get(number, ()))
            severity = "error" if needed[lids].any() else "warning"  # else no host needs it
            if not ports:
                lack = "is empty" if number in table else "is not defined"
                text = f"{who} has group {number} for {listing}, which {lack}: "
                text += "dump again, or set up adaptive routing again"
                notes.add(severity, "no-group", text, line, place)
                continue
            bad = _bad_ports(fabric, node, ports)
            if bad:
                text = f"group {number} of {who}, for {listing}, has {', '.join(bad[:5])}: packets can be lost there"
                notes.add(severity, "group-port", text, line, place)
            outside = lids[~np.isin(groups.port[row][lids], (*ports, NONE))]
            if len(outside):
                text = (
                    f"{who} has static port {groups.port[row][outside[0]]} for "
                    f"{lid_list(fabric, outside.tolist(), owner)}, which is not in its group {number}"
                )
                notes.add(
                    "warning", "static-port", text, line, at_node(fabric, node, int(groups.port[row][outside[0]]))
                )
    _note_states(groups, listed, notes)


def _note_states(groups: GroupTables, listed: Array, notes: Notes) -> None:
    """Note how many LIDs have each state, and tables with weights."""
    counts = ", ".join(f"{listed[k]:,} {name}" for k, name in enumerate(STATES) if listed[k])
    notes.add("note", "states", f"states of LIDs: {counts or 'none'}", int(groups.line[0]) if len(groups.line) else 0)
    weighted = sum(any(part.weight for parts in table.values() for part in parts) for table in groups.groups)
    if weighted:
        text = f"{plural(weighted, 'table')} with weights of sub-groups (WHBF), which do not count here"
        notes.add("note", "weights", text)


def _suspicious(fabric: Fabric, node: int, table: Groups, group: Array, static: Array) -> list[int]:
    """Return the groups of a switch that are empty, have ports without a cable, or lack the static port of a LID."""
    # `group` and `static` are those of the LIDs for which it is adaptive.
    met = np.zeros((int(group.max(initial=0)) + 1, 256), bool)
    met[group, static] = True
    first, end = fabric.first_slot[node : node + 2]
    cabled = set(np.flatnonzero(fabric.ports.peer[first:end] >= 0).tolist())
    found = []
    for number in np.flatnonzero(met.any(axis=1)).tolist():
        ports = set(ports_of(table.get(number, ())))
        if not ports or not ports <= cabled or not ports.issuperset(set(np.flatnonzero(met[number]).tolist()) - {NONE}):
            found.append(number)
    return found


def _bad_ports(fabric: Fabric, node: int, ports: tuple[int, ...]) -> list[str]:
    """Return what is wrong with some ports of a switch."""
    bad = []
    for port in ports:
        slot = fabric.slot(node, port)
        if port == 0:
            bad.append("port 0, the switch itself")
        elif slot < 0:
            bad.append(f"port {port}, which the switch does not have")
        elif fabric.ports.peer[slot] < 0:
            bad.append(f"port {port}, where there is no cable")
    return bad


def _compare(fabric: Fabric, groups: GroupTables, tables: Tables, owner: dict[int, int], notes: Notes) -> None:
    """Note switches whose forwarding table differs from the static ports."""
    first = groups.of_plft(groups.plfts[0]) if groups.plfts else groups
    wide = min(first.port.shape[1], tables.out.shape[1])
    differing: list[tuple[int, int, Array]] = []
    for row, node in enumerate(first.switch.tolist()):
        place = tables.row_of.get(node)
        if place is None:
            continue
        known = (first.state[row, :wide] != NO_STATE) & (tables.out[place, :wide] != NONE)
        differ = np.flatnonzero(known & (first.port[row, :wide] != tables.out[place, :wide]))
        if len(differ):
            differing.append((row, node, differ))
    if differing:
        row, node, lids = differing[0]
        what = lid_list(fabric, lids.tolist(), owner)
        text = (
            f"{plural(len(differing), 'switch', 'switches')} with forwarding tables that differ from the static ports, "
            f"first {called(fabric, node)} for {what}: older switches do not use them while adaptive routing is on; "
            "else the files are of different times"
        )
        notes.add("warning", "static-differs", text, int(first.line[row]), at_node(fabric, node))


def _check_choices(fabric: Fabric, groups: GroupTables, plft: int, owner: dict[int, int], notes: Notes) -> ChoiceCheck:
    """Note where packets can be lost or go round, and whether they can wait for each other, by one private LFT."""
    sets = packed(fabric, groups)
    traces = traced(sets)
    served = Served()
    hosts = np.bincount(traces.leaf_of[traces.leaf_of >= 0], minlength=len(traces.leaf))
    count_lost(served, traces, hosts)
    for loss in losses(traces, hosts):
        _report_groups(sets, loss, owner, notes)
    loops = credit_loops(traces, np.unique(first_alike(sets, traces)))
    if cycle := loops.cycle:
        text = (
            f"packets can wait for each other forever, by some choices of the switches: {route_text(fabric, cycle)} -> "
            "back to the first; this takes one virtual lane for all of them"
        )
        line = groups.line[np.flatnonzero(groups.switch == fabric.node_of[cycle[0]])]
        notes.add("warning", "choice-credit-loop", text, int(line[0]), at_port(fabric, cycle[0]))
    ports = tuple(port_name(fabric, slot) for slot in cycle)
    credit = CreditLoop(loops.acyclic, loops.dependencies, ports or None)
    adaptive = (groups.state != NO_STATE) & (groups.state != STATIC)
    return ChoiceCheck(plft, int(adaptive.sum()), served.unrouted, served.loops, credit)


def _report_groups(sets: PackedGroups, loss: Loss, owner: dict[int, int], notes: Notes) -> None:
    """Note that packets for some LIDs can be lost at a switch, or go round from there."""
    fabric = sets.fabric
    node = loss.node
    line = sets.groups.line[sets.groups.switch == node]
    where = int(line[0]) if len(line) else 0
    what, cut = lid_list(fabric, loss.lids, owner), loss.cut
    if loss.ending is Ending.LOOP:
        loop = _group_loop(sets, node, loss.lids[0])
        text = f"packets for {what} can go round: {route_text(fabric, loop)} -> back to the first; {cut} concerned"
        notes.add("error", "choice-loop", text, where, at_port(fabric, loop[0]))
        return
    who = called(fabric, node)
    if loss.ending in (Ending.NO_TABLE, Ending.NO_ENTRY):
        lack = "no table" if loss.ending is Ending.NO_TABLE else "no port"
        text = f"{who} has {lack} for {what}, but packets for it can come there: {cut} concerned"
    else:
        ports = ", ".join(map(str, sets.set_of(loss.lids[0], node)))
        text = f"{who} may send {what} to the ports {ports}, not all of which lead there: {cut} concerned"
    notes.add("error", "choice-lost", text, where, at_node(fabric, node))


def _group_loop(sets: PackedGroups, node: int, lid: int) -> tuple[int, ...]:
    """Return the slots of a loop of choices that begins at a switch on it."""
    hops = sets.hops
    trail: list[int] = []
    seen: set[int] = set()
    stack = [(node, iter(sets.set_of(lid, node)))]
    while stack:
        at, ports = stack[-1]
        port = next(ports, None)
        if port is None:
            stack.pop()
            if trail:
                trail.pop()
            continue
        slot = int(hops.first[at]) + port
        to = int(hops.to[slot]) if slot < hops.first[at + 1] else -1
        if to == node:
            return (*trail, slot)
        if to >= 0 and to not in seen:
            seen.add(to)
            trail.append(slot)
            stack.append((to, iter(sets.set_of(lid, to))))
    return (int(hops.first[node]),)
