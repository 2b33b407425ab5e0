"""The planned cabling of a fabric, compared with what is found."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from obliv._util.files import read_source
from obliv._util.text import printable
from obliv.errors import FileError, InputError
from obliv.fabric.files.read import dialect_of, read_fabric
from obliv.fabric.messages import at_node, port_name
from obliv.fabric.model import Fabric
from obliv.fabric.names import NodeNames, split_port
from obliv.fabric.notes import Notes, Place

__all__ = ["Plan", "compare_cables", "read_plan", "slots_named"]

_HEADER = ["name", "port", "name", "port"]


@dataclass(frozen=True)
class Plan:
    """Planned cables as pairs of ports of a fabric, -1 where the fabric has no such port.

    Parameters
    ----------
    cables : tuple of (int, int)
        Slots.
    names : tuple of (str, str)
        What the plan calls them.
    lines : tuple of int
    sources : tuple of (path, SHA-256)
    """

    cables: tuple[tuple[int, int], ...]
    names: tuple[tuple[str, str], ...]
    lines: tuple[int, ...]
    sources: tuple[tuple[str, str], ...] = ()


def read_plan(path: str | Path, fabric: Fabric) -> Plan:
    """Read a plan of the cabling.

    Parameters
    ----------
    path : str or Path
        Another topology file, whose nodes have the same GUIDs; or CSV with rows ``name,port,name,port`` of the
        descriptions of nodes, with or without a header.
    fabric : Fabric

    Raises
    ------
    FileError
        If the file is neither, or a name means several nodes.
    """
    if Path(path).suffix.lower() != ".csv":
        dialect_of(path)
        return _of_fabric(read_fabric(path), fabric)
    text, digest = read_source(path)
    cables: list[tuple[int, int]] = []
    names: list[tuple[str, str]] = []
    lines: list[int] = []
    known = NodeNames(fabric)
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for cells in reader:
            words = [cell.strip() for cell in cells]
            if not any(words) or words[0].startswith("#") or (not names and words == _HEADER):
                continue
            if len(words) != 4 or not all(
                word.isascii() and word.isdecimal() and len(word) < 6 for word in words[1::2]
            ):
                raise FileError("a row is not name,port,name,port", path, reader.line_num)
            names.append((f"{words[0]}/{words[1]}", f"{words[2]}/{words[3]}"))
            lines.append(reader.line_num)
            try:
                cables.append((known.slot(words[0], int(words[1])), known.slot(words[2], int(words[3]))))
            except InputError as error:
                raise FileError(str(error), path, reader.line_num) from None
    except csv.Error as error:
        raise FileError(f"invalid CSV: {error}", path, reader.line_num) from None
    if not cables:
        raise FileError("contains no cable: give rows name,port,name,port", path)
    return Plan(tuple(cables), tuple(names), tuple(lines), ((str(path), digest),))


def slots_named(fabric: Fabric, ports: Iterable[str]) -> list[int]:
    """Return the slots of ports ``NAME/PORT``, -1 where the fabric has none.

    Raises
    ------
    InputError
        If a text has no port, or a name means several nodes.
    """
    known, slots = NodeNames(fabric), []
    for text in ports:
        end = split_port(text)
        if end is None:
            raise InputError(f"{printable(text[:80])!r} is not a port: write NAME/PORT")
        slots.append(known.slot(*end))
    return slots


def compare_cables(fabric: Fabric, plan: Plan, whole: bool, notes: Notes) -> tuple[int, int]:
    """Note the planned cables that are not there and, for a whole plan, cables that were not planned.

    Returns
    -------
    there, beyond : int
        Planned cables that are there, and, of a whole plan, cables that are not planned.
    """
    peer = fabric.ports.peer
    planned: set[int] = set()
    there = beyond = 0
    for (one, other), names, line in zip(plan.cables, plan.names, plan.lines, strict=True):
        planned |= {one, other}
        if one >= 0 and other >= 0 and peer[one] == other:
            there += 1
            continue
        text = f"the planned cable {printable(names[0])} - {printable(names[1])} is not there: "
        text += "; ".join(_state(fabric, slot, name) for slot, name in zip((one, other), names, strict=True))
        at = one if one >= 0 else other
        place = at_node(fabric, int(fabric.node_of[at]), fabric.port_of(at)) if at >= 0 else Place()
        notes.add("error", "plan", text, line, place)
    if whole:
        for slot, end in enumerate(peer.tolist()):
            if slot < end and slot not in planned and end not in planned:
                beyond += 1
                text = f"a cable that is not planned: {port_name(fabric, slot)} - {port_name(fabric, end)}"
                notes.add("error", "plan", text, 0, at_node(fabric, int(fabric.node_of[slot]), fabric.port_of(slot)))
    return there, beyond


def _state(fabric: Fabric, slot: int, name: str) -> str:
    """Return what is found at a port."""
    if slot < 0:
        return f"the fabric has no port {printable(name)}"
    end = int(fabric.ports.peer[slot])
    return f"{port_name(fabric, slot)} " + (f"leads to {port_name(fabric, end)}" if end >= 0 else "has no cable")


def _of_fabric(plan: Fabric, fabric: Fabric) -> Plan:
    """Return the cables of another topology file, by GUIDs."""
    node = {guid: v for v, guid in enumerate(fabric.nodes.guid.tolist()) if guid}
    if not any(guid in node for guid in plan.nodes.guid.tolist()):
        raise FileError(f"has no node of {fabric.name}: give the plan of the same fabric", plan.name)
    at = plan.node_of.tolist()
    cables: list[tuple[int, int]] = []
    names: list[tuple[str, str]] = []
    lines: list[int] = []
    for slot, end in enumerate(plan.ports.peer.tolist()):
        if slot < end:
            ends = [node.get(int(plan.nodes.guid[at[port]]), -1) for port in (slot, end)]
            one, other = (
                fabric.slot(v, plan.port_of(port)) if v >= 0 else -1 for v, port in zip(ends, (slot, end), strict=True)
            )
            cables.append((one, other))
            names.append((port_name(plan, slot), port_name(plan, end)))
            lines.append(int(plan.ports.line[slot]))
    return Plan(tuple(cables), tuple(names), tuple(lines), plan.sources)
