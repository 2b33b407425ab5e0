"""Readers of lists of ports: the outputs of ibnetdiscover -p and iblinkinfo."""

from __future__ import annotations

import re
from typing import NamedTuple

from obliv._util.text import shown
from obliv.fabric.files.assemble import assemble
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.lines import noted_line
from obliv.fabric.files.records import Node, Port, Records, ident_of, text_of
from obliv.fabric.model import Fabric
from obliv.fabric.notes import place_of

__all__ = ["read_linkinfo", "read_portlist"]

_KINDS = {b"SW": "switch", b"CA": "ca", b"RT": "router", b"??": "unknown"}
_END = rb"(CA|SW|RT|\?\?)\s+(\d{1,9})\s+(\d{1,3})\s+0x([0-9a-fA-F]{1,16})"
_ROW = re.compile(rb"\s*" + _END + rb"\s+(\S+)\s+(\S+)(?:\s+-\s+" + _END + rb")?\s*(.*)", re.DOTALL)
_TEXTS = re.compile(rb"\(\s*'(.{0,200}?)'\s+-\s+'(.{0,200})'\s*\)", re.DOTALL)

_SWITCH = re.compile(rb"Switch:\s+0x([0-9a-fA-F]{1,16})\s+(.*):\s*\Z", re.DOTALL)
_OTHER = re.compile(rb"(CA|Router|RT):\s+(.*):\s*\Z", re.DOTALL)
_LINK = re.compile(
    rb'\s*(?:0x([0-9a-fA-F]{1,16})\s+(?:"(.{0,200}?)"\s+)?)?(\d{1,9})\s+(\d{1,3})\[[^\]]*\]\s+==\((.{0,200}?)\)==>'
    rb'(?:\s+(?:0x[0-9a-fA-F]{1,16}\s+)?(\d{1,9})\s+(\d{1,3})\[[^\]]*\]\s*"(.*)")?',
    re.DOTALL,
)
_RATE = re.compile(rb"\s*(\d+)X\s+([\d.]+) Gbps", re.IGNORECASE)
_SPEEDS = {b"2.5": b"SDR", b"5": b"DDR", b"10": b"QDR", b"10.3125": b"FDR10", b"14.0625": b"FDR", b"25.78125": b"EDR"}
_SPEEDS |= {b"53.125": b"HDR", b"106.25": b"NDR", b"212.5": b"XDR"}


def read_portlist(blocks: Blocks) -> Fabric:
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
        node = _node(records, _KINDS[kind], int(guid, 16), int(lid), text, number)
        if far_kind is None:  # no cable
            continue
        far = _KINDS[far_kind]
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


def read_linkinfo(blocks: Blocks) -> Fabric:
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
        elif (link := _LINK.match(line)) is not None:
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
        node = _node(records, line.kind, line.guid, line.lid, line.text, line.number)
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
            unlisted[records.add(Node("ca", name, line.number, 0, line.far_text or b""))] = line.number
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


def _node(records: Records, kind: str, guid: int, lid: int, text: bytes, line: int) -> int:
    """Return the node of a port, added if it is new."""
    own = (guid, 0, lid) if kind == "switch" else (0, 0, 0)
    return records.known(Node(kind, _ident(kind, guid), line, 0, text, *own))


def _ident(kind: str, guid: int) -> bytes:
    """Return the name of a node; that of an adapter is the GUID of a port, which need not be that of the node."""
    return b"0x%016x" % guid if kind == "ca" else ident_of(kind, guid)
