"""Check a fabric: its cables, its forwarding tables, the ways that they make, and how they may deadlock."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from obliv.fabric.checks.cables import check_cables, check_shape
from obliv.fabric.checks.credit_loops import CreditLoops, credit_loops
from obliv.fabric.checks.log import engine_of
from obliv.fabric.checks.names import port_name, way_text
from obliv.fabric.checks.routes import Served, check_routes
from obliv.fabric.checks.tables import check_entries, check_tables, owners
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.trace import trace_all, wiring
from obliv.fabric.shape.tree import recognise
from obliv.fabric.tables import NONE, Tables
from obliv.results.base import provenance
from obliv.results.fabric_check import FabricCheck

__all__ = ["check"]

_ORDER = {"error": 0, "warning": 1, "note": 2}
_LANES = ("dfsssp", "lash", "nue", "torus-2QoS")  # engines that need several virtual lanes against deadlock


def check(
    fabric: Fabric,
    tables: Tables | None = None,
    log: str | Path | None = None,
    *,
    engine: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> FabricCheck:
    """Check a fabric and its forwarding tables.

    Parameters
    ----------
    fabric : Fabric
    tables : Tables, optional
        Without them only cables are checked.
    log : path-like, optional
        What OpenSM wrote of the run that made the tables.
    engine : str, optional
        The routing engine that was asked for; OpenSM falls back to another one without a word.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    FabricCheck
        ``ok`` is False where there is an error: packets are lost or may deadlock, files contradict each other, or
        OpenSM did not do what it was asked for. Warnings and notes are no errors. Adaptive routing is not in the
        tables: what is said holds for the static ones.

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
      routes     all 56 pairs are served
      deadlock   acyclic (24 dependencies, one virtual lane)
      verdict    1 note
      note       dmodk: 30 of 36 routes from switches to LIDs of switches are missing: hosts do not need them, and
                 ftree and updn leave out those between roots
    """
    began = time.perf_counter()
    step = progress or (lambda what, share: None)
    step("cables", 0.0)
    about = Notes(fabric.name)
    check_cables(fabric, about)
    shape = recognise(fabric)
    check_shape(fabric, shape, about)
    run = None
    told = []
    if log is not None:
        logged = Notes(str(log))
        run = engine_of(log, logged, engine)
        told.append(logged)
    served, credit = Served(), None
    pairs = len(fabric.endpoints) * (len(fabric.endpoints) - 1)
    if tables is not None:
        step("tables", 0.2)
        entries = Notes(tables.name)
        told.append(entries)
        served, credit = _routes(fabric, tables, run, (about, entries), step)
    elif len(fabric.endpoints) and not fabric.lid[fabric.endpoints].any():
        about.add("note", "no-lids", "no host has a LID yet: no subnet manager has run")
    read = fabric.findings + (tables.findings if tables is not None else ())
    findings = [*read, *(finding for notes in (about, *told) for finding in notes.findings())]
    findings.sort(key=lambda finding: _ORDER.get(finding.severity, 2))
    sources = fabric.sources + (tables.sources if tables is not None else ())
    specs = {"topology": fabric.name, "routing": tables.name if tables is not None else ""}
    return FabricCheck(
        topology=f"fabric:{fabric.name}",
        routing=f"lft:{tables.name}" if tables is not None else "no tables",
        provenance=provenance(specs, time.perf_counter() - began, sources=sources),
        subject=fabric,
        endpoints=len(fabric.endpoints),
        switches=len(fabric.switches),
        channels=int((fabric.peer >= 0).sum()),
        findings=tuple(finding.to_dict() for finding in findings),
        shape="" if shape is None else shape.name if shape.exact else f"nearly {shape.name}",
        pairs=pairs,
        unrouted=None if tables is None else served.unrouted,
        loops=None if tables is None else served.loops,
        dead_ends=None if tables is None else served.dead_ends,
        wrong_ends=None if tables is None else served.wrong_ends,
        engine=run,
        credit=_credit(fabric, credit),
    )


def _routes(
    fabric: Fabric,
    tables: Tables,
    run: dict[str, Any] | None,
    notes: tuple[Notes, Notes],
    step: Callable[[str, float], None],
) -> tuple[Served, CreditLoops | None]:
    about, entries = notes
    owner = owners(fabric)
    ends = fabric.endpoints
    dropped = check_tables(fabric, tables, owner, entries)
    pairs = len(ends) * (len(ends) - 1)
    nothing = Served(pairs=pairs, unrouted=pairs, dead_ends=pairs)
    if len(ends) and not fabric.lid[ends].any():
        text = "no host has a LID: no subnet manager has run; start one, then take topology and tables again"
        if not any(finding.kind == "no-lids" for finding in tables.findings):
            about.add("error", "no-lids", text)
        return nothing, None
    if not (tables.out != NONE).any() or not len(ends):
        return nothing, None
    step("ways", 0.3)
    wires = wiring(fabric, tables)
    traces = trace_all(fabric, tables, wires)
    step("ways", 0.6)
    served = check_routes(fabric, tables, wires, traces, owner, dropped, notes)
    check_entries(fabric, tables, owner, dropped, served.told, entries)
    step("deadlock", 0.8)
    credit = credit_loops(fabric, tables, wires=wires, traces=traces)
    if credit.cycle:
        lanes = run is not None and run["used"] in _LANES
        others = [name for name in _LANES if run is None or name not in run["failed"]]
        remedy = (
            f"{run['used']} spreads packets over virtual lanes against that: keep its service levels"
            if run is not None and lanes
            else "use up*/down* routes" + (f", or virtual lanes, by {' or '.join(others)}" if others else "")
        )
        way = way_text(fabric, credit.cycle)
        text = f"packets can wait for each other for ever: {way} -> again the first; {remedy}"
        row = tables.row_of.get(int(fabric.node_of[credit.cycle[0]]), 0)
        entries.add("warning" if lanes else "error", "credit-loop", text, int(tables.line[row]))
    return served, credit


def _credit(fabric: Fabric, credit: CreditLoops | None) -> dict[str, Any] | None:
    if credit is None:
        return None
    cycle = [port_name(fabric, slot) for slot in credit.cycle]
    return {"acyclic": credit.acyclic, "dependencies": credit.dependencies, "cycle": cycle}
