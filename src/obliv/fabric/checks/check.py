"""Check a fabric: cables, tables, routes, deadlock and virtual lanes, adaptive routing; OpenSM's engine by its log."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obliv._util.progress import Progress, rising
from obliv._util.text import plural
from obliv.errors import FileError
from obliv.fabric.checks.routes import Served, check_groups, check_routes
from obliv.fabric.checks.tables import check_cables, check_entries, check_shape, check_tables
from obliv.fabric.files.assemble import FileBlocks
from obliv.fabric.files.forwarding import AdaptiveInfo
from obliv.fabric.lanes.findings import note_lanes
from obliv.fabric.lanes.graph import LaneCycle, LaneVerdict, OneLevel, judge, one_level_each
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.model import Fabric, Notes, Tables, at_node, at_port, cable_name, called, port_name, route_text, typed
from obliv.fabric.names import NO_STATE, STATIC, GroupTables, owners, safe
from obliv.fabric.results.check import ChoiceCheck, CreditLoop, EngineRun, FabricCheck, LaneLoop, LevelLoop
from obliv.fabric.routes.dependencies import CreditLoops, credit_loops
from obliv.fabric.routes.routing import idle_channels, uniform_bound, uniform_load
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import Traces, trace_all
from obliv.fabric.shape import recognise
from obliv.fabric.topology import network
from obliv.results.base import provenance

# Check of the virtual lanes of a fabric: packets that they discard, and deadlock over channels and lanes


LANE_ENGINES = ("dfsssp", "lash", "nue", "torus-2QoS")  #: Engines that need several virtual lanes against deadlock.
_BLIND = ("dfsssp", "lash")  # engines that give SLs although OpenSM writes no SL-to-VL tables
_SHOWN = 8  # channels of a cycle that are printed


@dataclass(frozen=True)
class LaneCheck:
    """The verdict with lanes, the fields of the result that it fills, and the findings."""

    credit: CreditLoop
    fields: dict[str, Any]
    notes: list[Notes]


def check_lanes(traces: Traces, lanes: Lanes, one_lane: CreditLoops, run: EngineRun | None) -> LaneCheck:
    """Check lanes."""
    fabric = traces.fabric
    verdict = judge(traces, lanes)
    dropped, notes = note_lanes(traces, lanes, verdict)
    alone = OneLevel(0, False, one_lane.dependencies, len(one_lane.cycle))
    each = one_level_each(traces, lanes, verdict, alone)
    _note_cycle(fabric, verdict, notes[0])
    _note_engine(lanes, run, notes[0])
    _note_same(verdict, each, notes[1])
    cycle = verdict.graph.cycle
    credit = CreditLoop(
        cycle is None,
        verdict.graph.dependencies,
        _names(fabric, cycle),
        None if cycle is None else cycle.lanes,
    )
    fields = {
        "same_sl": tuple(
            LevelLoop(level.sl, not level.cycle, level.dropped, level.dependencies, level.cycle or None)
            for level in each
        ),
        "lanes_used": verdict.lanes_used,
        "levels_used": verdict.sls_used,
        "per_lane": tuple(
            LaneLoop(lane, loop is None, count, _names(fabric, loop)) for lane, count, loop in verdict.per_lane()
        ),
        "dropped_pairs": dropped,
    }
    return LaneCheck(credit, fields, notes)


def _names(fabric: Fabric, cycle: LaneCycle | None) -> tuple[str, ...] | None:
    return None if cycle is None else tuple(port_name(fabric, slot) for slot in cycle.slots)


def _note_cycle(fabric: Fabric, verdict: LaneVerdict, notes: Notes) -> None:
    """Note a cycle of channels and lanes."""
    cycle = verdict.graph.cycle
    if cycle is None:
        return
    steps = list(zip(cycle.slots, cycle.lanes, strict=True))
    text = " -> ".join(f"{port_name(fabric, slot)} VL {lane}" for slot, lane in steps[:_SHOWN])
    more = f" -> ... ({len(steps) - _SHOWN} more)" if len(steps) > _SHOWN else ""
    message = f"packets can wait for each other forever, with these lanes: {text}{more} -> back to the first"
    notes.add("error", "credit-loop", message, 0, at_port(fabric, cycle.slots[0]))


def _note_engine(lanes: Lanes, run: EngineRun | None, notes: Notes) -> None:
    """Note engines whose SLs rely on SL-to-VL tables that OpenSM has not written."""
    engine = run.used if run is not None and run.used else lanes.levels.engine
    if engine in _BLIND and not lanes.tables.sources:
        text = (
            f"{engine} gives SLs even where OpenSM writes no SL-to-VL tables (without -Q): VL = SL is assumed here, "
            "but switches may differ; start OpenSM with -Q and give its opensm-sl2vl.dump"
        )
        notes.add("warning", "no-qos", text)


def _note_same(verdict: LaneVerdict, each: tuple[OneLevel, ...], notes: Notes) -> None:
    """Note that lanes do not help where software sends everything with one SL."""
    if verdict.graph.cycle is not None or len(verdict.sls_used) < 2:
        return
    cyclic = [level.sl for level in each if level.cycle and level.sl in verdict.sls_used]
    if cyclic:
        levels = f"SL {cyclic[0]}" if len(cyclic) == 1 else f"any one of SLs {', '.join(map(str, cyclic))}"
        text = (
            f"free of deadlock only if packets have these SLs: with {levels} for all of them it is not; UCX and NCCL "
            "do not ask the subnet manager and use one SL (UCX_IB_SL, NCCL_IB_SL)"
        )
        notes.add("warning", "same-sl", text)


# Which routing engine OpenSM used, from its log


_DONE = re.compile(rb"osm_ucast_mgr_process: (\S{1,40}) tables configured on all switches")
_FAILED = re.compile(rb"ucast_mgr_route: (\S{1,40}): cannot build (?:lid matrices|fwd tables)")
_UNKNOWN = re.compile(rb"setup_routing_engines: Failed to setup routing engine '([^']{1,40})'")
_REASON = re.compile(rb"-> (.{0,40}(?:ERR [0-9A-F]{4}|do_ucast_file_load|not supported).*)")
_LONGEST = 200  # characters of a name or reason that are shown
_ENGINES = ("dfsssp", "dnup", "dor", "file", "ftree", "lash", "minhop", "nue", "sssp", "torus-2QoS", "updn")
_NONE = b"No routing engine able to successfully configure"


def engine_of(path: str | Path, notes: Notes, requested: str | None = None) -> EngineRun:
    """Return the engine that routed last, and those that failed before it."""
    # OpenSM routes with minhop if the requested engine fails, and reports that only in the log.
    failed: dict[str, None] = {}  # in the order of the log
    used, reason, at, last, blank = None, "", 0, 0, True
    for number, line in FileBlocks(path).lines():
        blank = blank and not line.strip()
        if match := _UNKNOWN.search(line):
            if match[1] != b"no_fallback":  # older versions take it for an engine, but obey it
                failed[_text(match)] = None
                reason, at = "OpenSM has no engine of that name", number
        elif match := _FAILED.search(line):
            if last:  # a new sweep
                failed, last = {}, 0
            failed[_text(match)] = None
            at = number
        elif match := _DONE.search(line):
            if last:
                failed = {}
            used, last = _text(match), number
        elif _NONE in line:
            used, last = None, number
        elif match := _REASON.search(line):
            reason = _text(match).strip()
    if blank:
        raise FileError("the file is empty", path)
    asked = requested or next(iter(failed), used)
    because = f" ({safe(reason, _LONGEST)})" if reason and failed else ""
    wanted, by = safe(asked or "the engine", _LONGEST), safe(used or "", _LONGEST)
    near = get_close_matches(asked, [*_ENGINES, by], 1, 0.8) if asked and asked not in _ENGINES else []
    hint = f"did you mean {near[0]}?" if near else ""
    if not last:
        text = "no engine that was used is named: give OpenSM's log of a whole run, not an excerpt or another file"
        notes.add("warning", "engine", text)
    elif used is None:
        text = f"{wanted} failed{because} and no other was tried: there are no new tables"
        notes.add("error", "engine", text, at or last)
    elif asked is not None and asked != used and asked not in failed:
        text = f"the last sweep in the log used {by}; {wanted} was not tried: {hint or 'start OpenSM with it'}"
        notes.add("error", "engine", text, last)
    elif asked is not None and asked != used:
        text = f"{wanted} was requested but failed{because}: OpenSM fell back to {by}{hint and '; ' + hint}"
        notes.add("error", "engine", text, at or last)
    return EngineRun(used, asked, tuple(failed))


def _text(match: re.Match[bytes]) -> str:
    return match[1].decode("utf-8", "replace")


# Checks of what switches say of their adaptive routing: levels that are excluded, and groups beyond the last


_ALL = 0xFFFF


def check_info(fabric: Fabric, groups: GroupTables, info: AdaptiveInfo, notes: Notes) -> None:
    """Note service levels whose packets use static ports, switches that disagree, and groups beyond the last."""
    rows = np.unique(fabric.switch_row[groups.switch])
    unknown = rows[~info.known[rows]]
    if len(unknown):
        node = int(fabric.switches[unknown[0]])
        text = (
            f"{plural(len(unknown), 'switch', 'switches')} with groups are missing here, first {called(fabric, node)}"
        )
        notes.add("warning", "no-ar-info", text + ": they count as adaptive for all packets", 0, at_node(fabric, node))
    known = rows[info.known[rows]]
    off = known[info.mask[known] == 0]
    if len(off):
        node = int(fabric.switches[off[0]])
        text = f"adaptive routing is off at {plural(len(off), 'switch', 'switches')}, first {called(fabric, node)}: "
        notes.add(
            "warning",
            "adaptive-off",
            text + "all packets use static ports there",
            info.line[off[0]],
            at_node(fabric, node),
        )
    on = known[info.mask[known] != 0]
    masks, first, counts = np.unique(info.mask[on], return_index=True, return_counts=True)
    if len(masks) > 1:
        parts = [
            f"{_levels(int(mask))} at {count}" for mask, count in zip(masks.tolist(), counts.tolist(), strict=True)
        ]
        node = int(fabric.switches[on[first[int(counts.argmin())]]])
        text = f"switches are adaptive for different service levels: {'; '.join(parts[:4])}"
        notes.add("warning", "sl-mask", text, info.line[on[first[0]]], at_node(fabric, node))
    elif len(masks) and masks[0] != _ALL:
        excluded = _levels(~int(masks[0]) & _ALL)
        text = f"packets of {excluded} use the static ports: worst cases of groups do not hold for them"
        notes.add("note", "excluded-levels", text, info.line[on[0]])
    for row, node in enumerate(groups.switch.tolist()):
        top = int(info.group_top[fabric.switch_row[node]])
        used = (groups.state[row] != NO_STATE) & (groups.state[row] != STATIC)
        largest = int(groups.group[row][used].max(initial=0))
        if 0 <= top < largest:
            text = (
                f"{called(fabric, node)} uses group {largest}, beyond its last, {top}: the files are of different times"
            )
            notes.add("error", "group-top", text, info.line[fabric.switch_row[node]], at_node(fabric, node))


def _levels(mask: int) -> str:
    """Return service levels as text: ``SL 0, 2-15``."""
    runs: list[list[int]] = []
    for sl in range(16):
        if mask >> sl & 1:
            if runs and runs[-1][1] == sl - 1:
                runs[-1][1] = sl
            else:
                runs.append([sl, sl])
    return "SL " + (", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "none")


_ORDER = {"error": 0, "warning": 1, "note": 2}
_NAMED = 3  # idle cables


@typed
def check(
    fabric: Fabric,
    tables: Tables | None = None,
    log: str | Path | None = None,
    *,
    engine: str | None = None,
    lanes: Lanes | None = None,
    groups: GroupTables | None = None,
    info: AdaptiveInfo | None = None,
    progress: Progress | None = None,
) -> FabricCheck:
    """Check a fabric and its forwarding tables.

    Parameters
    ----------
    fabric : Fabric
    tables : Tables, optional
        Without them only cables are checked.
    log : path-like, optional
        OpenSM's log of the run that computed the tables.
    engine : str, optional
        The routing engine that was requested; OpenSM falls back to another one silently.
    lanes : Lanes, optional
        Virtual lanes of the fabric, as :func:`obliv.fabric.read_lanes` returns them; else all packets share one.
    groups : GroupTables, optional
        Groups of ports of adaptive routing, as :func:`obliv.fabric.read_groups` returns them. Their static ports count
        as the tables where none are given.
    info : AdaptiveInfo, optional
        For which service levels switches are adaptive, as :func:`obliv.fabric.read_ar_info` returns it; with groups.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    FabricCheck
        ``ok`` is False where there is an error: packets are lost or may deadlock, files contradict each other, or
        OpenSM used another engine than requested. Warnings and notes do not count. Without groups, the result holds
        for the static tables.

    Raises
    ------
    FileError
        If the log cannot be read.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology, tables_of
    >>> tree = obliv.topology("fattree:4,2")
    >>> fabric = from_topology(tree)
    >>> check(fabric, tables_of(obliv.routing("dmodk", tree), fabric))
    fabric-check: lft:dmodk on fabric:fattree:4,2
      endpoints  8
      switches   6
      cables     16
      shape      FT(4,2)
      routes     all 56 pairs are connected
      uniform    load 7/8 = 0.875; no routing has less
      deadlock   acyclic (24 dependencies, one virtual lane)
      verdict    1 note
      note       dmodk: 30 of 36 routes from switches to LIDs of switches are missing: hosts do not need them, and
                 ftree and updn leave out those between roots
    """
    began = time.perf_counter()
    progress = rising(progress)
    progress("cables", 0.0)
    about_topology = Notes(fabric.name)
    check_cables(fabric, about_topology)
    shape = recognise(fabric)
    check_shape(fabric, shape, about_topology)
    notes = [about_topology]
    run = None
    if log is not None:
        notes.append(Notes(str(log)))
        run = engine_of(log, notes[-1], engine)
    choices: tuple[ChoiceCheck, ...] = ()
    if groups is not None:
        progress("groups", 0.1)
        choices = _check_groups(fabric, groups, tables, info, notes)
        tables = groups.of_plft(groups.plfts[0]).static if tables is None else tables
    routes = _Routes(Served())
    if tables is not None:
        progress("tables", 0.2)
        routes = _check_routes(fabric, tables, lanes, run, notes, progress)
    elif len(fabric.endpoints) and not fabric.ports.lid[fabric.endpoints].any():
        about_topology.add("note", "no-lids", "no host has a LID yet: no subnet manager has run")
    even: dict[str, Any] = {}
    if tables is not None and routes.loops is not None and len(fabric.endpoints) > 1:
        progress("uniform traffic", 0.9)
        even = _under_uniform(fabric, tables, notes[-1])
    one_lane = None
    if (loops := routes.loops) is not None:
        cycle = tuple(port_name(fabric, slot) for slot in loops.cycle)
        one_lane = CreditLoop(loops.acyclic, loops.dependencies, cycle or None)
    apart = None if groups is None or tables is None or tables.name == groups.name else groups
    read = (fabric, tables, lanes, info, apart)
    findings = [finding for part in read if part is not None for finding in part.findings]
    findings += [finding for source in notes for finding in source.findings()]
    files = (fabric, tables, lanes, groups, info)
    sources = tuple(source for part in files if part is not None for source in part.sources)
    topology = f"fabric:{fabric.name}"
    routing = "" if tables is None else f"{'far' if tables.spelling == 'far' else 'lft'}:{tables.name}"
    return FabricCheck(
        topology=topology,
        routing=routing or "no tables",
        provenance=provenance(
            {"topology": topology, "routing": routing or None}, time.perf_counter() - began, sources=sources
        ),
        subject=fabric,
        endpoints=len(fabric.endpoints),
        switches=len(fabric.switches),
        channels=int((fabric.ports.peer >= 0).sum()),
        findings=tuple(sorted(findings, key=lambda finding: _ORDER.get(finding.severity, 2))),
        shape="" if shape is None else shape.title,
        pairs=len(fabric.endpoints) * (len(fabric.endpoints) - 1),
        unrouted=None if tables is None else routes.served.unrouted,
        loops=None if tables is None else routes.served.loops,
        dead_ends=None if tables is None else routes.served.dead_ends,
        wrong_ends=None if tables is None else routes.served.wrong_ends,
        engine=run,
        credit=one_lane if routes.lanes is None else routes.lanes.credit,
        one_lane=one_lane,
        adaptive=choices,
        **even,
        **({} if routes.lanes is None else routes.lanes.fields),
    )


def _check_groups(
    fabric: Fabric, groups: GroupTables, tables: Tables | None, info: AdaptiveInfo | None, notes: list[Notes]
) -> tuple[ChoiceCheck, ...]:
    """Check groups of ports, and for which service levels switches use them; append what is noted."""
    notes.append(Notes(groups.name))
    choices = check_groups(fabric, groups, tables, notes[-1])
    if info is not None:
        notes.append(Notes(info.name))
        check_info(fabric, groups, info, notes[-1])
    return choices


class _Routes(NamedTuple):
    """The pairs that tables serve; where routes were traced, their credit loops, and with lanes the verdict on them."""

    served: Served
    loops: CreditLoops | None = None
    lanes: LaneCheck | None = None


def _check_routes(
    fabric: Fabric,
    tables: Tables,
    lanes: Lanes | None,
    run: EngineRun | None,
    notes: list[Notes],
    progress: Progress,
) -> _Routes:
    """Check tables and their routes; `notes` begin with those about the topology, and what is noted is appended."""
    about_tables = Notes(tables.name)
    notes.append(about_tables)
    served, traces = _traced(fabric, tables, (notes[0], about_tables), progress)
    if traces is None:
        return _Routes(served)
    progress("deadlock", 0.8)
    loops = credit_loops(traces)
    if lanes is not None:
        progress("lanes", 0.9)
        verdict = check_lanes(traces, lanes, loops, run)
        notes += verdict.notes
        return _Routes(served, loops, verdict)
    if loops.cycle:
        _note_credit_loop(fabric, tables, loops, run, about_tables)
    return _Routes(served, loops)


def _traced(
    fabric: Fabric, tables: Tables, notes: tuple[Notes, Notes], progress: Progress
) -> tuple[Served, Traces | None]:
    """Note defects of tables and routes; return the pairs that they serve, and the routes where they were traced."""
    about_topology, about_tables = notes
    owner = owners(fabric)
    ends = fabric.endpoints
    dropped = check_tables(fabric, tables, owner, about_tables)
    pairs = len(ends) * (len(ends) - 1)
    nothing = Served(unrouted=pairs, dead_ends=pairs)
    if len(ends) and not fabric.ports.lid[ends].any():
        text = "no host has a LID: no subnet manager has run; start one, then scan and dump again"
        if not any(finding.kind == "no-lids" for finding in tables.findings):
            about_topology.add("error", "no-lids", text)
        return nothing, None
    if not tables.used.any() or not len(ends):
        return nothing, None
    progress("routes", 0.3)
    traces = trace_all(fabric, tables)
    progress("routes", 0.6)
    served = check_routes(traces, owner, dropped, notes)
    check_entries(fabric, tables, owner, dropped, served.reported, about_tables)
    return served, traces


def _under_uniform(fabric: Fabric, tables: Tables, notes: Notes) -> dict[str, Any]:
    """Return the load of uniform traffic, its lower bound and the channels that no route uses; note the latter."""
    topology = network(fabric)
    several = int(fabric.ports.lmc[fabric.endpoints].max()) > 0
    routing = fabric_routing(topology, tables, "spread" if several else "0", missing="skip")
    load, idle = uniform_load(routing), idle_channels(routing)
    least = None if routing.skipped else uniform_bound(topology)
    slots = topology.slot_of[idle]
    cables = np.unique(np.minimum(slots, fabric.ports.peer[slots]))
    if len(cables):
        single = len(cables) - int((np.isin(cables, slots) & np.isin(fabric.ports.peer[cables], slots)).sum())
        names = "; ".join(cable_name(fabric, int(slot)) for slot in cables[:_NAMED])
        more = f"; and {len(cables) - _NAMED} more" if len(cables) > _NAMED else ""
        one_way = (
            " in one direction" if single == len(cables) else f", {single} of them in one direction" * bool(single)
        )
        text = f"{plural(len(cables), 'cable is', 'cables are')} used by no route{one_way}: {names}{more}"
        uneven = least is not None and load > max(least, Fraction(1))
        if uneven:
            text += f"; uniform traffic loads others by {load}: see  obliv fabric route"
        notes.add("warning" if uneven else "note", "idle-cables", text, place=at_port(fabric, int(cables[0])))
    return {"uniform_load": load, "uniform_bound": least, "idle_channels": len(idle), "idle_cables": len(cables)}


def _note_credit_loop(fabric: Fabric, tables: Tables, loops: CreditLoops, run: EngineRun | None, notes: Notes) -> None:
    """Note a cycle of channels, an error unless the engine that was used avoids deadlock by virtual lanes."""
    lanes = run is not None and run.used in LANE_ENGINES
    others = " or ".join(name for name in LANE_ENGINES if run is None or name not in run.failed)
    routes = "use up*/down* routes (updn, or obliv fabric route)"
    remedy = (
        f"{run.used} spreads packets over virtual lanes against that: keep its service levels"
        if run is not None and lanes
        else routes + (f", or virtual lanes, by {others}" if others else "")
    )
    cycle = route_text(fabric, loops.cycle)
    text = f"packets can wait for each other forever: {cycle} -> back to the first; {remedy}"
    line = tables.line_of(int(fabric.node_of[loops.cycle[0]]))
    notes.add("warning" if lanes else "error", "credit-loop", text, line, at_port(fabric, loops.cycle[0]))
