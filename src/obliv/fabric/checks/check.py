"""Check a fabric: its cables, its forwarding tables, the routes that they give, and whether these may deadlock."""

from __future__ import annotations

import time
from pathlib import Path

from obliv._util.progress import Progress, silent
from obliv.fabric.checks.cables import check_cables, check_shape
from obliv.fabric.checks.credit_loops import CreditLoops, credit_loops
from obliv.fabric.checks.groups import check_groups
from obliv.fabric.checks.lanes import LANE_ENGINES, check_lanes
from obliv.fabric.checks.log import engine_of
from obliv.fabric.checks.names import at_port, port_name, route_text
from obliv.fabric.checks.routes import Served, check_routes
from obliv.fabric.checks.service_levels import check_info
from obliv.fabric.checks.tables import check_entries, check_tables, owners
from obliv.fabric.files.ar_info import AdaptiveInfo
from obliv.fabric.groups import GroupTables
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.trace import Traces, trace_all
from obliv.fabric.shape.tree import recognise
from obliv.fabric.tables import Tables
from obliv.results.base import provenance
from obliv.results.fabric.check import ChoiceCheck, CreditLoop, EngineRun, FabricCheck

__all__ = ["check"]

_ORDER = {"error": 0, "warning": 1, "note": 2}


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
      deadlock   acyclic (24 dependencies, one virtual lane)
      verdict    1 note
      note       dmodk: 30 of 36 routes from switches to LIDs of switches are missing: hosts do not need them, and
                 ftree and updn leave out those between roots
    """
    began = time.perf_counter()
    progress = progress or silent
    progress("cables", 0.0)
    about_topology = Notes(fabric.name)
    check_cables(fabric, about_topology)
    shape = recognise(fabric)
    check_shape(fabric, shape, about_topology)
    notes = [about_topology]
    run = None
    if log is not None:
        about_log = Notes(str(log))
        run = engine_of(log, about_log, engine)
        notes.append(about_log)
    choices: tuple[ChoiceCheck, ...] = ()
    if groups is not None:
        progress("groups", 0.1)
        about_groups = Notes(groups.name)
        notes.append(about_groups)
        choices = check_groups(fabric, groups, tables, about_groups)
        if info is not None:
            about_info = Notes(info.name)
            notes.append(about_info)
            check_info(fabric, groups, info, about_info)
        tables = groups.of_plft(groups.plfts[0]).static if tables is None else tables
    served, loops, lane_check = Served(), None, None
    if tables is not None:
        progress("tables", 0.2)
        about_tables = Notes(tables.name)
        notes.append(about_tables)
        served, traces = _check_routing(fabric, tables, (about_topology, about_tables), progress)
        if traces is not None:
            progress("deadlock", 0.8)
            loops = credit_loops(traces)
            if lanes is not None:
                progress("lanes", 0.9)
                lane_check = check_lanes(traces, lanes, loops, run)
                notes += lane_check.notes
            elif loops.cycle:
                _note_credit_loop(fabric, tables, loops, run, about_tables)
    elif len(fabric.endpoints) and not fabric.ports.lid[fabric.endpoints].any():
        about_topology.add("note", "no-lids", "no host has a LID yet: no subnet manager has run")
    one_lane = None
    if loops is not None:
        cycle = tuple(port_name(fabric, slot) for slot in loops.cycle)
        one_lane = CreditLoop(loops.acyclic, loops.dependencies, cycle or None)
    findings = list(fabric.findings + (tables.findings if tables is not None else ()))
    findings += lanes.findings if lanes is not None else ()
    findings += info.findings if info is not None else ()
    findings += groups.findings if groups is not None and tables is not None and tables.name != groups.name else ()
    findings += [finding for source in notes for finding in source.findings()]
    findings.sort(key=lambda finding: _ORDER.get(finding.severity, 2))
    tables_sources = tables.sources if tables is not None else ()
    sources = fabric.sources + tables_sources
    sources += lanes.sources if lanes is not None else ()
    sources += groups.sources if groups is not None and groups.sources != tables_sources else ()
    sources += info.sources if info is not None else ()
    topology = f"fabric:{fabric.name}"
    given = None if tables is None else "far" if tables.spelling == "far" else "lft"
    routing = f"{given}:{tables.name}" if tables is not None else ""
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
        findings=tuple(findings),
        shape="" if shape is None else shape.name if shape.exact else f"nearly {shape.name}",
        pairs=len(fabric.endpoints) * (len(fabric.endpoints) - 1),
        unrouted=None if tables is None else served.unrouted,
        loops=None if tables is None else served.loops,
        dead_ends=None if tables is None else served.dead_ends,
        wrong_ends=None if tables is None else served.wrong_ends,
        engine=run,
        credit=one_lane if lane_check is None else lane_check.credit,
        one_lane=one_lane,
        adaptive=choices,
        **({} if lane_check is None else lane_check.fields),
    )


def _check_routing(
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
