"""A fabric assembled from the records of a topology file; text files read in blocks; names that are safe to write."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import Array
from obliv._util.files import GZIP, PACKED, require_file, unpacked, without_mark
from obliv._util.text import printable
from obliv.errors import FileError
from obliv.fabric.model import MAX_PORTS, RATES, Fabric, FindingPlace, Nodes, Notes, Ports, node_name, place_of, rate_of
from obliv.fabric.names import checked_lids, note_repeated_guids

# Large text files read in blocks of whole lines, compressed with gzip or not, with their SHA-256


#: Bytes of the longest line that is read; real lines have a few hundred.
LONGEST = 4096

_SIZE = 1 << 22
_MOST = 1 << 36  # decompressed bytes of a file: a limit against decompression bombs


class FileBlocks:
    """The blocks of a file of about `size` bytes, each of whole lines; the last may lack its line end.

    When all were taken, `sha256` is that of the file as it stands, and `ended` says whether its last line had its end.
    """

    def __init__(self, path: str | Path, size: int = _SIZE) -> None:
        self.path = path
        self.length = require_file(path)
        self.sha256 = ""
        self.ended = True
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        rest, first = b"", True
        for data in self._text():
            if first:
                data, first = without_mark(data, self.path), False
            end = data.rfind(b"\n") + 1
            if end:
                yield rest + data[:end]
                rest = data[end:]
            else:
                rest += data
            if len(rest) > LONGEST:  # too long for a line of such a file: its end is dropped
                rest = rest[: LONGEST + 1]
        self.ended = not rest
        if rest:
            yield rest

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield every line with its number, cut as by :func:`lines_of`."""
        number = 0
        for block in self:
            for line in lines_of(block):
                number += 1
                yield number, line

    def _text(self) -> Iterator[bytes]:
        """Yield the content of the file, decompressed."""
        digest = hashlib.sha256()
        try:
            with open(self.path, "rb") as stream:
                packed = stream.read(len(GZIP)) == GZIP
                stream.seek(0)
                pieces = _pieces(stream, digest, PACKED if packed else self._size)
                yield from unpacked(pieces, self.path, _MOST, self._size) if packed else pieces
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror or error}", self.path) from None
        self.sha256 = digest.hexdigest()


def lines_of(block: bytes) -> list[bytes]:
    """Return the lines of a block without their ends; a line longer than `LONGEST` is cut a byte later."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if max(map(len, lines), default=0) > LONGEST:
        lines = [line[: LONGEST + 1] for line in lines]
    return [line.rstrip(b"\r") for line in lines] if b"\r" in block else lines


def _pieces(stream: BinaryIO, digest: hashlib._Hash, size: int) -> Iterator[bytes]:
    while data := stream.read(size):
        digest.update(data)
        yield data


# Cables from the records of their two ends


def cables(
    near: Array,
    far: Array,
    line: Array,
    slots: int,
    place: Callable[[int], str],
    at: Callable[[int, int], FindingPlace],
    notes: Notes,
) -> Array:
    """Return the slot at the other end of every slot's cable, -1 without a cable."""
    peer, named, where = np.full(slots, -1, np.int64), np.full(slots, -1, np.int64), np.zeros(slots, np.int64)
    named[near], where[near] = far, line
    agreed = (far >= 0) & (far != near)
    agreed[agreed] = named[far[agreed]] == near[agreed]
    peer[near[agreed]] = far[agreed]
    for k in np.flatnonzero(~agreed & (far >= 0)).tolist():
        a, b, number = int(near[k]), int(far[k]), int(line[k])
        if a == b:
            notes.add("warning", "loopback", f"{place(a)} is cabled to itself: the cable is ignored", number, at(a, b))
            continue
        free = peer[a] < 0 and peer[b] < 0
        if named[b] < 0:
            kind, what = "one-sided-cable", "but the record of that node has no such port"
        else:
            kind = "asymmetric-cable"
            what = f"but that port names {place(int(named[b]))} on line {where[b]}"
        taken = "the cable is used" if free else "the cable is ignored"
        text = f"{place(a)} names {place(b)} as the other end of its cable, {what}; {taken}: scan the fabric again"
        notes.add("error", kind, text, number, at(a, b))
        if free:
            peer[a], peer[b] = b, a
    return peer


# The records of a topology file, in the same form for all dialects


NAMES = tuple(RATES)  #: Widths and speeds, by number.
#: Speeds by the rate of a lane, as OpenSM and ibdiagnet write it.
LANE_SPEEDS = {b"2.5": b"SDR", b"5": b"DDR", b"10": b"QDR", b"FDR10": b"FDR10", b"14": b"FDR", b"25": b"EDR"}
LANE_SPEEDS |= {b"50": b"HDR", b"100": b"NDR", b"200": b"XDR"}
_NUMBER = {name.upper().encode(): number for number, name in enumerate(NAMES)}
_LETTERS = {"switch": b"S-", "ca": b"H-", "router": b"R-"}


#: A decimal number as the file has it.
Number = bytes | int | None
_Value = TypeVar("_Value")


class RecordHead(NamedTuple):
    """The head of a record; numbers that the file does not give are 0."""

    kind: str
    ident: bytes
    line: int
    ports: int = 0
    description: bytes = b""
    guid: int = 0
    port_guid: int = 0  # of port 0 of a switch, as the two that follow
    lid: int = 0
    lmc: int = 0


class Port(NamedTuple):
    """A port that has a cable: decimal numbers and hexadecimal GUIDs as the file has them, or None."""

    node: int
    line: int
    port: Number
    guid: bytes | None
    peer: bytes  # the other node's ident
    peer_port: Number
    peer_guid: bytes | None
    lid: Number
    lmc: Number
    peer_text: bytes | None
    peer_lid: Number
    rate: bytes | None


class Chunk(NamedTuple):
    """Many ports: what is a number as arrays, and what the other ends are called."""

    numbers: dict[str, Array]
    peer: Sequence[bytes]
    peer_text: Sequence[bytes | None]


class Records:
    """The records of a file, with notes."""

    def __init__(self, path: str) -> None:
        self.notes = Notes(path)
        self.nodes: list[RecordHead] = []
        self.index: dict[bytes, int] = {}
        self.ports: list[tuple[Any, ...]] = []  # as Port
        self.chunks: list[Chunk] = []

    def add(self, node: RecordHead) -> int:
        """Add a node and return its number, or -1 if there is one of that name, which is noted."""
        before = self.index.get(node.ident)
        if before is not None:
            self.notes.add(
                "error",
                "duplicate-guid",
                f"a second record of {self.called(before)} is ignored; the first is on line {self.nodes[before].line}: "
                "if the file contains two scans, split it",
                node.line,
                self.at(before),
            )
            return -1
        self.index[node.ident] = len(self.nodes)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def known(self, node: RecordHead) -> int:
        """Return the number of a node, which is added if it is new."""
        number = self.index.get(node.ident)
        return self.add(node) if number is None else number

    def note_cut(self, blocks: FileBlocks, number: int, half: bool = False) -> None:
        """Note that the file ends within line `number`, if that was read as half a line or not understood."""
        if not blocks.ended and (half or self.notes.last_line == number):
            self.notes.add("error", "cut-off", "the file ends in the middle of a line: it is truncated", number)

    def add_ports(self, node: Array, line: Array, raw: Sequence[Sequence[Any]]) -> None:
        """Add many ports: their nodes and lines, and the other columns as in :class:`Port`."""
        columns = dict(zip(Port._fields[2:], raw, strict=True))
        numbers: dict[str, Array] = {"node": node, "line": line}
        for name in ("port", "peer_port", "lid", "lmc", "peer_lid"):
            numbers[name] = _numbers(columns[name], lambda value: int(value) if value else 0, np.int64)
        for name in ("guid", "peer_guid"):
            numbers[name] = _numbers(columns[name], lambda value: int(value, 16) if value else 0, np.uint64)
        numbers["rate"] = _numbers(columns["rate"], rate_number, np.int64)
        self.chunks.append(Chunk(numbers, columns["peer"], columns["peer_text"]))

    def flush(self) -> None:
        """Add the ports that were noted one by one."""
        if self.ports:
            node, line, *raw = zip(*self.ports, strict=True)
            self.add_ports(np.array(node, np.int64), np.array(line, np.int64), raw)
            self.ports.clear()

    def at(self, node: int, port: int | None = None) -> FindingPlace:
        """Return a node, and possibly one of its ports, as the place of a finding."""
        about = self.nodes[node]
        return place_of(about.guid, text_of(about.description).strip() or text_of(about.ident), port)

    def called(self, node: int) -> str:
        """Return a node as it is named in a message."""
        about = self.nodes[node]
        return node_name(text_of(about.ident), text_of(about.description))


def _numbers(column: Sequence[_Value], number: Callable[[_Value], int], kind: npt.DTypeLike) -> Array:
    """Return the number of every entry; repeated entries are converted once."""
    known = {value: number(value) for value in set(column)}
    return np.fromiter(map(known.__getitem__, column), kind, len(column))


def rate_number(word: bytes | None) -> int:
    """Return the place in `NAMES` of a width and speed such as ``4xQDR``, -1 if it is unknown."""
    return _NUMBER.get(word.upper(), -1) if word else -1


def ident_of(kind: str, guid: int) -> bytes:
    """Return the name that ibnetdiscover gives a node, for files that give none."""
    return _LETTERS.get(kind, b"?-") + b"%016x" % guid


def text_of(data: bytes) -> str:
    """Return bytes of a file as text, whatever they are."""
    return data.decode("utf-8", "replace")


Columns = dict[str, Array]

_KINDS = {b"S-": "switch", b"H-": "ca", b"R-": "router"}


def assemble(records: Records, blocks: FileBlocks, *, lmc_known: bool) -> Fabric:
    """Return the fabric that the records of a file describe; `lmc_known` is whether such files give the LMC."""
    if not records.nodes:
        raise FileError("contains no readable record of a switch or channel adapter", records.notes.file)
    columns = _columns(records)
    first_slot, columns = _slots(records, columns)
    nodes, notes = records.nodes, records.notes
    node_of = np.repeat(np.arange(len(nodes)), np.diff(first_slot))
    slots = len(node_of)

    def place(slot: int) -> str:
        node = int(node_of[slot])
        return f"{records.called(node)} port {slot - int(first_slot[node])}"

    def at(slot: int, other: int = -1) -> FindingPlace:
        node = int(node_of[slot])
        return records.at(node, slot - int(first_slot[node]))._replace(peer=place(other) if other >= 0 else None)

    near = first_slot[columns["node"]] + columns["port"]
    far = np.where(columns["peer_port"] > 0, first_slot[columns["peer"]] + columns["peer_port"], -1)
    peer = cables(near, far, columns["line"], slots, place, at, notes)
    line = _placed(slots, near, columns["line"], 0, np.int32)
    number = _placed(slots, near, columns["rate"], -1, np.int64)
    _note_unequal(peer, number, line, place, at, notes)
    port_guid, lid, lmc = _identities(records, columns, first_slot, near, far, place, at)
    node_line = np.array([node.line for node in nodes], np.int32)
    owner_line = np.where(line > 0, line, node_line[node_of])
    lid, lmc = checked_lids(lid, lmc, owner_line, place, at, notes)
    guid = np.array([node.guid for node in nodes], np.uint64)
    note_repeated_guids(guid, node_line, "node", records.called, records.at, notes)
    note_repeated_guids(port_guid, owner_line, "port", place, at, notes)
    rates = {k: rate_of(NAMES[k]) for k in np.unique(number[number >= 0]).tolist()}
    used = sorted(set(rates.values()))
    rank = np.array([used.index(rates[k]) if k in rates else -1 for k in range(len(NAMES))] + [-1], np.int32)
    return Fabric(
        name=notes.file,
        nodes=Nodes(
            kind=tuple(node.kind for node in nodes),
            ident=_unique(nodes),
            guid=guid,
            description=tuple(text_of(node.description) for node in nodes),
            line=node_line,
        ),
        ports=Ports(peer, port_guid, lid.astype(np.int32), lmc.astype(np.int8), rank[number], line),
        first_slot=first_slot,
        rates=tuple(used),
        sources=((str(blocks.path), blocks.sha256),),
        findings=notes.findings(),
        lmc_known=lmc_known,
    )


def _columns(records: Records) -> Columns:
    """Return the ports as arrays, without invalid ones; nodes that only other records mention are added."""
    records.flush()
    chunks = records.chunks
    if not chunks:
        records.add_ports(np.zeros(0, np.int64), np.zeros(0, np.int64), ((),) * (len(Port._fields) - 2))
    columns = {name: np.concatenate([chunk.numbers[name] for chunk in chunks]) for name in chunks[0].numbers}
    names = [name for chunk in chunks for name in chunk.peer]
    sound = np.ones(len(names), bool)
    for what in ("port", "peer_port"):
        sound &= (columns[what] > 0) & (columns[what] <= MAX_PORTS)
    for k in np.flatnonzero(~sound).tolist():
        ports = f"{columns['port'][k]} and {columns['peer_port'][k]}"
        text = f"a cable between ports {ports}: port numbers of cables are 1 to {MAX_PORTS}"
        records.notes.add("error", "bad-port", text, columns["line"][k], records.at(int(columns["node"][k])))
    missing = set(names).difference(records.index)
    if missing:
        texts = [text for chunk in chunks for text in chunk.peer_text]
        for k in np.flatnonzero(sound).tolist():
            if names[k] in missing:
                missing.discard(names[k])
                _add_missing(records, names[k], texts[k] or b"", int(columns["line"][k]))
    index = records.index
    columns["peer"] = np.array([index.get(name, 0) for name in names], np.int64)
    return columns if sound.all() else {name: values[sound] for name, values in columns.items()}


def _add_missing(records: Records, name: bytes, text: bytes, line: int) -> None:
    kind, digits = _KINDS.get(name[:2], "unknown"), name[2:]
    known = kind != "unknown" and re.fullmatch(rb"[0-9a-fA-F]{16}", digits)
    node = records.add(RecordHead(kind, name, line, 0, text, int(digits, 16) if known else 0))
    message = f"{records.called(node)} has a cable but no record: the file is truncated or the scan incomplete"
    records.notes.add("error", "missing-record", message, line, records.at(node))


def _slots(records: Records, columns: Columns) -> tuple[Array, Columns]:
    """Return where each node's slots begin; ports beyond its record's number are noted, repeated ones left out."""
    declared = np.array([min(node.ports, MAX_PORTS) for node in records.nodes], np.int64)
    most = declared.copy()
    for owner, port in (("node", "port"), ("peer", "peer_port")):
        beyond = (columns[port] > declared[columns[owner]]) & (declared[columns[owner]] > 0)
        for k in np.flatnonzero(beyond).tolist():
            node = int(columns[owner][k])
            message = f"port {columns[port][k]} of {records.called(node)}, which has {declared[node]} ports"
            records.notes.add("error", "bad-port", message, columns["line"][k], records.at(node, int(columns[port][k])))
        if owner == "peer":
            columns[port] = np.where(beyond, 0, columns[port])
        np.maximum.at(most, columns[owner], columns[port])
    first_slot = np.concatenate([[0], np.cumsum(most + 1)]).astype(np.int64)
    near = first_slot[columns["node"]] + columns["port"]
    _, first = np.unique(near, return_index=True)
    again = np.ones(len(near), bool)
    again[first] = False
    for k in np.flatnonzero(again).tolist():
        node, again_port = int(columns["node"][k]), int(columns["port"][k])
        message = f"port {again_port} of {records.called(node)} appears again: the first line is used"
        records.notes.add("error", "duplicate-port", message, columns["line"][k], records.at(node, again_port))
    return first_slot, {name: values[~again] for name, values in columns.items()}


def _identities(
    records: Records,
    columns: Columns,
    first_slot: Array,
    near: Array,
    far: Array,
    place: Callable[[int], str],
    at: Callable[[int, int], FindingPlace],
) -> tuple[Array, Array, Array]:
    """Return GUID, LID and LMC of every slot: from its own record, else from that of the other end of its cable."""
    nodes, slots = records.nodes, int(first_slot[-1])
    port_guid = _placed(slots, near, columns["guid"], 0, np.uint64)
    lid = _placed(slots, near, columns["lid"], 0, np.int64)
    lmc = _placed(slots, near, columns["lmc"], 0, np.int64)
    node_slot = first_slot[:-1]
    port_guid[node_slot] = np.array([node.port_guid for node in nodes], np.uint64)
    lid[node_slot], lmc[node_slot] = [node.lid for node in nodes], [node.lmc for node in nodes]
    at_switch = np.array([node.kind == "switch" for node in nodes], bool)[columns["peer"]]
    target = np.where(at_switch, node_slot[columns["peer"]], far)
    reported = {"LID": (lid, columns["peer_lid"]), "GUID": (port_guid, np.where(at_switch, 0, columns["peer_guid"]))}
    for quantity, (values, reports) in reported.items():
        known = np.flatnonzero((reports > 0) & (target >= 0))
        silent = known[values[target[known]] == 0]
        values[target[silent[::-1]]] = reports[silent[::-1]]  # the first one counts
        for k in known[values[target[known]] != reports[known]].tolist():
            slot = int(target[k])
            one, other = (f"0x{int(v):016x}" if quantity == "GUID" else str(int(v)) for v in (values[slot], reports[k]))
            peer = place(int(near[k]))
            text = f"{place(slot)} has {quantity} {one}, but {peer} at the other end of its cable reports {other}"
            records.notes.add(
                "warning", f"{quantity.lower()}-mismatch", text, columns["line"][k], at(slot, int(near[k]))
            )
    return port_guid, lid, lmc


def _note_unequal(
    peer: Array,
    number: Array,
    line: Array,
    place: Callable[[int], str],
    at: Callable[[int, int], FindingPlace],
    notes: Notes,
) -> None:
    ends = np.flatnonzero(peer > np.arange(len(peer)))
    a, b = number[ends], number[peer[ends]]
    for slot in ends[(a != b) & (a >= 0) & (b >= 0)].tolist():
        other = int(peer[slot])
        one, two = NAMES[int(number[slot])], NAMES[int(number[other])]
        message = f"{place(slot)} reports {one} for its cable, but {place(other)} on line {line[other]} reports {two}"
        notes.add("warning", "unequal-rate", message, line[slot], at(slot, other))


def _placed(slots: int, near: Array, values: Array, missing: int, dtype: npt.DTypeLike) -> Array:
    out = np.full(slots, missing, dtype)
    out[near] = values
    return out


def _unique(nodes: list[RecordHead]) -> tuple[str, ...]:
    """Return the identifiers as text, unique even where their bytes are not valid text."""
    seen: dict[str, None] = {}
    again: Counter[str] = Counter()
    for node in nodes:
        name = text = text_of(node.ident)
        while name in seen:
            again[text] += 1
            name = f"{text}'{again[text]}"
        seen[name] = None
    return tuple(seen)


# Names that are safe to write into files of this kind


_MOST_PLAIN = 64  # bytes of a node description


def plain(text: str, besides: str = "") -> str:
    """Return a name that is safe between quotes in a line of any of these files."""
    shortened = printable(text[:_MOST_PLAIN], "\"'" + besides)
    while len(shortened.encode("utf-8", "replace")) > _MOST_PLAIN - 1:
        shortened = shortened[:-1]
    return shortened
