"""Checks of a fabric without its tables: its pieces, its speeds, its shape."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.text import plural
from obliv.fabric.checks.missing import missing_ends
from obliv.fabric.lids import LAST_LID, beyond_infiniband
from obliv.fabric.messages import at_node, at_port, cable_name, called, port_name
from obliv.fabric.model import Fabric, gbits
from obliv.fabric.notes import Notes
from obliv.fabric.shape.tree import Shape

__all__ = ["check_cables", "check_shape"]


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
