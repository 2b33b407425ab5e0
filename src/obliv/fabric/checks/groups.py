"""Checks of group tables: what packets can meet, whatever switches choose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.fabric.adaptive.choices import PackedGroups, packed, traced, where_lost
from obliv.fabric.adaptive.credit_loops import choice_loops
from obliv.fabric.checks.routes import Served, count_lost
from obliv.fabric.groups import NO_STATE, STATES, STATIC, Groups, GroupTables, ports_of
from obliv.fabric.lids import owners
from obliv.fabric.messages import at_node, at_port, called, lid_list, port_name, route_text
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.trace import Ending, Traces
from obliv.fabric.tables import NONE, Tables
from obliv.results.fabric.check import ChoiceCheck, CreditLoop

__all__ = ["check_groups"]

_MAX_GROUPS = 20_000  # losses that are reported separately


@dataclass(frozen=True)
class _Loss:
    """Packets that can be lost at a switch: its row, how they end, and their LIDs."""

    row: int
    ending: Ending
    lids: list[int]
    pairs: int


def check_groups(fabric: Fabric, groups: GroupTables, tables: Tables | None, notes: Notes) -> tuple[ChoiceCheck, ...]:
    """Note defects of group tables; return what packets can meet by each private LFT.

    Parameters
    ----------
    fabric : Fabric
    groups : GroupTables
    tables : Tables or None
        Forwarding tables of their own, to compare with the static ports.
    notes : Notes
        About the groups.
    """
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
    own, needed = np.zeros(groups.state.shape[1], bool), np.zeros(groups.state.shape[1], bool)
    own[[lid for lid in owner if lid < len(own)]] = True
    ends = set(fabric.endpoints.tolist())
    needed[[lid for lid, slot in owner.items() if lid < len(own) and slot in ends]] = True
    listed = np.zeros(256, np.int64)  # LIDs of each state
    numbers = np.flatnonzero(own)
    for row, node in enumerate(groups.switch.tolist()):
        state = groups.state[row]
        listed += np.bincount(state[numbers], minlength=256)
        adaptive = (state != NO_STATE) & (state != STATIC) & own
        table = groups.groups[row]
        suspicious = _suspicious(fabric, node, table, groups.group[row][adaptive], groups.port[row][adaptive])
        if not suspicious:
            continue
        line, here, who = int(groups.line[row]), at_node(fabric, node), called(fabric, node)
        for number in suspicious:
            lids = np.flatnonzero(adaptive & (groups.group[row] == number))
            what = lid_list(fabric, lids.tolist(), owner)
            ports = ports_of(table.get(number, ()))
            severity = "error" if needed[lids].any() else "warning"  # else no host needs it
            if not ports:
                lack = "is empty" if number in table else "is not defined"
                text = (
                    f"{who} has group {number} for {what}, which {lack}: dump again, or set up adaptive routing again"
                )
                notes.add(severity, "no-group", text, line, here)
                continue
            bad = _bad_ports(fabric, node, ports)
            if bad:
                text = f"group {number} of {who}, for {what}, has {', '.join(bad[:5])}: packets can be lost there"
                notes.add(severity, "group-port", text, line, here)
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
    """Return the groups of a switch that are empty, have ports without a cable, or lack the static port of a LID.

    `group` and `static` are those of the LIDs for which it is adaptive.
    """
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
    for loss in _losses(sets, traces, hosts):
        _report(sets, loss, owner, notes)
    dependencies, cycle = choice_loops(sets, traces)
    if cycle:
        text = (
            f"packets can wait for each other forever, by some choices of the switches: {route_text(fabric, cycle)} -> "
            "back to the first; this takes one virtual lane for all of them"
        )
        line = groups.line[np.flatnonzero(groups.switch == fabric.node_of[cycle[0]])]
        notes.add("warning", "choice-credit-loop", text, int(line[0]), at_port(fabric, cycle[0]))
    ports = tuple(port_name(fabric, slot) for slot in cycle)
    credit = CreditLoop(not cycle, dependencies, ports or None)
    adaptive = (groups.state != NO_STATE) & (groups.state != STATIC)
    return ChoiceCheck(plft, int(adaptive.sum()), served.unrouted, served.loops, credit)


def _losses(sets: PackedGroups, traces: Traces, hosts: Array) -> list[_Loss]:
    """Return where packets can be lost, by switch and ending."""
    if not traces.code.any():
        return []
    at = where_lost(sets, traces)
    leaf, column = np.nonzero(traces.code)
    lost = hosts[leaf] - (traces.leaf_of[traces.endpoint[column]] == leaf)
    some = (lost > 0) & (traces.code[leaf, column] != Ending.NO_LID)
    leaf, column, lost = leaf[some], column[some], lost[some]
    row, ending = at[leaf, column], traces.code[leaf, column]
    order = np.lexsort((traces.lid[column], row, ending))
    row, ending, column, lost = row[order], ending[order], column[order], lost[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(row) != 0) | (np.diff(ending) != 0)]) if len(row) else row
    losses = []
    for start, end in zip(starts[:_MAX_GROUPS].tolist(), [*starts.tolist(), len(row)][1:], strict=False):
        lids = np.unique(traces.lid[column[start:end]]).tolist()
        losses.append(_Loss(int(row[start]), Ending(int(ending[start])), lids, int(lost[start:end].sum())))
    return losses


def _report(sets: PackedGroups, loss: _Loss, owner: dict[int, int], notes: Notes) -> None:
    """Note that packets for some LIDs can be lost at a switch, or go round from there."""
    fabric = sets.fabric
    node = int(fabric.switches[loss.row])
    line = sets.groups.line[sets.groups.switch == node]
    where = int(line[0]) if len(line) else 0
    what, cut = lid_list(fabric, loss.lids, owner), plural(loss.pairs, "pair")
    if loss.ending is Ending.LOOP:
        loop = _loop(sets, loss.row, loss.lids[0])
        text = f"packets for {what} can go round: {route_text(fabric, loop)} -> back to the first; {cut} concerned"
        notes.add("error", "choice-loop", text, where, at_port(fabric, loop[0]))
        return
    who = called(fabric, node)
    if loss.ending in (Ending.NO_TABLE, Ending.NO_ENTRY):
        lack = "no table" if loss.ending is Ending.NO_TABLE else "no port"
        text = f"{who} has {lack} for {what}, but packets for it can come there: {cut} concerned"
    else:
        ports = ", ".join(map(str, sets.set_of(loss.lids[0], loss.row)))
        text = f"{who} may send {what} to the ports {ports}, not all of which lead there: {cut} concerned"
    notes.add("error", "choice-lost", text, where, at_node(fabric, node))


def _loop(sets: PackedGroups, row: int, lid: int) -> tuple[int, ...]:
    """Return the slots of a loop of choices that begins at a row on it."""
    choices = sets.choices
    trail: list[int] = []
    seen: set[int] = set()
    stack = [(row, iter(sets.set_of(lid, row)))]
    while stack:
        at, ports = stack[-1]
        port = next(ports, None)
        if port is None:
            stack.pop()
            if trail:
                trail.pop()
            continue
        slot = int(choices.first[at]) + port
        to = int(choices.to[slot]) if port and slot < choices.end[at] else -1
        if to == row:
            return (*trail, slot)
        if to >= 0 and to not in seen:
            seen.add(to)
            trail.append(slot)
            stack.append((to, iter(sets.set_of(lid, to))))
    return (int(choices.first[row]),)
