"""Service levels of pairs: read from a file in any of five spellings, written as ``.psl`` or as a QoS policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from obliv._util.arrays import Array, positions, starts_of_runs
from obliv._util.files import write_pieces
from obliv._util.progress import require_memory
from obliv._util.text import plural
from obliv.errors import FileError, InputError
from obliv.fabric.files import rows as lines
from obliv.fabric.files.assemble import FileBlocks
from obliv.fabric.files.forwarding import port_guids
from obliv.fabric.files.ibnetdiscover import DISCOVER, DUMPED, TABLES, noted_line, shown_line
from obliv.fabric.files.rows import RowReader
from obliv.fabric.kernels.rows import merge
from obliv.fabric.lanes.sl2vl import SLS
from obliv.fabric.model import Fabric, typed
from obliv.fabric.names import LAST_LID, largest_lid, owned_lids, slots_of_lids
from obliv.fabric.results.check import Finding
from obliv.kernels import run

# Service levels of pairs: one for all, by destination, or by pair


@dataclass(frozen=True, eq=False, repr=False)
class PairLevels:
    """The service levels (SLs) that packets of each pair may have."""

    name: str  # the file, or ``SL n``
    # masks: uint16, shape (1 or endpoints, 1 or LIDs of endpoints); bit s is set where packets of the pair may have SL
    # s; 0 where none is known
    masks: Array
    engine: str = ""  # the routing engine that the file names
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    given: bool = True  # whether the user chose the SLs; else all packets are assumed to have SL 0

    def __repr__(self) -> str:
        return f"<Levels {self.name}>"


def one_level(sl: int, *, given: bool = True) -> PairLevels:
    """Return one service level for all pairs."""
    if not 0 <= sl < SLS:
        raise InputError(f"SL {sl} is out of range (0 to {SLS - 1})")
    return PairLevels(f"SL {sl}", np.array([[1 << sl]], np.uint16), given=given)


def sls_of(mask: int) -> list[int]:
    """Return the service levels of a mask."""
    return [sl for sl in range(SLS) if mask >> sl & 1]


_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_ROW = re.compile(rb"[ \t]*\d")
_RECORD = re.compile(rb"[ \t]*(?:PathRecord dump:|[a-z][a-z_0-9]*\.)")
_ENGINE = re.compile(rb"\s*routing_engine:\s*(\S{1,40})\s*\Z")
_VERSION = re.compile(rb"\s*version:\s*\S+\s*\Z")
_NO_LEVELS = re.compile(rb"\s*#\s*LID\s*:\s*MTU\s*:")
_LANES = re.compile(rb"\s*(?:SL2VLTableRecord dump:|# SL2VL table:|#in out :|\d+\s+\d+\s*:)")
_REFUSED = re.compile(rb".*(?:Query SA failed|Path Record|ERROR|failed)", re.DOTALL)
_OTHER_KINDS = {"SL-to-VL tables": _LANES, "a topology": DISCOVER, "forwarding tables": TABLES}
_MOST = 1 << 15  # ports with another LID that are noted

# How a row names its source: by a heading above it, by the GUID of a node, by a LID, or not at all; or row by row of a
# record, by a LID.
_OF_HEADING, _BY_GUID, _BY_LID, _TO_LID, _RECORDS = range(5)
_LID, _SLS = lines.number("lid", 5, 4), lines.mask("mask", 2, SLS - 1)
_ROWS = lines.rows_of(
    lines.line(_OF_HEADING, _LID, b":", _SLS),
    lines.line(_OF_HEADING, _LID, b":", _SLS, b":", lines.decimal("mtu", 5), b":", lines.decimal("rate", 5)),
    lines.line(_OF_HEADING, _LID, b":", lines.among("mask", b"UNREACHABLE")),
    lines.line(_BY_GUID, lines.hexadecimal("source", 16, fewest=5), _LID, _SLS),
    lines.line(_BY_LID, lines.number("source", 5, 4), _LID, _SLS),
    lines.line(_TO_LID, _LID, _SLS),
    lines.line(lines.BEGIN, b"PathRecord dump:", lines.REST),
    lines.line(lines.PART, b"slid.", lines.skip(b"."), lines.number("source", 5, 8)),
    lines.line(lines.PART, b"dlid.", lines.skip(b"."), lines.number("lid", 5, 8)),
    lines.line(_RECORDS, b"sl.", lines.skip(b"."), lines.number("sl", 5, 8, SLS - 1), needs=("source", "lid")),
    lines.line(
        lines.OTHER,
        *(lines.unless(word) for word in (b"slid.", b"dlid.", b"sl.")),
        lines.before(_LOWER),
        lines.skip(_LOWER + b"0123456789_"),
        b".",
        lines.REST,
    ),
)


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


def read_levels(path: str | Path, fabric: Fabric) -> PairLevels:
    """Read the service levels of pairs."""
    reader = _PairReader(FileBlocks(path), fabric)
    reader.read()
    return reader.finished()


class _PairReader(RowReader):
    """The state of reading a file."""

    def __init__(self, blocks: FileBlocks, fabric: Fabric) -> None:
        super().__init__(blocks, _ROWS)
        self.fabric = fabric
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

    def take(self, kind: int, rows: dict[str, Array]) -> None:
        """Add rows of one kind."""
        count = len(rows["line"])
        self._found += count
        if kind == _TO_LID:
            self._merge(False, np.zeros(count, np.int64), rows)
        elif kind == _OF_HEADING:
            if self._source is None:
                text = "rows without a heading that names the source: ignored"
                self.notes.add("warning", "bad-line", text, self.line + 1)
            elif self._source >= 0:
                self._merge(True, np.full(count, self._source), rows)
        elif kind == _BY_GUID:
            self._add_by_guid(rows)
        else:
            column = self._column[np.minimum(rows["source"], len(self._column) - 1)]
            source = np.where(column >= 0, self._endpoint[np.maximum(column, 0)] if len(self._endpoint) else -1, -1)
            for k in np.flatnonzero(column == -1)[:1].tolist():
                self._note_strange("LIDs", int(rows["line"][k]), int((column == -1).sum()))
            self._merge(True, source, rows | {"mask": 1 << rows["sl"]} if kind == _RECORDS else rows)

    def _add_by_guid(self, rows: dict[str, Array]) -> None:
        """Add rows whose sources are nodes: they count for every port of the node."""
        bounds = starts_of_runs(rows["source"])
        guids = rows["source"].view(np.uint64)[bounds[:-1]].tolist()
        owned = [self._node.get(guid, []) for guid in guids]
        first = np.array([ends[0] if ends else -1 for ends in owned], np.int64)
        self._merge(True, np.repeat(first, np.diff(bounds)), rows)
        for guid, ends, (start, stop) in zip(guids, owned, pairwise(bounds), strict=True):
            if not ends and guid not in self._switches:
                self._note_strange("GUIDs", int(rows["line"][start]), stop - start)
            for end in ends[1:]:
                self._doubled.add(guid)
                part = {name: column[start:stop] for name, column in rows.items()}
                self._merge(True, np.full(stop - start, end), part)

    def _note_strange(self, what: str, line: int, rows: int) -> None:
        before = self._strange.setdefault(what, [line, 0])
        before[1] += rows

    def _merge(self, by_pair: bool, source: Array, rows: dict[str, Array]) -> None:
        """Add the SLs of rows."""
        if by_pair not in self._levels:
            shape = (len(self.fabric.endpoints) if by_pair else 1, len(self._endpoint))
            require_memory(2.0 * shape[0] * shape[1], f"the SLs of {self.path}")
            self._levels[by_pair] = np.zeros(shape, np.uint16)
        work = 10.0 * len(source)
        result = run(merge, work, source, rows["lid"], rows["mask"], self._column, self._levels[by_pair])
        self._matched += int((source >= 0).sum())
        for total, count, first in (
            (self._unknown, int(result.unknown), int(result.first_unknown)),
            (self._several, int(result.several), int(result.first_several)),
        ):
            if count and not total[0]:
                total[1] = int(rows["line"][first])
            total[0] += count

    def other(self, line: bytes, number: int) -> None:
        """Read a line that is not a row."""
        if header := DUMPED.match(line):
            self._header(header, number)
        elif _NO_LEVELS.match(line):
            text = "lists MTU and rate only (opensm-peer-paths.dump): give opensm-path-records.dump, or ask saquery PR"
            raise FileError(text, self.path, number)
        elif _LANES.match(line) and not self._found:
            self.require(line, number, "SLs of pairs", _OTHER_KINDS)
        elif line.lstrip().startswith(b"#") or _VERSION.match(line):
            pass
        elif engine := _ENGINE.match(line):
            self.engine = self.engine or engine[1].decode("ascii", "replace")
        elif _ROW.match(line) or _RECORD.match(line):
            text = f"invalid row: {shown_line(line)}; SLs are 0 to 15, LIDs at most {LAST_LID}"
            self.notes.add("error", "bad-sl", text, number)
        elif _REFUSED.match(line):
            self._refused += 1
            if self._refused == 1:
                text = f"the subnet administrator did not answer: {shown_line(line)}"
                self.notes.add("warning", "diagnostic", text, number)
        else:
            self.require(line, number, "SLs of pairs", {} if self._found else _OTHER_KINDS)
            noted_line(line, number, self.notes)

    def _header(self, header: re.Match[bytes], number: int) -> None:
        guid, lid = int(header[2], 16), int(header[3])
        slot = self._port.get(guid, -1)
        self._source = int(self._number[slot]) if slot >= 0 and header[1] == b"Channel Adapter" else -1
        if slot < 0 and header[1] == b"Channel Adapter":
            self._note_strange("port GUIDs", number, 1)
        elif slot >= 0 and self.fabric.ports.lid[slot] not in (0, lid) and len(self._moved) < _MOST:
            self._moved.append((slot, number))

    def finished(self) -> PairLevels:
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
        return PairLevels(self.path, levels, self.engine, self.sources, self.notes.findings())

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


# Writer of the service levels of pairs as ``.psl``, which ``obliv fabric check --sl`` and ibdmchk read


@typed
def write_psl(levels: PairLevels, fabric: Fabric, path: str | Path) -> None:
    """Write a line for each source and LID: the GUID of the source's node, the LID, the service level.

    Parameters
    ----------
    levels : PairLevels
        With one service level for each pair.
    fabric : Fabric
        With the GUIDs of its nodes.
    path : str or Path
        Replaced only once it is complete.

    Raises
    ------
    FileError
        If a source has no GUID, or an adapter has several ports, which the format cannot tell apart.
    """
    nodes = fabric.node_of[fabric.endpoints]
    guid = fabric.nodes.guid[nodes]
    if not guid.all() or len(np.unique(guid)) < len(guid):
        raise FileError("cannot be written: every host needs a GUID of its own, and one port", path)
    write_pieces(path, _lines(levels, fabric, guid.tolist()))


def _lines(levels: PairLevels, fabric: Fabric, guid: list[int]) -> Iterator[bytes]:
    ends = fabric.endpoints
    lids, owner = owned_lids(fabric.ports.lid[ends], fabric.ports.lmc[ends], np.arange(len(ends)))
    masks = np.broadcast_to(levels.masks, (len(guid), len(lids)))
    for s, source in enumerate(guid):
        pairs = zip(lids.tolist(), owner.tolist(), masks[s].tolist(), strict=True)
        text = [f"0x{source:016x} {lid} {mask.bit_length() - 1}\n" for lid, d, mask in pairs if d != s]
        yield "".join(text).encode()


# Writer of QoS policies: the service levels of pairs, for ``opensm -Q -Y FILE``


_EACH_LINE = 6  # GUIDs

#: Sources, destinations (places among the endpoints; None: all) and the service level of their packets.
Rule = tuple[tuple[int, ...] | None, tuple[int, ...], int]


def policy_rules(levels: PairLevels, fabric: Fabric) -> list[Rule]:
    """Return rules that give pairs of endpoints their service levels; pairs without a rule have service level 0."""
    # Destinations with equal service levels from all sources share their rules, or sources with equal ones to all
    # destinations, whichever takes fewer rules. No two rules fit one pair.
    masks = _by_endpoint(levels, fabric)
    sl = np.log2(masks).astype(np.int64)
    if len(sl) == 1:
        return [(None, _places(sl[0] == s), s) for s in np.unique(sl).tolist() if s]
    by_destination: list[Rule] = [(sources, destinations, s) for destinations, sources, s in _grouped(sl.T)]
    by_source: list[Rule] = [*_grouped(sl)]
    return min(by_destination, by_source, key=len)


def _by_endpoint(levels: PairLevels, fabric: Fabric) -> Array:
    """Return the masks of pairs of endpoints, each of a single service level, shape (1 or endpoints, endpoints)."""
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    first = np.cumsum(many) - many
    masks = levels.masks
    if masks.shape[1] == 1:
        masks = np.repeat(masks, int(many.sum()), axis=1)
    one = masks[:, first]
    if (np.repeat(one, many, axis=1) != masks).any():
        raise FileError("a QoS policy cannot tell the LIDs of a port apart: use an LMC of 0", levels.name)
    single = (one > 0) & (one & (one - 1) == 0)
    needed = ~np.eye(len(one), dtype=bool) if len(one) > 1 else np.True_
    if (needed & ~single).any():
        raise FileError("every pair needs one service level", levels.name)
    return np.where(single, one, 1)


def _grouped(sl: Array) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    """Return groups of rows with equal service levels: the rows, columns with one service level, and that level."""
    kinds, kind = np.unique(sl, axis=0, return_inverse=True)
    rules = []
    for k, levels in enumerate(kinds):
        rows = _places(kind.ravel() == k)
        rules += [(rows, _places(levels == s), s) for s in np.unique(levels).tolist() if s]
    return rules


def _places(which: Array) -> tuple[int, ...]:
    return tuple(np.flatnonzero(which).tolist())


@typed
def write_policy(levels: PairLevels, fabric: Fabric, path: str | Path) -> int:
    """Write the service levels of pairs as a QoS policy, which ``opensm -Q -Y FILE`` loads.

    Parameters
    ----------
    levels : PairLevels
        With one service level for each pair.
    fabric : Fabric
        With the GUIDs of its ports.
    path : str or Path
        Replaced only once it is complete.

    Returns
    -------
    int
        The number of rules. OpenSM goes through them for each path record.

    Raises
    ------
    FileError
        If an endpoint has no GUID, or a policy cannot express the service levels.
    """
    guid = fabric.ports.guid[fabric.endpoints]
    if not guid.all():
        count = plural(int((guid == 0).sum()), "port")
        raise FileError(f"cannot be written: {count} of hosts without a GUID, by which OpenSM knows them", path)
    rules = policy_rules(levels, fabric)
    write_pieces(path, _policy_lines(rules, guid))
    return len(rules)


def _policy_lines(rules: list[Rule], guid: Array) -> Iterator[bytes]:
    groups: dict[tuple[int, ...], str] = {}
    for sources, destinations, _ in rules:
        for group in (sources, destinations):
            if group is not None:
                groups.setdefault(group, f"group{len(groups) + 1}")
    rank = np.empty(len(guid), np.int64)
    rank[np.argsort(guid, kind="stable")] = np.arange(len(guid))
    yield b"port-groups\n"
    for group, name in groups.items():
        yield f"    port-group\n        name: {name}\n{_guids(group, guid, rank)}    end-port-group\n".encode()
    yield b"end-port-groups\nqos-levels\n"
    for name, sl in [("DEFAULT", 0), *((f"lane{sl}", sl) for sl in sorted({sl for *_, sl in rules}))]:
        yield f"    qos-level\n        name: {name}\n        sl: {sl}\n    end-qos-level\n".encode()
    yield b"end-qos-levels\nqos-match-rules\n"
    for sources, destinations, sl in rules:
        yield b"    qos-match-rule\n"
        if sources is not None:
            yield f"        source: {groups[sources]}\n".encode()
        yield f"        destination: {groups[destinations]}\n        qos-level-name: lane{sl}\n".encode()
        yield b"    end-qos-match-rule\n"
    yield b"end-qos-match-rules\n"


def _guids(group: tuple[int, ...], guid: Array, rank: Array) -> str:
    """Return the lines of a group; GUIDs with no other endpoint's between them are joined to a range."""
    members = sorted(group, key=lambda place: int(rank[place]))
    ranges: list[list[int]] = []
    for place in members:
        if ranges and rank[place] == rank[ranges[-1][1]] + 1:
            ranges[-1][1] = place
        else:
            ranges.append([place, place])
    texts = [
        f"0x{int(guid[first]):016x}" + (f"-0x{int(guid[last]):016x}" if last != first else "") for first, last in ranges
    ]
    lines = (", ".join(texts[at : at + _EACH_LINE]) for at in range(0, len(texts), _EACH_LINE))
    return "".join(f"        port-guid: {line}\n" for line in lines)
