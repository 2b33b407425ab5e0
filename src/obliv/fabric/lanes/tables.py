"""SL-to-VL tables of the switches of a fabric, and the lanes that its ports operate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.lanes import LaneArrays
from obliv.fabric.model import Fabric, Finding

__all__ = ["DROP", "MISSING", "SLS", "LaneTables", "OperVLs", "identity", "masked"]


SLS = 16  #: Number of service levels.
DROP = 15  #: The lane of management packets: in a table it discards data packets.
MISSING = 0  #: Number of the row that stands for a missing one.


@dataclass(frozen=True, eq=False, repr=False)
class LaneTables:
    """SL-to-VL tables of a fabric; see the package for their form.

    Parameters
    ----------
    name : str
        The file, or ``identity``.
    vl : uint8 array, shape (distinct rows, 16)
        Row 0 stands for a missing row.
    first : int64 array, shape (nodes,)
        Where the row numbers of each switch begin, -1 without a table.
    row, line : int32 arrays
        The number of every row, and its line in the file, 0 without a line.
    own : int32 array, shape (slots,)
        The number of the row of each adapter port, for its own cable.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
    """

    name: str
    vl: Array
    first: Array
    row: Array
    line: Array
    own: Array
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    def arrays(self, fabric: Fabric) -> LaneArrays:
        """Return the tables for kernels."""
        ports = np.diff(fabric.first_slot).astype(np.int64)
        return LaneArrays(self.first, ports, self.row, self.vl, fabric.ports.peer.astype(np.int64))

    def line_of(self, node: int, entry: int, exit: int, fabric: Fabric) -> int:
        """Return the line of a row, or else the first line of that switch; 0 without one."""
        first, ports = int(self.first[node]), int(fabric.first_slot[node + 1] - fabric.first_slot[node])
        if first < 0 or not len(self.line):
            return 0
        lines = self.line[first : first + ports * ports]
        return int(lines[entry * ports + exit]) or int(lines[lines > 0].min())

    def lane(self, fabric: Fabric, node: int, entry: int, exit: int, sl: int) -> int:
        """Return the lane that a switch gives a packet, -1 where the row is missing; 15 discards it."""
        first, ports = int(self.first[node]), int(fabric.first_slot[node + 1] - fabric.first_slot[node])
        number = int(self.row[first + entry * ports + exit]) if first >= 0 else MISSING
        return int(self.vl[number, sl]) if number != MISSING else -1

    def __repr__(self) -> str:
        return f"<LaneTables {self.name}: {int((self.first >= 0).sum())} switches, {len(self.vl) - 1} distinct rows>"


def identity(fabric: Fabric, name: str = "identity") -> LaneTables:
    """Return the tables with VL = SL at every port; SL 15 has no lane and is dropped.

    Examples
    --------
    >>> import obliv
    >>> fabric = obliv.fabric.from_topology(obliv.topology("ring:4"))
    >>> identity(fabric).lane(fabric, int(fabric.switches[0]), 1, 2, 3)
    3
    """
    ports = np.diff(fabric.first_slot).astype(np.int64)
    ports[fabric.switch_row < 0] = 0
    size = int(ports.max(initial=0)) ** 2
    first = np.where(ports > 0, 0, -1)  # all switches share their rows
    return LaneTables(
        name=name,
        vl=np.stack([np.full(SLS, DROP, np.uint8), np.arange(SLS, dtype=np.uint8)]),
        first=first.astype(np.int64),
        row=np.ones(size, np.int32),
        line=np.zeros(0, np.int32),
        own=np.where(fabric.ports.peer >= 0, 1, 0).astype(np.int32),
    )


@dataclass(frozen=True, eq=False, repr=False)
class OperVLs:
    """The number of lanes that ports operate.

    Parameters
    ----------
    name : str
    lanes : uint8 array, shape (slots,)
        1, 2, 4, 8 or 15 data lanes; 0 where unknown.
    line : int32 array, shape (slots,)
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
    """

    name: str
    lanes: Array
    line: Array
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    def on_cables(self, fabric: Fabric) -> Array:
        """Return the lanes of the cable at every port: those of both ends, 15 where neither is known."""
        here = np.where(self.lanes > 0, self.lanes, DROP)
        there = np.where(fabric.ports.peer >= 0, here[fabric.ports.peer], DROP)
        return np.asarray(np.minimum(here, there).astype(np.uint8))


def masked(tables: LaneTables, fabric: Fabric, lanes: Array) -> LaneTables:
    """Return the tables as OpenSM writes them: lanes cut to the bits that a port operates, 15 left as it is.

    Parameters
    ----------
    tables : LaneTables
    fabric : Fabric
    lanes : uint8 array, shape (slots,)
        Number of lanes of the cable at each port.
    """
    if (lanes >= DROP).all():
        return tables
    row, first = tables.row.copy(), tables.first.copy()
    limits, distinct = [DROP], [tables.vl]  # copies of all rows, one for each number of lanes
    offset = {DROP: 0}
    shared = len(tables.line) == 0 and bool((first >= 0).any())
    if shared:  # one table for all switches: give each its own
        ports = np.diff(fabric.first_slot).astype(np.int64)
        many = np.where(first >= 0, ports * ports, 0)
        first = np.where(many > 0, np.cumsum(many) - many, -1)
        row = np.ones(int(many.sum()), np.int32)
    for count in np.unique(lanes[lanes < DROP]).tolist():
        offset[count] = len(limits) * len(tables.vl)
        limits.append(count)
        cut = np.where(tables.vl == DROP, DROP, tables.vl & (count - 1)).astype(np.uint8)
        distinct.append(cut)
    for node in np.flatnonzero(first >= 0).tolist():
        a, b = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
        ports_here = b - a
        step = np.array([offset[int(n)] for n in lanes[a:b].tolist()], np.int32)
        part = row[first[node] : first[node] + ports_here * ports_here].reshape(ports_here, ports_here)
        part += np.where(part != MISSING, step[None, :], 0).astype(np.int32)
    step = np.array([offset.get(int(n), 0) for n in range(DROP + 1)], np.int32)
    own = np.where(tables.own != MISSING, tables.own + step[lanes], MISSING).astype(np.int32)
    line = np.zeros(len(row), np.int32) if shared else tables.line
    return replace(tables, vl=np.concatenate(distinct), first=first, row=row, line=line, own=own)
