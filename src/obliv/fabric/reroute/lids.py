"""The LIDs of new forwarding tables: those that the fabric has, or new ones."""

from __future__ import annotations

import numpy as np

from obliv.fabric.lids import with_lids
from obliv.fabric.model import Fabric

__all__ = ["lmc_with", "with_enough_lids"]


def with_enough_lids(fabric: Fabric, lmc: int, largest: int) -> tuple[Fabric, tuple[str, ...]]:
    """Return the fabric with at least 2**lmc LIDs for every host, and a note where its LIDs are new.

    LIDs are new where those of the fabric are not what OpenSM's ``-l`` would give, or the LMC exceeds `largest`.
    """
    reason = _reason_for_new(fabric, lmc, largest)
    if not reason:
        return fabric, ()
    note = f"LIDs are new, since {reason}; OpenSM moves the entries to those that it assigns"
    return with_lids(fabric, lmc), (note,)


def lmc_with(fabric: Fabric, lmc: int, largest: int) -> int:
    """Return the LMC that the fabric has after :func:`with_enough_lids`."""
    return lmc if _reason_for_new(fabric, lmc, largest) else int(fabric.ports.lmc[fabric.endpoints].max())


def _reason_for_new(fabric: Fabric, lmc: int, largest: int) -> str:
    """Return why new LIDs are needed, "" if they are not."""
    slots = fabric.endpoints
    low, high = int(fabric.ports.lmc[slots].min()), int(fabric.ports.lmc[slots].max())
    if not (fabric.ports.lid[slots] > 0).all() or not (fabric.ports.lid[fabric.first_slot[fabric.switches]] > 0).all():
        return "the fabric has none"
    if low < high:
        return f"ports have LMCs of {low} to {high}"
    if high < lmc:
        return f"LMC {lmc} is needed"
    if high > largest:
        return f"at most LMC {largest} is allowed"
    owned = np.flatnonzero(fabric.ports.lid > 0)
    first = np.sort(fabric.ports.lid[owned].astype(np.int64) << 8 | fabric.ports.lmc[owned])
    ends = (first >> 8) + (1 << (first & 7))
    return "some ports share a LID" if (ends[:-1] > first[1:] >> 8).any() else ""
