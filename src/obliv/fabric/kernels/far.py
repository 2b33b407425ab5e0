"""Kernel: rows of the tables of adaptive routing, read from untrusted bytes.

Positions stay in bounds as explained in :mod:`obliv.fabric.kernels.text`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.text import after_line, decimal, lid_at, line_end, skip_blanks
from obliv.kernels import kernel

__all__ = ["GroupEntries", "GroupRead", "read_group_entries"]

_NEWLINE, _BLANK, _TAB, _ZERO, _LOWER_X = 10, 32, 9, 48, 120
_MAX_DIGITS = 6
_NO_STATE, _LARGEST_PORT, _LARGEST_GROUP = 255, 255, 65_535
_WORDS = np.frombuffer(b"Bounded Free Static HBF ", np.uint8)
_FIRST = np.array([0, 8, 13, 20])  # where the word of each state begins


class GroupEntries(NamedTuple):
    """Where entries are stored by LID: static port, state (255 for no entry) and group."""

    port: Array
    state: Array
    group: Array


class GroupRead(NamedTuple):
    """What one call read: where it stopped, its lines, the largest LID, and the lines that contradict earlier ones."""

    at: int
    lines: int
    top: int
    conflicts: int
    conflict_line: int


@kernel
def state_at(data: Array, q: int) -> int:
    """Return the state whose word begins at `q` and is followed by a blank, -1 for another word."""
    for state in range(len(_FIRST)):
        k = 0
        while data[q + k] == _WORDS[_FIRST[state] + k] and data[q + k] != _BLANK:
            k += 1  # stops at a line end, which is in no word
        if _WORDS[_FIRST[state] + k] == _BLANK and (data[q + k] == _BLANK or data[q + k] == _TAB):
            return state
    return -1


@kernel
def read_group_entries(data: Array, start: int, stop: int, value: Array, entries: GroupEntries) -> GroupRead:
    """Read rows such as ``0x000a  5  Free  1``, up to the first line that is not one; return where that line begins.

    Parameters
    ----------
    data : uint8 array
        Whole lines: the byte before `stop` is a line end; nothing is read where it is not.
    start, stop : int
    value : int64 array, shape (256,)
        The value of each byte as a hexadecimal digit, -1 for other bytes.
    entries : GroupEntries
        Written.
    """
    port_of, state_of, group_of = entries
    limit = min(len(port_of), len(state_of), len(group_of))
    lines, largest, conflicts, conflict_line = 0, 0, 0, 0
    p = start
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE and len(value) == 256
    while sound and p < stop:
        q = skip_blanks(data, p, 32)
        if data[q] != _ZERO or data[q + 1] != _LOWER_X:
            break
        lid, q = lid_at(data, q + 2, value)
        if lid <= 0 or lid >= limit or (data[q] != _BLANK and data[q] != _TAB):
            break
        port, q = decimal(data, skip_blanks(data, q, 32), _MAX_DIGITS)
        if port < 0 or port > _LARGEST_PORT or (data[q] != _BLANK and data[q] != _TAB):
            break
        q = skip_blanks(data, q, 32)
        state = state_at(data, q)
        if state < 0:
            break
        while data[q] != _BLANK and data[q] != _TAB:
            q += 1
        group, q = decimal(data, skip_blanks(data, q, 32), _MAX_DIGITS)
        if group < 0 or group > _LARGEST_GROUP:
            break
        q = skip_blanks(data, q, 32)
        if not line_end(data, q):
            break
        lines += 1
        same = port_of[lid] == port and state_of[lid] == state and group_of[lid] == group
        if state_of[lid] != _NO_STATE and not same:
            conflicts += 1
            if conflict_line == 0:
                conflict_line = lines
        port_of[lid], state_of[lid], group_of[lid] = port, state, group
        largest = max(largest, lid)
        p = after_line(data, q)
    return GroupRead(p, lines, largest, conflicts, conflict_line)
