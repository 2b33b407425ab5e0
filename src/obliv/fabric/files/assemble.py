"""A fabric assembled from records: slots, cables, and what the two ends of a cable say of each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obliv._util.typing import Array
from obliv.errors import FileError
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.cables import cables
from obliv.fabric.files.records import NAMES, Node, Port, Records, text_of
from obliv.fabric.lids import checked_lids, note_repeated_guids
from obliv.fabric.model import Fabric, Nodes, Ports, rate_of
from obliv.fabric.notes import Notes, Place
from obliv.fabric.tables import MAX_PORTS

__all__ = ["assemble"]

Columns = dict[str, Array]

_KINDS = {b"S-": "switch", b"H-": "ca", b"R-": "router"}


def assemble(records: Records, blocks: Blocks, *, lmc_known: bool) -> Fabric:
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

    def at(slot: int, other: int = -1) -> Place:
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
    node = records.add(Node(kind, name, line, 0, text, int(digits, 16) if known else 0))
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
    at: Callable[[int, int], Place],
) -> tuple[Array, Array, Array]:
    """Return GUID, LID and LMC of every slot: from its own record, else from that of the other end of its cable."""
    nodes, slots = records.nodes, int(first_slot[-1])
    port_guid = _placed(slots, near, columns["guid"], 0, np.uint64)
    lid = _placed(slots, near, columns["lid"], 0, np.int64)
    lmc = _placed(slots, near, columns["lmc"], 0, np.int64)
    own = first_slot[:-1]
    port_guid[own] = np.array([node.port_guid for node in nodes], np.uint64)
    lid[own], lmc[own] = [node.lid for node in nodes], [node.lmc for node in nodes]
    at_switch = np.array([node.kind == "switch" for node in nodes], bool)[columns["peer"]]
    target = np.where(at_switch, own[columns["peer"]], far)
    reported = {"LID": (lid, columns["peer_lid"]), "GUID": (port_guid, np.where(at_switch, 0, columns["peer_guid"]))}
    for what, (values, reports) in reported.items():
        known = np.flatnonzero((reports > 0) & (target >= 0))
        silent = known[values[target[known]] == 0]
        values[target[silent[::-1]]] = reports[silent[::-1]]  # the first one counts
        for k in known[values[target[known]] != reports[known]].tolist():
            slot = int(target[k])
            one, other = (f"0x{int(v):016x}" if what == "GUID" else str(int(v)) for v in (values[slot], reports[k]))
            peer = place(int(near[k]))
            text = f"{place(slot)} has {what} {one}, but {peer} at the other end of its cable reports {other}"
            records.notes.add("warning", f"{what.lower()}-mismatch", text, columns["line"][k], at(slot, int(near[k])))
    return port_guid, lid, lmc


def _note_unequal(
    peer: Array,
    number: Array,
    line: Array,
    place: Callable[[int], str],
    at: Callable[[int, int], Place],
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


def _unique(nodes: list[Node]) -> tuple[str, ...]:
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
