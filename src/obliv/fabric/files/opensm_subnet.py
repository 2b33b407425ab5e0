"""Readers of OpenSM's files about a subnet, opensm-subnet.lst and guid2lid, and of lists of ports (iblinkinfo)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from obliv._util.text import shown
from obliv.errors import FileError
from obliv.fabric.files.assemble import LANE_SPEEDS, FileBlocks, Port, RecordHead, Records, assemble, ident_of, text_of
from obliv.fabric.files.forwarding import port_guids
from obliv.fabric.files.ibnetdiscover import noted_line
from obliv.fabric.model import Fabric, Notes, place_of
from obliv.fabric.names import LAST_LID

_END = (
    rb"\{ (\S+) Ports:([0-9a-fA-F]{1,4}) SystemGUID:[0-9a-fA-F]* NodeGUID:([0-9a-fA-F]{1,16}) "
    rb"PortGUID:([0-9a-fA-F]{1,16}) [^{}]*\{(.{0,200}?)\} LID:([0-9a-fA-F]{1,8}) (?:LMC:([0-9a-fA-F]{1,2}) )?"
    rb"PN:([0-9a-fA-F]{1,4}) \}"
)
_LINK = re.compile(rb"\s*" + _END + rb"\s*" + _END + rb"\s*(?:PHY=(\S+))?\s*(?:LOG=(\S+))?\s*(?:SPD=(\S+))?", re.DOTALL)
_PAIR = re.compile(rb"\s*0x([0-9a-fA-F]{1,16})\s+0x([0-9a-fA-F]{1,4})\s+0x([0-9a-fA-F]{1,4})\s*\Z")
_KINDS = {b"SW": "switch", b"CA": "ca", b"Rt": "router", b"RT": "router"}


def read_subnet(blocks: FileBlocks) -> Fabric:
    """Read the fabric of an ``opensm-subnet.lst``, or of an ``ibdiagnet2.lst``, which few releases write with LMCs."""
    # Where no cable is listed from both of its ends, the file lists each one once.
    records = Records(str(blocks.path))
    number, with_lmc = 0, True
    for number, line in blocks.lines():
        link = _LINK.match(line)
        if link is None:
            if line.strip():
                noted_line(line, number, records.notes)
            continue
        near, far, (width, _, speed) = link.groups()[:8], link.groups()[8:16], link.groups()[16:]
        node, other = _node(records, near, number), records.nodes[_node(records, far, number)]
        switch, with_lmc = records.nodes[node].kind == "switch", with_lmc and near[6] is not None
        guid, lid, lmc = (None, 0, 0) if switch else (near[3], int(near[5], 16), int(near[6] or b"0", 16))
        far_guid = None if other.kind == "switch" else far[3]
        rate = width + LANE_SPEEDS.get(speed, b"?") if width and speed else None
        own_port, far_port, far_lid = int(near[7], 16), int(far[7], 16), int(far[5], 16)
        port = Port(node, number, own_port, guid, other.ident, far_port, far_guid, lid, lmc, far[4], far_lid, rate)
        records.ports.append(tuple(port))
    records.note_cut(blocks, number)
    _mirror(records)
    return assemble(records, blocks, lmc_known=with_lmc and bool(records.ports))


def _mirror(records: Records) -> None:
    """Add the other ends of all cables if none is listed from both ends."""
    ports = [Port(*port) for port in records.ports]
    names = [node.ident for node in records.nodes]
    ends = {(names[port.node], port.port, port.peer, port.peer_port) for port in ports}
    if not ports or any((peer, far, near, port) in ends for near, port, peer, far in ends):
        return
    for port in ports:
        own, other = records.nodes[port.node], records.index[port.peer]
        lid = 0 if records.nodes[other].kind == "switch" else port.peer_lid
        near_lid = own.lid if own.kind == "switch" else port.lid
        back = (own.ident, port.port, port.guid, lid, port.lmc if lid else 0, own.description, near_lid, port.rate)
        records.ports.append((other, port.line, port.peer_port, port.peer_guid, *back))
    message = "every cable is listed from one end only, as by ibdiagnet; the other end is taken from it"
    records.notes.add("note", "unlisted-ports", message)


def _node(records: Records, end: Sequence[bytes], line: int) -> int:
    """Return the node at an end of a link, added if it is new."""
    word, ports, guid, port_guid, text, lid, *_ = end
    kind = _KINDS.get(word.removesuffix(b"-SM"), "unknown")
    number = int(guid, 16)
    ident = ident_of(kind, number)
    own = (int(port_guid, 16), int(lid, 16)) if kind == "switch" else (0, 0)
    return records.known(RecordHead(kind, ident, line, int(ports, 16), text, number, *own))


def read_guid2lid(path: str | Path) -> dict[int, tuple[int, int, int]]:
    """Read the first and last LID of every port GUID, and the line, from OpenSM's ``guid2lid`` file."""
    return _lids(path)[0]


def _lids(path: str | Path) -> tuple[dict[int, tuple[int, int, int]], str]:
    """Return what :func:`read_guid2lid` does, and the SHA-256 of the file."""
    known: dict[int, tuple[int, int, int]] = {}
    blocks = FileBlocks(path)
    for number, line in blocks.lines():
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        pair = _PAIR.match(line)
        if pair is None:
            message = "a line should be  0xPORTGUID 0xFIRSTLID 0xLASTLID, not " + shown(line.decode("utf-8", "replace"))
            raise FileError(message, path, number)
        guid, first, last = (int(digits, 16) for digits in pair.groups())
        if not 0 < first <= last <= LAST_LID or last - first > 127:
            raise FileError(f"LIDs {first} to {last} are not a valid range for a port", path, number)
        known[guid] = (first, last, number)
    if not known:
        raise FileError("contains no port GUID with its LIDs", path)
    return known, blocks.sha256


def with_guid2lid(fabric: Fabric, path: str | Path) -> Fabric:
    """Return the fabric with LIDs and LMCs where it has none; contradictions are noted."""
    (table, digest), notes, slot_of = _lids(path), Notes(str(path)), port_guids(fabric)
    lid, lmc = fabric.ports.lid.copy(), fabric.ports.lmc.copy()
    used = 0
    for guid, (first, last, number) in table.items():
        slot = slot_of.get(guid)
        if slot is None:  # the file contains ports that were removed
            continue
        used += 1
        bits = (last - first).bit_length()
        if lid[slot] in (0, first):
            lid[slot], lmc[slot] = first, max(bits, int(lmc[slot]))
        else:
            message = f"port GUID 0x{guid:016x} has LID {first} here and {lid[slot]} in the topology, which is used"
            notes.add("warning", "moved-lids", message, number)
    if not used:
        raise FileError(f"contains no port of {fabric.name}: give files of the same fabric", path)
    return replace(
        fabric.with_ports(lid=lid.astype(np.int32), lmc=lmc.astype(np.int8)),
        lmc_known=True,
        sources=(*fabric.sources, (str(path), digest)),
        findings=fabric.findings + notes.findings(),
    )


# Readers of lists of ports: the outputs of ibnetdiscover -p and iblinkinfo


_PORT_KINDS = {b"SW": "switch", b"CA": "ca", b"RT": "router", b"??": "unknown"}
_PORT_END = rb"(CA|SW|RT|\?\?)\s+(\d{1,9})\s+(\d{1,3})\s+0x([0-9a-fA-F]{1,16})"
_ROW = re.compile(rb"\s*" + _PORT_END + rb"\s+(\S+)\s+(\S+)(?:\s+-\s+" + _PORT_END + rb")?\s*(.*)", re.DOTALL)
_TEXTS = re.compile(rb"\(\s*'(.{0,200}?)'\s+-\s+'(.{0,200})'\s*\)", re.DOTALL)

_SWITCH = re.compile(rb"Switch:\s+0x([0-9a-fA-F]{1,16})\s+(.*):\s*\Z", re.DOTALL)
_OTHER = re.compile(rb"(CA|Router|RT):\s+(.*):\s*\Z", re.DOTALL)
_PORT_LINK = re.compile(
    rb'\s*(?:0x([0-9a-fA-F]{1,16})\s+(?:"(.{0,200}?)"\s+)?)?(\d{1,9})\s+(\d{1,3})\[[^\]]*\]\s+==\((.{0,200}?)\)==>'
    rb'(?:\s+(?:0x[0-9a-fA-F]{1,16}\s+)?(\d{1,9})\s+(\d{1,3})\[[^\]]*\]\s*"(.*)")?',
    re.DOTALL,
)
_RATE = re.compile(rb"\s*(\d+)X\s+([\d.]+) Gbps", re.IGNORECASE)
_SPEEDS = {b"2.5": b"SDR", b"5": b"DDR", b"10": b"QDR", b"10.3125": b"FDR10", b"14.0625": b"FDR", b"25.78125": b"EDR"}
_SPEEDS |= {b"53.125": b"HDR", b"106.25": b"NDR", b"212.5": b"XDR"}


def read_portlist(blocks: FileBlocks) -> Fabric:
    """Read the fabric of an ``ibnetdiscover -p`` output, without LMC; every port of a CA is a node."""
    records = Records(str(blocks.path))
    number = 0
    for number, line in blocks.lines():
        row = _ROW.match(line)
        if row is None:
            if line.strip() and not line.startswith(b"#"):
                noted_line(line, number, records.notes)
            continue
        kind, lid, port, guid, width, speed, far_kind, far_lid, far_port, far_guid, rest = row.groups()
        texts = _TEXTS.match(rest)
        text, far_text = texts.groups() if texts else (rest.strip().strip(b"'"), b"")
        node = _listed_node(records, _PORT_KINDS[kind], int(guid, 16), int(lid), text, number)
        if far_kind is None:  # no cable
            continue
        far = _PORT_KINDS[far_kind]
        near_guid = None if kind == b"SW" else guid
        peer_guid = None if far == "switch" else far_guid
        own = None if kind == b"SW" else lid
        name = _ident(far, int(far_guid, 16))
        entry = Port(
            node, number, port, near_guid, name, far_port, peer_guid, own, None, far_text, far_lid, width + speed
        )
        records.ports.append(tuple(entry))
    records.note_cut(blocks, number)
    return assemble(records, blocks, lmc_known=False)


def read_linkinfo(blocks: FileBlocks) -> Fabric:
    """Read the fabric of an ``iblinkinfo`` output, with ``-l`` or without; it does not give the LMC."""
    records = Records(str(blocks.path))
    lines: list[_Line] = []
    head: tuple[str, int, bytes] = ("", 0, b"")
    empty = 0  # the line of a heading that no port has followed so far
    number = 0
    for number, line in blocks.lines():
        if (switch := _SWITCH.match(line)) is not None:
            _note_empty(records, empty)
            head, empty = ("switch", int(switch[1], 16), switch[2]), number
        elif (other := _OTHER.match(line)) is not None:
            _note_empty(records, empty)
            head, empty = ("ca" if other[1] == b"CA" else "router", 0, other[2]), number
        elif (link := _PORT_LINK.match(line)) is not None:
            empty = 0
            guid, label, lid, port, state, far_lid, far_port, far_text = link.groups()
            kind, own, text = head if label is None else ("", 0, label.strip())
            if guid is not None:
                own = int(guid, 16)
                if label is None and kind == "switch":  # switches' ports have no GUID, the heading of this one is lost
                    kind, text = "ca", b""
                    message = "a port without the heading of its node: taken as a port of a channel adapter; scan again"
                    records.notes.add("error", "missing-record", message, number, place_of(own, "", int(port)))
            if own:
                lines.append(_Line(number, kind, own, text, int(lid), port, _rate(state), far_lid, far_port, far_text))
            else:
                records.notes.add("warning", "bad-line", "a port before any switch or CA: ignored", number)
        elif line.strip() and not line.startswith(b"#"):
            noted_line(line, number, records.notes)
    _note_empty(records, empty)
    _link(records, _with_kinds(lines))
    records.note_cut(blocks, number)
    return assemble(records, blocks, lmc_known=False)


def _note_empty(records: Records, line: int) -> None:
    """Note the heading of a node without ports, if there is one: iblinkinfo writes a heading with the first port."""
    if line:
        records.notes.add(
            "error", "missing-record", "a heading without ports: lines are lost or moved; scan again", line
        )


def _with_kinds(lines: list[_Line]) -> list[_Line]:
    """Return the lines of ``iblinkinfo -l`` with the kinds of their nodes: a GUID at several ports is a switch's."""
    ports: dict[int, set[bytes]] = {}
    for line in lines:
        ports.setdefault(line.guid, set()).add(line.port)
    return [
        line if line.kind else line._replace(kind="switch" if len(ports[line.guid]) > 1 else "ca") for line in lines
    ]


def _link(records: Records, lines: list[_Line]) -> None:
    """Add nodes and ports; the other end of a cable is known by its LID."""
    by_lid: dict[int, bytes | None] = {}
    nodes = []
    for line in lines:
        node = _listed_node(records, line.kind, line.guid, line.lid, line.text, line.number)
        own_name = records.nodes[node].ident
        by_lid[line.lid] = own_name if by_lid.get(line.lid, own_name) == own_name else None
        nodes.append(node)
    unlisted: dict[int, int] = {}
    for node, line in zip(nodes, lines, strict=True):
        if line.far_lid is None:
            continue
        lid = int(line.far_lid)
        name: bytes | None = by_lid.get(lid) if lid else None
        if lid and lid not in by_lid:  # perhaps only switches are listed
            name = b"lid-%d" % lid
            by_lid[lid] = name
            unlisted[records.add(RecordHead("ca", name, line.number, 0, line.far_text or b""))] = line.number
        if name is None:
            message = f"LID {lid} at the other end does not identify the port: use ibnetdiscover"
            records.notes.add("error", "unknown-peer", message, line.number, records.at(node, int(line.port)))
            continue
        near_guid = None if line.kind == "switch" else b"%x" % line.guid
        own = None if line.kind == "switch" else line.lid
        far = (name, line.far_port, None, own, None, line.far_text, lid, line.rate)
        records.ports.append((node, line.number, line.port, near_guid, *far))
        other = records.index[name]
        called = records.nodes[other].description
        if line.far_text is not None and called.strip() != line.far_text.strip():
            here, there = shown(text_of(line.far_text)), shown(text_of(called))
            message = f"LID {lid} is called {here} here, {there} at its own ports; scan again"
            records.notes.add("warning", "guid-mismatch", message, line.number, records.at(node, int(line.port)))
        if other in unlisted:
            back = (records.nodes[node].ident, line.port, None, lid, None, line.text, line.lid, line.rate)
            records.ports.append((other, line.number, line.far_port, None, *back))
    if unlisted:
        message = f"{len(unlisted)} ports have no lines of their own and are taken as ports of channel adapters"
        if any(line.kind == "ca" for line in lines):
            message += "; other adapters have lines, so some are missing: list the ports again"
            records.notes.add("error", "missing-record", message, min(unlisted.values()))
        else:
            records.notes.add("note", "unlisted-ports", message, min(unlisted.values()))


class _Line(NamedTuple):
    """A port in an iblinkinfo output."""

    number: int
    kind: str
    guid: int
    text: bytes
    lid: int
    port: bytes
    rate: bytes
    far_lid: bytes | None
    far_port: bytes | None
    far_text: bytes | None


def _rate(state: bytes) -> bytes:
    """Return the rate in ``4X 10.0 Gbps Active/ LinkUp``, empty if there is no rate."""
    known = _RATE.match(state)
    if known is None:
        return b""
    speed = b"FDR10" if b"FDR10" in state else _SPEEDS.get(known[2].rstrip(b"0").rstrip(b"."), b"?")
    return known[1] + b"x" + speed


def _listed_node(records: Records, kind: str, guid: int, lid: int, text: bytes, line: int) -> int:
    """Return the node of a port, added if it is new."""
    own = (guid, 0, lid) if kind == "switch" else (0, 0, 0)
    return records.known(RecordHead(kind, _ident(kind, guid), line, 0, text, *own))


def _ident(kind: str, guid: int) -> bytes:
    """Return the name of a node; that of an adapter is the GUID of a port, which need not be that of the node."""
    return b"0x%016x" % guid if kind == "ca" else ident_of(kind, guid)
