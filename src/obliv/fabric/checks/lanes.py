"""Check of the virtual lanes of a fabric: packets that they discard, and deadlock over channels and lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obliv.fabric.checks.credit_loops import CreditLoops
from obliv.fabric.lanes.findings import note_lanes
from obliv.fabric.lanes.graph import LaneCycle
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.verdict import LaneVerdict, OneLevel, judge, one_level_each
from obliv.fabric.messages import at_port, port_name
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.trace import Traces
from obliv.results.fabric.check import CreditLoop, EngineRun, LaneLoop, LevelLoop

__all__ = ["LANE_ENGINES", "LaneCheck", "check_lanes"]

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
    """Check lanes.

    Parameters
    ----------
    traces : Traces
        Between all endpoints.
    lanes : Lanes
    one_lane : CreditLoops
        The dependency graph on one lane.
    run : EngineRun or None
        What the log says of the routing engine.
    """
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
