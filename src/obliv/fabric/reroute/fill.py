"""Forwarding tables filled up and down over ranked switches."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.kernels.fill import Goals, Ranks, fill_tables
from obliv.fabric.lids import LAST_EXTENDED_LID, slots_of_lids
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.engines import EnginePlan
from obliv.fabric.shape.tree import Shape
from obliv.fabric.tables import NONE, Tables
from obliv.kernels import run

__all__ = ["filled"]


def filled(fabric: Fabric, ranks: Ranks, plan: EnginePlan, step: int = 0) -> Tables:
    """Return tables with an entry of every switch for every LID of the fabric that can be reached.

    Where the port that the plan chooses is missing, or does not lead to the destination, or there is no plan, ports
    are taken in turn among those from where the destination is equally near.

    Parameters
    ----------
    fabric : Fabric
        With LIDs.
    ranks : Ranks
    plan : EnginePlan
    step : int
        How far to go on from a port that is missing; 0: take the port that was used least.

    Raises
    ------
    RoutingError
        If ports share a LID, or a LID is out of range.
    """
    switches = fabric.switches
    slots, lids = _columns(fabric)
    own = fabric.switch_row[fabric.node_of[slots]] >= 0  # LIDs of switches themselves
    at = np.where(own, slots, fabric.ports.peer[slots])
    home = fabric.switch_row[fabric.node_of[at]]
    reached = home >= 0  # ports at switches only
    slots, lids, own, at, home = slots[reached], lids[reached], own[reached], at[reached], home[reached]
    order = np.lexsort((lids, at, home))
    slots, lids, own, at, home = slots[order], lids[order], own[order], at[order], home[order]
    top = int(lids.max())
    if top > LAST_EXTENDED_LID:
        raise RoutingError(f"{fabric.name}: LID {top} is out of range (maximum {LAST_EXTENDED_LID})")
    levels = int(ranks.level.max()) + 1
    require_memory(2.0 * len(switches) * (top + 1) + 8.0 * levels * len(lids), f"tables of {fabric.name}")
    want = np.zeros((levels, len(lids)), np.int32)
    if plan.shape is not None:
        _store_wanted(fabric, plan, plan.shape, slots, lids, want)
    if not plan.shifted:
        ranks = ranks._replace(shift=np.zeros_like(ranks.shift))
    port = np.where(own, 0, at - fabric.first_slot[fabric.node_of[at]])
    goals = Goals(home.astype(np.int32), port.astype(np.int32), want)
    ports = np.empty((len(switches), len(lids)), np.uint8)
    run(fill_tables, 10.0 * ports.size, ranks, goals, step, ports)
    out = np.full((len(switches), top + 1), NONE, np.uint8)
    out[:, lids] = ports
    return Tables(plan.engine, switches.astype(np.int32), out, np.zeros(len(switches), np.int32), "opensm", top)


def _columns(fabric: Fabric) -> tuple[Array, Array]:
    """Return the slots and LIDs to which packets can be sent."""
    lids, slots = slots_of_lids(fabric)
    if len(np.unique(lids)) < len(lids):
        raise RoutingError(f"{fabric.name}: some ports have the same LID: tables cannot tell them apart")
    return slots, lids


def _store_wanted(fabric: Fabric, plan: EnginePlan, shape: Shape, slots: Array, lids: Array, want: Array) -> None:
    """Store the number of the port that the plan chooses for every level and LID."""
    end = positions(fabric.endpoints, len(fabric.ports.peer))[slots]
    known = (end >= 0) & (shape.leaf[end] >= 0)
    leaf = np.where(known, shape.leaf[end], 0)
    place = np.where(known, shape.place[end], np.arange(len(slots)))  # other LIDs are spread evenly
    offset = lids - fabric.ports.lid[slots]
    for o in np.unique(offset).tolist():
        columns = np.flatnonzero(offset == o)
        for level in range(len(want)):
            want[level, columns] = plan.want(level, o, leaf[columns], place[columns])
