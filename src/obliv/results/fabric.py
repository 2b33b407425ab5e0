"""Results on InfiniBand fabrics: the worst case with hosts and cables by name, shifts, bisections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.codec import digest_of
from obliv._util.text import plural
from obliv.results.base import Result
from obliv.results.numbers import Estimate, exact, from_number, number, shown
from obliv.results.worst_case import WorstCase

__all__ = ["Bisection", "FabricWorst", "HotCable", "Shifts"]

_LISTED = 5  # cables in the short form


@dataclass(frozen=True)
class HotCable:
    """A cable in one direction: what admissible traffic can load it by, exact or between bounds.

    Parameters
    ----------
    channel : int
    tail, head : str
        Descriptions of its ends.
    tail_port, head_port : int
    lower, upper : Fraction
        Of its worst load; the same number where that is known exactly.
    uniform : Fraction
        Its load when every host sends to all alike.
    """

    channel: int
    tail: str
    tail_port: int
    head: str
    head_port: int
    lower: Fraction
    upper: Fraction
    uniform: Fraction

    @property
    def solved(self) -> bool:
        """Whether the worst load is known exactly."""
        return self.lower == self.upper

    @property
    def worst(self) -> str:
        """The worst load in words."""
        return shown(self.upper) if self.solved else f"{shown(self.lower)} to {shown(self.upper)} (bounds)"

    def to_dict(self) -> dict[str, Any]:
        """The cable as JSON types: an exact load and a bounded one never look alike."""
        between = {"lower": float(self.lower), "upper": float(self.upper)}
        return {
            "channel": self.channel,
            "tail": self.tail,
            "tail_port": self.tail_port,
            "head": self.head,
            "head_port": self.head_port,
            "channel_load": number(self.upper) if self.solved else between,
            "uniform_load": number(self.uniform),
        }

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> HotCable:
        """The inverse of :meth:`to_dict`; bounds come back as the floats that they were saved as."""
        load = made["channel_load"]
        known = exact(load) if "exact" in load else None
        return cls(
            channel=int(made["channel"]),
            tail=str(made["tail"]),
            tail_port=int(made["tail_port"]),
            head=str(made["head"]),
            head_port=int(made["head_port"]),
            lower=Fraction(load["lower"]) if known is None else known,
            upper=Fraction(load["upper"]) if known is None else known,
            uniform=exact(made["uniform_load"]) or Fraction(0),
        )


@dataclass(frozen=True, repr=False)
class FabricWorst(WorstCase):
    """The exact worst case of forwarding tables on their fabric.

    Parameters
    ----------
    terminal_names : tuple of str
        Of every terminal.
    crossing : tuple of (int, int)
        The pairs of the worst traffic that cross the worst channel.
    hottest : tuple of HotCable
        By worst load, the largest first.
    skipped : int
        Ordered pairs of hosts that were left out since their packets do not arrive.
    notes : tuple of str
        What else to know.
    """

    cable_columns: ClassVar[tuple[str, ...]] = (
        *("channel", "from", "port", "to", "to_port"),
        *("worst_load", "worst_load_exact", "uniform_load", "uniform_load_exact", "at_least", "at_least_exact"),
    )  #: Of the table of cables, where there are none.

    terminal_names: tuple[str, ...] = ()
    crossing: tuple[tuple[int, int], ...] = ()
    hottest: tuple[HotCable, ...] = ()
    skipped: int = 0
    notes: tuple[str, ...] = ()

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The pairs that make the worst load, by name."""
        for s, d in self.crossing:
            yield self.terminal_names[s], self.terminal_names[d]

    def summary(self) -> list[tuple[str, str]]:
        lines = super().summary()
        if self.skipped:
            lines.append(("left out", f"{plural(self.skipped, 'pair')} whose packets do not arrive"))
        for rank, cable in enumerate(self.hottest[:_LISTED], 1):
            ends = f"{cable.tail} port {cable.tail_port} -> {cable.head} port {cable.head_port}"
            lines.append((f"hottest {rank}", f"{cable.worst}   {ends}"))
        for here, there in list(self.pairs())[:_LISTED]:
            lines.append(("worst traffic", f"{here} -> {there}"))
        if len(self.crossing) > _LISTED:
            more = plural(len(self.crossing) - _LISTED, "more pair")
            lines.append(("", f"and {more} over the worst channel"))
        return [*lines, *(("note", text) for text in self.notes)]

    def cable_rows(self) -> Iterator[dict[str, Any]]:
        """A row for each of the hottest cables; where `at_least` is less than `worst_load` the two are bounds."""
        for cable in self.hottest:
            yield {
                "channel": cable.channel,
                "from": cable.tail,
                "port": cable.tail_port,
                "to": cable.head,
                "to_port": cable.head_port,
                "worst_load": cable.upper,
                "uniform_load": cable.uniform,
                "at_least": cable.lower,
            }

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        made["names"] = list(self.terminal_names)
        made["crossing"] = [list(pair) for pair in self.crossing]
        made["hottest"] = [cable.to_dict() for cable in self.hottest]
        made["skipped"] = self.skipped
        made["notes"] = list(self.notes)
        if self.certificate is not None:  # the digest is of all of it
            made["certificate"]["digest"] = digest_of(made)
        return made

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> FabricWorst:
        """The inverse of :meth:`to_dict`."""
        bare = super().from_dict(made)
        assert isinstance(bare, cls)
        return replace(
            bare,
            terminal_names=tuple(str(name) for name in made["names"]),
            crossing=tuple((int(s), int(d)) for s, d in made["crossing"]),
            hottest=tuple(HotCable.from_dict(each) for each in made["hottest"]),
            skipped=int(made["skipped"]),
            notes=tuple(str(note) for note in made["notes"]),
        )


@dataclass(frozen=True, repr=False)
class Shifts(Result):
    """Channel loads of all shifts: host i sends to host i + k, for every k but 0."""

    kind: ClassVar[str] = "fabric-shifts"

    shifts: int = 0
    worst_load: Fraction = Fraction(0)
    worst_shift: int = 0
    mean_load: Fraction = Fraction(0)

    def summary(self) -> list[tuple[str, str]]:
        return [
            ("worst load", f"{shown(self.worst_load)} (first at shift {self.worst_shift})"),
            ("mean load", shown(self.mean_load)),
            ("shifts", str(self.shifts)),
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        made = {"topology": self.topology, "routing": self.routing, "shifts": self.shifts}
        yield made | {name: getattr(self, name) for name in ("worst_load", "worst_shift", "mean_load")}

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "shifts": self.shifts,
            "worst_load": number(self.worst_load),
            "worst_shift": self.worst_shift,
            "mean_load": number(self.mean_load),
            "provenance": self.provenance,
        }

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Shifts:
        """The inverse of :meth:`to_dict`."""
        start = made["topology"], made["routing"], made["provenance"], made["shifts"]
        load, mean = exact(made["worst_load"]), exact(made["mean_load"])
        return cls(*start, load or Fraction(0), made["worst_shift"], mean or Fraction(0))


@dataclass(frozen=True, repr=False)
class Bisection(Result):
    """Effective bisection bandwidth: what pairs across a random bisection get, as a share of a host's link."""

    kind: ClassVar[str] = "fabric-bisection"

    bandwidth: Estimate = field(default=Estimate(0.0, 0.0, 0))
    smallest: Fraction = Fraction(0)
    largest: Fraction = Fraction(0)

    def summary(self) -> list[tuple[str, str]]:
        return [
            ("bandwidth", str(self.bandwidth)),
            ("samples", f"{self.bandwidth.samples}, from {shown(self.smallest)} to {shown(self.largest)}"),
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        made = {"topology": self.topology, "routing": self.routing}
        yield made | {name: getattr(self, name) for name in ("bandwidth", "smallest", "largest")}

    def to_dict(self) -> dict[str, Any]:
        names = ("bandwidth", "smallest", "largest")
        return (
            super().to_dict() | {name: number(getattr(self, name)) for name in names} | {"provenance": self.provenance}
        )

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Bisection:
        """The inverse of :meth:`to_dict`."""
        found = from_number(made["bandwidth"])
        assert isinstance(found, Estimate)
        ends = [exact(made[name]) or Fraction(0) for name in ("smallest", "largest")]
        return cls(made["topology"], made["routing"], made["provenance"], found, *ends)
