"""Readers of OpenSM's files about a subnet: opensm-subnet.lst and guid2lid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from obliv._util.text import shown
from obliv.errors import FileError
from obliv.fabric.files.assemble import assemble
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.forwarding import port_guids
from obliv.fabric.files.lines import noted_line
from obliv.fabric.files.records import LANE_SPEEDS, Node, Port, Records, ident_of
from obliv.fabric.lids import LAST_LID
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes

__all__ = ["read_guid2lid", "read_subnet", "with_guid2lid"]

_END = (
    rb"\{ (\S+) Ports:([0-9a-fA-F]{1,4}) SystemGUID:[0-9a-fA-F]* NodeGUID:([0-9a-fA-F]{1,16}) "
    rb"PortGUID:([0-9a-fA-F]{1,16}) [^{}]*\{(.{0,200}?)\} LID:([0-9a-fA-F]{1,8}) (?:LMC:([0-9a-fA-F]{1,2}) )?"
    rb"PN:([0-9a-fA-F]{1,4}) \}"
)
_LINK = re.compile(rb"\s*" + _END + rb"\s*" + _END + rb"\s*(?:PHY=(\S+))?\s*(?:LOG=(\S+))?\s*(?:SPD=(\S+))?", re.DOTALL)
_PAIR = re.compile(rb"\s*0x([0-9a-fA-F]{1,16})\s+0x([0-9a-fA-F]{1,4})\s+0x([0-9a-fA-F]{1,4})\s*\Z")
_KINDS = {b"SW": "switch", b"CA": "ca", b"Rt": "router", b"RT": "router"}


def read_subnet(blocks: Blocks) -> Fabric:
    """Read the fabric of an ``opensm-subnet.lst``, or of an ``ibdiagnet2.lst``, which few releases write with LMCs.

    Where no cable is listed from both of its ends, the file lists each one once.
    """
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
    return records.known(Node(kind, ident, line, int(ports, 16), text, number, *own))


def read_guid2lid(path: str | Path) -> dict[int, tuple[int, int, int]]:
    """Read the first and last LID of every port GUID, and the line, from OpenSM's ``guid2lid`` file."""
    return _lids(path)[0]


def _lids(path: str | Path) -> tuple[dict[int, tuple[int, int, int]], str]:
    """Return what :func:`read_guid2lid` does, and the SHA-256 of the file."""
    known: dict[int, tuple[int, int, int]] = {}
    blocks = Blocks(path)
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
