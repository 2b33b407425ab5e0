"""Defects of lanes: packets that are discarded, lanes that do not exist, rows and service levels that are missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv._util.text import plural
from obliv.fabric.kernels.automaton import DISCARDED, WITHOUT_ROW, endings
from obliv.fabric.lanes.graph import LaneVerdict, drops
from obliv.fabric.lanes.pairs import sls_of
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.sl2vl import DROP, MISSING, SLS
from obliv.fabric.model import Fabric, Notes, at_node, called, port_name
from obliv.fabric.routes.trace import NOWHERE, UNORDERED, Ending, Traces
from obliv.kernels import run

__all__ = ["note_lanes"]


def note_lanes(traces: Traces, lanes: Lanes, verdict: LaneVerdict) -> tuple[int, list[Notes]]:
    """Note defects of the lanes that packets use; return how many pairs of a source and a LID lose packets."""
    about_tables, about_levels = Notes(lanes.tables.name), Notes(lanes.levels.name)
    notes = [about_tables, about_levels]
    lost = _note_lost(traces, lanes, verdict, about_tables)
    _note_shared(lanes, verdict, about_tables)
    levels = lanes.levels
    if not levels.given:
        text = "no service levels are given: all packets are assumed to have SL 0; give them as sl, a file or a number"
        about_levels.add("note", "assumed-sl", text)
    if verdict.lacking:
        columns, ends = len(traces.lid), len(traces.ends)
        base = traces.first_column[:-1]
        several = columns > ends and levels.masks.shape[1] == columns
        only_base = several and not np.delete(levels.masks, base, axis=1).any()
        text = f"{plural(verdict.lacking, 'pair')} of a host and a LID have no SL and are left out: "
        text += "SLs are given for base LIDs only; ask for all LIDs" if only_base else "give a file with all pairs"
        about_levels.add("error", "no-sl", text)
    if lanes.arbitration is not None:
        about = Notes(lanes.arbitration.name)
        _note_starved(lanes, verdict, about)
        notes.append(about)
    return lost, notes


class _MetRows(NamedTuple):
    """Rows of the SL-to-VL tables that packets meet: their places, switches, ports in and ports out."""

    place: Array
    node: Array
    entry: Array
    exit: Array

    @classmethod
    def at(cls, fabric: Fabric, first: Array, place: Array) -> _MetRows:
        """Return the rows at places in packed tables."""
        nodes = np.flatnonzero(first >= 0)
        nodes = nodes[np.argsort(first[nodes], kind="stable")]
        node = nodes[np.searchsorted(first[nodes], place, side="right") - 1] if len(place) else np.zeros(0, np.int64)
        return cls(place, node, *np.divmod(place - first[node], np.diff(fabric.first_slot)[node]))

    def by_switch(self, wanted: Array) -> Iterable[Array]:
        """Yield for every switch the rows that are wanted, by number."""
        rows = np.flatnonzero(wanted)
        starts = np.unique(self.node[rows], return_index=True)[1]
        return np.split(rows, starts[1:]) if len(rows) else ()

    def ports(self, rows: Array) -> str:
        """Return the ports of the first of some rows, and how many others there are."""
        more = f" and {plural(len(rows) - 1, 'other row')}" if len(rows) > 1 else ""
        return f"from port {self.entry[rows[0]]} to port {self.exit[rows[0]]}{more}"

    def note(self, kind: str, lanes: Lanes, row: int, text: str, notes: Notes) -> None:
        """Note an error of the switch of a row; `text` goes on behind its name."""
        fabric, switch = lanes.fabric, int(self.node[row])
        entry, exit = int(self.entry[row]), int(self.exit[row])
        line = lanes.tables.line_of(switch, entry, exit, fabric)
        notes.add("error", kind, f"{called(fabric, switch)} {text}", line, at_node(fabric, switch, exit))


def _note_lost(traces: Traces, lanes: Lanes, verdict: LaneVerdict, notes: Notes) -> int:
    """Note rows that are missing, that discard packets, or that name lanes that the port does not operate."""
    fabric, tables, graph = traces.fabric, lanes.effective, verdict.graph
    for switch in np.flatnonzero(graph.bare).tolist():
        text = f"{called(fabric, switch)} has no SL-to-VL table, but packets pass it: dump the tables of all switches"
        notes.add("error", "missing-lanes", text, 0, at_node(fabric, switch))
    born = _born(lanes)
    lost = bool(born.any() or graph.bare.any())
    if len(tables.line):
        lost = _note_rows(lanes, verdict, notes) or lost
    elif graph.used.any() and int(np.bitwise_or.reduce(graph.used)) >> DROP & 1:
        notes.add("error", "dropped-sl", "packets of SL 15 are discarded: VL 15 is not a lane for data")
        lost = True
    for end in np.flatnonzero(born).tolist()[:200]:
        slot = int(traces.ends[end])
        host = int(fabric.node_of[slot])
        text = f"{called(fabric, host)} discards its own packets of {_sls(int(born[end]))}: its table gives VL 15"
        notes.add("error", "dropped-sl", text, 0, at_node(fabric, host, fabric.port_of(slot)))
    _note_beyond(fabric, lanes, verdict, notes)
    return _note_pairs(traces, lanes, verdict, born, notes) if lost else 0


def _note_rows(lanes: Lanes, verdict: LaneVerdict, notes: Notes) -> bool:
    """Note rows that are missing and rows that discard packets; return whether there are any."""
    tables, used = lanes.effective, verdict.graph.used
    met = _MetRows.at(lanes.fabric, tables.first, np.flatnonzero(used))
    number = tables.row[met.place]
    missing: Array = np.asarray(number == MISSING)
    discarded: Array = used[met.place] & drops(tables)[number]
    for rows in met.by_switch(missing):
        text = f"has no SL-to-VL row {met.ports(rows)}, which packets use: OpenSM leaves out ports that were down; "
        met.note("missing-lanes", lanes, rows[0], text + "dump again", notes)
    for rows in met.by_switch(discarded > 0):
        sls = _sls(int(np.bitwise_or.reduce(discarded[rows])))
        text = f"discards packets of {sls} {met.ports(rows)}: the table gives VL 15"
        met.note("dropped-sl", lanes, rows[0], text, notes)
    return bool(missing.any() or discarded.any())


def _note_pairs(traces: Traces, lanes: Lanes, verdict: LaneVerdict, born: Array, notes: Notes) -> int:
    """Note how many pairs lose packets; return those that are discarded."""
    fabric = traces.fabric
    counts, first_pair = _lost_pairs(traces, lanes, verdict, born)
    dropping, lacking = counts
    for count, pair, what in (
        (dropping, first_pair[0], "are discarded on the way (VL 15)"),
        (lacking, first_pair[1], "meet a missing row"),
    ):
        if count:
            source, goal = (int(fabric.node_of[traces.ends[end]]) for end in (pair[0], int(traces.endpoint[pair[1]])))
            text = (
                f"packets of {plural(count, 'pair')} of a host and a LID {what}, such as those of SL {pair[2]} from "
                f"{called(fabric, source)} to {called(fabric, goal)} (LID {traces.lid[pair[1]]})"
            )
            notes.add("error", "dropped-pairs", text)
    return dropping


def _lost_pairs(
    traces: Traces, lanes: Lanes, verdict: LaneVerdict, born: Array
) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return how many pairs of a source and a LID may lose packets to VL 15, and how many meet a missing row."""
    # With the first such pair of each sort by column: its source, its column and its SL.
    origins, masks = verdict.origins, lanes.levels.masks
    fate = {}
    for sl in verdict.sls_used:
        fate[sl] = np.empty((len(origins.leaf), len(traces.lid)), np.uint8)
        arrays = traces.lid, traces.endpoint, verdict.entries.on(sl)[0], fate[sl], NOWHERE, UNORDERED
        run(endings, 20.0 * fate[sl].size, origins.entry, *arrays)
    counts, first = [0, 0], [(len(traces.lid), 0, 0)] * 2
    for s in np.flatnonzero(origins.of >= 0).tolist():
        r = origins.of[s]
        code = traces.code[origins.leaf[r]]
        others = (traces.endpoint != s) & (code != Ending.LOOP) & (code != Ending.NO_LID)
        for sort, ending in enumerate((DISCARDED, WITHOUT_ROW)):
            any_sl = np.zeros(len(others), bool)
            for sl, ends in fate.items():
                own = bool(born[s] >> sl & 1)  # the source discards them itself
                lost = (own and sort == 0) | ((ends[r] == ending) & (not own))
                lost = lost & others & (masks[s if len(masks) > 1 else 0] >> sl & 1 > 0)
                if lost.any():
                    k = int(lost.argmax())
                    first[sort] = min(first[sort], (k, s, sl))
                any_sl |= lost
            counts[sort] += int(any_sl.sum())
    return counts, [(s, k, sl) for k, s, sl in first]


def _note_beyond(fabric: Fabric, lanes: Lanes, verdict: LaneVerdict, notes: Notes) -> None:
    """Note lanes beyond those that a port operates."""
    if lanes.oper is None:
        return
    tables, graph = lanes.effective, verdict.graph
    met = _MetRows.at(fabric, tables.first, np.flatnonzero((graph.used > 0) & (tables.row != MISSING)))
    number = tables.row[met.place] % len(lanes.tables.vl)  # the copies of cut rows keep the order of the rows
    limit = lanes.on_cables[fabric.first_slot[met.node] + met.exit]
    given = lanes.tables.vl[number]
    over = np.zeros(len(number), np.int64)
    for sl in verdict.sls_used:
        beyond = (given[:, sl] >= limit) & (given[:, sl] != DROP) & (graph.used[met.place] >> sl & 1 > 0)
        over |= beyond.astype(np.int64) << sl
    for rows in met.by_switch(over > 0):
        k = int(rows[0])
        sl = sls_of(int(over[k]))[0]
        vl, count = int(given[k, sl]), int(limit[k])
        text = (
            f"has VL {vl} for SL {sl} {met.ports(rows)}, but that cable operates {_lanes(count)} only: OpenSM cuts it "
            f"to VL {vl & (count - 1)}; set max_op_vls and restart"
        )
        met.note("lane-beyond", lanes, k, text, notes)


def _note_shared(lanes: Lanes, verdict: LaneVerdict, notes: Notes) -> None:
    """Note SLs in use that are on the same lane everywhere."""
    tables, graph = lanes.effective, verdict.graph
    numbers = np.unique(tables.row[graph.used > 0])
    numbers = numbers[numbers != MISSING]
    given = lanes.tables.vl[numbers % len(lanes.tables.vl)]
    groups: dict[bytes, list[int]] = {}
    for sl in verdict.sls_used:
        groups.setdefault(tables.vl[numbers, sl].tobytes(), []).append(sl)
    for sls in groups.values():
        if len(sls) < 2 or not len(numbers):
            continue
        cut = any((given[:, sl] != given[:, sls[0]]).any() for sl in sls)
        text = f"{_sls(sum(1 << sl for sl in sls))} are on the same lanes everywhere"
        if cut:
            text += ", since ports operate fewer lanes than the tables name: an engine may have counted them as apart"
        notes.add("warning" if cut else "note", "shared-lanes", text)


def _note_starved(lanes: Lanes, verdict: LaneVerdict, notes: Notes) -> None:
    """Note lanes in use that the arbitration of a port never serves."""
    arbitration, fabric, tables, graph = lanes.arbitration, lanes.fabric, lanes.effective, verdict.graph
    if arbitration is None:
        return
    if len(tables.line):
        met = _MetRows.at(fabric, tables.first, np.flatnonzero((graph.used > 0) & (tables.row != MISSING)))
        slot = fabric.first_slot[met.node] + met.exit
    for port, served in arbitration.served.items():
        carried = 0
        if len(tables.line):
            here = np.flatnonzero(slot == port)
            for sl in verdict.sls_used:
                places = met.place[here]
                places = places[graph.used[places] >> sl & 1 > 0]
                for lane in np.unique(tables.vl[tables.row[places], sl]).tolist():
                    carried |= 1 << lane
        else:
            carried = sum(1 << sl for sl in verdict.sls_used)
        starved = carried & ~served & ~(1 << DROP)
        if starved:
            name = port_name(fabric, port)
            lanes_text = ", ".join(map(str, sls_of(starved)))
            text = f"{name} never serves VL {lanes_text}, which packets use: its weight is 0 in both arbitration tables"
            at = at_node(fabric, int(fabric.node_of[port]), fabric.port_of(port))
            notes.add("warning", "starved-lane", text, arbitration.line.get(port, 0), at)


def _born(lanes: Lanes) -> Array:
    """Return the SLs that each endpoint discards on its own cable, of those that its packets have."""
    fabric, tables, masks = lanes.fabric, lanes.effective, lanes.levels.masks
    ends = fabric.endpoints
    sent = np.bitwise_or.reduce(masks, axis=1)
    mine = np.broadcast_to(sent, len(ends)) if len(sent) == 1 else sent
    return np.asarray(mine & drops(tables)[tables.own[ends]], np.uint16)


def _sls(mask: int) -> str:
    sls = sls_of(mask & (1 << SLS) - 1)
    return f"SL {sls[0]}" if len(sls) == 1 else f"SLs {', '.join(map(str, sls))}"


def _lanes(count: int) -> str:
    return "VL 0" if count == 1 else f"VL 0 to {count - 1}"
