"""Service levels of pairs from a file, in any of five spellings."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from obliv._util.arrays import joined, positions, runs
from obliv._util.cost import require_memory
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.errors import FileError
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.forwarding import port_guids
from obliv.fabric.files.lines import DISCOVER, DUMPED, TABLES, noted_line, shown_line
from obliv.fabric.files.mixed import MixedReader
from obliv.fabric.files.raw_tables import DIGITS
from obliv.fabric.kernels.pair_levels import (
    BY_GUID,
    BY_HEADING,
    TO_LID,
    PairRows,
    PairsRead,
    merge,
    read_pairs,
    read_paths,
)
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lids import LAST_LID, largest_lid, owned_lids, slots_of_lids
from obliv.fabric.model import Fabric
from obliv.kernels import run

__all__ = ["columns_of", "read_levels"]

_ROW = re.compile(rb"[ \t]*\d")
_RECORD = re.compile(rb"[ \t]*(?:PathRecord dump:|[a-z][a-z_0-9]*\.)")
_ENGINE = re.compile(rb"\s*routing_engine:\s*(\S{1,40})\s*\Z")
_VERSION = re.compile(rb"\s*version:\s*\S+\s*\Z")
_NO_LEVELS = re.compile(rb"\s*#\s*LID\s*:\s*MTU\s*:")
_LANES = re.compile(rb"\s*(?:SL2VLTableRecord dump:|# SL2VL table:|#in out :|\d+\s+\d+\s*:)")
_REFUSED = re.compile(rb".*(?:Query SA failed|Path Record|ERROR|failed)", re.DOTALL)
_ROWS = 1 << 15  # rows that one call of a kernel can return


def columns_of(fabric: Fabric) -> tuple[Array, Array]:
    """Return the column of every LID (-1: no owner, -2: not an endpoint's), and the endpoint of every column."""
    ends = fabric.endpoints
    lids, _ = slots_of_lids(fabric)
    column = np.full(largest_lid(fabric) + 130, -1, np.int64)
    column[lids] = -2
    lid, endpoint = owned_lids(fabric.ports.lid[ends], fabric.ports.lmc[ends].clip(0, 7), np.arange(len(ends)))
    known = fabric.ports.lid[ends[endpoint]] > 0
    column[lid[known]] = np.flatnonzero(known)
    return column, endpoint


def read_levels(path: str | Path, fabric: Fabric) -> Levels:
    """Read the service levels of pairs.

    Parameters
    ----------
    path : str or Path
        What ``saquery PR`` printed, a ``.psl`` file of ibdiagnet, ``opensm-path-records.dump``, or lines ``LID LID SL``
        (source, destination; several SLs separated by commas) or ``LID SL`` (by destination); compressed with gzip or
        not.
    fabric : Fabric

    Raises
    ------
    FileError
        If the file cannot be read or contains no SL of a host of the fabric.
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
        self._rows = PairRows(*np.zeros((len(PairRows._fields), min(_ROWS, max(length, 1 << 10))), np.int64))
        self._record = np.full(2, -1, np.int64)
        self._column, self._endpoint = columns_of(fabric)
        ends = fabric.endpoints
        self._number = positions(ends, len(fabric.ports.peer))  # of every slot among the endpoints
        self._port = port_guids(fabric)
        self._node: dict[int, list[int]] = {}  # endpoints of every node GUID
        for number, node in enumerate(fabric.node_of[ends].tolist()):
            self._node.setdefault(int(fabric.nodes.guid[node]), []).append(number)
        self._switches = set(fabric.nodes.guid[fabric.switches].tolist())
        self._source: int | None = None  # of the current heading; -1 for one that is not an endpoint
        self._levels: dict[bool, Array] = {}  # by whether they depend on the source
        self._found = self._matched = 0
        self._unknown = [0, 0]  # rows for LIDs that have no owner, and the line of the first
        self._several = [0, 0]  # rows with another SL than an earlier row of the pair, and the line of the first
        self._strange: dict[str, list[int]] = {}  # sources that are not in the topology: line and number
        self._doubled: set[int] = set()  # node GUIDs with several ports
        self._moved: list[tuple[int, int]] = []
        self._refused = 0
        self.engine = ""

    def _rows_at(self, block: bytes, data: Array, at: int, stop: int) -> int:
        """Read the rows that begin at a position; return where they end."""
        if _ROW.match(block, at):
            read = run(read_pairs, self._work, data, at, stop, DIGITS, self._rows)
        elif _RECORD.match(block, at):
            read = run(read_paths, self._work, data, at, stop, DIGITS, self._record, self._rows)
        else:
            return at
        read = PairsRead(*map(int, read))
        if read.rows:
            self._add(read.kind, read.rows)
        self._line += read.lines
        return read.at

    def _add(self, kind: int, count: int) -> None:
        """Add rows of one kind."""
        rows = PairRows(*(column[:count] for column in self._rows))
        self._found += count
        if kind == TO_LID:
            self._merge(
                False, np.zeros(count, np.int64), PairRows(rows[0], rows[1], rows.source_low, rows.mask, rows.line)
            )
        elif kind == BY_HEADING:
            if self._source is None:
                text = "rows without a heading that names the source: ignored"
                self.notes.add("warning", "bad-line", text, self._line + 1)
            elif self._source >= 0:
                self._merge(True, np.full(count, self._source), rows)
        elif kind == BY_GUID:
            self._add_by_guid(rows)
        else:
            lid = rows.source_low
            column = self._column[np.minimum(lid, len(self._column) - 1)]
            source = np.where(column >= 0, self._endpoint[np.maximum(column, 0)] if len(self._endpoint) else -1, -1)
            for k in np.flatnonzero(column == -1)[:1].tolist():
                self._note_strange("LIDs", self._line + int(rows.line[k]), int((column == -1).sum()))
            self._merge(True, source, rows)

    def _add_by_guid(self, rows: PairRows) -> None:
        """Add rows whose sources are nodes: they count for every port of the node."""
        high, low = rows.source_high, rows.source_low
        starts, sizes = runs(high, low)
        guids = joined(high[starts], low[starts])
        owned = [self._node.get(guid, []) for guid in guids]
        first = np.array([ends[0] if ends else -1 for ends in owned], np.int64)
        self._merge(True, np.repeat(first, sizes), rows)
        for guid, ends, start, size in zip(guids, owned, starts.tolist(), sizes.tolist(), strict=True):
            if not ends and guid not in self._switches:
                self._note_strange("GUIDs", self._line + int(rows.line[start]), size)
            for end in ends[1:]:
                self._doubled.add(guid)
                part = PairRows(*(column[start : start + size] for column in rows))
                self._merge(True, np.full(size, end), part)

    def _note_strange(self, what: str, line: int, rows: int) -> None:
        before = self._strange.setdefault(what, [line, 0])
        before[1] += rows

    def _merge(self, by_pair: bool, source: Array, rows: PairRows) -> None:
        """Add the SLs of rows."""
        if by_pair not in self._levels:
            shape = (len(self.fabric.endpoints) if by_pair else 1, len(self._endpoint))
            require_memory(2.0 * shape[0] * shape[1], f"the SLs of {self.path}")
            self._levels[by_pair] = np.zeros(shape, np.uint16)
        work = 10.0 * len(source)
        result = run(merge, work, source, rows.lid, rows.mask, self._column, self._levels[by_pair])
        self._matched += int((source >= 0).sum())
        for total, count, first in (
            (self._unknown, int(result.unknown), int(result.first_unknown)),
            (self._several, int(result.several), int(result.first_several)),
        ):
            if count and not total[0]:
                total[1] = self._line + int(rows.line[first])
            total[0] += count

    def _other(self, line: bytes) -> None:
        """Read a line that is not a row."""
        self._line += 1
        number = self._line
        if not line.strip():
            return
        if header := DUMPED.match(line):
            self._header(header, number)
        elif _NO_LEVELS.match(line):
            text = "lists MTU and rate only (opensm-peer-paths.dump): give opensm-path-records.dump, or ask saquery PR"
            raise FileError(text, self.path, number)
        elif _LANES.match(line) and not self._found:
            raise FileError("contains SL-to-VL tables, not SLs of pairs", self.path, number)
        elif line.lstrip().startswith(b"#") or _VERSION.match(line):
            pass
        elif engine := _ENGINE.match(line):
            self.engine = self.engine or engine[1].decode("ascii", "replace")
        elif not self._found and (DISCOVER.match(line) or TABLES.match(line)):
            kind = "a topology" if DISCOVER.match(line) else "forwarding tables"
            raise FileError(f"contains {kind}, not SLs of pairs", self.path, number)
        elif _ROW.match(line) or _RECORD.match(line):
            text = f"invalid row: {shown_line(line)}; SLs are 0 to 15, LIDs at most {LAST_LID}"
            self.notes.add("error", "bad-sl", text, number)
        elif _REFUSED.match(line):
            self._refused += 1
            if self._refused == 1:
                text = f"the subnet administrator did not answer: {shown_line(line)}"
                self.notes.add("warning", "diagnostic", text, number)
        else:
            noted_line(line, number, self.notes)

    def _header(self, header: re.Match[bytes], number: int) -> None:
        guid, lid = int(header[2], 16), int(header[3])
        slot = self._port.get(guid, -1)
        self._source = int(self._number[slot]) if slot >= 0 and header[1] == b"Channel Adapter" else -1
        if slot < 0 and header[1] == b"Channel Adapter":
            self._note_strange("port GUIDs", number, 1)
        elif slot >= 0 and self.fabric.ports.lid[slot] not in (0, lid) and len(self._moved) < _ROWS:
            self._moved.append((slot, number))

    def finished(self, blocks: Blocks) -> Levels:
        """Return the levels that were read, at the end of the file."""
        if not self._found and not self.notes.findings():
            raise FileError(
                "contains no SLs of pairs: give the output of saquery PR, a .psl file, opensm-path-records.dump, or "
                "lines 'LID LID SL' or 'LID SL'",
                self.path,
            )
        if not any(levels.any() for levels in self._levels.values()):
            text = f"contains no SL between hosts of {self.fabric.name}: give a file of the same fabric"
            raise FileError(text + ("" if self._matched else ", with hosts as sources"), self.path)
        if len(self._levels) == 2:
            raise FileError("mixes lines by destination (LID SL) with lines by pair: use one kind", self.path)
        self._note()
        levels = next(iter(self._levels.values()))
        return Levels(self.path, levels, self.engine, ((self.path, blocks.sha256),), self.notes.findings())

    def _note(self) -> None:
        """Note what does not fit the topology."""
        for what, (line, rows) in self._strange.items():
            text = f"{plural(rows, 'row')} from {what} that the topology does not have: topology and SLs differ in time"
            self.notes.add("error", "unknown-port", text, line)
        if self._moved:
            count = plural(len(self._moved), "port")
            text = f"{count} had other LIDs when this file was made: topology and SLs were taken at different times"
            self.notes.add("error", "other-moment", text, self._moved[0][1])
        if self._unknown[0]:
            text = f"{plural(self._unknown[0], 'row')} to LIDs that no port of the topology owns: files differ in time"
            self.notes.add("warning", "stale-lids", text, self._unknown[1])
        if self._doubled:
            text = (
                f"{plural(len(self._doubled), 'adapter')} with several cabled ports: this file gives SLs by adapter, "
                "so they count for each of its ports; saquery PR tells them apart"
            )
            self.notes.add("warning", "several-ports", text)
        if self._several[0]:
            text = (
                f"{plural(self._several[0], 'row')} with another SL than an earlier one of the same pair: all of them "
                "count, since engines such as dfsssp answer with different SLs"
            )
            self.notes.add("note", "several-sls", text, self._several[1])
