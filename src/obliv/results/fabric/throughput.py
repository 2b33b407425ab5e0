"""The result of a throughput analysis on a fabric: which cables a job loads most."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import plural
from obliv.results.analysis.throughput import PatternThroughput, Throughput
from obliv.results.codec import entry
from obliv.results.fabric.worst import Cable
from obliv.results.format import shown

__all__ = ["BusyCable", "FabricPattern", "FabricThroughput"]


@dataclass(frozen=True)
class BusyCable(Cable):
    """A cable in one direction under one traffic.

    Parameters
    ----------
    load : Fraction
        In units of a host's link, exact.
    pairs : int
        How many pairs of the traffic cross it.
    """

    load: Fraction = entry(key="channel_load", rank=1)
    pairs: int = entry(column="pairs")


@dataclass(frozen=True)
class FabricPattern(PatternThroughput):
    """Ideal throughput under one traffic pattern, with the most loaded cables, the largest load first."""

    hottest: tuple[BusyCable, ...] = ()

    def cells(self) -> dict[str, Any]:
        """Return the row, with the first of the cables."""
        return super().cells() | (self.hottest[0].cells() if self.hottest else dict.fromkeys(BusyCable.header()))


@dataclass(frozen=True, repr=False)
class FabricThroughput(Throughput):
    """Ideal throughput of forwarding tables under patterns and jobs.

    Parameters
    ----------
    patterns : tuple of FabricPattern
    notes : tuple of str
        What else to know.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.throughput(routing, "shift:1", "shift:3")
    throughput: lft:dmodk on fabric:fattree:4,2
      shift:1  load 1, throughput 1, of capacity 7/8 = 0.875
               mean hops 3
               1   switch((0),1) port 3 -> switch((0),0) port 1   1 pair
               1   switch((1),1) port 3 -> switch((0),0) port 2   1 pair
               1   switch((2),1) port 3 -> switch((0),0) port 3   1 pair
      shift:3  load 1, throughput 1, of capacity 7/8 = 0.875
               mean hops 4
               1   switch((0),1) port 3 -> switch((0),0) port 1   1 pair
               1   switch((0),1) port 4 -> switch((1),0) port 1   1 pair
               1   switch((1),1) port 3 -> switch((0),0) port 2   1 pair
    """

    marks: ClassVar[tuple[str, ...]] = ("notes",)

    patterns: tuple[FabricPattern, ...] = ()
    notes: tuple[str, ...] = entry((), rank=3)

    @property
    def cables(self) -> tuple[tuple[BusyCable, ...], ...]:
        """The cables with the largest load under each pattern."""
        return tuple(row.hottest for row in self.patterns)

    def summary(self) -> list[tuple[str, str]]:
        lines = []
        for row in self.patterns:
            lines.append((row.traffic, str(row)))
            if remarks := row.remarks(channels=False):
                lines.append(("", remarks))
            for cable in row.hottest:
                lines.append(("", f"{shown(cable.load)}   {cable.ends}   {plural(cable.pairs, 'pair')}"))
        return [*lines, *(("note", text) for text in self.notes)]
