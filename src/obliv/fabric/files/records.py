"""The records of a topology file, in the same form for all dialects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from obliv._util.typing import Array
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.model import RATES, node_name
from obliv.fabric.notes import Notes, Place, place_of

__all__ = ["LANE_SPEEDS", "NAMES", "Chunk", "Node", "Port", "Records", "ident_of", "rate_number", "text_of"]


NAMES = tuple(RATES)  #: Widths and speeds, by number.
#: Speeds by the rate of a lane, as OpenSM and ibdiagnet write it.
LANE_SPEEDS = {b"2.5": b"SDR", b"5": b"DDR", b"10": b"QDR", b"FDR10": b"FDR10", b"14": b"FDR", b"25": b"EDR"}
LANE_SPEEDS |= {b"50": b"HDR", b"100": b"NDR", b"200": b"XDR"}
_NUMBER = {name.upper().encode(): number for number, name in enumerate(NAMES)}
_LETTERS = {"switch": b"S-", "ca": b"H-", "router": b"R-"}


#: A decimal number as the file has it.
Number = bytes | int | None
_Value = TypeVar("_Value")


class Node(NamedTuple):
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
        self.nodes: list[Node] = []
        self.index: dict[bytes, int] = {}
        self.ports: list[tuple[Any, ...]] = []  # as Port
        self.chunks: list[Chunk] = []

    def add(self, node: Node) -> int:
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

    def known(self, node: Node) -> int:
        """Return the number of a node, which is added if it is new."""
        number = self.index.get(node.ident)
        return self.add(node) if number is None else number

    def note_cut(self, blocks: Blocks, number: int, half: bool = False) -> None:
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

    def at(self, node: int, port: int | None = None) -> Place:
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
    """Return the place in `NAMES` of a width and speed such as ``4xQDR``, -1 if it is unknown.

    Examples
    --------
    >>> NAMES[rate_number(b"4xQDR")], rate_number(b"4x???")
    ('4xQDR', -1)
    """
    return _NUMBER.get(word.upper(), -1) if word else -1


def ident_of(kind: str, guid: int) -> bytes:
    """Return the name that ibnetdiscover gives a node, for files that give none."""
    return _LETTERS.get(kind, b"?-") + b"%016x" % guid


def text_of(data: bytes) -> str:
    """Return bytes of a file as text, whatever they are."""
    return data.decode("utf-8", "replace")
