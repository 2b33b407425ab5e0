"""Lines of forwarding tables, read from bytes."""

from __future__ import annotations

from obliv.kernels import kernel

__all__ = ["read_entries"]


@kernel
def read_entries(data, start, stop, value, row, guid, moved, state):  # type: ignore[no-untyped-def]
    """Read entries of one table, up to the first line that is none; where that line begins.

    An entry is ``0x0001 003`` or ``0x0001 : 003``, then blanks, ``:``, ``#`` or ``(`` with anything that follows, of
    which ``portguid 0x...`` counts; or ``0x0001 : UNREACHABLE``.

    Parameters
    ----------
    data : uint8 array
        Whole lines: the byte before `stop` is a line end.
    start, stop : int
    value : int64 array, shape (256,)
        What a byte is worth as a hexadecimal digit, -1 if it is none.
    row : uint8 array
        The port for every LID, 255 for none; written.
    guid : int64 array, shape (LIDs, 2)
        The upper and lower half of the GUID that was given for every LID, -1 where none was; written.
    moved : int64 array, shape (many, 4)
        Entries for another GUID than the one given before: LID, port, both halves; written.
    state : int64 array
        Lines read, entries read, largest LID, entries that contradict an earlier one, the line of the first of them,
        entries in `moved` (which is full when reading stops at them); written.
    """
    top = len(row)
    p = start
    while p < stop:
        q = p
        while data[q] == 32 or data[q] == 9:
            q += 1
        if data[q] != 48 or (data[q + 1] != 120 and data[q + 1] != 88):  # 0x
            return p
        q += 2
        lid, digits = 0, 0
        while value[data[q]] >= 0 and digits < 8:
            lid = 16 * lid + value[data[q]]
            digits += 1
            q += 1
        if digits == 0 or lid >= top or (data[q] != 32 and data[q] != 9 and data[q] != 58):
            return p
        while data[q] == 32 or data[q] == 9:
            q += 1
        if data[q] == 58:  # a colon
            q += 1
            while data[q] == 32 or data[q] == 9:
                q += 1
        port = 0
        if data[q] == 85 and data[q + 1] == 78 and data[q + 2] == 82:  # UNREACHABLE
            port = 255
            q += 3
        else:
            digits = 0
            while 48 <= data[q] <= 57 and digits < 4:
                port = 10 * port + value[data[q]]
                digits += 1
                q += 1
            after = data[q]
            if digits == 0 or port > 255:
                return p
            if (
                after != 10
                and after != 13
                and after != 32
                and after != 9
                and after != 58
                and after != 35
                and after != 40
            ):
                return p
        high, low = -1, -1
        while data[q] != 10:
            if (
                data[q] == 112
                and high < 0
                and data[q + 1] == 111
                and data[q + 2] == 114
                and data[q + 3] == 116
                and data[q + 4] == 103
                and data[q + 5] == 117
                and data[q + 6] == 105
                and data[q + 7] == 100
                and data[q + 8] == 32
                and data[q + 9] == 48
                and data[q + 10] == 120
            ):  # portguid 0x
                q += 11
                first = q
                high, low = 0, 0
                while value[data[q]] >= 0 and q < first + 16:
                    high = (high % 268435456) * 16 + low // 268435456
                    low = (low % 268435456) * 16 + value[data[q]]
                    q += 1
                if q == first or value[data[q]] >= 0:  # no GUID
                    return p
                continue
            q += 1
        same = True
        if high >= 0 and lid > 0:
            if guid[lid, 0] < 0:
                guid[lid, 0], guid[lid, 1] = high, low
            elif guid[lid, 0] != high or guid[lid, 1] != low:
                same = False
                if state[5] == len(moved):
                    return p
                at = state[5]
                moved[at, 0], moved[at, 1], moved[at, 2], moved[at, 3] = lid, port, high, low
                state[5] = at + 1
        if same and lid > 0:
            if row[lid] != 255 and row[lid] != port:
                state[3] += 1
                if state[4] == 0:
                    state[4] = state[0] + 1
            row[lid] = port
        state[0] += 1
        state[1] += 1
        if lid > state[2]:
            state[2] = lid
        p = q + 1
    return p
