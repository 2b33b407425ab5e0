"""Cables from the records of their two ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.notes import Notes, Place

__all__ = ["cables"]


def cables(
    near: Array,
    far: Array,
    line: Array,
    slots: int,
    place: Callable[[int], str],
    at: Callable[[int, int], Place],
    notes: Notes,
) -> Array:
    """Return the slot at the other end of every slot's cable, -1 without a cable.

    Parameters
    ----------
    near, far : int64 array
        The records of the file: a slot (at most once) and the slot that the record names at the other end, or -1.
    line : int64 array
        The line of each record.
    slots : int
    place : function
        The name of a slot.
    at : function
        A slot, with that at the other end of its cable, as the place of a finding.
    notes : Notes
        Receives contradictions.

    Returns
    -------
    int64 array
        Cables on which both ends agree, then others in the order of the file whose ports are free.
    """
    peer, named, where = np.full(slots, -1, np.int64), np.full(slots, -1, np.int64), np.zeros(slots, np.int64)
    named[near], where[near] = far, line
    agreed = (far >= 0) & (far != near)
    agreed[agreed] = named[far[agreed]] == near[agreed]
    peer[near[agreed]] = far[agreed]
    for k in np.flatnonzero(~agreed & (far >= 0)).tolist():
        a, b, number = int(near[k]), int(far[k]), int(line[k])
        if a == b:
            notes.add("warning", "loopback", f"{place(a)} is cabled to itself: the cable is ignored", number, at(a, b))
            continue
        free = peer[a] < 0 and peer[b] < 0
        if named[b] < 0:
            kind, what = "one-sided-cable", "but the record of that node has no such port"
        else:
            kind = "asymmetric-cable"
            what = f"but that port names {place(int(named[b]))} on line {where[b]}"
        taken = "the cable is used" if free else "the cable is ignored"
        text = f"{place(a)} names {place(b)} as the other end of its cable, {what}; {taken}: scan the fabric again"
        notes.add("error", kind, text, number, at(a, b))
        if free:
            peer[a], peer[b] = b, a
    return peer
