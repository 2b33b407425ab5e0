"""SL-to-VL tables: read from a file in four spellings, of all switches, written as ``opensm-sl2vl.dump``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array, starts_of_runs
from obliv._util.files import write_pieces
from obliv._util.progress import require_memory
from obliv._util.text import plural
from obliv.errors import FileError
from obliv.fabric.files import rows as lines
from obliv.fabric.files.assemble import FileBlocks, plain
from obliv.fabric.files.forwarding import port_guids, switch_guids
from obliv.fabric.files.ibnetdiscover import DISCOVER, DUMPED, TABLES, noted_line, shown_line
from obliv.fabric.files.rows import RowReader
from obliv.fabric.model import Fabric, called, typed
from obliv.fabric.names import owners
from obliv.fabric.results.check import Finding

# SL-to-VL tables of the switches of a fabric, and the lanes that its ports operate


SLS = 16  #: Number of service levels.
DROP = 15  #: The lane of management packets: in a table it discards data packets.
MISSING = 0  #: Number of the row that stands for a missing one.


@dataclass(frozen=True, eq=False, repr=False)
class LaneTables:
    """SL-to-VL tables of a fabric; see the package for their form."""

    name: str  # the file, or ``identity``
    vl: Array  # uint8, shape (distinct rows, 16); row 0 stands for a missing row
    first: Array  # int64, shape (nodes,); where the row numbers of each switch begin, -1 without a table
    # row, line: int32; the number of every row, and its line in the file, 0 without a line
    row: Array
    line: Array
    own: Array  # int32, shape (slots,); the number of the row of each adapter port, for its own cable
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    def line_of(self, node: int, entry: int, exit: int, fabric: Fabric) -> int:
        """Return the line of a row, or else the first line of that switch; 0 without one."""
        first, ports = int(self.first[node]), int(fabric.first_slot[node + 1] - fabric.first_slot[node])
        if first < 0 or not len(self.line):
            return 0
        lines = self.line[first : first + ports * ports]
        return int(lines[entry * ports + exit]) or int(lines[lines > 0].min())

    def lane(self, fabric: Fabric, node: int, entry: int, exit: int, sl: int) -> int:
        """Return the lane that a switch gives a packet, -1 where the row is missing; 15 discards it."""
        first, ports = int(self.first[node]), int(fabric.first_slot[node + 1] - fabric.first_slot[node])
        number = int(self.row[first + entry * ports + exit]) if first >= 0 else MISSING
        return int(self.vl[number, sl]) if number != MISSING else -1

    def __repr__(self) -> str:
        return f"<LaneTables {self.name}: {int((self.first >= 0).sum())} switches, {len(self.vl) - 1} distinct rows>"


def identity(fabric: Fabric, name: str = "identity") -> LaneTables:
    """Return the tables with VL = SL at every port; SL 15 has no lane and is dropped."""
    ports = np.diff(fabric.first_slot).astype(np.int64)
    ports[fabric.switch_row < 0] = 0
    size = int(ports.max(initial=0)) ** 2
    first = np.where(ports > 0, 0, -1)  # all switches share their rows
    return LaneTables(
        name=name,
        vl=np.stack([np.full(SLS, DROP, np.uint8), np.arange(SLS, dtype=np.uint8)]),
        first=first.astype(np.int64),
        row=np.ones(size, np.int32),
        line=np.zeros(0, np.int32),
        own=np.where(fabric.ports.peer >= 0, 1, 0).astype(np.int32),
    )


def tables_of_rows(fabric: Fabric, name: str, vl: Array, rows: list[Array], own: Array) -> LaneTables:
    """Return tables of lanes by number, the numbers of each switch by entry and exit, and of ports of adapters."""
    first = np.full(len(fabric.nodes), -1, np.int64)
    sizes = np.diff(fabric.first_slot).astype(np.int64)[fabric.switches] ** 2
    first[fabric.switches] = np.cumsum(sizes) - sizes
    row = np.concatenate([*(numbers.ravel().astype(np.int32) for numbers in rows), np.zeros(0, np.int32)])
    adapter = np.where(fabric.switch_row[fabric.node_of] < 0, own, MISSING).astype(np.int32)
    return LaneTables(name, vl.astype(np.uint8), first, row, np.zeros(len(row), np.int32), adapter)


@dataclass(frozen=True, eq=False, repr=False)
class OperVLs:
    """The number of lanes that ports operate."""

    name: str
    lanes: Array  # uint8, shape (slots,); 1, 2, 4, 8 or 15 data lanes; 0 where unknown
    line: Array  # int32, shape (slots,)
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    def on_cables(self, fabric: Fabric) -> Array:
        """Return the lanes of the cable at every port: those of both ends, 15 where neither is known."""
        here = np.where(self.lanes > 0, self.lanes, DROP)
        there = np.where(fabric.ports.peer >= 0, here[fabric.ports.peer], DROP)
        return np.asarray(np.minimum(here, there).astype(np.uint8))


def masked(tables: LaneTables, fabric: Fabric, lanes: Array) -> LaneTables:
    """Return the tables as OpenSM writes them: lanes cut to the bits that a port operates, 15 left as it is."""
    # Shapes: `lanes` (slots,).
    if (lanes >= DROP).all():
        return tables
    row, first = tables.row.copy(), tables.first.copy()
    limits, distinct = [DROP], [tables.vl]  # copies of all rows, one for each number of lanes
    offset = {DROP: 0}
    shared = len(tables.line) == 0 and bool((first >= 0).any())
    if shared:  # one table for all switches: give each its own
        ports = np.diff(fabric.first_slot).astype(np.int64)
        many = np.where(first >= 0, ports * ports, 0)
        first = np.where(many > 0, np.cumsum(many) - many, -1)
        row = np.ones(int(many.sum()), np.int32)
    for count in np.unique(lanes[lanes < DROP]).tolist():
        offset[count] = len(limits) * len(tables.vl)
        limits.append(count)
        cut = np.where(tables.vl == DROP, DROP, tables.vl & (count - 1)).astype(np.uint8)
        distinct.append(cut)
    for node in np.flatnonzero(first >= 0).tolist():
        a, b = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
        ports_here = b - a
        step = np.array([offset[int(n)] for n in lanes[a:b].tolist()], np.int32)
        part = row[first[node] : first[node] + ports_here * ports_here].reshape(ports_here, ports_here)
        part += np.where(part != MISSING, step[None, :], 0).astype(np.int32)
    step = np.array([offset.get(int(n), 0) for n in range(DROP + 1)], np.int32)
    own = np.where(tables.own != MISSING, tables.own + step[lanes], MISSING).astype(np.int32)
    line = np.zeros(len(row), np.int32) if shared else tables.line
    return replace(tables, vl=np.concatenate(distinct), first=first, row=row, line=line, own=own)


_TABLE = re.compile(rb"\s*# SL2VL table: (?:Lid (\d{1,9})|(.*))", re.DOTALL)
_ROW = re.compile(rb"\s*(?:\d+\s+\d+\s*:|ports:|0[xX][0-9a-fA-F]+\s+\d+\s+\d+\s|VL:)")
_PAIRS = re.compile(rb"\s*(?:PathRecord dump:|0[xX][0-9a-fA-F]{1,16}\s+\d+\s+\d+\s*\Z|0[xX][0-9a-fA-F]+\s*:\s*\d+\s*)")
_OTHER_KINDS = {"a topology": DISCOVER, "forwarding tables": TABLES, "SLs of pairs": _PAIRS}
_MOST = 1 << 15  # nodes with another LID that are noted

# Rows of the node that a heading names, and rows that name it by GUID or by LID.
_OF_HEADING, _BY_GUID, _BY_LID = range(3)
_BAR = lines.skip(b"|")
_LANES = (*(token for sl in range(SLS) for token in (_BAR, lines.decimal(f"vl{sl}", 3, 15))), _BAR)
_ROWS = lines.rows_of(
    lines.line(_OF_HEADING, lines.decimal("entry", 3), lines.decimal("exit", 3), b":", *_LANES),
    lines.line(
        _OF_HEADING, b"ports:", b"in", lines.decimal("entry", 3), b",", b"out", lines.decimal("exit", 3), b":", *_LANES
    ),
    lines.line(  # eight bytes with the lane of an even SL first
        _BY_GUID,
        lines.hexadecimal("node", 16),
        lines.decimal("entry", 3),
        lines.decimal("exit", 3),
        *(lines.hexadecimal(f"vl{sl}", 2) for sl in range(0, SLS, 2)),
    ),
    lines.line(lines.BEGIN, b"SL2VLTableRecord dump:", lines.REST),
    lines.line(lines.PART, b"LID.", lines.skip(b"."), lines.decimal("node", 5)),
    lines.line(lines.PART, b"InPort.", lines.skip(b"."), lines.decimal("entry", 5)),
    lines.line(lines.PART, b"OutPort.", lines.skip(b"."), lines.decimal("exit", 5)),
    lines.line(lines.OTHER, b"SL:", lines.REST),
    lines.line(_BY_LID, b"VL:", *_LANES, needs=("node", "entry", "exit")),
)


class _Chunk(NamedTuple):
    """Rows of switches: node, ports, number of the distinct row, and line of each."""

    node: Array
    entry: Array
    exit: Array
    number: Array
    line: Array


def read_sl2vl(path: str | Path, fabric: Fabric) -> LaneTables:
    """Read the SL-to-VL tables of a fabric."""
    reader = _Sl2vlReader(FileBlocks(path), fabric)
    reader.read()
    return reader.finished()


class _Sl2vlReader(RowReader):
    """The state of reading a file."""

    def __init__(self, blocks: FileBlocks, fabric: Fabric) -> None:
        super().__init__(blocks, _ROWS)
        self.fabric = fabric
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

    def take(self, kind: int, rows: dict[str, Array]) -> None:
        """Add rows of the node that the last heading names, or of those that they name themselves."""
        self._found += len(rows["line"])
        if kind == _BY_GUID:
            for sl in range(0, SLS, 2):
                rows[f"vl{sl}"], rows[f"vl{sl + 1}"] = rows[f"vl{sl}"] >> 4, rows[f"vl{sl}"] & 15
        if kind != _OF_HEADING:
            by = "guid" if kind == _BY_GUID else "lid"
            for start, stop in pairwise(starts_of_runs(rows["node"])):
                name = int(rows["node"][start].view(np.uint64))
                slot = self._named(by, name)
                if slot < 0:
                    self._count_unknown(by, name, int(rows["line"][start]), stop - start)
                else:
                    self._add(slot, {name: column[start:stop] for name, column in rows.items()})
        elif self._slot is None:
            text = "rows without a heading that names the node: ignored"
            self.notes.add("warning", "bad-line", text, self.line + 1)
        elif self._slot >= 0:
            self._add(self._slot, rows)

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

    def _add(self, slot: int, rows: dict[str, Array]) -> None:
        """Add rows of one node."""
        node = int(self.fabric.node_of[slot])
        entry, exit, line, number = rows["entry"], rows["exit"], rows["line"], self._numbers(rows)
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

    def _numbers(self, rows: dict[str, Array]) -> Array:
        """Return the number of the distinct row of lanes of every row."""
        words = np.zeros(len(rows["line"]), np.uint64)
        for sl in reversed(range(SLS)):
            words = words << np.uint64(4) | rows[f"vl{sl}"].astype(np.uint64)
        known = self._number
        bounds = starts_of_runs(words)
        numbers = [known.setdefault(word, len(known) + 1) for word in words[bounds[:-1]].tolist()]
        return np.repeat(np.array(numbers, np.int32), np.diff(bounds))

    def other(self, line: bytes, number: int) -> None:
        """Read a line that is not a row."""
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
        else:
            self.require(line, number, "SL-to-VL tables", {} if self._found else _OTHER_KINDS)
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
        if base and not base <= lid < base + many and len(self._moved) < _MOST:
            self._moved.append((slot, lid, number))

    def finished(self) -> LaneTables:
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
        return self._tables()

    def _tables(self) -> LaneTables:
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
            self.sources,
            self.notes.findings(),
        )

    def _lanes(self) -> Iterator[list[int]]:
        """Yield the lanes of every distinct row, by number."""
        yield [DROP] * SLS
        for word in self._number:
            yield [word >> 4 * sl & 15 for sl in range(SLS)]


# Writer of SL-to-VL tables as ``opensm-sl2vl.dump``, which ``obliv fabric check --sl2vl`` reads


_TITLE = "#in out : " + " ".join(f"{sl:<2}" for sl in range(SLS)).rstrip() + "\n#" + "-" * 56 + "\n"


@typed
def write_sl2vl(tables: LaneTables, fabric: Fabric, path: str | Path) -> None:
    """Write the SL-to-VL tables of switches, and of adapters with a cable, as OpenSM dumps them.

    OpenSM itself does not read such a file; the plug-in in ``contrib/opensm`` does.

    Parameters
    ----------
    tables : LaneTables
    fabric : Fabric
        With the GUIDs of its switches and ports.
    path : str or Path
        Replaced only once it is complete.

    Raises
    ------
    FileError
        If a switch or a port of an adapter has no GUID.
    """
    guid = _guids(fabric)
    needed = np.r_[fabric.first_slot[fabric.switches], np.flatnonzero(tables.own != MISSING)]
    without = int((guid[needed] == 0).sum())
    if without:
        raise FileError(f"cannot be written: {plural(without, 'node')} without a GUID, by which OpenSM knows it", path)
    write_pieces(path, _blocks(tables, fabric, guid.tolist()))


def _guids(fabric: Fabric) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the GUID of every port; all ports of a switch have that of the switch."""
    guid = fabric.ports.guid.copy()
    switch = fabric.switch_row[fabric.node_of] >= 0
    guid[switch] = fabric.nodes.guid[fabric.node_of[switch]]
    return guid


def _blocks(tables: LaneTables, fabric: Fabric, guid: list[int]) -> Iterator[bytes]:
    lanes = [" ".join(f"{vl:<2}" for vl in row).rstrip() for row in tables.vl.tolist()]
    for node in fabric.switches.tolist():
        begin, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
        ports = end - begin
        if tables.first[node] < 0:
            continue
        start = int(tables.first[node])
        number = tables.row[start : start + ports * ports].reshape(ports, ports)
        exits = [out for out in range(1, ports) if fabric.ports.peer[begin + out] >= 0]
        entries = [0, *exits]
        rows = [
            f"{entry:<3} {out:<3} : {lanes[number[entry, out]]}\n"
            for out in exits
            for entry in entries
            if number[entry, out] != MISSING
        ]
        yield _block("Switch", guid[begin], begin, fabric, rows)
    for slot in np.flatnonzero((tables.own != MISSING) & (fabric.switch_row[fabric.node_of] < 0)).tolist():
        kind = "Router" if fabric.nodes.kind[fabric.node_of[slot]] == "router" else "Channel Adapter"
        yield _block(kind, guid[slot], slot, fabric, [f"{0:<3} {0:<3} : {lanes[tables.own[slot]]}\n"])


def _block(kind: str, guid: int, slot: int, fabric: Fabric, rows: list[str]) -> bytes:
    name = plain(fabric.nodes.description[fabric.node_of[slot]])
    head = f'{kind} 0x{guid:016x}, base LID {fabric.ports.lid[slot]}, "{name}"\n{_TITLE}'
    return (head + "".join(rows) + "#" + "-" * 56 + "\n\n").encode("utf-8", "replace")
