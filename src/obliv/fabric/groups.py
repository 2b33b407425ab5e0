"""Group tables of adaptive routing: the ports among which a switch may choose for each LID."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.model import Finding
from obliv.fabric.tables import NONE, Tables

__all__ = ["BOUNDED", "FREE", "HBF", "NO_STATE", "STATES", "STATIC", "GroupTables", "Groups", "SubGroup", "ports_of"]

BOUNDED, FREE, STATIC, HBF = range(4)
NO_STATE = 255  #: The state of a LID that a table does not list.

#: The names of the states of a LID, by number.
STATES = ("Bounded", "Free", "Static", "HBF")


class SubGroup(NamedTuple):
    """A part of a group: its number, its weight for hash-based forwarding (0 without), and its ports."""

    number: int
    weight: int
    ports: tuple[int, ...]


#: The groups of a switch by number.
Groups = Mapping[int, tuple[SubGroup, ...]]


def ports_of(group: tuple[SubGroup, ...]) -> tuple[int, ...]:
    """Return the ports of all sub-groups of a group, in order, each once."""
    return tuple(sorted({port for part in group for port in part.ports}))


@dataclass(frozen=True, eq=False, repr=False)
class GroupTables:
    """Group tables: a row for each switch and private LFT, a column for each LID of the fabric's numbering.

    Parameters
    ----------
    name : str
        The file, or the rule that made them.
    switch : int32 array, shape (rows,)
        The node of each row.
    plft : int32 array, shape (rows,)
        The number of each row's private LFT.
    port : uint8 array, shape (rows, top + 1)
        The static port for every LID, ``NONE`` where the table has no entry.
    state : uint8 array, shape (rows, top + 1)
        ``BOUNDED``, ``FREE``, ``STATIC``, ``HBF``, or ``NO_STATE`` where the table has no entry.
    group : uint16 array, shape (rows, top + 1)
        The group for every LID, without meaning where the state is ``STATIC``.
    groups : tuple of mappings
        The groups of each row.
    line : int32 array, shape (rows,)
        The line of the file where each row's table begins.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
        Defects and remarks noted while reading.
    """

    name: str
    switch: Array
    plft: Array
    port: Array
    state: Array
    group: Array
    groups: tuple[Groups, ...]
    line: Array
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def plfts(self) -> tuple[int, ...]:
        """The numbers of the private LFTs that occur."""
        return tuple(np.unique(self.plft).tolist())

    def of_plft(self, number: int) -> GroupTables:
        """Return the tables of one private LFT."""
        if self.plfts == (number,):
            return self
        rows = np.flatnonzero(self.plft == number)
        return GroupTables(
            self.name,
            self.switch[rows],
            self.plft[rows],
            self.port[rows],
            self.state[rows],
            self.group[rows],
            tuple(self.groups[row] for row in rows.tolist()),
            self.line[rows],
            self.sources,
            self.findings,
        )

    @cached_property
    def static(self) -> Tables:
        """The forwarding tables of the static ports; of a single private LFT."""
        port = np.where(self.state == NO_STATE, np.uint8(NONE), self.port)
        return Tables(self.name, self.switch, port, self.line, "far", 0, sources=self.sources, findings=self.findings)

    def __repr__(self) -> str:
        return f"<GroupTables {self.name}: {len(self.switch)} tables, LIDs to {self.port.shape[1] - 1}>"
