"""The quality of forwarding tables."""

from __future__ import annotations

from obliv.analysis.worst_case.exact import worst_load
from obliv.fabric.checks.credit_loops import credit_loops
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.tables import LaneTables, identity
from obliv.fabric.lanes.verdict import judge
from obliv.fabric.routes.routing import FabricRouting
from obliv.results.fabric.route import Standing

__all__ = ["standing_of"]


def standing_of(routing: FabricRouting, levels: Levels | None = None, tables: LaneTables | None = None) -> Standing:
    """Return the quality of the tables of a routing; pairs that do not reach each other count as missing.

    Parameters
    ----------
    routing : FabricRouting
        Made with ``missing="skip"``.
    levels : Levels, optional
        The service levels of pairs; by default all packets take one lane.
    tables : LaneTables, optional
        The SL-to-VL tables; by default the lane is the service level.
    """
    fabric = routing.topology.fabric
    load, lmc = worst_load(routing.fabric_loads), int(fabric.ports.lmc[fabric.endpoints].max())
    if levels is None:
        return Standing(load, routing.skipped, not credit_loops(routing.routes.traces).acyclic, lmc)
    verdict = judge(routing.routes.traces, Lanes(fabric, tables or identity(fabric), levels))
    deadlock = verdict.graph.cycle is not None or verdict.lacking > 0
    return Standing(load, routing.skipped, deadlock, lmc, 1 + max(verdict.lanes_used, default=0))
