"""LIDs: checks of those in files, repeated numbers, and new ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes, Place

__all__ = ["LAST_LID", "checked_lids", "note_repeated_guids", "owned_lids", "require_lids", "with_lids"]


LAST_LID = 0xBFFF  #: The last unicast LID.
_MAX_LMC = 7


def checked_lids(
    lid: Array,
    lmc: Array,
    line: Array,
    place: Callable[[int], str],
    at: Callable[[int], Place],
    notes: Notes,
) -> tuple[Array, Array]:
    """Return LIDs and LMCs with 0 for invalid ones; defects are noted."""
    for slot in np.flatnonzero(lmc > _MAX_LMC).tolist():
        notes.add("error", "bad-lid", f"{place(slot)} has LMC {lmc[slot]}: the maximum is 7", line[slot], at(slot))
    lmc = np.where(lmc > _MAX_LMC, 0, lmc)
    last = lid + (1 << lmc) - 1
    for slot in np.flatnonzero(last > LAST_LID).tolist():
        notes.add(
            "error",
            "bad-lid",
            f"{place(slot)} has LID {lid[slot]}: the largest unicast LID is {LAST_LID}",
            line[slot],
            at(slot),
        )
    lid = np.where(last > LAST_LID, 0, lid)
    for slot in np.flatnonzero(lid & ((1 << lmc) - 1)).tolist():
        notes.add(
            "warning",
            "bad-lid",
            f"{place(slot)} has LID {lid[slot]}, which is not a multiple of 2^LMC = {1 << lmc[slot]}",
            line[slot],
            at(slot),
        )
    for first, second, value in _repeated(*owned_lids(lid, lmc, np.flatnonzero(lid))):
        notes.add(
            "error",
            "duplicate-lid",
            f"LID {value} belongs to {place(first)} and to {place(second)}: restart the subnet manager",
            line[second],
            at(second),
        )
    return lid, lmc


def owned_lids(lid: Array, lmc: Array, slots: Array) -> tuple[Array, Array]:
    """Return the LIDs that some ports own, 2^LMC from the first on, and the slot of the owner of each."""
    many = 1 << lmc[slots].astype(np.int64)
    owner = np.repeat(slots, many)
    past = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    return lid[owner].astype(np.int64) + past, owner


def note_repeated_guids(
    guid: Array,
    line: Array,
    what: str,
    called: Callable[[int], str],
    at: Callable[[int], Place],
    notes: Notes,
) -> None:
    """Note GUIDs that two nodes or two ports have."""
    known = np.flatnonzero(guid)
    for first, second, value in _repeated(guid[known], known):
        notes.add(
            "error",
            "duplicate-guid",
            f"{called(first)} and {called(second)} have the same {what} GUID 0x{value:016x}: one of them must change",
            line[second],
            at(second),
        )


def _repeated(values: Array, owners: Array) -> list[tuple[int, int, int]]:
    """Return the owners of repeated values: the first owner, each later one, and the value."""
    order = np.argsort(values, kind="stable")
    values, owners = values[order], owners[order]
    again = np.flatnonzero(values[1:] == values[:-1]) + 1 if len(values) else np.zeros(0, np.int64)
    repeats = []
    for k in again.tolist():
        first = int(np.searchsorted(values, values[k]))
        repeats.append((int(owners[first]), int(owners[k]), int(values[k])))
    return repeats


def with_lids(fabric: Fabric, lmc: int = 0) -> Fabric:
    """Return the same fabric with new LIDs: switches from 1 on, then the ports of hosts with 2**lmc each.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> fabric = from_topology(obliv.topology("fattree:4,2"), lids=False)
    >>> with_lids(fabric, lmc=1).ports.lid[fabric.endpoints].tolist()
    [8, 10, 12, 14, 16, 18, 20, 22]
    """
    if not 0 <= lmc <= 7:
        raise TopologyError(f"LMC {lmc} is out of range (0 to 7)")
    own = fabric.first_slot[fabric.switches]
    others = ~fabric.nodes.are("switch")[fabric.node_of]
    ports = np.flatnonzero(others & (fabric.ports.peer >= 0))
    step = 1 << lmc
    first = require_lids(len(own), len(ports), lmc)
    lid, masks = np.zeros_like(fabric.ports.lid), np.zeros_like(fabric.ports.lmc)
    lid[own] = 1 + np.arange(len(own))
    lid[ports] = first + step * np.arange(len(ports))
    masks[ports] = lmc
    return fabric.with_ports(lid=lid, lmc=masks)


def require_lids(switches: int, ports: int, lmc: int) -> int:
    """Return the first LID of hosts, if there are enough LIDs."""
    step = 1 << lmc
    first = -(-(switches + 1) // step) * step
    if first + step * ports - 1 > LAST_LID:
        raise TopologyError(
            f"{switches} switches and {ports} ports of hosts with {plural(step, 'LID')} each need more than the "
            f"{LAST_LID} available LIDs: use a smaller LMC or a smaller fabric"
        )
    return first
