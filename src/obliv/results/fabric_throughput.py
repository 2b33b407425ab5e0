"""The result of a throughput analysis on a fabric: which cables a job loads most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from obliv._util.text import plural
from obliv.results.numbers import exact, number, shown
from obliv.results.throughput import Throughput

__all__ = ["BusyCable", "FabricThroughput"]


@dataclass(frozen=True)
class BusyCable:
    """A cable in one direction under one traffic.

    Parameters
    ----------
    channel : int
    tail, head : str
        Descriptions of its ends.
    tail_port, head_port : int
    load : Fraction
        In units of a host's link, exact.
    pairs : int
        How many pairs of the traffic cross it.
    """

    channel: int
    tail: str
    tail_port: int
    head: str
    head_port: int
    load: Fraction
    pairs: int

    def to_dict(self) -> dict[str, Any]:
        """The cable as JSON types."""
        made = {name: getattr(self, name) for name in ("channel", "tail", "tail_port", "head", "head_port", "pairs")}
        return made | {"channel_load": number(self.load)}

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> BusyCable:
        """The inverse of :meth:`to_dict`."""
        near, far = (str(made["tail"]), int(made["tail_port"])), (str(made["head"]), int(made["head_port"]))
        return cls(int(made["channel"]), *near, *far, exact(made["channel_load"]) or Fraction(0), int(made["pairs"]))


@dataclass(frozen=True, repr=False)
class FabricThroughput(Throughput):
    """Ideal throughput of forwarding tables under patterns and jobs.

    Parameters
    ----------
    cables : tuple of tuples of BusyCable
        Of every pattern the cables with the largest load, that one first.
    notes : tuple of str
        What else to know.
    """

    cables: tuple[tuple[BusyCable, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> list[tuple[str, str]]:
        lines = []
        for line, cables in zip(super().summary(), self.cables, strict=True):
            lines.append(line)
            for cable in cables:
                ends = f"{cable.tail} port {cable.tail_port} -> {cable.head} port {cable.head_port}"
                lines.append(("", f"{shown(cable.load)}   {ends}   {plural(cable.pairs, 'pair')}"))
        return [*lines, *(("note", text) for text in self.notes)]

    def rows(self) -> Iterator[dict[str, Any]]:
        for row, cables in zip(super().rows(), self.cables, strict=True):
            first = cables[0] if cables else None
            yield row | {
                "channel": first and first.channel,
                "from": first and first.tail,
                "port": first and first.tail_port,
                "to": first and first.head,
                "to_port": first and first.head_port,
                "pairs": first and first.pairs,
            }

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        for row, cables in zip(made["patterns"], self.cables, strict=True):
            row["hottest"] = [cable.to_dict() for cable in cables]
        return made | {"notes": list(self.notes)}

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> FabricThroughput:
        """The inverse of :meth:`to_dict`."""
        patterns = [{name: value for name, value in row.items() if name != "hottest"} for row in made["patterns"]]
        bare = super().from_dict(made | {"patterns": patterns})
        assert isinstance(bare, cls)
        cables = tuple(tuple(map(BusyCable.from_dict, row["hottest"])) for row in made["patterns"])
        return replace(bare, cables=cables, notes=tuple(str(note) for note in made["notes"]))
