"""The quality of forwarding tables."""

from __future__ import annotations

from obliv.analysis.worst_case.exact import worst_load
from obliv.fabric.checks.credit_loops import credit_loops
from obliv.fabric.routes.routing import FabricRouting
from obliv.results.fabric.route import Standing

__all__ = ["standing_of"]


def standing_of(routing: FabricRouting) -> Standing:
    """Return the quality of the tables of a routing; pairs that do not reach each other count as missing.

    Parameters
    ----------
    routing : FabricRouting
        Made with ``missing="skip"``.
    """
    fabric = routing.topology.fabric
    loops = credit_loops(routing.routes.traces)
    load = worst_load(routing.fabric_loads)
    return Standing(load, routing.skipped, not loops.acyclic, int(fabric.ports.lmc[fabric.endpoints].max()))
