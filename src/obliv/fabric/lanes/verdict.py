"""Deadlock over channels and lanes: as a whole, lane by lane, and if all traffic used one service level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.lanes import Origins
from obliv.fabric.lanes.graph import LaneCycle, LaneGraph, lane_graph, origins_of
from obliv.fabric.lanes.levels import one_level, sls_of
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.tables import DROP, MISSING, SLS, LaneTables
from obliv.fabric.routes.trace import Traces

__all__ = ["LaneVerdict", "OneLevel", "drops", "judge", "one_level_each"]


@dataclass(frozen=True)
class OneLevel:
    """What happens if all packets have one SL.

    Parameters
    ----------
    sl : int
    dropped : bool
        Whether some switch discards packets of this SL.
    dependencies : int
    cycle : int
        Length of a cycle, 0 without one.
    """

    sl: int
    dropped: bool
    dependencies: int
    cycle: int


@dataclass(frozen=True, eq=False)
class LaneVerdict:
    """The dependency graph of a fabric with its lanes.

    Parameters
    ----------
    origins : Origins
    graph : LaneGraph
    lacking : int
        Number of pairs of a source and a LID without an SL; they are left out.
    lanes_used : tuple of int
        On channels between switches.
    sls_used : tuple of int
    """

    origins: Origins
    graph: LaneGraph
    lacking: int
    lanes_used: tuple[int, ...]
    sls_used: tuple[int, ...]

    def per_lane(self) -> Iterator[tuple[int, int, LaneCycle | None]]:
        """Yield each lane in use, the dependencies that stay on it, and a cycle of them."""
        for lane in self.lanes_used:
            yield (lane, *self.graph.on_lane(lane))


def judge(traces: Traces, lanes: Lanes) -> LaneVerdict:
    """Follow the routes of a fabric with its lanes.

    Parameters
    ----------
    traces : Traces
        Between all endpoints.
    lanes : Lanes
    """
    tables = lanes.effective
    origins = origins_of(traces, tables)
    graph, lacking = lane_graph(traces, tables, origins, lanes.levels)
    faulty = bool(graph.bare.any() or (graph.used[tables.row == MISSING] > 0).any()) or _discards(tables, graph)
    if faulty or lanes.oper is not None or lanes.arbitration is not None:  # findings name the ports
        graph, lacking = lane_graph(traces, tables, origins, lanes.levels, exact=True)
    sls = sls_of(int(np.bitwise_or.reduce(lanes.levels.masks, axis=None)))
    return LaneVerdict(origins, graph, lacking, graph.lanes_used, tuple(sls))


def drops(tables: LaneTables) -> Array:
    """Return for every distinct row the SLs whose packets it discards, as masks."""
    masks = ((tables.vl == DROP) << np.arange(SLS)).sum(axis=1)
    masks[MISSING] = 0
    return np.asarray(masks, np.uint16)


def one_level_each(traces: Traces, lanes: Lanes, verdict: LaneVerdict, one_lane: OneLevel) -> tuple[OneLevel, ...]:
    """Return for every SL what happens if all packets have it, as under software that asks no subnet manager.

    Parameters
    ----------
    traces : Traces
    lanes : Lanes
    verdict : LaneVerdict
        With the SLs given.
    one_lane : OneLevel
        The dependency graph on one lane: that of every SL that is on the same lane everywhere.
    """
    tables, graph = lanes.effective, verdict.graph
    met = _all_met(tables, verdict)
    rows = tables.vl[np.unique(tables.row) if met is None else met]
    results: dict[bytes, OneLevel] = {}
    answers = []
    for sl in range(SLS):
        column = rows[:, sl]
        key = column.tobytes()
        if key not in results:
            if met is not None and len(column) and (column == column[0]).all() and column[0] != DROP:
                results[key] = OneLevel(sl, False, one_lane.dependencies, one_lane.cycle)
            else:
                graph, _ = lane_graph(traces, tables, verdict.origins, one_level(sl))
                cycle = graph.cycle
                length = 0 if cycle is None else len(cycle.slots)
                results[key] = OneLevel(sl, _discards(tables, graph), graph.dependencies, length)
        answers.append(replace(results[key], sl=sl))
    return tuple(answers)


def _discards(tables: LaneTables, graph: LaneGraph) -> bool:
    """Return whether some packet is discarded."""
    return bool((graph.used & drops(tables)[tables.row]).any())


def _all_met(tables: LaneTables, verdict: LaneVerdict) -> Array | None:
    """Return the distinct rows that packets meet, if these are the rows of whole routes of all pairs; else None."""
    graph = verdict.graph
    met = np.unique(tables.row[graph.used > 0])
    whole = not (verdict.lacking or graph.bare.any() or MISSING in met or _discards(tables, graph))
    return met if whole else None
