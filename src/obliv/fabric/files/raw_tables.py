"""Forwarding tables as a file has them, in any of the three spellings: by the LIDs of the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import require_memory
from obliv.errors import FileError
from obliv.fabric.files import rows as lines
from obliv.fabric.files.assemble import FileBlocks
from obliv.fabric.files.ibnetdiscover import DISCOVER, MULTICAST, TABLES, noted_line, shown_line
from obliv.fabric.files.rows import RowReader, Rows
from obliv.fabric.model import NONE, Notes, place_of
from obliv.fabric.names import LAST_LID

_TRAILER = re.compile(rb"\s*(\d{1,9})\s+(?:valid\s+)?lids dumped")
_ENTRY = re.compile(rb"\s*0x([0-9a-fA-F]+)\s*:?\s*(\S+)")
_HEADING = re.compile(rb"\s*(?:Lid\s+Out\s+Destination|Port\s+Info|LID\s*:\s*Port\s*:|\*\*\* WARNING \*\*\*|#)")
_VALID_PORT = re.compile(rb"[0-9]{1,4}")
_NO_GUID = "is not a GUID (0x and 1 to 16 hexadecimal digits)"
_BAD_HEADER = re.compile(
    rb"\s*(?:Unicast lids \[.{0,40}?\] of switch .*\bguid (\S*)|(?:osm_ucast_mgr_)?dump_ucast_routes:? Switch (\S*))"
)
_PORT_GUID = re.compile(rb"portguid (0x[^\s:,()]*)")
_WHOLE = re.compile(rb".*:\s*(?:yes|HOPS UNKNOWN|UNREACHABLE|No .*!)\s*\Z", re.DOTALL)
_MAX_MOVED = 1 << 20
_NO_WORD = bytes(byte for byte in range(256) if not re.match(rb"[A-Za-z_]", bytes([byte])))  # Behind a number.


def entry_lines(last: int) -> Rows:
    """Return what entries look like: ``0x0001 003`` or ``0x0001 : 003`` and any text, of which the port GUID counts."""
    lid = (lines.hexadecimal("lid", 8, last), lines.before(b" \t:"), lines.maybe(b":"))
    guid = (lines.find("named", b"portguid ", b"0x"), lines.hexadecimal("guid", 16), lines.before(_NO_WORD), lines.REST)
    port = (lines.decimal("port", 4, NONE), lines.before(b"\n\r \t:#("))
    return lines.rows_of(
        lines.line(0, *lid, *port, *guid), lines.line(0, *lid, lines.among("port", b"UNR", first=NONE), *guid)
    )


@dataclass
class RawTables:
    """The content of a file of tables.

    ``top`` is the largest LID that is announced, ``rows`` has the port for every LID for the GUID of every switch,
    ``line`` where each table begins, ``guid`` the port GUID of every LID, where it is ``known``, ``moved`` the entries
    that give a LID to another port than an earlier entry: GUID of the switch, LID, port, port GUID.
    """

    notes: Notes
    guid: Array
    known: Array
    spelling: str = ""
    top: int = 0
    rows: dict[int, bytes] = field(default_factory=dict)
    line: dict[int, int] = field(default_factory=dict)
    moved: list[tuple[int, int, int, int]] = field(default_factory=list)
    sources: tuple[tuple[str, str], ...] = ()

    def guid_of(self, lid: int) -> int:
        """Return the port GUID that the file gives for a LID, 0 if it gives no GUID."""
        return int(self.guid[lid])

    @property
    def named(self) -> Array:
        """The LIDs for which the file gives a port GUID."""
        return np.flatnonzero(self.known)


def read_raw(
    blocks: FileBlocks, switches: Iterable[int], last: int = LAST_LID, step: Callable[[float], None] | None = None
) -> RawTables:
    """Read the tables of a file."""
    reader = _RawReader(blocks, frozenset(switches), last)
    reader.read(step)
    return reader.finished()


class _RawReader(RowReader):
    """The state of reading a file."""

    def __init__(self, blocks: FileBlocks, switches: frozenset[int], last: int) -> None:
        super().__init__(blocks, entry_lines(last))
        self.tables = RawTables(self.notes, np.zeros(last + 1, np.uint64), np.zeros(last + 1, bool))
        self._switches, self._last = switches, last
        self._port = np.full(last + 1, NONE, np.uint8)  # of the current table
        self._finished = 0  # entries read
        self._spelling = ""  # of the current table
        self._guid: int | None = None  # of the switch of the current table
        self._begun = 0  # the line where the table begins
        self._before = 0  # entries read before it
        self._top = 0  # its largest LID
        self._conflicts = 0  # its entries that contradict earlier ones
        self._conflict_line = 0  # the line of the first of them
        self._complete = True
        self._size = 0
        self._found: list[tuple[int, int, int]] = []  # of every table: GUID, line, largest LID
        self._multicast = False

    def take(self, kind: int, rows: dict[str, Array]) -> None:
        """Store entries; those for another port than entries for the same LID before are kept apart."""
        lid, guid, tables = rows["lid"], rows["guid"].view(np.uint64), self.tables
        named = (rows["named"] > 0) & (lid > 0)
        first = np.flatnonzero(named & ~tables.known[lid])[::-1]  # the first one of several for a LID is stored last
        tables.guid[lid[first]], tables.known[lid[first]] = guid[first], True
        moved = named & (tables.guid[lid] != guid)
        usual = not moved.any() and int(lid.min()) > 0
        stays = slice(None) if usual else np.flatnonzero(~moved & (lid > 0))
        conflicts = lines.store((self._port,), lid[stays], (rows["port"][stays],), NONE)
        if conflicts.any():
            self._conflict_line = self._conflict_line or int(rows["line"][stays][np.argmax(conflicts)])
            self._conflicts += int(conflicts.sum())
        self._top = max(self._top, int(lid.max()))
        self._finished += len(lid)
        if self._guid is not None and moved.any():
            room = _MAX_MOVED - len(tables.moved)
            columns = (column[moved][:room].tolist() for column in (lid, rows["port"], guid))
            tables.moved += [(self._guid, *entry) for entry in zip(*columns, strict=True)]

    def finished(self) -> RawTables:
        """Return the tables that were read, at the end of the file."""
        self._close()
        tables = self.tables
        if not self._found:
            if self._multicast:
                raise FileError("contains multicast tables: dump the unicast ones, without -M", self.path)
            raise FileError(
                "contains no forwarding table: give the output of dump_lfts, ibroute or opensm -D 0x43", self.path
            )
        if tables.spelling == "fdbs":
            guid, line, last = self._found[-1]
            longest = max(last for _, _, last in self._found)
            if last < longest:
                message = (
                    f"the table of switch 0x{guid:016x} ends at LID {last}, others at {longest}: the file is truncated"
                )
                self.notes.add("error", "cut-off", message, line, place_of(guid, ""))
        tables.sources = self.sources
        return tables

    def _begin(self, guid: int, line: int) -> None:
        self._close()
        self._guid, self._begun, self._complete, self._multicast = guid, line, False, False
        self._before = self._finished
        self._top = self._conflicts = self._conflict_line = 0
        if guid in self.tables.rows:
            here = place_of(guid, "")
            message = f"a second table of switch 0x{guid:016x}; the first is on line {self.tables.line[guid]}: "
            self.notes.add("warning", "duplicate-table", message + "where they differ, the second is used", line, here)
            old = np.frombuffer(self.tables.rows[guid], np.uint8)
            self._port[: len(old)] = old

    def _close(self) -> None:
        """End the table that is being read, if any."""
        guid = self._guid
        if guid is None:
            if self._finished > self._before:
                self.notes.add("warning", "bad-line", "entries outside the table of any switch: ignored", self.line)
        else:
            if not self._complete and self._spelling != "fdbs":
                message = (
                    f"the table of switch 0x{guid:016x} has no line 'lids dumped' at its end: the file is truncated"
                )
                self.notes.add("error", "cut-off", message, self._begun, place_of(guid, ""))
            if self._conflicts:
                message = f"{self._conflicts} LIDs of switch 0x{guid:016x} have a second entry with another port; "
                self.notes.add(
                    "warning",
                    "duplicate-entry",
                    message + "the second is used",
                    self._conflict_line,
                    place_of(guid, ""),
                )
            self._keep(guid, self._top)
        self._port[:] = NONE
        self._guid, self._before = None, self._finished

    def _keep(self, guid: int, last: int) -> None:
        """Store the table that ends."""
        tables = self.tables
        self._found.append((guid, self._begun, last))
        if guid not in self._switches:
            message = f"a table of switch 0x{guid:016x}, which is not in the topology: ignored"
            self.notes.add("error", "unknown-switch", message, self._begun, place_of(guid, ""))
            return
        row = self._port[: max(last + 1, len(tables.rows.get(guid, b"")))].tobytes()
        self._size += len(row)
        if self._size >> 26:  # at intervals
            require_memory(2.0 * sum(map(len, tables.rows.values())), f"the tables of {self.path}")
            self._size = 0
        tables.rows[guid] = row
        tables.line.setdefault(guid, self._begun)

    def other(self, line: bytes, number: int) -> None:
        """Read a line that is not an entry."""
        if (header := TABLES.match(line)) is not None:
            self._header(header, number)
        elif (bad := _BAD_HEADER.match(line)) is not None:
            self._close()
            message = f"{shown_line(bad[1] or bad[2])}, of the switch of a table, {_NO_GUID}: its entries are ignored"
            self.notes.add("error", "bad-entry", message, number)
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
            raise FileError("contains a topology, not forwarding tables: give it as the topology", self.path, number)
        elif self._guid is not None and (entry := _ENTRY.match(line)) is not None:
            self.notes.add("error", "bad-entry", self._bad(entry, line), number, place_of(self._guid, ""))
            self._finished += 1
        else:
            noted_line(line, number, self.notes)

    def _bad(self, entry: re.Match[bytes], line: bytes) -> str:
        """Return what is wrong with an entry that the kernel did not read."""
        lid, port = entry[1], entry[2].rstrip(b":#(")
        valid = len(lid) <= 8 and int(lid, 16) <= self._last and _VALID_PORT.fullmatch(port) and int(port) <= NONE
        if valid and (guid := _PORT_GUID.search(line)) is not None:
            message = f"{shown_line(guid[1])}, the port GUID of LID 0x{lid.decode()}, {_NO_GUID}"
            return f"{message}: the entry is ignored, dump the tables again"
        message = f"LID 0x{lid[:12].decode()} and port {shown_line(entry[2])} are not a valid entry"
        return f"{message}: unicast LIDs are 0x0001 to 0x{self._last:04x}, ports 0 to 255"

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
        self.tables.top = max(self.tables.top, min(top, self._last))

    def _trailer(self, count: int, number: int) -> None:
        if self._guid is None:
            return
        read = self._finished - self._before
        if self._spelling == "ibroute" and count != read:
            message = f"the table of switch 0x{self._guid:016x} should have {count} entries, but {read} were read"
            self.notes.add("error", "lost-entries", f"{message}: dump it again", number, place_of(self._guid, ""))
        self._complete = True
        self._close()

    def unended(self, line: bytes) -> None:
        """Read the last line, which has no end: it may be cut off."""
        if not line.strip():
            return
        if _TRAILER.match(line) or _HEADING.match(line):
            self.line += 1
            self.other(line, self.line)
        elif self._spelling == "fdbs" and _WHOLE.match(line):
            data = np.frombuffer(line + b"\n", np.uint8)
            self.read_rows(data, 0, len(data))
        else:
            self.note_cut(line)
            self._complete = True  # reported already
