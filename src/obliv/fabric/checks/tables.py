"""Checks of forwarding tables switch by switch, without following routes."""

from __future__ import annotations

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.fabric.messages import at_node, at_port, called, lid_list, port_count_known
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes, Place
from obliv.fabric.routes.trace import Ending
from obliv.fabric.tables import NONE, Tables

__all__ = ["check_entries", "check_tables", "dropped_lid"]


_BLOCK = 64  # LIDs that a switch reports at a time


def dropped_lid(tables: Tables) -> int:
    """Return the LID that dump_lfts, dump_fts and ibroute left out, 0 if they left out nothing.

    They stop one block early where the largest LID is a multiple of 64: it is in no table then.
    """
    top = tables.top
    if tables.spelling != "ibroute" or top <= 0 or top % _BLOCK:
        return 0
    if top < tables.out.shape[1] and (tables.out[:, top] != NONE).any():
        return 0
    return top if tables.used.any() else 0


def check_tables(fabric: Fabric, tables: Tables, owner: dict[int, int], notes: Notes) -> int:
    """Note tables that are all empty or of another time; return the LID that the dump left out, or 0."""
    dropped = dropped_lid(tables)
    if dropped:
        _note_dropped(fabric, tables, dropped, owner, notes)
    if not tables.used.any():
        text = "all tables are empty: no subnet manager has run; start one and dump them again"
        notes.add("error", "empty-table", text, int(tables.line[0]) if len(tables.line) else 0)
    _check_moment(fabric, tables, notes)
    return dropped


def check_entries(
    fabric: Fabric, tables: Tables, owner: dict[int, int], dropped: int, reported: set[tuple[int, int]], notes: Notes
) -> None:
    """Note defective entries that packets between endpoints do not use.

    Parameters
    ----------
    fabric, tables, owner, dropped
    reported : set of (switch, Ending)
        What is noted already.
    notes : Notes
    """
    for node in tables.switch[~tables.used].tolist() if tables.used.any() else ():
        if (node, int(Ending.NO_ENTRY)) not in reported:
            text = f"the table of {called(fabric, node)} is empty: dump it again; no host needs it"
            notes.add("warning", "empty-table", text, tables.line_of(node), at_node(fabric, node))
    for node in fabric.switches.tolist():
        if node not in tables.row_of and (node, int(Ending.NO_TABLE)) not in reported:
            text = f"{called(fabric, node)} has no table: dump the tables of all switches; no host needs it"
            notes.add("warning", "missing-table", text, 0, at_node(fabric, node))
    own = np.zeros(tables.out.shape[1], bool)
    own[[0, *(lid for lid in owner if lid < len(own))]] = True
    for node in tables.switch[tables.used].tolist():
        _check_switch(fabric, tables, node, own, owner, reported, notes)
    stale = np.flatnonzero((tables.out != NONE).any(axis=0) & ~own).tolist()
    if stale:
        text = (
            f"routes to {lid_list(fabric, stale, owner)}, which no port of the topology owns: the topology is "
            "older than the tables, or nodes have left since"
        )
        notes.add("warning", "stale-lids", text, int(tables.line[0]))
    _note_switch_lids(fabric, tables, dropped, notes)


def _check_switch(
    fabric: Fabric,
    tables: Tables,
    node: int,
    own: Array,
    owner: dict[int, int],
    reported: set[tuple[int, int]],
    notes: Notes,
) -> None:
    """Note entries of a switch for ports that it lacks, or without a cable; `own` marks LIDs that have an owner."""
    entry = tables.out[tables.row_of[node]]
    first, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
    beyond = (entry != NONE) & (entry >= end - first)
    loosely = {(node, int(Ending.NO_CABLE))}
    if beyond.any() and not port_count_known(fabric, node):  # it may have that port, but no cable there
        beyond = np.zeros_like(beyond)
        loosely.add((node, int(Ending.NO_PORT)))
    cabled = np.zeros(256, bool)
    cabled[0] = True
    cabled[1 : end - first] = (fabric.ports.peer[first + 1 : end] >= 0)[:255]
    loose = (entry != NONE) & ~beyond & ~cabled[entry] & own

    def port(wrong: Array) -> int:
        return int(entry[np.flatnonzero(wrong)[0]])

    def sends(wrong: Array) -> str:
        lids = np.flatnonzero(wrong).tolist()
        return f"{called(fabric, node)} sends {lid_list(fabric, lids, owner)} to port {port(wrong)}"

    if beyond.any() and (node, int(Ending.NO_PORT)) not in reported:
        known = plural(end - first - 1, "port")
        text = f"{sends(beyond)}, but has only {known}: OpenSM would reject the whole file"
        notes.add("error", "port-beyond", text, tables.line_of(node), at_node(fabric, node, port(beyond)))
    if loose.any() and not loosely & reported:
        text = f"{sends(loose)}, where there is no cable; no host sends that way"
        notes.add("warning", "dead-end", text, tables.line_of(node), at_node(fabric, node, port(loose)))


def _note_dropped(fabric: Fabric, tables: Tables, lid: int, owner: dict[int, int], notes: Notes) -> None:
    """Note the LID that a dump left out."""
    slot = owner.get(lid, -1)
    serious = slot >= 0 and fabric.nodes.kind[int(fabric.node_of[slot])] != "switch"
    text = (
        f"{lid_list(fabric, [lid], owner)} (0x{lid:x}), the largest, is missing from all tables: dump_lfts, dump_fts "
        f"and ibroute leave out the last LID where it is a multiple of {_BLOCK}; use opensm-lfts.dump instead (opensm "
        "-D 0x43), which has it"
    )
    place = at_port(fabric, slot) if slot >= 0 else Place()
    notes.add("error" if serious else "note", "dropped-lid", text, int(tables.line[0]), place)


def _check_moment(fabric: Fabric, tables: Tables, notes: Notes) -> None:
    """Note switches that had another LID when their table was dumped: port 0 stands for a switch's own LID."""
    moved = []
    for row, node in enumerate(tables.switch.tolist()):
        now = int(fabric.ports.lid[fabric.first_slot[node]])
        if not tables.used[row] or not now:
            continue
        own_lids = np.flatnonzero(tables.out[row] == 0)
        if len(own_lids) == 1 and now not in own_lids:
            moved.append((node, row, now, int(own_lids[0])))
    if moved:
        node, row, now, then = moved[0]
        text = (
            f"{called(fabric, node)} has LID {now} in the topology and {then} in its table ({len(moved)} of "
            f"{len(tables.switch)} switches differ): topology and tables were taken at different times; take both again"
        )
        notes.add("error", "other-moment", text, int(tables.line[row]), at_node(fabric, node))


def _note_switch_lids(fabric: Fabric, tables: Tables, dropped: int, notes: Notes) -> None:
    """Note that switches lack routes to LIDs of switches."""
    own = fabric.ports.lid[fabric.first_slot[fabric.switches]].astype(np.int64)
    own = own[(own > 0) & (own != dropped)]
    inside, used = own[own < tables.out.shape[1]], int(tables.used.sum())
    lacking = int((tables.out[np.ix_(tables.used, inside)] == NONE).sum()) + used * (len(own) - len(inside))
    if lacking:
        text = (
            f"{lacking:,} of {used * len(own):,} routes from switches to LIDs of switches are missing: "
            "hosts do not need them, and ftree and updn leave out those between roots"
        )
        notes.add("note", "switch-lids", text, int(tables.line[0]))
