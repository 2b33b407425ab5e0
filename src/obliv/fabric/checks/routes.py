"""The pairs of a fabric that its tables do not serve, and where their packets are lost."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.fabric.checks.names import called, lid_list, port_name, tells_ports, way_text
from obliv.fabric.kernels.check import last_switches
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.trace import Ending, Traces, Wiring
from obliv.fabric.tables import NONE, Tables
from obliv.kernels import run

__all__ = ["Served", "check_routes"]


_MOST = 20_000  # groups of lost packets that are told apart


@dataclass
class Served:
    """How many ordered pairs of endpoints are served, and the losses that were told.

    A pair is unrouted where packets for one of its destination's LIDs do not arrive; `loops`, `dead_ends` (the way
    stops at a switch) and `wrong_ends` (it comes to another host) count the pairs that have such a way.
    """

    pairs: int = 0
    unrouted: int = 0
    loops: int = 0
    dead_ends: int = 0
    wrong_ends: int = 0
    told: set[tuple[int, int]] = field(default_factory=set)  # switch, Ending


def check_routes(
    fabric: Fabric,
    tables: Tables,
    wires: Wiring,
    traces: Traces,
    owner: dict[int, int],
    dropped: int,
    notes: tuple[Notes, Notes],
) -> Served:
    """Count the pairs that are not served and say why, switch by switch.

    Parameters
    ----------
    fabric, tables, wires, traces
    owner : dict
        The slot of every LID.
    dropped : int
        The LID that the dump left out, which is told elsewhere; 0 for none.
    notes : two Notes
        About the topology and about the tables.
    """
    about, notes_ = notes
    ends = fabric.endpoints
    served = Served(pairs=len(ends) * (len(ends) - 1))
    beside = fabric.node_of[fabric.peer[ends]].astype(np.int64)
    place = np.full(fabric.nodes, -1)
    place[traces.leaf] = np.arange(len(traces.leaf))
    leaf_of = place[beside]
    hosts = np.bincount(leaf_of[leaf_of >= 0], minlength=len(traces.leaf))
    _count(served, fabric, traces, leaf_of, hosts)
    _without_switch(served, fabric, ends, leaf_of, about)
    _without_lid(fabric, ends, about)
    code = traces.code
    if not code.any():
        return served
    require_memory(24.0 * code.size, f"where packets of {fabric.name} are lost")
    at = np.empty(code.shape, np.int32)
    run(last_switches, 6.0 * code.size, traces.leaf, traces.lid, code, *wires.arrays, at)
    row, column = np.nonzero(code)
    lost = hosts[row] - (leaf_of[traces.endpoint[column]] == row)
    silent = (traces.lid[column] == dropped) & (code[row, column] == Ending.NO_ENTRY) & (dropped > 0)
    kept = (lost > 0) & ~silent & (code[row, column] != Ending.NO_LID)
    row, column, lost = row[kept], column[kept], lost[kept]
    where, why, lid = at[row, column], code[row, column], traces.lid[column].astype(np.int64)
    order = np.lexsort((lid, where, why))
    where, why, lid, lost, column = (each[order] for each in (where, why, lid, lost, column))
    starts = np.flatnonzero(np.r_[True, (np.diff(where) != 0) | (np.diff(why) != 0)]) if len(where) else where
    round_trips: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for start, end in zip(starts[:_MOST].tolist(), [*starts.tolist(), len(where)][1:], strict=False):
        node, ending = int(where[start]), Ending(int(why[start]))
        served.told.add((node, int(ending)))
        lids, member = np.unique(lid[start:end], return_inverse=True)
        pairs = np.bincount(member, lost[start:end]).astype(np.int64).tolist()
        if ending is Ending.LOOP:
            for each, several in zip(lids.tolist(), pairs, strict=True):
                way = _round(fabric, wires, node, each)
                round_trips.setdefault(way, []).append((each, several))
        else:
            _tell(fabric, tables, node, ending, lids.tolist(), sum(pairs), owner, notes_)
    for way, those in round_trips.items():
        text = (
            f"packets for {lid_list(fabric, [each for each, _ in those], owner)} go round: {way_text(fabric, way)} -> "
            f"again the first; {plural(sum(n for _, n in those), 'pair')} cut off: route again"
        )
        notes_.add("error", "loop", text, _line(tables, int(fabric.node_of[way[0]])))
    return served


def _count(served: Served, fabric: Fabric, traces: Traces, leaf_of: Array, hosts: Array) -> None:
    """Weigh pairs of leaf and endpoint with the hosts that send."""
    for step in range(0, len(traces.leaf), 64):  # a few leaves at a time
        part = slice(step, min(step + 64, len(traces.leaf)))
        code = traces.code[part]
        if not code.any():
            continue
        weight = np.repeat(hosts[part, None], len(leaf_of), axis=1)
        mine = np.flatnonzero((leaf_of >= part.start) & (leaf_of < part.stop))
        weight[leaf_of[mine] - part.start, mine] -= 1
        dead = (code != Ending.DELIVERED) & (code != Ending.LOOP) & (code != Ending.WRONG_END)
        for name, bad in (
            ("unrouted", code != Ending.DELIVERED),
            ("loops", code == Ending.LOOP),
            ("dead_ends", dead),
            ("wrong_ends", code == Ending.WRONG_END),
        ):
            some = np.logical_or.reduceat(bad, traces.first_column[:-1], axis=1)
            setattr(served, name, getattr(served, name) + int(weight[some].sum()))


def _without_switch(served: Served, fabric: Fabric, ends: Array, leaf_of: Array, notes: Notes) -> None:
    """Endpoints that are cabled to no switch reach the other end of their cable and nothing else."""
    number = np.full(len(fabric.peer), -1)
    number[ends] = np.arange(len(ends))
    for slot in ends[leaf_of < 0].tolist():
        lacking = len(ends) - 1 - int(number[fabric.peer[slot]] >= 0)
        served.unrouted += lacking
        served.dead_ends += lacking
        if lacking:
            text = f"{port_name(fabric, slot)} is cabled to no switch: {plural(lacking, 'endpoint')} out of reach"
            notes.add("error", "no-switch", text, fabric.line[slot])


def _without_lid(fabric: Fabric, ends: Array, notes: Notes) -> None:
    for slot in ends[fabric.lid[ends] <= 0].tolist():
        text = f"{port_name(fabric, slot)} has no LID: nothing can be sent to it; let the subnet manager run"
        notes.add("error", "no-lid", text, fabric.line[slot])


def _tell(
    fabric: Fabric,
    tables: Tables,
    node: int,
    ending: Ending,
    lids: list[int],
    pairs: int,
    owner: dict[int, int],
    notes: Notes,
) -> None:
    who, what = called(fabric, node), lid_list(fabric, lids, owner)
    cut = f"{plural(pairs, 'pair')} cut off"
    line = _line(tables, node)
    if ending is Ending.NO_TABLE:
        text = f"{who} has no table, and packets for {what} come to it: {cut}; dump the tables of all switches"
        notes.add("error", "missing-table", text)
        return
    row = tables.row_of[node]
    if not (tables.out[row] != NONE).any():
        notes.add("error", "empty-table", f"the table of {who} is empty: {cut}; dump it again", line)
        return
    port = _ports(fabric, tables, node, lids)
    if ending is Ending.NO_ENTRY:
        notes.add("error", "no-route", f"{who} has no route to {what}: {cut}; dump again, or route again", line)
    elif ending is Ending.NO_PORT and not tells_ports(fabric, node):
        text = (
            f"{who} sends {what} to {port}, where no cable is known, and how many ports it has is not known either, "
            f"since the topology does not say: {cut}; scan the whole fabric again"
        )
        notes.add("error", "dead-end", text, line)
    elif ending is Ending.NO_PORT:
        has = int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1
        text = f"{who} sends {what} to {port}, and has {plural(has, 'port')}: {cut}; OpenSM would refuse the whole file"
        notes.add("error", "port-beyond", text, line)
    elif ending is Ending.NO_CABLE:
        text = f"{who} sends {what} to {port}, where no cable is: {cut}; plug it in, or route again"
        notes.add("error", "dead-end", text, line)
    else:
        notes.add("error", "wrong-end", f"{who} sends {what} to {port}: {cut}; route again", line)


def _ports(fabric: Fabric, tables: Tables, node: int, lids: list[int]) -> str:
    """The ports that a switch sends some LIDs to, and what is there."""
    mine = tables.out[tables.row_of[node]]
    ports = sorted({int(mine[lid]) for lid in lids if lid < len(mine)} - {NONE})
    if ports == [0]:
        return "port 0, itself"
    if len(ports) != 1:
        return "ports " + ", ".join(map(str, ports[:5])) + (", ..." if len(ports) > 5 else "")
    slot = fabric.slot(node, ports[0])
    there = int(fabric.peer[slot]) if slot >= 0 else -1
    return f"port {ports[0]}" + (f", which leads to {port_name(fabric, there)}" if there >= 0 else "")


def _round(fabric: Fabric, wires: Wiring, node: int, lid: int) -> tuple[int, ...]:
    """The channels of a loop that a switch is on."""
    way: list[int] = []
    at = node
    while not way or at != node:
        slot = int(fabric.first_slot[at]) + int(wires.out[lid, wires.row[at]])
        way.append(slot)
        at = int(wires.to[slot])
    return tuple(way)


def _line(tables: Tables, node: int) -> int:
    row = tables.row_of.get(node)
    return int(tables.line[row]) if row is not None else 0
