"""The lanes of a fabric, read from files or given by rules; lanes in operation and their weights as smpquery prints."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

import numpy as np

from obliv._util.arrays import Array
from obliv._util.text import plural
from obliv.errors import FileError, InputError
from obliv.fabric.files.assemble import FileBlocks
from obliv.fabric.files.ibnetdiscover import shown_line
from obliv.fabric.lanes.pairs import PairLevels, one_level, read_levels
from obliv.fabric.lanes.sl2vl import DROP, LaneTables, OperVLs, identity, masked, read_sl2vl
from obliv.fabric.model import Fabric, Notes, port_name, typed
from obliv.fabric.names import owners
from obliv.fabric.results.check import Finding

# Lanes that ports operate, and the weights of their arbitration, as smpquery prints them


_INFO = re.compile(rb"\s*# Port info: (?:Lid (\d{1,9}) port (\d{1,9}))?")
_OPER = re.compile(rb"\s*OperVLs:\.*\s*(?:VL0(?:-(\d{1,3}))?|(\d{1,3}))\s*\Z")
_ARBITRATION = re.compile(rb"\s*# VLArbitration tables: (?:Lid (\d{1,9}) port (\d{1,9}))?")
_PART = re.compile(rb"\s*(VL|WEIGHT)\s*:\s*\|(.*)\|\s*\Z", re.DOTALL)
_PORT_NUMBER = re.compile(rb"\s*0x([0-9a-fA-F]{1,4})\s*\Z")
_LANES = {0: 1, 1: 2, 3: 4, 7: 8, 14: 15}  # number of data lanes by the last of them
_CODES = {1: 1, 2: 2, 3: 4, 4: 8, 5: 15}  # by the code in PortInfo


@dataclass(frozen=True, eq=False, repr=False)
class Arbitration:
    """The lanes that ports serve: bit l of ``served[slot]`` is set where lane l has a weight above 0."""

    name: str
    served: dict[int, int]  # by slot; ports that the file does not list are left out
    line: dict[int, int]
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()


class _Places:
    """The slots that headings ``Lid L port P`` name."""

    def __init__(self, fabric: Fabric, notes: Notes) -> None:
        self._owner = owners(fabric)
        self.fabric, self.notes = fabric, notes
        self._unknown = [0, 0]

    def slot(self, lid: bytes | None, port: bytes | None, number: int) -> int:
        """Return the slot of a port, -1 where the topology does not have it."""
        owner = self._owner.get(int(lid), -1) if lid else -1
        slot = -1
        if owner >= 0 and port is not None:
            node = int(self.fabric.node_of[owner])
            is_switch = self.fabric.nodes.kind[node] == "switch"
            slot = self.fabric.slot(node, int(port)) if is_switch or int(port) else owner
        if slot < 0:
            self._unknown[1] = self._unknown[1] or number
            self._unknown[0] += 1
        return slot

    def note(self) -> None:
        """Note headings that name no port of the topology."""
        if self._unknown[0]:
            text = f"{plural(self._unknown[0], 'port')} that the topology does not have: give files of the same fabric"
            self.notes.add("error", "unknown-port", text, self._unknown[1])


def read_oper_vls(path: str | Path, fabric: Fabric) -> OperVLs:
    """Read the number of lanes that ports operate, from the output of ``smpquery portinfo LID PORT`` for many ports."""
    blocks, notes = FileBlocks(path, 1 << 17), Notes(str(path))
    places = _Places(fabric, notes)
    lanes = np.zeros(len(fabric.ports.peer), np.uint8)
    line = np.zeros(len(fabric.ports.peer), np.int32)
    slot, found = -1, 0
    for number, text in blocks.lines():
        if info := _INFO.match(text):
            slot = places.slot(info[1], info[2], number)
        elif oper := _OPER.match(text):
            found += 1
            count = _CODES.get(int(oper[2]), 0) if oper[2] else _LANES.get(int(oper[1] or b"0"), 0)
            if not count:
                notes.add("error", "bad-line", f"no number of lanes: {shown_line(text)}", number)
            elif slot >= 0:
                lanes[slot], line[slot] = count, number
            slot = -1
    if not found:
        raise FileError("contains no OperVLs: give the output of smpquery portinfo LID PORT", path)
    places.note()
    return OperVLs(str(path), lanes, line, ((str(path), blocks.sha256),), notes.findings())


def read_arbitration(path: str | Path, fabric: Fabric) -> Arbitration:
    """Read the lanes that ports serve, from the output of ``smpquery vlarb LID PORT`` for any number of ports."""
    blocks, notes = FileBlocks(path, 1 << 17), Notes(str(path))
    places = _Places(fabric, notes)
    served: dict[int, int] = {}
    line: dict[int, int] = {}
    slot, found = -1, 0
    lanes: list[int] | None = None
    for number, text in blocks.lines():
        if heading := _ARBITRATION.match(text):
            slot, lanes = places.slot(heading[1], heading[2], number), None
            if slot >= 0:
                line.setdefault(slot, number)
        elif part := _PART.match(text):
            values = [_PORT_NUMBER.match(word) for word in part[2].split(b"|")]
            if not all(values):
                notes.add("error", "bad-line", f"invalid arbitration table: {shown_line(text)}", number)
                lanes = None
                continue
            numbers = [int(value[1], 16) for value in values if value]
            if part[1] == b"VL":
                lanes = numbers
                continue
            found += 1
            if lanes is None or len(lanes) != len(numbers):
                notes.add("error", "bad-line", f"weights without as many lanes: {shown_line(text)}", number)
            elif slot >= 0:
                has = sum(1 << lane for lane in {lane & 15 for lane, weight in zip(lanes, numbers) if weight})
                served[slot] = served.get(slot, 0) | has
            lanes = None
    if not found:
        raise FileError("contains no arbitration table: give the output of smpquery vlarb LID PORT", path)
    places.note()
    return Arbitration(str(path), served, line, ((str(path), blocks.sha256),), notes.findings())


_COUNTS = (1, 2, 4, 8, 15)
_NUMBER = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True, eq=False, repr=False)
class Lanes:
    """The virtual lanes of a fabric: SL-to-VL tables, service levels of pairs, and lanes that ports operate.

    Parameters
    ----------
    fabric : Fabric
    tables : LaneTables
    levels : Levels
    oper : OperVLs or None
    arbitration : Arbitration or None
    """

    fabric: Fabric
    tables: LaneTables
    levels: PairLevels
    oper: OperVLs | None = None
    arbitration: Arbitration | None = None

    @cached_property
    def on_cables(self) -> Array:
        """The number of lanes of the cable at every slot, 15 where unknown."""
        if self.oper is None:
            return np.full(len(self.fabric.ports.peer), 15, np.uint8)
        return self.oper.on_cables(self.fabric)

    @cached_property
    def effective(self) -> LaneTables:
        """The tables after lanes were cut to those that ports operate, as OpenSM does when it writes them."""
        return masked(self.tables, self.fabric, self.on_cables)

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """The files, each with its SHA-256."""
        parts = (self.tables, self.levels, self.oper, self.arbitration)
        return tuple(source for part in parts if part is not None for source in part.sources)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Defects and remarks noted while reading."""
        parts = (self.tables, self.levels, self.oper, self.arbitration)
        return tuple(finding for part in parts if part is not None for finding in part.findings)

    def __repr__(self) -> str:
        return f"<Lanes {self.tables.name}, {self.levels.name}>"


@typed
def read_lanes(
    fabric: Fabric,
    sl2vl: str | Path | None = None,
    sl: str | Path | int | None = None,
    *,
    oper_vls: str | Path | int | None = None,
    vlarb: str | Path | None = None,
) -> Lanes:
    """Read the virtual lanes of a fabric.

    Parameters
    ----------
    fabric : Fabric
        With LIDs: as :func:`obliv.fabric.read` returns it.
    sl2vl : str or Path, optional
        SL-to-VL tables: ``opensm-sl2vl.dump``, a ``.slvl`` file of ibdiagnet, or the output of ``smpquery sl2vl`` or
        ``saquery SL2VL``; or ``identity`` for VL = SL at every port.
    sl : int, str or Path, optional
        Service levels (SLs): one number for all pairs, or a file: the output of ``saquery PR``, a ``.psl`` file,
        ``opensm-path-records.dump``, lines ``LID LID SL`` for pairs or ``LID SL`` for destinations. Default: all 0.
    oper_vls : int, str or Path, optional
        Lanes that ports operate: 1, 2, 4, 8 or 15 for all, or the output of ``smpquery portinfo``. Lanes beyond are cut
        to that many bits, as OpenSM does.
    vlarb : str or Path, optional
        The output of ``smpquery vlarb``.

    Returns
    -------
    Lanes

    Raises
    ------
    FileError
        If a file cannot be read or contains nothing of the kind.
    InputError
        If a number is out of range, or SLs differ and there are no tables.

    Examples
    --------
    >>> import obliv
    >>> fabric = obliv.fabric.from_topology(obliv.topology("ring:6"))
    >>> read_lanes(fabric, "identity", 3)
    <Lanes identity, SL 3>
    """
    levels = _levels(fabric, sl)
    masks = np.unique(levels.masks[levels.masks > 0]).tolist()
    if sl2vl is None and (len(masks) != 1 or masks[0].bit_count() != 1):  # not one SL for all pairs that have any
        raise InputError.naming(
            "{0}: SLs differ, but no SL-to-VL tables are given: give a file of them, or {sl2vl}='identity' for VL = SL",
            levels.name,
        )
    tables = _tables(fabric, sl2vl)
    return Lanes(
        fabric, tables, levels, _oper(fabric, oper_vls), None if vlarb is None else read_arbitration(vlarb, fabric)
    )


def _tables(fabric: Fabric, sl2vl: str | Path | None) -> LaneTables:
    if sl2vl is None or str(sl2vl) == "identity":
        return identity(fabric)
    if get_close_matches(str(sl2vl), ["identity"], cutoff=0.8) and not os.path.exists(sl2vl):
        raise FileError("file not found; did you mean identity?", sl2vl)
    return read_sl2vl(sl2vl, fabric)


def _levels(fabric: Fabric, sl: str | Path | int | None) -> PairLevels:
    if sl is None:
        return one_level(0, given=False)
    text = str(sl)
    if _NUMBER.fullmatch(text):
        return one_level(int(text))
    return read_levels(text, fabric)


def lanes_within(fabric: Fabric, asked: int | None, oper_vls: str | Path | int | None) -> int:
    """Return how many lanes may be used: those asked for, by default those that all cabled ports operate, else one."""
    oper = _oper(fabric, oper_vls)
    if oper is None:
        return asked or 1
    cabled = np.flatnonzero(fabric.ports.peer >= 0)
    lanes = oper.on_cables(fabric)[cabled]
    fewest = int(lanes.min(initial=DROP))
    if asked is not None and asked > fewest:
        slot = int(cabled[lanes == fewest][0])
        slot = slot if oper.lanes[slot] == fewest else int(fabric.ports.peer[slot])
        line = f", line {oper.line[slot]}" if oper.line[slot] else ""
        port = port_name(fabric, slot)
        raise InputError(f"{asked} lanes: {port} operates {fewest} ({oper.name}{line}): use no more")
    return min(asked or fewest, fewest)


def _oper(fabric: Fabric, given: str | Path | int | None) -> OperVLs | None:
    if given is None:
        return None
    text = str(given)
    if not _NUMBER.fullmatch(text):
        return read_oper_vls(text, fabric)
    if int(text) not in _COUNTS:
        raise InputError(f"{text} operational lanes: ports operate 1, 2, 4, 8 or 15 data lanes")
    lanes = np.where(fabric.ports.peer >= 0, int(text), 0).astype(np.uint8)
    return OperVLs(f"VL0-{int(text) - 1}", lanes, np.zeros(len(lanes), np.int32))
