"""Columns of a saved plan of packet routing, and the position of packets at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv._util.codec import unpack_array
from obliv._util.typing import Array
from obliv.checker.schedules.claim import ScheduleClaim

__all__ = ["column", "node_at", "number"]


def number(plan: dict[str, Any], key: str, least: int) -> int:
    """Return an integer of a plan; raise ValueError if it is not an integer or too small."""
    value = plan[key]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**40:
        raise ValueError(f"{key} is {value!r}")
    return value


def column(plan: dict[str, Any], key: str, size: int | None) -> Array:
    """Return a list of integers of a plan; raise ValueError if it is not, or not of the given size."""
    value = plan[key]
    array = np.asarray(value if isinstance(value, np.ndarray) else unpack_array(value), np.int64)
    if array.ndim != 1 or (size is not None and len(array) != size):
        raise ValueError(f"{key} has not {size} entries")
    if len(array) and not -(2**40) < int(array.min()) <= int(array.max()) < 2**40:
        raise ValueError(f"{key} has a number out of range")
    return array


def node_at(claim: ScheduleClaim, packet: Array, time: Array) -> Array:
    """Return the node of packets after a step; -1 before their first move and after their last."""
    span = np.int64(int(claim.rows.time.max(initial=0)) + int(claim.rows.more.max(initial=0)) + 2)
    rows = np.repeat(np.arange(claim.packets), np.diff(claim.rows.start)) * span + claim.rows.time
    row = np.searchsorted(rows, packet * span + np.clip(time, 0, span - 1), side="right") - 1
    there = row >= claim.rows.start[packet]
    row = np.maximum(row, 0)
    past = time - claim.rows.time[row]
    there &= past <= (claim.rows.more[row] if len(claim.rows.more) else 0)
    ahead = claim.rows.up[row] == (past % 2 == 0)
    e = claim.rows.edge[row]
    return np.where(there, np.where(ahead, claim.links.high[e], claim.links.low[e]), -1)
