"""Forwarding tables of the switches of a fabric: the port by which a switch forwards packets for each LID."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from obliv._util.typing import Array
from obliv.fabric.model import Finding

__all__ = ["MAX_PORTS", "NONE", "Tables"]


NONE = 255  #: No port.
MAX_PORTS = 254  #: Ports of a node; the next number means "no port".


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """Forwarding tables: a row for each switch, a column for each LID of the fabric's numbering.

    Parameters
    ----------
    name : str
        The file, or the routing whose tables they are.
    switch : int32 array, shape (rows,)
        The node of each row; switches without a table have no row.
    out : uint8 array, shape (rows, top + 1)
        The port for every LID from 0, ``NONE`` where the table has no entry.
    line : int32 array, shape (rows,)
        The line of the file where each switch's table begins.
    spelling : str
        "ibroute", "opensm" or "fdbs".
    top : int
        The largest LID that the file announces, 0 where it does not.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
        Defects and remarks noted while reading.
    """

    name: str
    switch: Array
    out: Array
    line: Array
    spelling: str
    top: int = 0
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def row_of(self) -> dict[int, int]:
        """The row of each switch's node."""
        return {int(node): row for row, node in enumerate(self.switch.tolist())}

    @cached_property
    def used(self) -> Array:
        """Whether each table has an entry, shape (rows,)."""
        used: Array = (self.out != NONE).any(axis=1)
        return used

    def line_of(self, node: int) -> int:
        """Return the line where a switch's table begins, 0 without a table."""
        row = self.row_of.get(node)
        return int(self.line[row]) if row is not None else 0

    def __repr__(self) -> str:
        return f"<Tables {self.name}: {len(self.switch)} switches, LIDs to {self.out.shape[1] - 1}>"
