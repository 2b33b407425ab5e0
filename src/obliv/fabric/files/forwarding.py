"""Forwarding tables of a file brought to the LIDs of a fabric, LIDs learned from tables, and the section AR_INFO."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import require_memory
from obliv.errors import FileError
from obliv.fabric.files.assemble import FileBlocks
from obliv.fabric.files.ibnetdiscover import shown_line
from obliv.fabric.files.raw_tables import RawTables
from obliv.fabric.model import NONE, Fabric, Notes, Tables, place_of, typed
from obliv.fabric.names import largest_lid, owned_lids
from obliv.fabric.results.check import Finding


def switch_guids(fabric: Fabric) -> dict[int, int]:
    """Return the node of every switch by its GUID."""
    return {
        int(fabric.nodes.guid[node]): node for node in reversed(fabric.switches.tolist()) if fabric.nodes.guid[node]
    }


def port_guids(fabric: Fabric) -> dict[int, int]:
    """Return the slot of every port by its GUID; a switch goes by its node GUID where its port GUID is unknown."""
    own = fabric.first_slot[fabric.switches]
    slots = np.flatnonzero(fabric.ports.guid)
    silent = own[fabric.ports.guid[own] == 0]
    slot_by_guid = {int(fabric.nodes.guid[fabric.node_of[slot]]): slot for slot in silent[::-1].tolist()}
    slot_by_guid |= dict(zip(fabric.ports.guid[slots[::-1]].tolist(), slots[::-1].tolist(), strict=True))
    slot_by_guid.pop(0, None)
    return slot_by_guid


def with_learned_lids(fabric: Fabric, raw: RawTables, *, lids: bool) -> Fabric:
    """Return the fabric with the LIDs or LMCs that tables show."""
    # A subnet manager gives all channel adapters one LMC, so the largest that the tables show is that of all adapters;
    # a LID that the tables lost is then reported as missing.
    slot_of = port_guids(fabric)
    named: dict[int, list[int]] = {}  # the LIDs of every slot
    for lid in raw.named.tolist():
        slot = slot_of.get(raw.guid_of(lid))
        if slot is not None:
            named.setdefault(slot, []).append(lid)
    lmc_of, lid_of = fabric.ports.lmc.copy(), fabric.ports.lid.copy()
    shown = _lmcs(fabric, named)
    for slot, lmc in shown.items():
        base = named[slot][0] >> lmc << lmc
        if lids:
            lid_of[slot] = base
        if lid_of[slot] == base:
            lmc_of[slot] = lmc
    most = max(shown.values(), default=0)
    notes: tuple[Finding, ...] = ()
    if not fabric.lmc_known and not shown:
        message = "this kind of file does not give the LMC: 0 is assumed; give OpenSM's guid2lid to set it"
        notes = (Finding("note", "lmc-unknown", message, fabric.name),)
    elif not fabric.lmc_known and most:
        message = (
            f"this kind of file does not give the LMC; the tables show {most}, which OpenSM's guid2lid would confirm"
        )
        notes = (Finding("note", "lmc-learned", message, fabric.name),)
    return replace(fabric.with_ports(lid=lid_of, lmc=lmc_of), findings=(*fabric.findings, *notes))


def _lmcs(fabric: Fabric, named: dict[int, list[int]]) -> dict[int, int]:
    """Return the LMC of every slot by the LIDs that tables name as its own."""
    own = {}
    for slot, lids in named.items():
        bits = (lids[0] ^ lids[-1]).bit_length()
        own[slot] = bits if bits <= 7 and 2 * len(lids) > 1 << bits else 0  # else they are of different times
    adapters = [slot for slot in named if fabric.nodes.kind[fabric.node_of[slot]] == "ca"]
    most = max((own[slot] for slot in adapters), default=0)
    common = own | dict.fromkeys(adapters, most)
    blocks = [(lids[0] >> common[slot] << common[slot], common[slot]) for slot, lids in named.items()]
    blocks.sort()
    apart = all(first + (1 << bits) <= second for (first, bits), (second, _) in pairwise(blocks))
    return common if apart else own


def tables_on(fabric: Fabric, raw: RawTables) -> Tables:
    """Return the tables by the LIDs of the fabric: an entry follows the port that it names, as in OpenSM's loader."""
    path, notes = raw.notes.file, raw.notes
    if not fabric.ports.lid.any():
        empty = all(row.count(NONE) == len(row) for row in raw.rows.values())
        message = "no port has a LID: " + (
            "the subnet manager has not run; start it, then scan and dump again"
            if empty
            else "give OpenSM's guid2lid, tables whose entries name ports, or a topology scanned while the manager runs"
        )
        notes.add("error", "no-lids", message, min(raw.line.values(), default=0))
    if not raw.rows:
        raise FileError(f"contains no table of a switch of {fabric.name}: give files of the same fabric", path)
    new = _new_lids(fabric, raw)
    longest = max(map(len, raw.rows.values()))
    lids = np.arange(1, longest)
    lids = lids[new[1:longest] >= 0]
    target = new[lids]
    width = 1 + max(
        int(target.max(initial=0)), int(np.flatnonzero(_owned(fabric, np.arange(len(fabric.ports.lid)))).max(initial=0))
    )
    require_memory(2.0 * width * len(raw.rows), f"the tables of {path}")
    out = np.full((len(raw.rows), width), NONE, np.uint8)
    for k, row in enumerate(raw.rows.values()):
        entries = np.frombuffer(row, np.uint8)
        many = int(np.searchsorted(lids, len(entries)))
        out[k, target[:many]] = entries[lids[:many]]
    _place_moved(fabric, raw, out)
    node_of = switch_guids(fabric)
    return Tables(
        name=path,
        switch=np.array([node_of[guid] for guid in raw.rows], np.int32),
        out=out,
        line=np.array([raw.line[guid] for guid in raw.rows], np.int32),
        spelling=raw.spelling,
        top=raw.top,
        sources=raw.sources,
        findings=tuple(with_switch(fabric, finding, node_of) for finding in notes.findings()),
    )


def with_switch(fabric: Fabric, finding: Finding, node_of: dict[int, int]) -> Finding:
    """Return a finding about a table with the name of its switch; `node_of` has the switches by GUID."""
    node = None if finding.guid is None else node_of.get(int(finding.guid, 16))
    if node is None:
        return finding
    return replace(finding, switch=fabric.nodes.label(node))


def _new_lids(fabric: Fabric, raw: RawTables) -> Array:
    """Return the fabric's LID for every LID of the file, -1 where that LID is another port's."""
    slot_of = port_guids(fabric)
    claimed = _owned(fabric, np.array(list(slot_of.values()), np.int64))  # by ports that are known to have other GUIDs
    lids = len(raw.guid)
    new = np.arange(lids)
    named = raw.named
    unknown: list[int] = []
    lmc = _lmc_of_file(fabric, raw, slot_of)
    for lid in named.tolist():
        slot = slot_of.get(raw.guid_of(lid))
        if slot is not None:
            new[lid] = _lid_on(fabric, slot, lid, lmc)
        else:
            unknown.append(lid)
            if claimed[lid]:
                new[lid] = -1
    taken = np.zeros(lids, bool)
    taken[new[named][new[named] != named]] = True
    nameless = np.ones(lids, bool)
    nameless[named] = False
    new[nameless & taken] = -1  # an entry that names its port counts more than one that does not
    target = new[named]
    moved = named[(target != named) & (target >= 0)]
    targets, count = np.unique(target[target >= 0], return_counts=True)
    _note(raw, "moved-lids", moved, "belong to ports with other LIDs in the topology: the entries follow the ports")
    _note(raw, "unknown-port", np.array(unknown, np.int64), "belong to ports that the topology does not have")
    fewer = targets[count > 1]
    if len(fewer):
        message = (
            f"{len(fewer)} ports have several LIDs in the file and fewer in the topology, for example LID {fewer[0]}: "
        )
        raw.notes.add("warning", "lmc-mismatch", message + "give files taken at the same time")
    return new


def _note(raw: RawTables, kind: str, lids: Array, what: str) -> None:
    if len(lids):
        lid = int(lids[0])
        first = f"the first is LID 0x{lid:04x} of port GUID 0x{raw.guid_of(lid):016x}"
        raw.notes.add("warning", kind, f"{len(lids)} LIDs of the tables {what}; {first}", min(raw.line.values()))


def _lmc_of_file(fabric: Fabric, raw: RawTables, slot_of: dict[int, int]) -> int:
    """Return the LMC of the file's adapters if that is less than that of the fabric, which is noted; else 7."""
    named: dict[int, list[int]] = {}
    for lid in raw.named.tolist():
        slot = slot_of.get(raw.guid_of(lid))
        if slot is not None and fabric.nodes.kind[fabric.node_of[slot]] == "ca":
            named.setdefault(slot, []).append(lid)
    own = max((int(fabric.ports.lmc[slot]) for slot in named), default=0)
    shown = max(_lmcs(fabric, named).values(), default=own)
    if shown >= own or not any(lid & ((1 << own) - 1) for lids in named.values() for lid in lids[:1]):
        return 7
    raw.notes.add(
        "warning",
        "lmc-mismatch",
        f"the tables are for an LMC of {shown}, the topology has {own}: they count for the first LIDs of each port; "
        "OpenSM would take the low bits of LIDs for their place: give files taken at the same time",
    )
    return shown


def _lid_on(fabric: Fabric, slot: int, lid: int, lmc: int = 7) -> int:
    """Return the LID of a port that corresponds to one that it has in the file, whose LMC may be less."""
    base, bits = int(fabric.ports.lid[slot]), int(fabric.ports.lmc[slot])
    many = 1 << min(bits, lmc)
    return lid if base == 0 or (base <= lid < base + (1 << bits) and lmc >= bits) else base + (lid & (many - 1))


def _owned(fabric: Fabric, slots: Array) -> Array:
    """Return for every LID whether one of the ports owns it."""
    lids, _ = owned_lids(fabric.ports.lid, fabric.ports.lmc, slots[fabric.ports.lid[slots] > 0])
    owned = np.zeros(largest_lid(fabric) + 130, bool)
    owned[lids] = True
    return owned


def _place_moved(fabric: Fabric, raw: RawTables, out: Array) -> None:
    """Store the entries that name another port than earlier entries did for the same LID."""
    if not raw.moved:
        return
    slot_of = port_guids(fabric)
    row_of = {guid: row for row, guid in enumerate(raw.rows)}
    for switch, lid, port, guid in raw.moved:
        slot, row = slot_of.get(guid), row_of.get(switch)
        if slot is not None and row is not None:
            place = _lid_on(fabric, slot, lid)
            if place < out.shape[1]:
                out[row, place] = port
    switch, lid, _, guid = raw.moved[0]
    message = (
        f"{len(raw.moved)} entries give a LID to another port than earlier tables; the first is LID 0x{lid:04x} to "
        f"port GUID 0x{guid:016x} at switch 0x{switch:016x}: the tables were dumped at different times; dump them again"
    )
    raw.notes.add("warning", "mixed-tables", message, raw.line.get(switch, 0))


# Reader of the section AR_INFO of ``ibdiagnet2.db_csv``: which packets each switch routes adaptively


_ALL = 0xFFFF  # service levels
_COLUMNS = ("e", "by_sl_en", "enable_by_sl_mask", "group_top")


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveInfo:
    """What switches say of their adaptive routing, in the order of the fabric's switches."""

    name: str  # the file
    known: Array  # bool, shape (switches,); whether the file has the switch; others count as adaptive for all packets
    # mask: int64, shape (switches,); the service levels that are adaptive, as bits; 0 where adaptive routing is off
    mask: Array
    group_top: Array  # int64, shape (switches,); the largest number of a group, -1 where it is not known
    line: Array  # int64, shape (switches,)
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    def excludes(self, sl: int) -> Array:
        """Return which switches send packets of a service level to their static ports."""
        excluded: Array = (self.mask >> sl & 1) == 0
        return excluded

    def __repr__(self) -> str:
        return f"<AdaptiveInfo {self.name}: {int(self.known.sum())} of {len(self.known)} switches>"


@typed
def read_ar_info(path: str | Path, fabric: Fabric) -> AdaptiveInfo:
    """Read what switches say of their adaptive routing.

    Parameters
    ----------
    path : str or Path
        ``ibdiagnet2.db_csv``, or its section AR_INFO; compressed with gzip or not.
    fabric : Fabric

    Raises
    ------
    FileError
        If the file cannot be read, or has no such section with a column NodeGUID.
    """
    row_of = {guid: int(fabric.switch_row[node]) for guid, node in switch_guids(fabric).items()}
    count = len(fabric.switches)
    known, line_of = np.zeros(count, bool), np.zeros(count, np.int64)
    mask, top = np.full(count, _ALL, np.int64), np.full(count, -1, np.int64)
    notes = Notes(str(path))
    names: list[str] | None = None
    inside = found = False
    blocks = FileBlocks(path)
    for number, line in blocks.lines():
        text = line.strip()
        if text == b"START_AR_INFO":
            inside, found, names = True, True, None
        elif text == b"END_AR_INFO":
            inside = False
        elif inside and text and names is None:
            names = [name.strip().decode("utf-8", "replace") for name in text.split(b",")]
            if "NodeGUID" not in names:
                raise FileError(f"has a section AR_INFO without a column NodeGUID: {shown_line(line)}", path, number)
        elif inside and text and names is not None:
            values = [_number(value) for value in text.split(b",")]
            if len(values) != len(names) or values[names.index("NodeGUID")] is None:
                notes.add("error", "bad-entry", f"{shown_line(line)} is not a row of AR_INFO", number)
                continue
            row = dict(zip(names, values, strict=True))
            guid = row["NodeGUID"] or 0
            at = row_of.get(guid)
            if at is None:
                text_ = f"switch 0x{guid:016x} is not in the topology: ignored"
                notes.add("warning", "unknown-switch", text_, number, place_of(guid, ""))
                continue
            on, by_sl, levels, largest = (row.get(name) for name in _COLUMNS)
            known[at], line_of[at] = True, number
            mask[at] = 0 if on == 0 else (levels & _ALL if by_sl and levels is not None else _ALL)
            top[at] = -1 if largest is None else min(largest, 1 << 32)
    if not found:
        raise FileError(
            "has no section AR_INFO: give the file ibdiagnet2.db_csv of a fabric with adaptive routing", path
        )
    guids = switch_guids(fabric)
    findings = tuple(with_switch(fabric, finding, guids) for finding in notes.findings())
    return AdaptiveInfo(str(path), known, mask, top, line_of, ((str(path), blocks.sha256),), findings)


def _number(value: bytes) -> int | None:
    """Return a number in decimal or hexadecimal digits, None for anything else."""
    text = value.strip().strip(b'"')
    digits, base = (text[2:], 16) if text[:2] in (b"0x", b"0X") else (text, 10)
    if not 0 < len(digits) <= 20 or not digits.isalnum():
        return None
    try:
        number = int(digits, base)
    except ValueError:
        return None
    return number if number < 1 << 64 else None
