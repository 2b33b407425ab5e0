"""Kernel: entries of forwarding tables, read from untrusted bytes.

Positions stay in bounds as explained in :mod:`obliv.fabric.kernels.text`.  LIDs are compared with the length of the
arrays before they are used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.text import hexadecimal, lid_at, skip_blanks, skip_word
from obliv.kernels import kernel

__all__ = ["Entries", "Moved", "PortGuids", "Read", "read_entries"]

_TAB, _NEWLINE, _RETURN, _BLANK, _HASH, _BRACKET, _ZERO, _NINE, _COLON = 9, 10, 13, 32, 35, 40, 48, 57, 58
_UPPER_N, _UPPER_R, _UPPER_U, _UPPER_X, _LOWER_P, _LOWER_X = 78, 82, 85, 88, 112, 120
_NO_PORT = 255
_MAX_PORT_DIGITS = 4
_UPPER_A, _UPPER_Z, _UNDERSCORE, _LOWER_A, _LOWER_Z = 65, 90, 95, 97, 122
_PORTGUID = np.frombuffer(b"portguid 0x", np.uint8)


class PortGuids(NamedTuple):
    """The upper and lower half of the port GUID given for every LID, -1 for LIDs without one."""

    high: Array
    low: Array


class Moved(NamedTuple):
    """Entries for another port GUID than the one given before for their LID."""

    lid: Array
    port: Array
    high: Array
    low: Array


class Entries(NamedTuple):
    """Where entries are stored: the port for every LID (255 for no entry), GUIDs, and entries that contradict them."""

    port: Array
    guid: PortGuids
    moved: Moved


class Read(NamedTuple):
    """What one call read: where it stopped, and counts of that call.

    ``conflicts`` counts entries with another port than an earlier one for the same LID, ``conflict_line`` is the first
    of them among the lines of this call, from 1.
    """

    at: int
    lines: int
    top: int
    conflicts: int
    conflict_line: int
    moved: int


@kernel
def ends_port(byte: int) -> bool:
    """Return whether a byte may follow a port number."""
    return byte in (_NEWLINE, _RETURN, _BLANK, _TAB, _COLON, _HASH, _BRACKET)


@kernel
def _is_letter(byte: int) -> bool:
    return _UPPER_A <= byte <= _UPPER_Z or _LOWER_A <= byte <= _LOWER_Z


@kernel
def read_entries(data: Array, start: int, stop: int, value: Array, entries: Entries) -> Read:
    """Read entries of one table, up to the first line that is not an entry; return where that line begins.

    An entry is ``0x0001 003`` or ``0x0001 : 003``, then a blank, ``:``, ``#`` or ``(`` and any text, of which
    ``portguid 0x...`` counts; or ``0x0001 : UNREACHABLE``.  Reading also stops where `entries.moved` is full.

    Parameters
    ----------
    data : uint8 array
        Whole lines: the byte before `stop` is a line end; nothing is read where it is not.
    start, stop : int
    value : int64 array, shape (256,)
        The value of each byte as a hexadecimal digit, -1 for other bytes.
    entries : Entries
        Written.
    """
    row, guid, moved = entries.port, entries.guid, entries.moved
    lines, largest, conflicts, conflict_line, full = 0, 0, 0, 0, 0
    limit = min(len(row), len(guid.high), len(guid.low))
    p = start
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE and len(value) == 256
    while sound and p < stop:
        q = skip_blanks(data, p, 32)
        if data[q] != _ZERO or (data[q + 1] != _LOWER_X and data[q + 1] != _UPPER_X):
            break
        lid, q = lid_at(data, q + 2, value)
        if lid < 0 or lid >= limit or (data[q] != _BLANK and data[q] != _TAB and data[q] != _COLON):
            break
        q = skip_blanks(data, q, 32)
        if data[q] == _COLON:
            q = skip_blanks(data, q + 1, 32)
        port = _NO_PORT
        if data[q] == _UPPER_U and data[q + 1] == _UPPER_N and data[q + 2] == _UPPER_R:  # UNREACHABLE
            q += 3
        else:
            port, digits = 0, 0
            while _ZERO <= data[q] <= _NINE and digits < _MAX_PORT_DIGITS:  # a call of decimal() takes longer
                port = 10 * port + value[data[q]]
                digits += 1
                q += 1
            if digits == 0 or port > _NO_PORT or not ends_port(data[q]):
                break
        high, low = -1, -1
        while data[q] != _NEWLINE:
            after = skip_word(data, q, _PORTGUID) if high < 0 and data[q] == _LOWER_P else -1
            if after < 0:
                q += 1
                continue
            high, low, digits, q = hexadecimal(data, after - 2, value)
            if digits == 0 or data[q] == _UNDERSCORE or _is_letter(data[q]):  # another word than a number
                sound = False
                break
        if not sound:
            break
        same = True
        if high >= 0 and lid > 0:
            if guid.high[lid] < 0:
                guid.high[lid], guid.low[lid] = high, low
            elif guid.high[lid] != high or guid.low[lid] != low:
                if full == len(moved.lid):
                    break
                moved.lid[full], moved.port[full], moved.high[full], moved.low[full] = lid, port, high, low
                full += 1
                same = False
        lines += 1
        if same and lid > 0:
            if row[lid] != _NO_PORT and row[lid] != port:
                conflicts += 1
                if conflict_line == 0:
                    conflict_line = lines
            row[lid] = port
        largest = max(largest, lid)
        p = q + 1
    return Read(p, lines, largest, conflicts, conflict_line, full)
