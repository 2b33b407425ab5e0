"""Forwarding tables as their file has them, in any of the three spellings: by the LIDs of the file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.errors import FileError
from obliv.fabric.files.blocks import LONGEST, Blocks
from obliv.fabric.files.lines import DISCOVER, MULTICAST, TABLES, noted_line, shown_line
from obliv.fabric.kernels.forwarding import read_entries
from obliv.fabric.lids import LAST_LID
from obliv.fabric.notes import Notes
from obliv.fabric.tables import NONE
from obliv.kernels import run

__all__ = ["RawTables", "read_raw"]


_START = re.compile(rb"[ \t]*0[xX]")
_TRAILER = re.compile(rb"\s*(\d{1,9})\s+(?:valid\s+)?lids dumped")
_ENTRY = re.compile(rb"\s*0x([0-9a-fA-F]+)\s*:?\s*(\S+)")
_HEADING = re.compile(rb"\s*(?:Lid\s+Out\s+Destination|Port\s+Info|LID\s*:\s*Port\s*:|\*\*\* WARNING \*\*\*|#)")
_WHOLE = re.compile(rb".*:\s*(?:yes|HOPS UNKNOWN|UNREACHABLE|No .*!)\s*\Z", re.DOTALL)
_VALUE = np.full(256, -1, np.int64)
_VALUE[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
_VALUE[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)
_MOVED = 4096
_MOST_MOVED = 1 << 20


@dataclass
class RawTables:
    """What a file of tables says."""

    notes: Notes
    spelling: str = ""
    top: int = 0  # the largest LID that is announced
    rows: dict[int, bytes] = field(default_factory=dict)  # of every switch's GUID: the port for every LID
    line: dict[int, int] = field(default_factory=dict)
    guid: Array = field(default_factory=lambda: np.full((LAST_LID + 1, 2), -1, np.int64))  # of the port of every LID
    moved: list[tuple[int, int, int, int]] = field(default_factory=list)  # switch GUID, LID, port, port GUID
    sources: tuple[tuple[str, str], ...] = ()

    def guid_of(self, lid: int) -> int:
        """The port GUID that the file gives for a LID, 0 if it gives none."""
        high, low = self.guid[lid].tolist()
        return (high << 32) + low if high >= 0 else 0


def read_raw(blocks: Blocks, switches: Iterable[int]) -> RawTables:
    """The tables of a file.

    Parameters
    ----------
    blocks : Blocks
        The file.
    switches : iterable of int
        GUIDs of the switches of which tables are kept.
    """
    reader = _Reader(str(blocks.path), frozenset(switches), blocks.length)
    for block in blocks:
        reader.read(block)
    return reader.finished(blocks.sha256)


class _Reader:
    """Where the reading of a file stands."""

    def __init__(self, path: str, switches: frozenset[int], length: int) -> None:
        self.tables = RawTables(Notes(path))
        self.path, self.notes = path, self.tables.notes
        self._switches, self._length, self._seen = switches, length, 0
        self._row = np.full(LAST_LID + 1, NONE, np.uint8)
        self._moved = np.zeros((_MOVED, 4), np.int64)
        self._spelling = ""  # of the table that is being read
        self._state = np.zeros(6, np.int64)
        self._guid: int | None = None  # of the switch whose table is being read
        self._begun = 0  # the line where it begins
        self._before = 0  # entries that came before it
        self._complete = True
        self._size = 0
        self._found: list[tuple[int, int, int]] = []  # of every table: GUID, line, largest LID
        self._multicast = False

    def read(self, block: bytes) -> None:
        """Read whole lines, and at the end of the file one that is none."""
        stop = block.rfind(b"\n") + 1
        data, state, at = np.frombuffer(block, np.uint8), self._state, 0
        self._seen += len(block)
        work = max(self._length, self._seen)
        while at < stop:
            if _START.match(block, at):
                rest = (data, at, stop, _VALUE, self._row, self.tables.guid, self._moved, state)
                at = int(run(read_entries, work, *rest))
                full = state[5] == len(self._moved)
                self._take_moved()
                if full or at >= stop:
                    continue
            end = block.index(b"\n", at)
            state[0] += 1
            self._other(block[at : min(end, at + LONGEST + 1)], int(state[0]))
            at = end + 1
        if stop < len(block):
            state[0] += 1
            self._unended(block[stop : stop + LONGEST], int(state[0]))

    def finished(self, sha256: str) -> RawTables:
        """What was read, when the file is at its end."""
        self._close()
        tables = self.tables
        if not self._found:
            if self._multicast:
                raise FileError("holds multicast tables: dump the unicast ones, without -M", self.path)
            raise FileError(
                "no forwarding table could be found: give what dump_lfts, ibroute or opensm -D 0x43 writes", self.path
            )
        if tables.spelling == "fdbs":
            guid, line, last = self._found[-1]
            longest = max(found[2] for found in self._found)
            if last < longest:
                what = f"the table of switch 0x{guid:016x} ends at LID {last}, others at {longest}: the file is cut off"
                self.notes.add("error", "cut-off", what, line)
        tables.sources = ((self.path, sha256),)
        return tables

    def _take_moved(self) -> None:
        state, tables = self._state, self.tables
        if state[5] and self._guid is not None:
            for lid, port, high, low in self._moved[: state[5]].tolist():
                if len(tables.moved) < _MOST_MOVED:
                    tables.moved.append((self._guid, lid, port, (high << 32) + low))
        state[5] = 0

    def _begin(self, guid: int, line: int) -> None:
        self._close()
        self._guid, self._begun, self._complete, self._multicast = guid, line, False, False
        self._before = int(self._state[1])
        self._state[2:5] = 0
        if guid in self.tables.rows:
            what = f"a second table of switch 0x{guid:016x}, the first is on line {self.tables.line[guid]}: "
            self.notes.add("warning", "duplicate-table", what + "where they differ this one counts", line)
            old = np.frombuffer(self.tables.rows[guid], np.uint8)
            self._row[: len(old)] = old

    def _close(self) -> None:
        """End the table that is being read, if there is one."""
        state, guid = self._state, self._guid
        if guid is None:
            if state[1] > self._before:
                self.notes.add(
                    "warning", "bad-line", "entries outside the table of any switch: left out", int(state[0])
                )
        else:
            if not self._complete and self._spelling != "fdbs":
                what = f"the table of switch 0x{guid:016x} has no line 'lids dumped' at its end: the file is cut off"
                self.notes.add("error", "cut-off", what, self._begun)
            if state[3]:
                what = f"{state[3]} LIDs of switch 0x{guid:016x} have a second entry with another port, which counts"
                self.notes.add("warning", "duplicate-entry", what, int(state[4]))
            self._keep(guid, int(state[2]))
        self._row[:] = NONE
        self._guid, self._before = None, int(state[1])

    def _keep(self, guid: int, last: int) -> None:
        tables = self.tables
        self._found.append((guid, self._begun, last))
        if guid not in self._switches:
            what = f"a table of switch 0x{guid:016x}, which the topology does not have: left out"
            self.notes.add("error", "unknown-switch", what, self._begun)
            return
        row = self._row[: max(last + 1, len(tables.rows.get(guid, b"")))].tobytes()
        self._size += len(row)
        if self._size >> 26:  # now and then
            require_memory(2.0 * sum(map(len, tables.rows.values())), f"the tables of {self.path}")
            self._size = 0
        tables.rows[guid] = row
        tables.line.setdefault(guid, self._begun)

    def _other(self, line: bytes, number: int) -> None:
        """A line that is no entry."""
        if not line.strip():
            return
        if (header := TABLES.match(line)) is not None:
            self._header(header, number)
        elif (trailer := _TRAILER.match(line)) is not None:
            self._trailer(int(trailer[1]), number)
        elif _HEADING.match(line):
            pass
        elif MULTICAST.match(line):
            self._close()
            self._multicast = True
        elif self._multicast:
            pass
        elif DISCOVER.match(line) and not self._found and self._guid is None:
            raise FileError("holds a topology, no forwarding tables: give it as the topology", self.path, number)
        elif self._guid is not None and (entry := _ENTRY.match(line)) is not None:
            what = f"LID 0x{entry[1][:12].decode()} and port {shown_line(entry[2])} are no entry"
            remedy = f"unicast LIDs are 0x0001 to 0x{LAST_LID:04x}, ports 0 to 255"
            self.notes.add("error", "bad-entry", f"{what}: {remedy}", number)
            self._state[1] += 1
        else:
            noted_line(line, number, self.notes)

    def _header(self, header: re.Match[bytes], number: int) -> None:
        last, guid, fdbs = header.groups()
        self._begin(int(guid or fdbs, 16), number)
        if fdbs is not None:
            spelling, top = "fdbs", 0
        elif last.startswith(b"0x"):
            spelling, top = "ibroute", int(last, 16)
        else:
            spelling, top = "opensm", int(last) if last.isdigit() else 0
        self._spelling = spelling
        self.tables.spelling = self.tables.spelling or spelling
        self.tables.top = max(self.tables.top, min(top, LAST_LID))

    def _trailer(self, count: int, number: int) -> None:
        if self._guid is None:
            return
        read = int(self._state[1]) - self._before
        if self._spelling == "ibroute" and count != read:
            what = f"the table of switch 0x{self._guid:016x} should have {count} entries, {read} were read"
            self.notes.add("error", "lost-entries", f"{what}: dump it again", number)
        self._complete = True
        self._close()

    def _unended(self, line: bytes, number: int) -> None:
        """The last line, which has no end: it may be cut."""
        if not line.strip() or _TRAILER.match(line) or _HEADING.match(line):
            self._other(line, number)
        elif self._spelling == "fdbs" and _WHOLE.match(line):
            data = np.frombuffer(line + b"\n", np.uint8)
            read_entries.python(data, 0, len(data), _VALUE, self._row, self.tables.guid, self._moved, self._state)
        else:
            self.notes.add("error", "cut-off", f"the file ends within a line: {shown_line(line)}", number)
            self._complete = True  # said already
