"""Forwarding tables of the switches of a fabric: by which port a switch sends on what is for a LID."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from obliv._util.typing import Array
from obliv.fabric.model import Finding

__all__ = ["NONE", "Tables"]


NONE = 255  #: No port.


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """One row a switch, one column a LID of the fabric's numbering.

    Parameters
    ----------
    name : str
        The file that they were read from.
    switch : int32 array, shape (rows,)
        The node of each row; switches without a table have none.
    out : uint8 array, shape (rows, top + 1)
        The port for every LID from 0, ``NONE`` where the table has none.
    line : int32 array, shape (rows,)
        The line of the file where each switch's table begins.
    spelling : str
        "ibroute", "opensm" or "fdbs".
    top : int
        The largest LID that the file announces, 0 where it announces none.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
        What was noticed while reading.
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

    def __repr__(self) -> str:
        return f"<Tables {self.name}: {len(self.switch)} switches, LIDs to {self.out.shape[1] - 1}>"
