"""Reader of the output of ibnetdiscover and of ibsim's .net files, and the lines by which dialects are recognized."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import compress

import numpy as np

from obliv._util.text import shown
from obliv.fabric.files.assemble import (
    LONGEST,
    FileBlocks,
    RecordHead,
    Records,
    assemble,
    lines_of,
    rate_number,
    text_of,
)
from obliv.fabric.model import Fabric, Notes, place_of
from obliv.specs import FILE_FORMATS

# Lines that identify the dialect of a file, and lines that do not belong in it


DISCOVER = re.compile(b"[ \t]*" + FILE_FORMATS["ibnetdiscover"].sign.encode())  #: ibnetdiscover
PORTLIST = re.compile(FILE_FORMATS["ibnetdiscover-p"].sign.encode())  #: ibnetdiscover -p
LINKINFO = re.compile(
    rb"(?:Switch: 0x[0-9a-fA-F]+ |(?:CA|Switch|Router|RT): .*:\s*\Z)"
    rb'|\s*(?:0x[0-9a-fA-F]+\s+(?:".{0,200}?"\s+)?)?\d+\s+\d+\[[^\]]*\]\s+==\(',
    re.DOTALL,
)  #: iblinkinfo
SUBNET = re.compile(FILE_FORMATS["opensm-subnet"].sign.encode())  #: opensm-subnet.lst
NET_DUMP = re.compile(
    FILE_FORMATS["ibdiagnet-net-dump"].sign.encode() + rb"|\s*(?:Ty *: *)?# *: *#?IB#? *:"
)  #: ibdiagnet2.net_dump: the heading of a switch or of columns
DB_CSV = re.compile(rb"\s*START_([A-Z][A-Z0-9_]{1,60})\s*\Z")  #: a section of ibdiagnet2.db_csv
TABLES = re.compile(
    rb"\s*(?:Unicast lids \[(?:0x)?[0-9a-fA-F]{1,8}-((?:0x)?[0-9a-fA-F]{1,8})\] of switch .*?"
    rb"\bguid 0x([0-9a-fA-F]{1,16})\b"
    rb"|(?:osm_ucast_mgr_)?dump_ucast_routes:? Switch 0x([0-9a-fA-F]{1,16})\b)"
)  #: the table of a switch: largest LID and GUID, or in the third spelling the GUID
MULTICAST = re.compile(rb"\s*(?:Multicast mlids \[|(?:osm_\w+_)?dump_mcast_routes)")  #: a multicast table
DUMPED = re.compile(
    rb'\s*(Switch|Channel Adapter|Router) 0[xX]([0-9a-fA-F]{1,16}), base LID (\d{1,9}), "'
)  #: a heading of OpenSM's dumps of lanes and paths: the kind, the GUID and the LID
_CHASSIS = re.compile(rb"[ \t]*(?:Non-)?Chassis\b")
_GREETING = re.compile(rb"ibwarn: \[\d+\] sim_connect: attached")
_ORDER = re.compile(rb"[ \t]*(do|include)[ \t]")
_TROUBLE = re.compile(
    rb"\S+\.c:\d+[;:]|ib(?:warn|panic|error)|.*(?:bad status|timed out|[Ff]ailed|umad|mad_rpc|[Ee]rror)", re.DOTALL
)


def noted_line(line: bytes, number: int, notes: Notes) -> None:
    """Note a line that does not belong in the file."""
    if _CHASSIS.match(line) or _GREETING.match(line):
        return
    if len(line) > LONGEST:
        notes.add("warning", "bad-line", f"a line of more than {LONGEST} bytes: ignored", number)
    elif order := _ORDER.match(line):
        message = f"'{order[1].decode()}' is a command of ibsim and is not supported: write its content into the file"
        notes.add("warning", "not-followed", message, number)
    elif _TROUBLE.match(line):
        message = f"the scan reported a problem, so parts may be missing; run it again: {shown_line(line)}"
        notes.add("warning", "diagnostic", message, number)
    else:
        notes.add("warning", "bad-line", f"unexpected line: {shown_line(line)}", number)


def shown_line(line: bytes) -> str:
    """Return a line as it is shown in a message."""
    return shown(line.strip().decode("utf-8", "replace"))


_HEAD = re.compile(rb'[ \t]*(Switch|Ca|Hca|Rt|\?\?\?)[ \t]+(\d{1,9})[ \t]+"([^"]*)"(.*)', re.DOTALL)
_ABOUT = re.compile(
    rb'\s*#\s*"(.*)"(?:\s*(?:base|enhanced)\s+port\s+0\s+lid\s+(\d{1,9})\s+lmc\s+(\d{1,9}))?[^"]*\Z', re.DOTALL
)
_PLACE = rb"\[(\d{1,3})\](?:\[ext \d+\])?(?:\(([0-9a-fA-F]{1,16})\))?"  # a port and its GUID
_BARE = re.compile(rb"[ \t]*" + _PLACE + rb'[ \t]*"([^"]*)"[ \t]*\[(\d{1,3})\]')
_PORT = re.compile(
    rb"[ \t]*" + _PLACE + rb'[ \t]*"([^"]*)"[ \t]*' + _PLACE + rb'[^#"]*'
    rb'(?:#\s*(?:lid\s+(\d{1,9})\s+lmc\s+(\d{1,9})\s+)?"(.*)"\s+lid\s+(\d{1,9})(?:\s+(\S+).*)?)?\Z',
    re.DOTALL,
)
_GUID = re.compile(rb"(?:switch|ca|rt)guid=0x([0-9a-fA-F]{1,16})(?:\(([0-9a-fA-F]{1,16})\))?")
_UNKNOWN = re.compile(rb"(?:\d{1,2}x|\?\?)(?:\?\?\?|[SDQFEHNX]DR|FDR10)\Z")  # a width or a speed that is not known
_KEY = re.compile(rb"[ \t]*(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid|module)=")
_NEW = re.compile(rb"(?m:^)vendid").search  # a record begins
_NAME = re.compile(rb"[SHR]-[0-9a-fA-F]{16}\Z")
#: Lines that mean nothing, then a port, a head with its GUIDs, or the end: all as ibnetdiscover writes them.
#: Their number is limited: the line behind them may be of another kind, and the search begins again at each of them.
_USUAL = re.compile(
    rb"(?m:^)((?:[ \t\r]*\n|#[^\n]*\n|(?:vendid|devid|sysimgguid|module)=[^\n]*\n){0,20}+)(?:"
    + _PLACE
    + rb'[ \t]*"([^"\n]*)"[ \t]*'
    + _PLACE
    + rb'[^#"\n]*'
    rb'(?:#[ \t]*(?:lid (\d{1,9}) lmc (\d{1,9}) )?"([^\n]*)" lid (\d{1,9})(?: (\S+)[^\n]*)?)?\n'
    rb"|(?:(?:switch|ca|rt)guid=0x([0-9a-fA-F]{1,16})(?:\(([0-9a-fA-F]{1,16})\))?[^\n]*\n)?"
    rb'(Switch|Ca|Hca|Rt|\?\?\?)[ \t]+(\d{1,9})[ \t]+"([^"\n]*)"([^\n]*)\n|\Z)'
)
_KINDS = {b"Switch": "switch", b"Ca": "ca", b"Hca": "ca", b"Rt": "router", b"???": "unknown"}
_NONE = -2  # no record begun
_NEWLINE = 10
_PREAMBLE = 1000  # upper bound of the bytes before the name in a record


def read_discover(blocks: FileBlocks) -> Fabric:
    """Read the fabric of an ibnetdiscover output or an ibsim file."""
    records = Records(str(blocks.path))
    reader = _DiscoverReader(records)
    with _no_search_for_cycles():
        _read_all(blocks, records, reader)
    records.note_cut(blocks, reader.number, reader.half)
    reader.note_empty()
    return assemble(records, blocks, lmc_known=True)


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Pause the search for reference cycles: reading creates many tuples, but no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _read_all(blocks: FileBlocks, records: Records, reader: _DiscoverReader) -> None:
    begun = b""  # the start of a record whose name is in the next block
    for block in blocks:
        whole = begun + block
        cut = whole.rfind(b"\n\n") + 2
        begun = whole[cut:] if cut > 1 and len(whole) - cut < _PREAMBLE and b'"' not in whole[cut:] else b""
        whole = whole[: len(whole) - len(begun)]
        if not reader.read_usual(whole):
            reader.read_lines(whole)
            records.flush()
    if begun:
        reader.read_lines(begun)
        records.flush()


class _DiscoverReader:
    """The state of reading a file."""

    def __init__(self, records: Records) -> None:
        self.records, self.notes = records, records.notes
        self.number = 0  # lines read
        self.half = False  # whether the last line is that of a port without a rate
        self._current = _NONE
        self._guid, self._port_guid = 0, 0  # given for the record that comes
        self._scans = 0
        self._cabled: dict[int, bool] = {}  # whether a record has ports

    def read_lines(self, block: bytes) -> None:
        """Read any block, line by line."""
        add = self.records.ports.append
        for line in lines_of(block):
            self.number += 1
            if len(line) > LONGEST:
                self._odd(line)
            elif (match := _PORT.match(line)) is not None:
                self.half = match[9] is not None and rate_number(match[10]) < 0 and not _UNKNOWN.match(match[10] or b"")
                if self._current >= 0:
                    self._cabled[self._current] = True
                    add((self._current, self.number, *match.groups()))
                elif self._current == _NONE:
                    self.notes.add("warning", "bad-line", "a port outside any record: ignored", self.number)
            elif not (word := line.strip()):
                continue
            elif word.startswith(b"#"):
                self._scans += word.startswith(b"# Topology file")
                if self._scans == 2 and word.startswith(b"# Topology file"):
                    self.notes.add("error", "two-scans", "a second scan begins here: split the file", self.number)
            elif _KEY.match(line):
                self._key(word)
            elif (head := _HEAD.match(line)) is not None:
                self._begin(*head.groups())
            else:
                self._odd(line)

    def read_usual(self, block: bytes) -> bool:
        """Read a block at once if all its lines are usual, else nothing; return whether it was read."""
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)
        if not block.endswith(b"\n") or int(np.diff(ends, prepend=-1).max()) > LONGEST:
            return False
        lines = len(ends)
        match = _USUAL.findall(block)
        if not match:
            return False
        gaps, *ports, guids, port_guids, kinds, sizes, idents, abouts = zip(*match, strict=True)
        many = len(gaps)
        full = [k for k, gap in enumerate(gaps) if gap]
        heads = [k for k, kind in enumerate(kinds) if kind]
        last = [k for k in range(max(many - 2, 0), many) if not kinds[k] and not ports[0][k]]
        steps = np.ones(many, np.int64)
        for k in full:
            steps[k] += gaps[k].count(b"\n")
        for k in heads:
            if guids[k]:
                steps[k] += 1
        for k in last:
            steps[k] -= 1
        if int(steps.sum()) != lines or self._is_unusual(block, gaps, full, heads, last):
            return False
        line = self.number + np.cumsum(steps)
        begun = [self._current]
        for k in heads:
            self.number = int(line[k])
            if _NEW(gaps[k]):
                self._guid = self._port_guid = 0
            if guids[k]:
                self._guid, self._port_guid = int(guids[k], 16), int(port_guids[k] or b"0", 16)
            self._begin(kinds[k], sizes[k], idents[k], abouts[k])
            begun.append(self._current)
        if any(_NEW(gaps[k]) for k in last):
            self._current, self._guid, self._port_guid = _NONE, 0, 0
        self.number = int(line[-1])
        node = np.repeat(np.array(begun, np.int64), np.diff([0, *heads, many]))
        usable = node >= 0
        usable[heads + last] = False
        chosen = usable.tolist()
        self.records.add_ports(node[usable], line[usable], [list(compress(column, chosen)) for column in ports])
        self._cabled.update(dict.fromkeys(np.unique(node[usable]).tolist(), True))
        return True

    def _is_unusual(
        self, block: bytes, gaps: Sequence[bytes], full: list[int], heads: list[int], ends: list[int]
    ) -> bool:
        """Return whether the lines between ports and heads are more than the keys of a record before its head."""
        scans = self._scans + block.count(b"# Topology file")
        before_ports = set(full).difference(heads, ends)
        if scans > 1 or any(_NEW(gaps[k]) for k in before_ports):
            return True
        first = heads[0] if heads else len(gaps) - len(ends)
        if self._current == _NONE and first > 0:
            return True
        self._scans = scans
        return False

    def _key(self, word: bytes) -> None:
        if word.startswith(b"vendid"):
            self._current, self._guid, self._port_guid = _NONE, 0, 0
        elif given := _GUID.match(word):
            self._guid, self._port_guid = int(given[1], 16), int(given[2] or b"0", 16)

    def _begin(self, kind: bytes, ports: bytes, ident: bytes, rest: bytes) -> None:
        """Begin a record."""
        about = _ABOUT.match(rest)
        text, lid, lmc = about.groups() if about else (b"", None, None)
        if about is None and rest.strip():
            message = f"invalid description: {shown_line(rest)}"
            self.notes.add("warning", "bad-line", message, self.number)
        named = int(ident[2:], 16) if _NAME.match(ident) else 0
        if self._guid and named and self._guid != named:
            message = f"the record of GUID 0x{self._guid:016x} has the identifier {shown(text_of(ident))}"
            self.notes.add(
                "warning", "guid-mismatch", message, self.number, place_of(self._guid, text_of(text).strip())
            )
        name = _KINDS[kind]
        own = (self._port_guid, int(lid or 0), int(lmc or 0)) if name == "switch" else (0, 0, 0)
        node = RecordHead(name, ident, self.number, int(ports), text, self._guid or named, *own)
        self._current, self._guid, self._port_guid = self.records.add(node), 0, 0
        if self._current >= 0:
            self._cabled[self._current] = False

    def _odd(self, line: bytes) -> None:
        """Read a line that ibnetdiscover does not usually write."""
        bare = _BARE.match(line)
        if bare is None or len(line) > LONGEST:
            noted_line(line, self.number, self.notes)
            return
        self.notes.add("warning", "bad-line", f"invalid text after the port number: {shown_line(line)}", self.number)
        if self._current >= 0:
            self._cabled[self._current] = True
            self.records.ports.append((self._current, self.number, *bare.groups(), *(None,) * 6))

    def note_empty(self) -> None:
        """Note records without ports."""
        for node, cabled in self._cabled.items():
            if not cabled:
                message = f"{self.records.called(node)} has no cable: it is unplugged, or the file is truncated"
                self.notes.add("warning", "no-cables", message, self.records.nodes[node].line, self.records.at(node))
