"""Tables by the engine ``layered``, with their standing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.kernels.layers import NO_LAYER
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.candidates import Candidate
from obliv.fabric.reroute.layers.engine import layered
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
    request = request if numbered is fabric else replace(request, fabric=numbered)
    found = layered(request, () if notes else others)
    levels = _levels_of(found.lane, numbered) if found.lanes > 1 else None
    standing = standing_of(fabric_routing(network(numbered), found.tables, "0", missing="skip"), levels)
    if standing.credit_loops:  # impossible, since no layer has a cycle
        raise RoutingError(f"layered on {fabric.name}: the tables have a credit loop and are not used")
    notes = (*notes, f"layered: started from {found.start}")
    return Candidate("layered", "0", found.tables, numbered, standing, notes, levels)


def _levels_of(lane: Array, fabric: Fabric) -> Levels:
    """Return the service levels of pairs: the lane of their routes.

    Parameters
    ----------
    lane : uint8 array, shape (endpoints, switches)
        The lane of packets from hosts at a switch to an endpoint, 255 where there are none.
    fabric : Fabric

    Notes
    -----
    Pairs at one switch take the lane that most others to the destination have, so that rules can be few.
    """
    count = 1 + int(lane.max(initial=0, where=lane != NO_LAYER))
    often = np.stack([(lane == layer).sum(axis=1) for layer in range(count)])
    usual = often.argmax(axis=0).astype(np.uint8)
    full = np.where(lane == NO_LAYER, usual[:, None], lane)
    beside = fabric.homes
    if (full == usual[:, None]).all():
        sl = usual[None, :]
    else:
        sl = np.where(beside[:, None] >= 0, full.T[beside], usual[None, :])
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    return Levels("layered", np.repeat((1 << sl.astype(np.uint16)).astype(np.uint16), many, axis=1))
