"""Kernels: service levels of pairs, read from untrusted bytes and stored as masks.

Positions stay in bounds as explained in :mod:`obliv.fabric.kernels.lane_rows`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.lane_rows import after_line, decimal, hexadecimal, lid_at, line_end, skip_blanks, skip_word
from obliv.kernels import kernel

#: How a row names its source: by a heading above it, by the GUID of a node, by a LID, or not at all.
BY_HEADING, BY_GUID, BY_LID, TO_LID = 0, 1, 2, 3

_NEWLINE, _COMMA, _DOT, _COLON, _ZERO, _LOWER_X, _UPPER_X = 10, 44, 46, 58, 48, 120, 88
_LOWER_A, _LOWER_Z = 97, 122
_SLS, _LID_DIGITS, _SL_DIGITS = 16, 5, 2
_UNREACHABLE, _RECORD, _SLID, _DLID, _SL = (
    np.frombuffer(word, np.uint8) for word in (b"UNREACHABLE", b"PathRecord dump:", b"slid.", b"dlid.", b"sl.")
)


class PairRows(NamedTuple):
    """Where rows are stored: what names the source, as two halves, the LID of the destination, and a mask of SLs."""

    source_high: Array
    source_low: Array
    lid: Array
    mask: Array
    line: Array


class PairsRead(NamedTuple):
    """What one call read: where it stopped, its lines, its rows, and how they name their sources."""

    at: int
    lines: int
    rows: int
    kind: int


@kernel
def number_at(data: Array, q: int, value: Array) -> tuple[int, int, int, int]:
    """Return a number as two halves, its digits if it is hexadecimal, else 0 (-1: not a number), and its end."""
    if data[q] == _ZERO and (data[q + 1] == _LOWER_X or data[q + 1] == _UPPER_X):
        high, low, digits, q = hexadecimal(data, q, value)
        return high, low, (digits if digits > 0 else -1), q
    number, q = decimal(data, q, _LID_DIGITS)
    return 0, max(number, 0), (0 if number >= 0 else -1), q


@kernel
def levels_at(data: Array, q: int) -> tuple[int, int]:
    """Return the mask of SLs such as ``0,2,5`` at `q` and the position behind them; mask 0 where they are invalid."""
    mask = 0
    while True:
        sl, q = decimal(data, q, _SL_DIGITS)
        if sl < 0 or sl >= _SLS:
            return 0, q
        mask |= 1 << sl
        if data[q] != _COMMA:
            return mask, q
        q += 1


@kernel
def columns_end(data: Array, q: int) -> int:
    """Return how many further columns, each after a colon, stand in the rest of a line; -1 for anything else."""
    count = 0
    q = skip_blanks(data, q, 32)
    while data[q] == _COLON:
        number, q = decimal(data, skip_blanks(data, q + 1, 32), _LID_DIGITS)
        if number < 0:
            return -1
        count += 1
        q = skip_blanks(data, q, 32)
    return count if line_end(data, q) else -1


@kernel
def read_pairs(data: Array, start: int, stop: int, value: Array, rows: PairRows) -> PairsRead:
    """Read rows of one kind, up to the first other line.

    Rows are ``0xLID : SL`` or ``0xLID : SL : MTU : RATE`` or ``0xLID : UNREACHABLE`` (below a heading with the source),
    ``0xGUID LID SL``, ``LID LID SL,SL`` and ``LID SL,SL`` (by destination); a GUID has more than 4 digits.

    Parameters
    ----------
    data : uint8 array
        Whole lines: the byte before `stop` is a line end; nothing is read where it is not.
    start, stop : int
    value : int64 array, shape (256,)
        The value of each byte as a hexadecimal digit, -1 for other bytes.
    rows : PairRows
        Written; reading also stops where it is full. Of rows ``UNREACHABLE`` the mask is 0.
    """
    p, count, kind = start, 0, -1
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE and len(value) == 256
    while sound and p < stop and count < len(rows.lid):
        high, low, digits, q = number_at(data, skip_blanks(data, p, 32), value)
        if digits < 0:
            break
        q = skip_blanks(data, q, 32)
        lid, mask, own = low, 0, BY_HEADING
        if data[q] == _COLON:
            q = skip_blanks(data, q + 1, 32)
            end = skip_word(data, q, _UNREACHABLE)
            if end >= 0:
                q = end
                if not line_end(data, skip_blanks(data, q, 32)):
                    break
            else:
                mask, q = levels_at(data, q)
                further = columns_end(data, q)
                if mask == 0 or (further != 0 and further != 2):
                    break
            if high != 0 or digits > 4:
                break
        else:
            second_high, second, second_digits, after = number_at(data, q, value)
            if second_digits < 0 or second_high != 0:
                break
            rest = skip_blanks(data, after, 32)
            if data[after] == _COMMA or line_end(data, rest):
                own = TO_LID
                mask, q = levels_at(data, q)
            else:
                own = BY_GUID if digits > 4 else BY_LID
                lid = second
                mask, q = levels_at(data, rest)
            if mask == 0 or not line_end(data, skip_blanks(data, q, 32)):
                break
            if (own != BY_GUID and (high != 0 or digits > 4)) or (own == BY_GUID and second_digits > 4):
                break
        if kind >= 0 and own != kind:
            break
        kind = own
        rows.source_high[count], rows.source_low[count], rows.lid[count], rows.mask[count] = high, low, lid, mask
        rows.line[count] = count + 1
        count += 1
        p = after_line(data, q)
    return PairsRead(p, count, count, kind)


@kernel
def read_paths(data: Array, start: int, stop: int, value: Array, state: Array, rows: PairRows) -> PairsRead:
    """Read records of ``saquery PR`` line by line, up to the first line that is not part of one.

    Parameters
    ----------
    data, start, stop, value, rows
        As for :func:`read_pairs`; sources are LIDs.
    state : int64 array, shape (2,)
        The LIDs of source and destination of the record that is being read, -1 where not read yet.
    """
    p, count, lines = start, 0, 0
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE and len(value) == 256 and len(state) == 2
    while sound and p < stop and count < len(rows.lid):
        q = skip_blanks(data, p, 32)
        field = 0
        at = skip_word(data, q, _SLID)
        if at < 0:
            field = 1
            at = skip_word(data, q, _DLID)
        if at < 0:
            field = 2
            at = skip_word(data, q, _SL)
        if at >= 0:
            high, number, digits, at = number_at(data, skip_blanks(data, at, _DOT), value)
            if digits < 0 or high != 0 or not line_end(data, skip_blanks(data, at, 32)):
                break
            if field < 2:
                state[field] = number
            else:
                if number >= _SLS or state[0] < 0 or state[1] < 0:
                    break
                rows.source_high[count], rows.source_low[count] = 0, state[0]
                rows.lid[count], rows.mask[count], rows.line[count] = state[1], 1 << number, lines + 1
                count += 1
                state[:] = -1
        elif skip_word(data, q, _RECORD) >= 0:
            state[:] = -1
        elif not _LOWER_A <= data[q] <= _LOWER_Z:
            break
        lines += 1
        p = after_line(data, q)
    return PairsRead(p, lines, count, BY_LID)


class Merged(NamedTuple):
    """What rows did not go in: for LIDs without an endpoint, with the first of them; and those that added an SL."""

    unknown: int
    first_unknown: int
    several: int
    first_several: int


@kernel
def merge(source: Array, lid: Array, mask: Array, column: Array, levels: Array) -> Merged:
    """Add the SLs of rows to those of their pairs, and count rows that do not fit.

    Parameters
    ----------
    source : int64 array
        The number of each row's source, -1 to leave it out.
    lid, mask : int64 arrays
    column : int64 array
        The column of every LID, -1 where it belongs to no endpoint, -2 where it belongs to another port.
    levels : uint16 array, shape (sources, columns)
    """
    unknown, first_unknown, several, first_several = 0, -1, 0, -1
    for k in range(len(source)):
        c = column[lid[k]] if 0 <= lid[k] < len(column) else -1
        if c == -1:
            unknown += 1
            if first_unknown < 0:
                first_unknown = k
        if c < 0 or source[k] < 0:
            continue
        before = int(levels[source[k], c])
        after = before | int(mask[k])
        if before != 0 and after != before:
            several += 1
            if first_several < 0:
                first_several = k
        levels[source[k], c] = after
    return Merged(unknown, first_unknown, several, first_several)


# Kernel: entries of forwarding tables, read from untrusted bytes.
#
# Positions stay in bounds as explained in :mod:`obliv.fabric.kernels.lane_rows`. LIDs are compared with the length of
# the arrays before they are used.


_TAB, _RETURN, _BLANK, _HASH, _BRACKET, _NINE = 9, 13, 32, 35, 40, 57
_UPPER_N, _UPPER_R, _UPPER_U, _LOWER_P = 78, 82, 85, 112
_NO_PORT = 255
_MAX_PORT_DIGITS = 4
_UPPER_A, _UPPER_Z, _UNDERSCORE = 65, 90, 95
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


class ForwardingEntries(NamedTuple):
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
def read_entries(data: Array, start: int, stop: int, value: Array, entries: ForwardingEntries) -> Read:
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
    entries : ForwardingEntries
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


# Kernel: the channels that lead towards a switch, by the fewest hops or up and down


class Trunks(NamedTuple):
    """Channels between switches: those from row v are ``first[v] .. first[v + 1]``, to ``head``; whether they lead up.

    `order` has the rows from the highest on; without rows, channels lead neither up nor down.
    """

    first: Array
    head: Array
    up: Array
    order: Array


@kernel
def channels_towards(goal: int, trunks: Trunks, used: Array) -> None:
    """Mark the channels by which packets for a row leave the others.

    Without ranks these are all that lead closer to it. With ranks, those that lead down and closer, where a path of
    channels down exists; else those up, with the fewest hops from there on.
    """
    first, head, up, order = trunks
    rows = len(first) - 1
    ranked = len(order) > 0
    hops = np.full(rows, -1, np.int64)
    queue = np.empty(rows, np.int64)
    hops[goal] = 0
    queue[0] = goal
    done, count = 0, 1
    while done < count:  # along cables, backwards: up where packets go down
        v = queue[done]
        done += 1
        for c in range(first[v], first[v + 1]):
            if hops[head[c]] < 0 and (up[c] or not ranked):
                hops[head[c]] = hops[v] + 1
                queue[count] = head[c]
                count += 1
    down = hops >= 0
    for v in order:
        if not down[v]:
            for c in range(first[v], first[v + 1]):
                if up[c] and hops[head[c]] >= 0 and (hops[v] < 0 or hops[head[c]] + 1 < hops[v]):
                    hops[v] = hops[head[c]] + 1
    for v in range(rows):
        for c in range(first[v], first[v + 1]):
            w = head[c]
            if not ranked:
                used[c] = hops[v] > 0 and hops[w] == hops[v] - 1
            elif down[v]:
                used[c] = not up[c] and down[w] and hops[w] == hops[v] - 1
            else:
                used[c] = up[c] and hops[v] > 0 and hops[w] == hops[v] - 1
