"""LIDs that cannot be, and numbers that should be given once only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.notes import Notes

__all__ = ["LAST_LID", "checked_lids", "note_repeated_guids"]


LAST_LID = 0xBFFF  #: The last unicast LID.
_MOST_LMC = 7


def checked_lids(lid: Array, lmc: Array, line: Array, place: Callable[[int], str], notes: Notes) -> tuple[Array, Array]:
    """LIDs and LMCs without those that cannot be; what is odd is noted."""
    for slot in np.flatnonzero(lmc > _MOST_LMC).tolist():
        notes.add("error", "bad-lid", f"{place(slot)} has LMC {lmc[slot]}: it is 7 at most", line[slot])
    lmc = np.where(lmc > _MOST_LMC, 0, lmc)
    last = lid + (1 << lmc) - 1
    for slot in np.flatnonzero(last > LAST_LID).tolist():
        notes.add("error", "bad-lid", f"{place(slot)} has LID {lid[slot]}: unicast LIDs end at {LAST_LID}", line[slot])
    lid = np.where(last > LAST_LID, 0, lid)
    for slot in np.flatnonzero(lid & ((1 << lmc) - 1)).tolist():
        notes.add(
            "warning",
            "bad-lid",
            f"{place(slot)} has LID {lid[slot]}, no multiple of 2^LMC = {1 << lmc[slot]}",
            line[slot],
        )
    slots = np.flatnonzero(lid)
    many = 1 << lmc[slots]
    owner = np.repeat(slots, many)
    each = np.repeat(lid[slots] - (np.cumsum(many) - many), many) + np.arange(len(owner))
    for first, second, value in _repeated(each, owner):
        notes.add(
            "error",
            "duplicate-lid",
            f"LID {value} belongs to {place(first)} and to {place(second)}: restart the subnet manager",
            line[second],
        )
    return lid, lmc


def note_repeated_guids(guid: Array, line: Array, what: str, called: Callable[[int], str], notes: Notes) -> None:
    """Note GUIDs that two nodes or two ports have."""
    known = np.flatnonzero(guid)
    for first, second, value in _repeated(guid[known], known):
        notes.add(
            "error",
            "duplicate-guid",
            f"{called(first)} and {called(second)} have one {what} GUID, 0x{value:016x}: one of the two has to change",
            line[second],
        )


def _repeated(values: Array, owners: Array) -> list[tuple[int, int, int]]:
    """Owners of a value that another one has: the first, each later one, and the value."""
    order = np.argsort(values, kind="stable")
    values, owners = values[order], owners[order]
    again = np.flatnonzero(values[1:] == values[:-1]) + 1 if len(values) else np.zeros(0, np.int64)
    found = []
    for k in again.tolist():
        first = int(np.searchsorted(values, values[k]))
        found.append((int(owners[first]), int(owners[k]), int(values[k])))
    return found
