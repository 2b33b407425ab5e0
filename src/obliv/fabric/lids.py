"""LIDs: checks of those in files, repeated numbers, and new ones; those of InfiniBand and extended ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.errors import FileError, TopologyError
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes, Place

__all__ = [
    "LAST_EXTENDED_LID",
    "LAST_LID",
    "beyond_infiniband",
    "checked_lids",
    "largest_lid",
    "note_repeated_guids",
    "owned_lids",
    "owners",
    "require_lids",
    "require_writable_lids",
    "slots_of_lids",
    "with_lids",
]


LAST_LID = 0xBFFF  #: The last unicast LID of InfiniBand.
LAST_EXTENDED_LID = 0xEFFFFF  #: The last unicast LID of 24 bits: Omni-Path's multicast LIDs begin at 0xF00000.
_MAX_LMC = 7
_SPREAD = 4  # numbers for each LID that a port owns, where LIDs go beyond those of InfiniBand


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
    largest = _largest(int((1 << lmc[lid > 0].astype(np.int64)).sum()))
    words = f"the largest unicast LID is {LAST_LID}"
    if LAST_LID < largest < LAST_EXTENDED_LID:
        words = f"LIDs beyond {LAST_LID} are read up to {largest}, {_SPREAD} for each that a port owns"
    for slot in np.flatnonzero(last > largest).tolist():
        text = f"{place(slot)} has LID {lid[slot]}: {words}"
        notes.add("error", "bad-lid", text, line[slot], at(slot))
    lid = np.where(last > largest, 0, lid)
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


def largest_lid(fabric: Fabric) -> int:
    """Return the largest LID that tables of a fabric may name.

    Tables have a column for every LID up to the largest, so that extended LIDs are read only where they are dense: one
    large number in a small file must not take gigabytes.

    Examples
    --------
    >>> import obliv
    >>> largest_lid(obliv.fabric.from_topology(obliv.topology("fattree:4,2")))
    49151
    """
    lids, _ = slots_of_lids(fabric)
    ports = len(fabric.switches) + len(fabric.endpoints)
    return max(int(lids.max(initial=0)), _largest(max(len(lids), ports)))


def _largest(owned: int) -> int:
    return max(LAST_LID, min(LAST_EXTENDED_LID, _SPREAD * owned))


def beyond_infiniband(fabric: Fabric) -> tuple[int, int]:
    """Return how many ports have LIDs that InfiniBand cannot address, and the largest LID of the fabric."""
    last = fabric.ports.lid.astype(np.int64) + (1 << fabric.ports.lmc.clip(0, _MAX_LMC).astype(np.int64)) - 1
    last = last[fabric.ports.lid > 0]
    return int((last > LAST_LID).sum()), int(last.max(initial=0))


def require_writable_lids(fabric: Fabric, path: str | Path) -> None:
    """Refuse to write LIDs beyond those of InfiniBand, unless the fabric is known to have extended ones."""
    ports, last = beyond_infiniband(fabric)
    if ports and not fabric.extended_lids:
        raise FileError.naming(
            f"cannot be written: LIDs go up to {last}, beyond the {LAST_LID} of InfiniBand and OpenSM: on a fabric "
            "with LIDs of 24 bits, as Omni-Path, use {extended_lids}=True",
            path=path,
        )


def owned_lids(lid: Array, lmc: Array, slots: Array) -> tuple[Array, Array]:
    """Return the LIDs that some ports own, 2^LMC from the first on, and the slot of the owner of each."""
    many = 1 << lmc[slots].astype(np.int64)
    owner = np.repeat(slots, many)
    past = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    return lid[owner].astype(np.int64) + past, owner


def slots_of_lids(fabric: Fabric) -> tuple[Array, Array]:
    """Return the LIDs that ports of a fabric own, and the slot of the owner of each."""
    return owned_lids(fabric.ports.lid, fabric.ports.lmc.clip(0, _MAX_LMC), np.flatnonzero(fabric.ports.lid > 0))


def owners(fabric: Fabric) -> dict[int, int]:
    """Return the slot of every LID that a port of the fabric owns; of several owners the first."""
    lids, slots = slots_of_lids(fabric)
    return dict(zip(lids[::-1].tolist(), slots[::-1].tolist(), strict=True))


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

    They go beyond those of InfiniBand only if the fabric says that they may: see :attr:`Fabric.extended_lids`.

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
    first = require_lids(len(own), len(ports), lmc, extended=fabric.extended_lids)
    lid, masks = np.zeros_like(fabric.ports.lid), np.zeros_like(fabric.ports.lmc)
    lid[own] = 1 + np.arange(len(own))
    lid[ports] = first + step * np.arange(len(ports))
    masks[ports] = lmc
    return fabric.with_ports(lid=lid, lmc=masks)


def require_lids(switches: int, ports: int, lmc: int, *, extended: bool = False) -> int:
    """Return the first LID of hosts, if there are enough LIDs."""
    step = 1 << lmc
    first = -(-(switches + 1) // step) * step
    last = LAST_EXTENDED_LID if extended else LAST_LID
    if first + step * ports - 1 > last:
        otherwise = "" if extended else ", or {extended_lids}=True for LIDs of 24 bits as on Omni-Path"
        raise TopologyError.naming(
            f"{switches} switches and {ports} ports of hosts with {plural(step, 'LID')} each need more than the "
            f"{last} available LIDs: use a smaller LMC or a smaller fabric{otherwise}"
        )
    return first
