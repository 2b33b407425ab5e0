"""SL-to-VL tables of a file, in any of four spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import joined, runs
from obliv._util.cost import require_memory
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.errors import FileError
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.forwarding import port_guids, switch_guids
from obliv.fabric.files.lines import DISCOVER, DUMPED, TABLES, noted_line, shown_line
from obliv.fabric.files.mixed import MixedReader
from obliv.fabric.files.raw_tables import DIGITS
from obliv.fabric.kernels.lane_rows import LaneRows, read_hex_rows, read_record_rows, read_rows
from obliv.fabric.lanes.tables import DROP, MISSING, SLS, LaneTables
from obliv.fabric.lids import owners
from obliv.fabric.messages import called
from obliv.fabric.model import Fabric
from obliv.kernels import run

__all__ = ["read_sl2vl"]

_PLAIN = re.compile(rb"[ \t]*(?:\d+[ \t]|ports:)")
_HEX = re.compile(rb"[ \t]*0[xX]")
_RECORD = re.compile(rb"[ \t]*(?:SL2VLTableRecord dump:|LID\.|InPort\.|OutPort\.|SL:|VL:)")
_TABLE = re.compile(rb"\s*# SL2VL table: (?:Lid (\d{1,9})|(.*))", re.DOTALL)
_ROW = re.compile(rb"\s*(?:\d+\s+\d+\s*:|ports:|0[xX][0-9a-fA-F]+\s+\d+\s+\d+\s|VL:)")
_PAIRS = re.compile(rb"\s*(?:PathRecord dump:|0[xX][0-9a-fA-F]{1,16}\s+\d+\s+\d+\s*\Z|0[xX][0-9a-fA-F]+\s*:\s*\d+\s*)")
_ROWS = 1 << 15  # rows that one call of a kernel can return


class _Chunk(NamedTuple):
    """Rows of switches: node, ports, number of the distinct row, and line of each."""

    node: Array
    entry: Array
    exit: Array
    number: Array
    line: Array


def read_sl2vl(path: str | Path, fabric: Fabric) -> LaneTables:
    """Read the SL-to-VL tables of a fabric.

    Parameters
    ----------
    path : str or Path
        OpenSM's ``opensm-sl2vl.dump``, ibdiagnet's ``.slvl``, or what ``smpquery sl2vl`` or ``saquery SL2VL`` printed
        for any number of ports; compressed with gzip or not.
    fabric : Fabric

    Raises
    ------
    FileError
        If the file cannot be read or contains no table of a switch of the fabric.
    """
    blocks = Blocks(path)
    reader = _Reader(str(path), fabric, blocks.length)
    for block in blocks:
        reader.read(block)
    return reader.finished(blocks)


class _Reader(MixedReader):
    """The state of reading a file."""

    def __init__(self, path: str, fabric: Fabric, length: int) -> None:
        super().__init__(path, length)
        self.fabric = fabric
        self._rows = LaneRows(*np.zeros((len(LaneRows._fields), min(_ROWS, max(length, 1 << 10))), np.int64))
        self._record = np.full(3, -1, np.int64)
        self._ports = np.diff(fabric.first_slot)
        self._switch, self._port = switch_guids(fabric), port_guids(fabric)
        self._by_lid = owners(fabric)
        self._slot: int | None = None  # of the current table's node; -1 for one that is not in the topology
        self._number: dict[int, int] = {}  # of every distinct row, as 64 bits
        self._chunks: list[_Chunk] = []
        self._own = np.full(len(fabric.ports.peer), MISSING, np.int32)
        self._found = self._held = 0  # rows read, also those of unknown nodes, and rows kept
        self._unknown: dict[tuple[str, int], tuple[int, int]] = {}  # line and rows of every unknown node
        self._moved: list[tuple[int, int, int]] = []  # slot, its LID in the file, line

    def _rows_at(self, block: bytes, data: Array, at: int, stop: int) -> int:
        """Read the rows that begin at a position; return where they end."""
        if _PLAIN.match(block, at):
            read = run(read_rows, self._work, data, at, stop, self._rows)
            self._add_table(int(read.rows))
        elif _HEX.match(block, at):
            read = run(read_hex_rows, self._work, data, at, stop, DIGITS, self._rows)
            self._add_named(int(read.rows), "guid")
        elif _RECORD.match(block, at):
            read = run(read_record_rows, self._work, data, at, stop, self._record, self._rows)
            self._add_named(int(read.rows), "lid")
        else:
            return at
        self._line += int(read.lines)
        return int(read.at)

    def _add_table(self, count: int) -> None:
        """Add rows of the node that the last heading names."""
        self._found += count
        if not count:
            return
        if self._slot is None:
            self.notes.add("warning", "bad-line", "rows without a heading that names the node: ignored", self._line + 1)
        elif self._slot >= 0:
            self._add(self._slot, slice(0, count))

    def _add_named(self, count: int, by: str) -> None:
        """Add rows that name their node each, by GUID or by LID."""
        self._found += count
        if not count:
            return
        high, low = self._rows.node_high[:count], self._rows.node_low[:count]
        starts, sizes = runs(high, low)
        names = joined(high[starts], low[starts])
        for name, start, size in zip(names, starts.tolist(), sizes.tolist(), strict=True):
            slot = self._named(by, name)
            if slot < 0:
                self._count_unknown(by, name, self._line + int(self._rows.line[start]), size)
            else:
                self._add(slot, slice(start, start + size))

    def _named(self, by: str, name: int) -> int:
        """Return a slot of the node with a GUID or LID, -1 where there is none."""
        if by == "lid":
            return int(self._by_lid.get(name, -1))
        node = self._switch.get(name)
        return int(self.fabric.first_slot[node]) if node is not None else int(self._port.get(name, -1))

    def _count_unknown(self, by: str, name: int, line: int, rows: int) -> None:
        first, before = self._unknown.get((by, name), (line, 0))
        if before or len(self._unknown) < 1 << 20:
            self._unknown[by, name] = (first, before + rows)

    def _add(self, slot: int, part: slice) -> None:
        """Add rows of one node."""
        node = int(self.fabric.node_of[slot])
        entry, exit = self._rows.entry[part], self._rows.exit[part]
        number = self._numbers(self._rows.low[part], self._rows.high[part])
        line = self._rows.line[part] + self._line
        if self.fabric.nodes.kind[node] != "switch":
            self._own[slot] = number[-1]
            return
        ports = int(self._ports[node])
        beyond = (entry >= ports) | (exit >= ports)
        if beyond.any():
            k, many = int(np.flatnonzero(beyond)[0]), plural(int(beyond.sum()), "row")
            text = (
                f"{many} for ports that {called(self.fabric, node)} does not have, the first from "
                f"port {entry[k]} to port {exit[k]}, the last port is {ports - 1}: give files of the same fabric"
            )
            self.notes.add("error", "bad-port", text, int(line[k]))
            entry, exit, number, line = (column[~beyond] for column in (entry, exit, number, line))
        self._held += len(entry)
        if self._held >> 20 != (self._held - len(entry)) >> 20:  # at intervals
            require_memory(40.0 * self._held, f"the SL-to-VL tables of {self.path}")
        columns = (np.full(len(entry), node), entry, exit, number, line)
        self._chunks.append(_Chunk(*(column.astype(np.int32) for column in columns)))

    def _numbers(self, low: Array, high: Array) -> Array:
        """Return the number of the distinct row of every row."""
        starts, sizes = runs(high, low)
        known = self._number
        words = joined(high[starts], low[starts])
        numbers = np.array([known.setdefault(word, len(known) + 1) for word in words], np.int32)
        return np.repeat(numbers, sizes)

    def _other(self, line: bytes) -> None:
        """Read a line that is not a row."""
        self._line += 1
        number = self._line
        if not line.strip():
            return
        if header := DUMPED.match(line):
            self._header(header, number)
        elif table := _TABLE.match(line):
            self._slot = self._by_lid.get(int(table[1]), -1) if table[1] else -1
            if self._slot < 0 and table[1]:
                self._count_unknown("lid", int(table[1]), number, 1)
            elif self._slot < 0:
                text = f"a table that does not give its LID is ignored: {shown_line(line)}; query by LID"
                self.notes.add("warning", "unknown-switch", text, number)
        elif line.lstrip().startswith(b"#"):
            pass
        elif _ROW.match(line):
            text = f"invalid row: {shown_line(line)}; a row has two ports and 16 VLs from 0 to 15"
            self.notes.add("error", "bad-lanes", text, number)
        elif not self._found and (DISCOVER.match(line) or TABLES.match(line) or _PAIRS.match(line)):
            kind = (
                "a topology" if DISCOVER.match(line) else "forwarding tables" if TABLES.match(line) else "SLs of pairs"
            )
            raise FileError(f"contains {kind}, not SL-to-VL tables", self.path, number)
        else:
            noted_line(line, number, self.notes)

    def _header(self, header: re.Match[bytes], number: int) -> None:
        kind, guid, lid = header[1], int(header[2], 16), int(header[3])
        node = self._switch.get(guid) if kind == b"Switch" else None
        slot = int(self._port.get(guid, -1) if node is None else self.fabric.first_slot[node])
        self._slot = slot
        if slot < 0:
            self._count_unknown("guid", guid, number, 1)
            return
        base, many = int(self.fabric.ports.lid[slot]), 1 << int(self.fabric.ports.lmc[slot])
        if base and not base <= lid < base + many and len(self._moved) < _ROWS:
            self._moved.append((slot, lid, number))

    def finished(self, blocks: Blocks) -> LaneTables:
        """Return the tables that were read, at the end of the file."""
        if not self._found and not self.notes.findings():
            raise FileError(
                "contains no SL-to-VL table: give opensm-sl2vl.dump, a .slvl file of ibdiagnet, or the output of "
                "smpquery sl2vl or saquery SL2VL",
                self.path,
            )
        if not self._chunks:
            raise FileError(
                f"contains no SL-to-VL table of a switch of {self.fabric.name}: give files of the same fabric",
                self.path,
            )
        for (by, name), (line, _) in self._unknown.items():
            who = f"GUID 0x{name:016x}" if by == "guid" else f"LID {name}"
            text = f"a table of {who}, which is not in the topology, is ignored: topology and tables differ in time"
            self.notes.add("error", "unknown-switch", text, line)
        if self._moved:
            slot, lid, line = self._moved[0]
            text = (
                f"{called(self.fabric, int(self.fabric.node_of[slot]))} has LID {self.fabric.ports.lid[slot]} in the "
                f"topology and {lid} in this file ({plural(len(self._moved), 'node')} in all): "
                "they were taken at different times"
            )
            self.notes.add("warning", "moved-lids", text, line)
        return self._tables(((self.path, blocks.sha256),))

    def _tables(self, sources: tuple[tuple[str, str], ...]) -> LaneTables:
        columns = _Chunk(*(np.concatenate(parts) for parts in zip(*self._chunks, strict=True)))
        nodes = np.unique(columns.node)
        size = self._ports[nodes].astype(np.int64) ** 2
        require_memory(10.0 * float(size.sum()), f"the SL-to-VL tables of {self.path}")
        first = np.full(len(self.fabric.nodes), -1, np.int64)
        first[nodes] = np.cumsum(size) - size
        row, line = np.zeros(int(size.sum()), np.int32), np.zeros(int(size.sum()), np.int32)
        place = first[columns.node] + columns.entry.astype(np.int64) * self._ports[columns.node] + columns.exit
        row[place], line[place] = columns.number, columns.line
        differ = np.flatnonzero(row[place] != columns.number)
        if len(differ):
            text = f"{plural(len(differ), 'row')} given twice with other lanes; the later row counts"
            self.notes.add("warning", "duplicate-entry", text, int(columns.line[differ[0]]))
        return LaneTables(
            self.path,
            np.array(list(self._lanes()), np.uint8),
            first,
            row,
            line,
            self._own,
            sources,
            self.notes.findings(),
        )

    def _lanes(self) -> Iterator[list[int]]:
        """Yield the lanes of every distinct row, by number."""
        yield [DROP] * SLS
        for word in self._number:
            yield [word >> 4 * sl & 15 for sl in range(SLS)]
