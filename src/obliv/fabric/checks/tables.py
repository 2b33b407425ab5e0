"""Checks without following routes: forwarding tables by switch, missing cables, pieces, speeds, shape of a fabric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.arrays import Array
from obliv._util.text import plural
from obliv.fabric.model import (
    NONE,
    Fabric,
    FindingPlace,
    Notes,
    Tables,
    at_node,
    at_port,
    cable_name,
    called,
    gbits,
    lid_list,
    port_count_known,
    port_name,
)
from obliv.fabric.names import LAST_LID, beyond_infiniband
from obliv.fabric.routes.trace import Ending
from obliv.fabric.shape import Shape

_BLOCK = 64  # LIDs that a switch reports at a time


def dropped_lid(tables: Tables) -> int:
    """Return the LID that dump_lfts, dump_fts and ibroute left out, 0 if they left out nothing."""
    # They stop one block early where the largest LID is a multiple of 64: it is in no table then.
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
    """Note defective entries that packets between endpoints do not use."""
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
    place = at_port(fabric, slot) if slot >= 0 else FindingPlace()
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


# The ports at both ends of the cables that a fat tree lacks


_LISTED = 4  # free ports that are named


@dataclass(frozen=True)
class MissingEnd:
    """An end of a missing cable: its switch and port (None where it is not known), and both as text."""

    node: int
    port: int | None
    text: str


def missing_ends(fabric: Fabric, shape: Shape) -> Iterator[tuple[MissingEnd, MissingEnd]]:
    """Yield the two ends of every missing cable, the lower one first."""
    # The port is that by which most other switches of the level are connected to the same switch, if it is free here,
    # or the only free port.
    taken: set[tuple[int, int]] = set()  # ports of earlier missing cables
    for lower, upper in shape.missing:
        yield _end(fabric, shape, lower, upper, taken), _end(fabric, shape, upper, lower, taken)


def _end(fabric: Fabric, shape: Shape, node: int, towards: int, taken: set[tuple[int, int]]) -> MissingEnd:
    """Return the end at `node` of a missing cable to `towards`."""
    first, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
    free = (np.flatnonzero(fabric.ports.peer[first + 1 : end] < 0) + 1).tolist()
    free = [port for port in free if (node, port) not in taken]
    beyond = 1 << 16 if port_count_known(fabric, node) else end - first  # from here on, ports may not be in the file
    usual = _usual_ports(fabric, shape, node, towards)
    port = next((port for port in usual if (port in free or port >= beyond) and (node, port) not in taken), None)
    if port is None and len(free) == 1:
        port = free[0]
    name = called(fabric, node)
    if port is not None:
        taken.add((node, port))
        return MissingEnd(node, port, f"{name} port {port}")
    some = ", ".join(map(str, free[:_LISTED])) + (", ..." if len(free) > _LISTED else "")
    return MissingEnd(node, None, f"{name} (free ports: {some})" if free else f"{name} (no free port)")


def _usual_ports(fabric: Fabric, shape: Shape, node: int, towards: int) -> list[int]:
    """Return the ports by which most other switches of the level of `node` are connected to `towards`."""
    peers = fabric.ports.peer[fabric.first_slot[towards] : fabric.first_slot[towards + 1]]
    peers = peers[peers >= 0]
    owner = fabric.node_of[peers]
    near = peers[(shape.number[owner] >= 0) & (shape.level[owner] == shape.level[node]) & (owner != node)].tolist()
    most = len({int(fabric.node_of[slot]) for slot in near}) / 2
    return [port for port, count in Counter(map(fabric.port_of, near)).most_common() if count > most]


# Checks of a fabric without its tables: its pieces, its speeds, its shape


_FEW = 4  # slower cables are reported where at most one cable in four has an unusual speed


def check_cables(fabric: Fabric, notes: Notes) -> None:
    """Note LIDs beyond InfiniBand, unconnected pieces, nodes that neither send nor forward, and slow cables."""
    _check_lids(fabric, notes)
    _check_nodes(fabric, notes)
    _check_pieces(fabric, notes)
    _check_speeds(fabric, notes)


def check_shape(fabric: Fabric, shape: Shape | None, notes: Notes) -> None:
    """Note missing and surplus cables and switches of a fat tree."""
    if shape is None or shape.exact:
        return
    tree = shape.name
    for lower, upper in missing_ends(fabric, shape):
        text = f"a cable of {tree} is missing between {lower.text} and {upper.text}"
        place = at_node(fabric, lower.node, lower.port, upper.text)
        notes.add("warning", "missing-cable", text, fabric.nodes.line[lower.node], place)
    for slot in shape.extra:
        text = f"{cable_name(fabric, slot)}: a cable that is not part of {tree}"
        notes.add("warning", "extra-cable", text, fabric.ports.line[slot], at_port(fabric, slot))
    for level, number in shape.missing_switches:
        notes.add("warning", "missing-switch", f"switch {number} on level {level} of {tree} is missing")
    for node in shape.extra_switches:
        text = f"{called(fabric, node)} is not part of {tree}"
        notes.add("warning", "extra-switch", text, fabric.nodes.line[node], at_node(fabric, node))


def _check_lids(fabric: Fabric, notes: Notes) -> None:
    ports, last = beyond_infiniband(fabric)
    if not ports:
        return
    text = f"{plural(ports, 'port')} have LIDs beyond {LAST_LID}, up to {last}, which InfiniBand cannot address"
    if fabric.extended_lids:
        notes.add("note", "extended-lids", f"{text}: LIDs of 24 bits, as on Omni-Path")
    else:
        notes.add("error", "extended-lids", f"{text}: use extended_lids for a fabric whose LIDs have 24 bits")


def _check_nodes(fabric: Fabric, notes: Notes) -> None:
    kinds = Counter(fabric.nodes.kind)
    cabled = np.bincount(fabric.node_of[fabric.ports.peer >= 0], minlength=len(fabric.nodes))
    ends = np.bincount(fabric.node_of[fabric.endpoints], minlength=len(fabric.nodes))
    adapter = fabric.nodes.are("ca")
    if not len(fabric.endpoints):
        notes.add("error", "no-endpoint", "no channel adapter has a cable, so there is no traffic")
    helpers = adapter & (cabled > 0) & (ends == 0)
    if helpers.any():
        text = f"{plural(int(helpers.sum()), 'aggregation node')} of switches: not endpoints"
        notes.add("note", "aggregation", text, fabric.nodes.line[int(np.flatnonzero(helpers)[0])])
    if kinds["router"]:
        text = f"{plural(kinds['router'], 'router')}: not endpoints; nodes behind them are not analyzed"
        notes.add("note", "router", text, fabric.nodes.line[fabric.nodes.kind.index("router")])
    for node in np.flatnonzero(fabric.nodes.are("unknown")).tolist():
        text = f"{called(fabric, node)} has an unknown type: scan again with permission to query every node"
        notes.add("warning", "unknown-node", text, fabric.nodes.line[node], at_node(fabric, node))
    idle = np.flatnonzero(adapter & (cabled == 0))
    if len(idle):
        text = f"{plural(len(idle), 'channel adapter')} without a cable; the first is {called(fabric, int(idle[0]))}"
        notes.add("note", "idle-adapter", text, fabric.nodes.line[idle[0]])
    several = np.flatnonzero(ends > 1)
    if len(several):
        text = f"{plural(len(several), 'channel adapter')} with several cabled ports: each port is an endpoint"
        notes.add("note", "several-ports", text, fabric.nodes.line[several[0]])


def _check_pieces(fabric: Fabric, notes: Notes) -> None:
    near = np.flatnonzero(fabric.ports.peer >= 0)
    one, other = fabric.node_of[near], fabric.node_of[fabric.ports.peer[near]]
    graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(len(fabric.nodes), len(fabric.nodes)))
    label = connected_components(graph, directed=False)[1]
    piece = label[fabric.node_of[fabric.endpoints]]
    pieces, first, size = np.unique(piece, return_index=True, return_counts=True)
    if len(pieces) < 2:
        return
    small = np.argsort(size, kind="stable")[:-1]
    node = int(fabric.node_of[fabric.endpoints[first[small[0]]]])
    lost = int(size[small].sum())
    text = (
        f"the fabric is in {len(pieces)} pieces: {plural(lost, 'endpoint')} {'is' if lost == 1 else 'are'} cut off "
        f"from the other {int(size.max()):,}, such as {called(fabric, node)}"
    )
    notes.add("error", "pieces", text, fabric.nodes.line[node], at_node(fabric, node))


def _check_speeds(fabric: Fabric, notes: Notes) -> None:
    """Note the speeds of links, and cables slower than nearly all others of their sort."""
    near = np.flatnonzero(fabric.ports.peer > np.arange(len(fabric.ports.peer)))
    ends = np.stack([fabric.ports.rate[near], fabric.ports.rate[fabric.ports.peer[near]]])
    silent = (ends < 0).all(axis=0)
    if silent.any():
        slot = int(near[silent][0])
        text = f"{plural(int(silent.sum()), 'cable')} of unknown speed, such as that at {port_name(fabric, slot)}"
        if silent.all():
            text = "no cable reports a speed that is known: all count as equal, and slow cables cannot be found"
        notes.add("note", "unknown-speed", text, 0 if silent.all() else fabric.ports.line[slot])
    near, ends = near[~silent], ends[:, ~silent]
    order = sorted(range(len(fabric.rates)), key=lambda at: fabric.rates[at])
    place = np.full(len(order) + 1, len(order))  # from slow to fast; unknown speeds last
    place[order] = np.arange(len(order))
    speed = place[ends].min(axis=0) if len(near) else np.zeros(0, np.int64)
    rates = [fabric.rates[at] for at in order]
    switch = fabric.nodes.are("switch")
    between = switch[fabric.node_of[near]] & switch[fabric.node_of[fabric.ports.peer[near]]]
    sorts = ((True, "between switches"), (False, "of hosts"))
    if len(np.unique(speed)) > 1:
        parts = [
            f"{plural(int(count), 'cable')} {words} at {gbits(rates[at])}"
            for inner, words in sorts
            for at, count in reversed(list(zip(*np.unique(speed[between == inner], return_counts=True), strict=True)))
        ]
        notes.add("note", "speeds", "links differ in speed: " + ", ".join(parts))
    for inner, words in sorts:
        speeds = speed[between == inner]
        if not len(speeds):
            continue
        usual = int(np.bincount(speeds).argmax())
        slow = np.flatnonzero((between == inner) & (speed < usual) & (place[ends[0]] == place[ends[1]]))
        if _FEW * int((speeds != usual).sum()) > len(speeds):
            continue
        for k in slow.tolist():
            slot = int(near[k])
            text = (
                f"{cable_name(fabric, slot)} runs at {gbits(rates[speed[k]])}, "
                f"{int((speeds == usual).sum()):,} of {len(speeds):,} cables {words} at "
                f"{gbits(rates[usual])}: reseat or replace it"
            )
            at_switch = slot if switch[fabric.node_of[slot]] else int(fabric.ports.peer[slot])
            notes.add("warning", "slow-cable", text, fabric.ports.line[slot], at_port(fabric, at_switch))
