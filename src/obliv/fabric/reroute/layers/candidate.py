"""Tables by the engine ``layered``, with their standing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from obliv.errors import RoutingError
from obliv.fabric.reroute.candidates import Candidate
from obliv.fabric.reroute.layers.engine import layered
from obliv.fabric.reroute.layers.levels import levels_of
from obliv.fabric.reroute.lids import with_enough_lids
from obliv.fabric.reroute.request import Request
from obliv.fabric.reroute.standing import standing_of
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network

__all__ = ["layered_candidate"]


def layered_candidate(request: Request, others: Sequence[Tables]) -> Candidate:
    """Return the tables of the engine ``layered``, checked.

    Parameters
    ----------
    request : Request
    others : sequence of Tables
        The search also starts from these, unless LIDs have to be new.

    Raises
    ------
    RoutingError
        If the tables have a credit loop.
    """
    fabric = request.fabric
    numbered, notes = with_enough_lids(fabric, 0, request.most_lmc)
    found = layered(replace(request, fabric=numbered), () if notes else others)
    levels = levels_of(found.lane, numbered) if found.lanes > 1 else None
    standing = standing_of(fabric_routing(network(numbered), found.tables, "0", missing="skip"), levels)
    if standing.deadlock:  # impossible, since no layer has a cycle
        raise RoutingError(f"layered on {fabric.name}: the tables have a credit loop and are not used")
    notes = (*notes, f"layered: started from {found.start}")
    return Candidate("layered", "0", found.tables, numbered, standing, notes, levels)
