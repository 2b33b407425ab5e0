"""Readers of the topology in ibdiagnet's files: ``ibdiagnet2.net_dump`` and ``ibdiagnet2.db_csv``.

Columns are found by their names in the heading, never by their places: releases of ibdiagnet differ in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from obliv._util.progress import require_memory
from obliv._util.text import plural, shown
from obliv.errors import FileError
from obliv.fabric.files.assemble import (
    LANE_SPEEDS,
    LONGEST,
    FileBlocks,
    RecordHead,
    Records,
    assemble,
    ident_of,
    text_of,
)
from obliv.fabric.files.ibnetdiscover import DB_CSV, NET_DUMP, noted_line, shown_line
from obliv.fabric.model import MAX_PORTS, Fabric

__all__ = ["read_db_csv", "read_net_dump", "sections_of"]

_BLOCK = re.compile(rb'\s*"(.*)",([^,"]{0,100}),\s*0x([0-9a-fA-F]{1,16}),\s*LID\s+(\d{1,9})\s*\Z', re.DOTALL)
_SECTION = re.compile(rb"(?m:^)START_([A-Z0-9_]+)[ \t\r]*\n")
_HEX = re.compile(rb"0[xX][0-9a-fA-F]{1,16}\Z")
#: LinkSpeedActv: a bit of the InfiniBand field, those of the extended fields shifted by 8 and 24, of FDR10 by 16.
_SPEED_BITS = {1: b"SDR", 2: b"DDR", 4: b"QDR", 1 << 8: b"FDR", 1 << 9: b"EDR", 1 << 10: b"HDR", 1 << 11: b"NDR"}
_SPEED_BITS |= {1 << 16: b"FDR10", 1 << 24: b"XDR"}
_WIDTH_BITS = {1: b"1x", 2: b"4x", 4: b"8x", 8: b"12x", 16: b"2x"}  # LinkWidthActv
_STATES = {1: b"DOWN", 2: b"INI", 3: b"ARM", 4: b"ACT"}  # PortState
_KINDS = {1: "ca", 2: "switch", 3: "router"}  # NodeType
_ROW_BYTES = 500.0  # of memory for a row that is kept, about
_ADAPTER_PORTS = 4  # of a GUID without a block, at most: the planes of an adapter


def _number(cell: bytes) -> int:
    """Return a decimal number or one in hexadecimal digits behind 0x, -1 for anything else."""
    if _HEX.match(cell):
        return int(cell, 16)
    return int(cell) if 0 < len(cell) < 20 and cell.isdigit() else -1


def _count(cell: bytes) -> int:
    """Return the number of a port or LID, far too large ones as one that is out of range."""
    return min(_number(cell), 1 << 30)


def _cells(line: bytes, separator: bytes, columns: int, text: int) -> list[bytes]:
    """Return the cells of a row; the cell `text` may contain the separator and quotes, which nothing escapes."""
    before = line.split(separator, text) if text else [line]
    cells = before[:text] + before[text].rsplit(separator, columns - 1 - text) if len(before) > text else before
    return [cell.strip() for cell in cells]


def _unquoted(cell: bytes) -> bytes:
    return cell[1:-1] if len(cell) > 1 and cell[:1] == cell[-1:] == b'"' else cell


def _note_inactive(records: Records, ports: Iterable[tuple[int, int, int, bytes]]) -> None:
    """Note cabled ports (node, port, line, state) that are not active."""
    for node, port, line, state in ports:
        word = shown(text_of(state))
        text = f"port {port} of {records.called(node)} has a cable, but its state is {word}: no packets pass"
        records.notes.add("warning", "inactive-port", text, line, records.at(node, port))


def _with_labels(fabric: Fabric, labels: Iterable[tuple[int, int, bytes]]) -> Fabric:
    """Return the fabric with labels of ports: node, port, label."""
    known = {}
    for node, port, label in labels:
        slot = fabric.slot(node, port)
        if slot >= 0 and label and label != b"%d" % port:
            known[slot] = text_of(label)
    return replace(fabric, labels=known) if known else fabric


# ibdiagnet2.net_dump: a table of ports for every switch.


class _Row(NamedTuple):
    """A port of a switch."""

    block: int  # GUID
    line: int
    port: int
    state: bytes
    rate: bytes
    peer_guid: int
    peer_port: bytes  # a label where the neighbor is a switch
    peer_lid: int
    peer_text: bytes


class _SwitchBlock(NamedTuple):
    """The heading of a switch, and its ports by label."""

    line: int
    text: bytes
    lid: int
    ports: dict[bytes, int]


_NEEDED = {"ib#": "IB#", "sta": "Sta", "neighbor guid": "Neighbor Guid", "n#": "N#"}
_ALIASES = {"#ib": "ib#", "neighbour guid": "neighbor guid"}


def read_net_dump(blocks: FileBlocks) -> Fabric:
    """Read the fabric of an ``ibdiagnet2.net_dump``, which does not give the LMC; every port of an adapter is a node.

    The file has a table for every switch and names hosts, routers and aggregation nodes only as neighbors.
    """
    records = Records(str(blocks.path))
    tables, rows, number, half = _net_dump_rows(blocks, records)
    for guid, block in tables.items():
        count = max((port for port in block.ports.values() if port <= MAX_PORTS), default=0)
        records.add(
            RecordHead("switch", ident_of("switch", guid), block.line, count, block.text, guid, guid, block.lid)
        )
    unnumbered = _link(records, tables, rows)
    if unnumbered:
        text = f"{plural(unnumbered, 'port')} of hosts with labels, not numbers: numbered in the order of the file"
        records.notes.add("note", "unlisted-ports", text)
    records.note_cut(blocks, number, half)
    fabric = assemble(records, blocks, lmc_known=False)
    known = ((records.index[ident_of("switch", guid)], block) for guid, block in tables.items())
    return _with_labels(fabric, ((node, port, label) for node, block in known for label, port in block.ports.items()))


def _net_dump_rows(blocks: FileBlocks, records: Records) -> tuple[dict[int, _SwitchBlock], list[_Row], int, bool]:
    """Return the switches, their ports with a neighbor, the number of lines, and whether the last one is half a row."""
    path, notes = blocks.path, records.notes
    tables: dict[int, _SwitchBlock] = {}
    rows: list[_Row] = []
    current: int | None = None  # the GUID of the switch
    columns: _TableColumns | None = None
    number, half = 0, False
    for number, line in blocks.lines():
        text, half = line.strip(), False
        heading = NET_DUMP.match(line) or (columns is None and current is not None and text.count(b":") > 2)
        if not text or (text.startswith(b"#") and not heading):
            continue
        if len(line) > LONGEST:
            noted_line(line, number, notes)
        elif (head := _BLOCK.match(line)) is not None:
            current, columns = int(head[3], 16), None
            if current in tables:
                message = f"a second table of switch 0x{current:016x} is ignored; the first is on line "
                message += f"{tables[current].line}: if the file contains two scans, split it"
                notes.add("error", "duplicate-guid", message, number)
                current = None
            else:
                tables[current] = _SwitchBlock(number, head[1], int(head[4]), {})
        elif heading:
            columns = _columns(text)
            if missing := [name for word, name in _NEEDED.items() if word not in columns.place]:
                message = f"has a table without a column {', '.join(missing)}: give ibdiagnet2.net_dump, which has it"
                raise FileError(message, path, number)
        elif columns is None or current is None:
            if current is not None or not tables:
                noted_line(line, number, notes)
        else:
            half = "neighbor description" in columns.place and not text.endswith(b'"')
            row = _net_dump_row(line, number, current, columns, tables[current].ports, records)
            if row is not None:
                rows.append(row)
                if not len(rows) & 0xFFFF:
                    require_memory(_ROW_BYTES * 2**16, f"the ports of {path}")
    return tables, rows, number, half


class _TableColumns(NamedTuple):
    """The columns of a table: their number, and their places by names in small letters."""

    number: int
    place: dict[str, int]


def _columns(heading: bytes) -> _TableColumns:
    """Return the columns of a table; of equal names the first counts."""
    words = [" ".join(name.decode("utf-8", "replace").lower().split()) for name in heading.split(b":")]
    place = {_ALIASES.get(word, word): k for k, word in reversed(list(enumerate(words)))}
    return _TableColumns(len(words), place)


def _net_dump_row(
    line: bytes, number: int, guid: int, columns: _TableColumns, ports: dict[bytes, int], records: Records
) -> _Row | None:
    """Return a port, None if it has no neighbor; its label is added to those of the switch."""
    count, place = columns
    cells = _cells(line, b":", count, place.get("neighbor description", count - 1))

    def cell(name: str) -> bytes:
        return cells[place[name]] if name in place else b""

    if len(cells) != count or _count(cell("ib#")) < 0:
        noted_line(line, number, records.notes)
        return None
    port, state, peer = _count(cell("ib#")), cell("sta").upper(), cell("neighbor guid")
    label = cell("#") or b"%d" % port
    if ports.setdefault(label, port) != port:
        text = f"a second port with the label {shown(text_of(label))} at switch 0x{guid:016x}"
        records.notes.add("error", "duplicate-port", text, number)
    if state == b"DOWN" or not _HEX.match(peer) or not int(peer, 16):
        if state in (b"ACT", b"ARM", b"INI"):
            text = f"port {port} of switch 0x{guid:016x} is {text_of(state)}, but its neighbor is not named: scan again"
            records.notes.add("error", "unknown-peer", text, number)
        return None
    rate = cell("lwa") + LANE_SPEEDS.get(cell("lsa").upper(), b"?")
    called = _unquoted(cell("neighbor description"))
    return _Row(guid, number, port, state, rate, int(peer, 16), cell("n#"), max(_count(cell("nlid")), 0), called)


def _link(records: Records, tables: dict[int, _SwitchBlock], rows: list[_Row]) -> int:
    """Add the neighbors that are no switches, and all cables; return how many ports had to be numbered."""
    at: dict[int, set[int]] = {}  # the ports of every neighbor without a table
    following: dict[int, int] = {}  # the next port of each that is not numbered
    unnumbered = 0
    far: list[int] = []
    for row in rows:
        port = _count(row.peer_port)
        if row.peer_guid in tables:
            port = tables[row.peer_guid].ports.get(row.peer_port, port)
        else:
            taken = at.setdefault(row.peer_guid, set())
            if port < 0:
                port = following.get(row.peer_guid, 1)
                while port in taken:
                    port += 1
                following[row.peer_guid] = port + 1
                unnumbered += 1
            taken.add(port)
        far.append(port)
    inactive = []
    for row, port in zip(rows, far, strict=True):
        node = records.index[ident_of("switch", row.block)]
        if row.peer_guid in tables:
            if port < 0:
                text = f"{shown(text_of(row.peer_port))} is not the label of a port of switch 0x{row.peer_guid:016x}"
                records.notes.add("error", "unknown-peer", text, row.line, records.at(node, row.port))
                continue
            name, guid = ident_of("switch", row.peer_guid), None
        else:
            name, guid = _neighbor(records, row, len(at[row.peer_guid])), b"%x" % row.peer_guid
        if row.state != b"ACT":
            inactive.append((node, row.port, row.line, row.state))
        about = (name, port, guid, 0, None, row.peer_text, row.peer_lid, row.rate)
        records.ports.append((node, row.line, row.port, None, *about))
        if guid is not None:  # it has no line of its own
            own = tables[row.block]
            back = (ident_of("switch", row.block), row.port, None, row.peer_lid, None, own.text, own.lid, row.rate)
            records.ports.append((records.index[name], row.line, port, guid, *back))
    _note_inactive(records, inactive)
    return unnumbered


def _neighbor(records: Records, row: _Row, ports: int) -> bytes:
    """Return the name of a neighbor without a table: an adapter, unless it looks like a switch whose table is lost."""
    lost = ports > _ADAPTER_PORTS or row.peer_text.startswith(b"MF0;")
    name = ident_of("switch", row.peer_guid) if lost else b"0x%016x" % row.peer_guid
    if name not in records.index:
        guid = row.peer_guid if lost else 0
        node = records.add(RecordHead("switch" if lost else "ca", name, row.line, 0, row.peer_text, guid, guid))
        if lost:
            message = f"{records.called(node)} has a cable but no table: the file is truncated or the scan incomplete"
            records.notes.add("error", "missing-record", message, row.line, records.at(node))
    return name


# ibdiagnet2.db_csv: sections of comma-separated rows.

#: The sections that are read: the columns that are needed, and those that are used where they are there.
_SECTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "NODES": (("NodeDesc", "NumPorts", "NodeType", "NodeGUID"), ("PortGUID", "LocalPortNum")),
    "PORTS": (
        ("NodeGuid", "PortNum"),
        ("PortGuid", "LID", "LMC", "LinkWidthActv", "LinkSpeedActv", "PortState"),
    ),
    "LINKS": (("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"), ()),
    "PORT_HIERARCHY_INFO": (("NodeGUID", "PortNum"), ("ExtendedLabel", "Label")),
}


class _PortInfo(NamedTuple):
    """What the section PORTS says of a port."""

    guid: int = 0
    lid: int = 0
    lmc: int = 0
    rate: bytes = b"?"
    state: bytes = b"ACT"
    stated: bool = False  # whether the file gives the state


class _DbCsv:
    """The sections of a file."""

    def __init__(self, blocks: FileBlocks) -> None:
        self.blocks, self.records = blocks, Records(str(blocks.path))
        self.nodes: dict[int, tuple[int, RecordHead]] = {}  # by GUID: the line, and the node without what PORTS tells
        self.ports: dict[tuple[int, int], _PortInfo] = {}
        self.asked: dict[tuple[int, int], int] = {}  # GUIDs of the ports through which NODES was read
        self.links: list[tuple[int, int, int, int, int]] = []  # the line, GUID and port of both ends
        self.labels: list[tuple[int, int, bytes]] = []
        self.columns: dict[str, list[str]] = {}  # of every section that is there
        self.number = 0

    def rows(self) -> Iterator[tuple[str, dict[str, bytes]]]:
        """Yield the rows of the known sections by their columns; defects are noted."""
        section = ""  # "" outside
        names: list[str] | None = None
        for number, line in self.blocks.lines():
            self.number = number
            text = line.strip()
            if (begin := DB_CSV.match(line)) is not None:
                if section:
                    self._unended(section)
                section, names = begin[1].decode(), None
                if section in self.columns:
                    message = f"a second section {section} begins here: if the file contains two scans, split it"
                    self.records.notes.add("error", "two-scans", message, self.number)
            elif text.startswith(b"END_"):
                section = ""
            elif section not in _SECTIONS or not text:
                continue
            elif names is None:
                names = [name.strip().decode("utf-8", "replace").strip('"') for name in text.split(b",")]
                self._require(section, names)
            else:
                wordy = names.index("NodeDesc") if "NodeDesc" in names else len(names) - 1
                cells = _cells(line, b",", len(names), wordy)
                if len(cells) != len(names) or len(line) > LONGEST:
                    self._bad(section, line)
                else:
                    yield section, dict(zip(names, map(_unquoted, cells), strict=True))
        if section in _SECTIONS:
            self._unended(section)

    def _unended(self, section: str) -> None:
        message = f"the section {section} has no end: the file is truncated"
        self.records.notes.add("error", "cut-off", message, self.number)

    def _require(self, section: str, names: list[str]) -> None:
        for name in _SECTIONS[section][0]:
            if name not in names:
                raise FileError(f"has a section {section} without a column {name}", self.blocks.path, self.number)
        self.columns[section] = names

    def _bad(self, section: str, line: bytes) -> None:
        self.records.notes.add("error", "bad-entry", f"{shown_line(line)} is not a row of {section}", self.number)

    def read(self) -> None:
        """Read all sections."""
        for count, (section, row) in enumerate(self.rows(), 1):
            if not {"NODES": self._node, "PORTS": self._port, "LINKS": self._cable}.get(section, self._label)(row):
                self._bad(section, b",".join(row.values()))
            if not count & 0xFFFF:
                require_memory(_ROW_BYTES * 2**16, f"the sections of {self.blocks.path}")
        for section in ("NODES", "LINKS"):
            if section not in self.columns:
                message = f"has no section {section}, so no topology: give ibdiagnet2.lst, ibdiagnet2.net_dump or "
                raise FileError(message + "the output of ibnetdiscover", self.blocks.path)

    def _node(self, row: dict[str, bytes]) -> bool:
        guid, ports, sort = _number(row["NodeGUID"]), _count(row["NumPorts"]), _number(row["NodeType"])
        if guid <= 0 or ports < 0:
            return False
        kind = _KINDS.get(sort, "unknown")
        own, at = (max(_number(row.get(name, b"")), 0) for name in _SECTIONS["NODES"][1])
        ident, port_guid = ident_of(kind, guid), own if kind == "switch" else 0
        node = RecordHead(kind, ident, self.number, ports, row["NodeDesc"], guid, port_guid)
        if guid in self.nodes:
            message = f"a second row of node 0x{guid:016x} is ignored; the first is on line {self.nodes[guid][0]}"
            self.records.notes.add("error", "duplicate-guid", message, self.number)
            return True
        if ports > MAX_PORTS:
            message = f"node 0x{guid:016x} has {ports} ports; the maximum is {MAX_PORTS}"
            self.records.notes.add("error", "bad-port", message, self.number)
        self.nodes[guid] = self.number, node
        if kind != "switch" and own and at:
            self.asked[guid, at] = own
        return True

    def _port(self, row: dict[str, bytes]) -> bool:
        guid, port = _number(row["NodeGuid"]), _count(row["PortNum"])
        if guid <= 0 or port < 0:
            return False
        if port > MAX_PORTS:
            message = f"port {port} of node 0x{guid:016x}: the maximum is {MAX_PORTS}"
            self.records.notes.add("error", "bad-port", message, self.number)
            return True
        own, lid, lmc, width, speed, state = (max(_number(row.get(name, b"")), 0) for name in _SECTIONS["PORTS"][1])
        rate = _WIDTH_BITS.get(width, b"?") + _SPEED_BITS.get(speed, b"?")
        info = _PortInfo(own, min(lid, 1 << 30), min(lmc, 99), rate, _STATES.get(state, b"ACT"), state in _STATES)
        if self.ports.setdefault((guid, port), info) != info:
            message = f"a second, different row of port {port} of node 0x{guid:016x}: the first is used"
            self.records.notes.add("error", "duplicate-port", message, self.number)
        return True

    def _cable(self, row: dict[str, bytes]) -> bool:
        one, other = _number(row["NodeGuid1"]), _number(row["NodeGuid2"])
        first, second = _count(row["PortNum1"]), _count(row["PortNum2"])
        if min(one, other) <= 0 or min(first, second) < 0:
            return False
        self.links.append((self.number, one, first, other, second))
        return True

    def _label(self, row: dict[str, bytes]) -> bool:
        label = row.get("ExtendedLabel") or row.get("Label") or b""
        guid, port = _number(row["NodeGUID"]), _number(row["PortNum"])
        if guid > 0 and 0 < port <= MAX_PORTS and label not in (b"", b"N/A"):
            self.labels.append((guid, port, label))
        return True

    def fabric(self) -> Fabric:
        """Return the fabric of what was read."""
        records = self.records
        number_of: dict[int, int] = {}
        for guid, (_, node) in self.nodes.items():
            own = self.ports.get((guid, 0), _PortInfo())
            if node.kind == "switch":
                node = node._replace(port_guid=node.port_guid or own.guid, lid=own.lid, lmc=own.lmc)
            number_of[guid] = records.add(node)
        inactive = []
        seen = set()
        for line, one, first, other, second in self.links:
            ends = ((one, first), (other, second))
            if ends in seen or ends[::-1] in seen:  # some list every cable in both directions
                continue
            seen.add(ends)
            for guid, _ in ends:
                if guid not in number_of:
                    lost = RecordHead("unknown", ident_of("unknown", guid), line, 0, b"", guid)
                    number_of[guid] = node_ = records.add(lost)
                    message = f"{records.called(node_)} has a cable but no row in NODES: the file is truncated"
                    records.notes.add("error", "missing-record", message, line, records.at(node_))
            for near, far in dict.fromkeys((ends, ends[::-1])):
                self._add(line, number_of, near, far)
            inactive += [
                (number_of[guid], port, line, state)
                for guid, port in ends
                if (state := self.ports.get((guid, port), _PortInfo()).state) != b"ACT"
            ]
        _note_inactive(records, inactive)
        cabled = {end for ends in seen for end in ends}
        for (guid, port), info in self.ports.items():
            if info.state == b"ACT" and info.stated and port and (guid, port) not in cabled and guid in number_of:
                node_ = number_of[guid]
                text = f"port {port} of {records.called(node_)} is active, but LINKS has no cable of it: scan again"
                records.notes.add("error", "unknown-peer", text, 0, records.at(node_, port))
        if not self.links:
            records.notes.add("warning", "no-cables", "the section LINKS is empty: no cable is known")
        fabric = assemble(records, self.blocks, lmc_known="LMC" in self.columns.get("PORTS", ()))
        labels = ((number_of[guid], port, label) for guid, port, label in self.labels if guid in number_of)
        return _with_labels(fabric, labels)

    def _add(self, line: int, number_of: dict[int, int], near: tuple[int, int], far: tuple[int, int]) -> None:
        """Add one end of a cable."""
        nodes = self.records.nodes
        node, other = nodes[number_of[near[0]]], nodes[number_of[far[0]]]
        here, there = (self.ports.get(end, _PortInfo()) for end in (near, far))
        guid, lid, lmc = (0, 0, 0) if node.kind == "switch" else (here.guid or self.asked.get(near, 0), *here[1:3])
        about = (other.ident, far[1], None, lid, lmc, other.description, there.lid if other.kind != "switch" else 0)
        self.records.ports.append((number_of[near[0]], line, near[1], b"%x" % guid, *about, here.rate))


def read_db_csv(blocks: FileBlocks) -> Fabric:
    """Read the fabric of an ``ibdiagnet2.db_csv``; LIDs, LMCs and speeds are those of its section PORTS."""
    content = _DbCsv(blocks)
    content.read()
    return content.fabric()


def sections_of(path: str | Path) -> set[str]:
    """Return the names of the sections of a ``db_csv``."""
    return {name.decode() for block in FileBlocks(path) for name in _SECTION.findall(block)}
