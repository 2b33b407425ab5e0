"""Kernels: rows of SL-to-VL tables, read from untrusted bytes.

A row is stored as two halves of 32 bits: bits 4s to 4s + 3 of the first are the VL of SL s, those of the second the VL
of SL s + 8.  Positions stay in bounds as explained in :mod:`obliv.fabric.kernels.text`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.text import after_line, decimal, hexadecimal, line_end, skip_blanks, skip_word
from obliv.kernels import kernel

__all__ = ["LaneRows", "RowsRead", "read_hex_rows", "read_record_rows", "read_rows"]

_NEWLINE, _COMMA, _COLON, _DOT, _BAR, _LOWER_P = 10, 44, 58, 46, 124, 112
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
