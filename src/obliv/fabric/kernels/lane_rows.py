"""Kernels: rows of SL-to-VL tables, read from untrusted bytes.

A row is stored as two halves of 32 bits: bits 4s to 4s + 3 of the first are the VL of SL s, those of the second the VL
of SL s + 8.  Positions stay in bounds as explained below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

# Kernels: words and numbers in untrusted lines of text.
#
# Every index stays in bounds by one argument: the caller checks that the last byte that it gives is a line end, and a
# byte after position q is looked at only once the byte at q is known not to be a line end.  So no function here takes a
# position behind a line end, and none returns one.


_TAB, _NEWLINE, _RETURN, _BLANK, _ZERO, _NINE = 9, 10, 13, 32, 48, 57
_UPPER_X, _LOWER_X = 88, 120
_LID_DIGITS = 8


@kernel
def skip_blanks(data: Array, q: int, other: int) -> int:
    """Return the first position from `q` on that is neither a blank, nor a tab, nor the byte `other`."""
    while data[q] == _BLANK or data[q] == _TAB or data[q] == other:
        q += 1
    return q


@kernel
def skip_word(data: Array, q: int, word: Array) -> int:
    """Return the position behind a word at `q`, -1 where there is another; the word contains no line end."""
    k = 0
    while k < len(word) and data[q + k] == word[k]:
        k += 1
    return q + k if k == len(word) else -1


@kernel
def decimal(data: Array, q: int, most: int) -> tuple[int, int]:
    """Return the decimal number at `q` and the position behind it; -1 where there is none of at most so many digits."""
    number, digits = 0, 0
    while _ZERO <= data[q] <= _NINE and digits <= most:
        number = int(10 * number + np.int64(data[q]) - _ZERO)
        digits += 1
        q += 1
    return (number if 0 < digits <= most else -1), q


@kernel
def hexadecimal(data: Array, q: int, value: Array) -> tuple[int, int, int, int]:
    """Return the number ``0x...`` at `q` of at most 16 digits: its upper and lower 32 bits, digits, and the end.

    Without a number there are 0 digits; `value` is that of each byte as a digit, -1 for other bytes.
    """
    high, low, digits = 0, 0, 0
    if data[q] == _ZERO and (data[q + 1] == _LOWER_X or data[q + 1] == _UPPER_X):
        q += 2
        while value[data[q]] >= 0 and digits <= 16:
            high = (high % 268435456) * 16 + low // 268435456
            low = (low % 268435456) * 16 + value[data[q]]
            digits += 1
            q += 1
    return high, low, (digits if digits <= 16 else 0), q


@kernel
def lid_at(data: Array, q: int, value: Array) -> tuple[int, int]:
    """Return the hexadecimal number at `q`, behind its ``0x``, and the position behind at most 8 digits; -1 for none.

    `value` is that of each byte as a digit, -1 for other bytes.
    """
    lid, digits = 0, 0
    while value[data[q]] >= 0 and digits < _LID_DIGITS:
        lid = 16 * lid + value[data[q]]
        digits += 1
        q += 1
    return (lid if digits > 0 else -1), q


@kernel
def line_end(data: Array, q: int) -> bool:
    """Return whether a line ends at `q`, with or without a carriage return."""
    return bool(data[q] == _NEWLINE or (data[q] == _RETURN and data[q + 1] == _NEWLINE))


@kernel
def after_line(data: Array, q: int) -> int:
    """Return the position behind the end of the line."""
    while data[q] != _NEWLINE:
        q += 1
    return q + 1


_COMMA, _COLON, _DOT, _BAR, _LOWER_P = 44, 58, 46, 124, 112
_LAST_VL, _DIGITS = 15, 3
_PORTS, _IN, _OUT = (np.frombuffer(word, np.uint8) for word in (b"ports:", b"in", b"out"))
_LID, _IN_PORT, _OUT_PORT = (np.frombuffer(word, np.uint8) for word in (b"LID.", b"InPort.", b"OutPort."))
_SL, _VL, _RECORD = (np.frombuffer(word, np.uint8) for word in (b"SL:", b"VL:", b"SL2VLTableRecord dump:"))


class LaneRows(NamedTuple):
    """Where rows are stored: ports, VLs, the line (from 1 in one call), and what names the node, as two halves."""

    entry: Array
    exit: Array
    low: Array
    high: Array
    line: Array
    node_high: Array
    node_low: Array


class RowsRead(NamedTuple):
    """What one call read: where it stopped, its lines, and its rows."""

    at: int
    lines: int
    rows: int


@kernel
def lanes_at(data: Array, q: int) -> tuple[int, int, bool]:
    """Read 16 VLs, with blanks or bars between, to the end of the line; return them and whether they are valid."""
    low, high = 0, 0
    for sl in range(16):
        q = skip_blanks(data, q, _BAR)
        vl, q = decimal(data, q, _DIGITS)
        if vl < 0 or vl > _LAST_VL:
            return 0, 0, False
        if sl < 8:
            low += vl << (4 * sl)
        else:
            high += vl << (4 * sl - 32)
    return low, high, line_end(data, skip_blanks(data, q, _BAR))


@kernel
def read_rows(data: Array, start: int, stop: int, rows: LaneRows) -> RowsRead:
    """Read rows ``1 2 : 0 1 ...`` or ``ports: in 1, out 2: | 0| 1|...``, up to the first other line.

    Parameters
    ----------
    data : uint8 array
        Whole lines: the byte before `stop` is a line end; nothing is read where it is not.
    start, stop : int
    rows : LaneRows
        Written; reading also stops where it is full.
    """
    p, count = start, 0
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE
    while sound and p < stop and count < len(rows.entry):
        q = skip_blanks(data, p, 32)
        if data[q] == _LOWER_P:
            q = skip_word(data, q, _PORTS)
            if q < 0:
                break
            q = skip_word(data, skip_blanks(data, q, 32), _IN)
            if q < 0:
                break
            q = skip_blanks(data, q, 32)
        entry, q = decimal(data, q, _DIGITS)
        q = skip_blanks(data, q, 32)
        if data[q] == _COMMA:
            q = skip_word(data, skip_blanks(data, q + 1, 32), _OUT)
            if q < 0:
                break
            q = skip_blanks(data, q, 32)
        exit, q = decimal(data, q, _DIGITS)
        q = skip_blanks(data, q, 32)
        if entry < 0 or exit < 0 or data[q] != _COLON:
            break
        low, high, valid = lanes_at(data, q + 1)
        if not valid:
            break
        rows.entry[count], rows.exit[count], rows.low[count], rows.high[count] = entry, exit, low, high
        rows.line[count] = count + 1
        count += 1
        p = after_line(data, q)
    return RowsRead(p, count, count)


@kernel
def read_hex_rows(data: Array, start: int, stop: int, value: Array, rows: LaneRows) -> RowsRead:
    """Read rows ``0xGUID IN OUT 0xAB ...``, eight bytes with the VL of an even SL first, up to the first other line.

    Parameters
    ----------
    data, start, stop, rows
        As for :func:`read_rows`.
    value : int64 array, shape (256,)
        The value of each byte as a hexadecimal digit, -1 for other bytes.
    """
    p, count = start, 0
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE and len(value) == 256
    while sound and p < stop and count < len(rows.entry):
        node_high, node_low, digits, q = hexadecimal(data, skip_blanks(data, p, 32), value)
        if digits == 0:
            break
        entry, q = decimal(data, skip_blanks(data, q, 32), _DIGITS)
        exit, q = decimal(data, skip_blanks(data, q, 32), _DIGITS)
        low, high, valid = 0, 0, entry >= 0 and exit >= 0
        for k in range(8):
            if not valid:
                break
            _, byte, digits, q = hexadecimal(data, skip_blanks(data, q, 32), value)
            valid = 0 < digits <= 2
            pair = (byte // 16) + ((byte % 16) << 4)
            if k < 4:
                low += pair << (8 * k)
            else:
                high += pair << (8 * k - 32)
        q = skip_blanks(data, q, 32)
        if not valid or not line_end(data, q):
            break
        rows.node_high[count], rows.node_low[count] = node_high, node_low
        rows.entry[count], rows.exit[count], rows.low[count], rows.high[count] = entry, exit, low, high
        rows.line[count] = count + 1
        count += 1
        p = after_line(data, q)
    return RowsRead(p, count, count)


@kernel
def read_record_rows(data: Array, start: int, stop: int, state: Array, rows: LaneRows) -> RowsRead:
    """Read records of ``saquery SL2VL`` line by line, up to the first line that is not part of one.

    Parameters
    ----------
    data, start, stop, rows
        As for :func:`read_rows`; the LID is stored as the lower half of what names the node.
    state : int64 array, shape (3,)
        LID, in port and out port of the record that is being read, -1 where not read yet; kept between calls.
    """
    p, count, lines = start, 0, 0
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE and len(state) == 3
    while sound and p < stop and count < len(rows.entry):
        q = skip_blanks(data, p, 32)
        field = 0
        at = skip_word(data, q, _LID)
        if at < 0:
            field = 1
            at = skip_word(data, q, _IN_PORT)
        if at < 0:
            field = 2
            at = skip_word(data, q, _OUT_PORT)
        if at >= 0:
            number, at = decimal(data, skip_blanks(data, at, _DOT), 5)
            if number < 0 or not line_end(data, skip_blanks(data, at, 32)):
                break
            state[field] = number
            q = at
        elif skip_word(data, q, _RECORD) >= 0:
            state[:] = -1
        elif skip_word(data, q, _SL) < 0:
            at = skip_word(data, q, _VL)
            if at < 0 or state[0] < 0 or state[1] < 0 or state[2] < 0:
                break
            low, high, valid = lanes_at(data, at)
            if not valid:
                break
            rows.node_high[count], rows.node_low[count] = 0, state[0]
            rows.entry[count], rows.exit[count], rows.low[count], rows.high[count] = state[1], state[2], low, high
            rows.line[count] = lines + 1
            count += 1
            state[:] = -1
        lines += 1
        p = after_line(data, q)
    return RowsRead(p, lines, count)


# Kernel: rows of the tables of adaptive routing, read from untrusted bytes.
#
# Positions stay in bounds as explained in :mod:`obliv.fabric.kernels.lane_rows`.


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
