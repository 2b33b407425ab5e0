"""Lanes that ports operate, and the weights of their arbitration, as smpquery prints them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from obliv._util.text import plural
from obliv.errors import FileError
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.lines import shown_line
from obliv.fabric.lanes.tables import OperVLs
from obliv.fabric.lids import owners
from obliv.fabric.model import Fabric, Finding
from obliv.fabric.notes import Notes

__all__ = ["Arbitration", "read_arbitration", "read_oper_vls"]

_INFO = re.compile(rb"\s*# Port info: (?:Lid (\d{1,9}) port (\d{1,9}))?")
_OPER = re.compile(rb"\s*OperVLs:\.*\s*(?:VL0(?:-(\d{1,3}))?|(\d{1,3}))\s*\Z")
_ARBITRATION = re.compile(rb"\s*# VLArbitration tables: (?:Lid (\d{1,9}) port (\d{1,9}))?")
_PART = re.compile(rb"\s*(VL|WEIGHT)\s*:\s*\|(.*)\|\s*\Z", re.DOTALL)
_NUMBER = re.compile(rb"\s*0x([0-9a-fA-F]{1,4})\s*\Z")
_LANES = {0: 1, 1: 2, 3: 4, 7: 8, 14: 15}  # number of data lanes by the last of them
_CODES = {1: 1, 2: 2, 3: 4, 4: 8, 5: 15}  # by the code in PortInfo


@dataclass(frozen=True, eq=False, repr=False)
class Arbitration:
    """The lanes that ports serve: bit l of ``served[slot]`` is set where lane l has a weight above 0.

    Parameters
    ----------
    name : str
    served : dict of int
        By slot; ports that the file does not list are left out.
    line : dict of int
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
    """

    name: str
    served: dict[int, int]
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
    """Read the number of lanes that ports operate, from the output of ``smpquery portinfo LID PORT`` for many ports.

    Parameters
    ----------
    path : str or Path
    fabric : Fabric

    Raises
    ------
    FileError
        If the file cannot be read or contains no such line.
    """
    blocks, notes = Blocks(path, 1 << 17), Notes(str(path))
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
    """Read the lanes that ports serve, from the output of ``smpquery vlarb LID PORT`` for any number of ports.

    Parameters
    ----------
    path : str or Path
    fabric : Fabric

    Raises
    ------
    FileError
        If the file cannot be read or contains no such table.
    """
    blocks, notes = Blocks(path, 1 << 17), Notes(str(path))
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
            values = [_NUMBER.match(word) for word in part[2].split(b"|")]
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
