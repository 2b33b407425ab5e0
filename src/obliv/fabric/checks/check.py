"""Check a fabric: its cables, its forwarding tables, the routes that they give, and whether these may deadlock."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obliv._util.progress import Progress, rising
from obliv._util.text import plural
from obliv.fabric.arguments import typed
from obliv.fabric.checks.cables import check_cables, check_shape
from obliv.fabric.checks.credit_loops import CreditLoops, credit_loops
from obliv.fabric.checks.groups import check_groups
from obliv.fabric.checks.lanes import LANE_ENGINES, LaneCheck, check_lanes
from obliv.fabric.checks.log import engine_of
from obliv.fabric.checks.routes import Served, check_routes
from obliv.fabric.checks.service_levels import check_info
from obliv.fabric.checks.tables import check_entries, check_tables
from obliv.fabric.files.ar_info import AdaptiveInfo
from obliv.fabric.groups import GroupTables
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lids import owners
from obliv.fabric.messages import at_port, cable_name, port_name, route_text
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import Traces, trace_all
from obliv.fabric.routes.uniform import idle_channels, uniform_bound, uniform_load
from obliv.fabric.shape.tree import recognise
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.results.base import provenance
from obliv.results.fabric.check import ChoiceCheck, CreditLoop, EngineRun, FabricCheck

__all__ = ["check"]

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
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
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
    one_lane = None if routes.loops is None else _on_one_lane(fabric, routes.loops)
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


def _on_one_lane(fabric: Fabric, loops: CreditLoops) -> CreditLoop:
    """Return the verdict on deadlock if all packets take one lane."""
    cycle = tuple(port_name(fabric, slot) for slot in loops.cycle)
    return CreditLoop(loops.acyclic, loops.dependencies, cycle or None)


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
