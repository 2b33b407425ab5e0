"""Defects of lanes: packets that are discarded, lanes that do not exist, rows and service levels that are missing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.fabric.kernels.lanes import count_lost
from obliv.fabric.lanes.levels import sls_of
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.tables import DROP, MISSING, SLS
from obliv.fabric.lanes.verdict import LaneVerdict, drops
from obliv.fabric.model import Fabric, node_name
from obliv.fabric.notes import Notes, Place, place_of
from obliv.fabric.routes.trace import Traces
from obliv.kernels import run

__all__ = ["note_lanes"]


def note_lanes(traces: Traces, lanes: Lanes, verdict: LaneVerdict) -> tuple[int, list[Notes]]:
    """Note defects of the lanes that packets use; return how many pairs of a source and a LID lose packets.

    Parameters
    ----------
    traces : Traces
    lanes : Lanes
    verdict : LaneVerdict

    Returns
    -------
    int
    list of Notes
        About the SL-to-VL tables, about the SLs, and about the arbitration.
    """
    about_tables, about_levels = Notes(lanes.tables.name), Notes(lanes.levels.name)
    notes = [about_tables, about_levels]
    lost = _note_lost(traces, lanes, verdict, about_tables)
    _note_shared(lanes, verdict, about_tables)
    levels = lanes.levels
    if not levels.given:
        text = "no service levels are given: all packets are assumed to have SL 0; add --sl FILE or --sl N"
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


def _note_lost(traces: Traces, lanes: Lanes, verdict: LaneVerdict, notes: Notes) -> int:
    """Note rows that are missing, that discard packets, or that name lanes that the port does not operate."""
    fabric, tables, graph = traces.fabric, lanes.effective, verdict.graph
    for switch in np.flatnonzero(graph.bare).tolist():
        text = f"{_called(fabric, switch)} has no SL-to-VL table, but packets pass it: dump the tables of all switches"
        notes.add("error", "missing-lanes", text, 0, _at(fabric, switch))
    born = _born(lanes)
    shared = len(tables.line) == 0
    places = np.zeros(0, np.int64) if shared else np.flatnonzero(graph.used)
    number = tables.row[places]
    missing: Array = np.asarray(number == MISSING)
    discarded: Array = graph.used[places] & drops(tables)[number]
    node, entry, exit = _ports_of(fabric, tables.first, places)
    for switch, part in _by(node, missing):
        first = int(part[0])
        text = (
            f"{_called(fabric, switch)} has no SL-to-VL row from port {entry[first]} to port {exit[first]}"
            f"{_more(len(part))}, which packets use: OpenSM leaves out ports that were down; dump again"
        )
        line = lanes.tables.line_of(switch, int(entry[first]), int(exit[first]), fabric)
        notes.add("error", "missing-lanes", text, line, _at(fabric, switch, int(exit[first])))
    for switch, part in _by(node, discarded > 0):
        first = int(part[0])
        sls = _sls(int(np.bitwise_or.reduce(discarded[part])))
        text = (
            f"{_called(fabric, switch)} discards packets of {sls} from port {entry[first]} to port {exit[first]}"
            f"{_more(len(part))}: the table gives VL 15"
        )
        line = lanes.tables.line_of(switch, int(entry[first]), int(exit[first]), fabric)
        notes.add("error", "dropped-sl", text, line, _at(fabric, switch, int(exit[first])))
    if shared and graph.used.any() and int(np.bitwise_or.reduce(graph.used)) >> DROP & 1:
        notes.add("error", "dropped-sl", "packets of SL 15 are discarded: VL 15 is not a lane for data")
    for end in np.flatnonzero(born).tolist()[:200]:
        slot = int(traces.ends[end])
        host = int(fabric.node_of[slot])
        text = f"{_called(fabric, host)} discards its own packets of {_sls(int(born[end]))}: its table gives VL 15"
        notes.add("error", "dropped-sl", text, 0, _at(fabric, host, fabric.port_of(slot)))
    _note_beyond(fabric, lanes, verdict, notes)
    if not (
        missing.any()
        or discarded.any()
        or born.any()
        or graph.bare.any()
        or (shared and verdict.sls_used[-1:] == (15,))
    ):
        return 0
    first_pair = np.full((2, 3), -1, np.int64)
    sources = verdict.sources
    arrays = (traces.lid, traces.endpoint, traces.code, traces.hops, tables.arrays(fabric), lanes.levels.masks, born)
    everyone = np.arange(len(traces.ends))
    work = 60.0 * len(everyone) * len(traces.lid)
    dropping, lacking = run(count_lost, work, everyone, sources.origins, sources.origin_of, *arrays, first_pair)
    for count, pair, what in (
        (int(dropping), first_pair[0].tolist(), "are discarded on the way (VL 15)"),
        (int(lacking), first_pair[1].tolist(), "meet a missing row"),
    ):
        if count:
            source, goal = (int(fabric.node_of[traces.ends[end]]) for end in (pair[0], int(traces.endpoint[pair[1]])))
            text = (
                f"packets of {plural(count, 'pair')} of a host and a LID {what}, such as those of SL {pair[2]} from "
                f"{_called(fabric, source)} to {_called(fabric, goal)} (LID {traces.lid[pair[1]]})"
            )
            notes.add("error", "dropped-pairs", text)
    return int(dropping)


def _note_beyond(fabric: Fabric, lanes: Lanes, verdict: LaneVerdict, notes: Notes) -> None:
    """Note lanes beyond those that a port operates."""
    if lanes.oper is None:
        return
    tables, graph = lanes.effective, verdict.graph
    places = np.flatnonzero((graph.used > 0) & (tables.row != MISSING))
    node, entry, exit = _ports_of(fabric, tables.first, places)
    number = tables.row[places] % len(lanes.tables.vl)  # the copies of cut rows keep the order of the rows
    limit = lanes.on_cables[fabric.first_slot[node] + exit]
    given = lanes.tables.vl[number]
    over = np.zeros(len(places), np.int64)
    for sl in verdict.sls_used:
        beyond = (given[:, sl] >= limit) & (given[:, sl] != DROP) & (graph.used[places] >> sl & 1 > 0)
        over |= beyond.astype(np.int64) << sl
    for switch, part in _by(node, over > 0):
        k = int(part[0])
        sl = sls_of(int(over[k]))[0]
        vl, count = int(given[k, sl]), int(limit[k])
        text = (
            f"{_called(fabric, switch)} has VL {vl} for SL {sl} from port {entry[k]} to port {exit[k]}"
            f"{_more(len(part))}, but that cable operates {_lanes(count)} only: OpenSM cuts it to VL {vl & (count - 1)}"
            "; set max_op_vls and restart"
        )
        line = lanes.tables.line_of(switch, int(entry[k]), int(exit[k]), fabric) if len(lanes.tables.line) else 0
        notes.add("error", "lane-beyond", text, line, _at(fabric, switch, int(exit[k])))


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
        places = np.flatnonzero((graph.used > 0) & (tables.row != MISSING))
        node, _, exit = _ports_of(fabric, tables.first, places)
        slot = fabric.first_slot[node] + exit
    for port, served in arbitration.served.items():
        carried = 0
        if len(tables.line):
            here = np.flatnonzero(slot == port)
            for sl in verdict.sls_used:
                met = here[graph.used[places[here]] >> sl & 1 > 0]
                for lane in np.unique(tables.vl[tables.row[places[met]], sl]).tolist():
                    carried |= 1 << lane
        else:
            carried = sum(1 << sl for sl in verdict.sls_used)
        starved = carried & ~served & ~(1 << DROP)
        if starved:
            name = f"{_called(fabric, int(fabric.node_of[port]))} port {fabric.port_of(port)}"
            lanes_text = ", ".join(map(str, sls_of(starved)))
            text = f"{name} never serves VL {lanes_text}, which packets use: its weight is 0 in both arbitration tables"
            at = _at(fabric, int(fabric.node_of[port]), fabric.port_of(port))
            notes.add("warning", "starved-lane", text, arbitration.line.get(port, 0), at)


def _born(lanes: Lanes) -> Array:
    """Return the SLs that each endpoint discards on its own cable, of those that its packets have."""
    fabric, tables, masks = lanes.fabric, lanes.effective, lanes.levels.masks
    ends = fabric.endpoints
    sent = np.bitwise_or.reduce(masks, axis=1)
    mine = np.broadcast_to(sent, len(ends)) if len(sent) == 1 else sent
    return np.asarray(mine & drops(tables)[tables.own[ends]], np.uint16)


def _ports_of(fabric: Fabric, first: Array, places: Array) -> tuple[Array, Array, Array]:
    """Return the switch, the port in and the port out of places in packed tables."""
    nodes = np.flatnonzero(first >= 0)
    nodes = nodes[np.argsort(first[nodes], kind="stable")]
    node = nodes[np.searchsorted(first[nodes], places, side="right") - 1] if len(places) else np.zeros(0, np.int64)
    entry, exit = np.divmod(places - first[node], np.diff(fabric.first_slot)[node])
    return node, entry, exit


def _by(node: Array, wanted: Array) -> Iterable[tuple[int, Array]]:
    """Yield every switch with the places at it that are wanted."""
    places = np.flatnonzero(wanted)
    switches, starts = np.unique(node[places], return_index=True)
    return zip(switches.tolist(), np.split(places, starts[1:]), strict=True) if len(places) else ()


def _called(fabric: Fabric, node: int) -> str:
    return node_name(fabric.nodes.ident[node], fabric.nodes.description[node].strip())


def _at(fabric: Fabric, node: int, port: int | None = None) -> Place:
    name = fabric.nodes.description[node].strip() or fabric.nodes.ident[node]
    return place_of(int(fabric.nodes.guid[node]), name, port)


def _more(rows: int) -> str:
    return f" and {plural(rows - 1, 'other row')}" if rows > 1 else ""


def _sls(mask: int) -> str:
    sls = sls_of(mask & (1 << SLS) - 1)
    return f"SL {sls[0]}" if len(sls) == 1 else f"SLs {', '.join(map(str, sls))}"


def _lanes(count: int) -> str:
    return "VL 0" if count == 1 else f"VL 0 to {count - 1}"
